//! A disk in memory that fails where it is told to, and can be cut off from power at any operation.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use trace::disk::{Entry, Refusal};
use trace::{Disk, File, Lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    MakeFolder,
    List,
    Create,
    OpenCell,
    Read,
    Rename,
    Remove,
    SyncFile,
    SyncFolder,
    Lock,
    Write,
    Overwrite,
    Sync,
}

impl Op {
    pub(crate) const ALL: [Self; 13] = [
        Self::MakeFolder,
        Self::List,
        Self::Create,
        Self::OpenCell,
        Self::Read,
        Self::Rename,
        Self::Remove,
        Self::SyncFile,
        Self::SyncFolder,
        Self::Lock,
        Self::Write,
        Self::Overwrite,
        Self::Sync,
    ];
}

/// Operations of one kind that fail, from the `at`-th on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) op: Op,
    pub(crate) at: u64,
    pub(crate) count: u64,
    pub(crate) errno: i32,
    /// Of a write: how many bytes the first one takes before the next fails.
    pub(crate) partial: usize,
}

#[derive(Clone, Default)]
struct Node {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// The disk could not sync it: whoever asks again is told a lie.
    is_lying: bool,
}

#[derive(Clone, Default)]
pub(crate) struct World {
    live: BTreeMap<PathBuf, usize>,
    durable: BTreeMap<PathBuf, usize>,
    nodes: Vec<Node>,
    locks: BTreeSet<PathBuf>,
    pub(crate) counts: BTreeMap<Op, u64>,
    pub(crate) fault: Option<Fault>,
    /// Whether the disk ever refused to sync: it keeps no promise then.
    pub(crate) has_refused_to_sync: bool,
    /// The state after each operation that changed something, if asked for.
    pub(crate) history: Option<Vec<World>>,
}

/// What a power cut leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Survival {
    /// Only what was synced.
    Synced,
    /// All that the operating system had.
    All,
    /// What was synced, and more or less of the rest by chance.
    Some(u64),
}

/// Numbers that are the same in each run.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap()
    }
}

impl World {
    pub(crate) fn with_fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    pub(crate) fn after_crash(&self, survival: Survival) -> Self {
        let mut world = Self { has_refused_to_sync: self.has_refused_to_sync, ..Self::default() };
        let mut chance = Chance(if let Survival::Some(seed) = survival { seed } else { 0 });
        let names: BTreeSet<&PathBuf> = self.live.keys().chain(self.durable.keys()).collect();
        for name in names {
            let is_live = match survival {
                Survival::Synced => false,
                Survival::All => true,
                Survival::Some(_) => chance.below(2) == 0,
            };
            let names = if is_live { &self.live } else { &self.durable };
            let Some(&node) = names.get(name) else { continue };
            let bytes = self.nodes[node].surviving(survival, &mut chance);
            world.live.insert(name.clone(), world.nodes.len());
            world.durable.insert(name.clone(), world.nodes.len());
            world.nodes.push(Node { live: bytes.clone(), durable: bytes, is_lying: false });
        }
        world
    }

    /// The process dies and the machine does not: what was not synced is still there, and still not synced.
    pub(crate) fn after_kill(&self) -> Self {
        let mut world = Self { fault: None, history: None, ..self.clone() };
        world.locks.clear();
        // Another process may ask the disk again; what it is told is not the writer's fault.
        world.nodes.iter_mut().for_each(|node| node.is_lying = false);
        world
    }

    pub(crate) fn file(&self, name: &str) -> Option<&[u8]> {
        let found = self.live.iter().find(|(path, _)| path.file_name().is_some_and(|file| file == name));
        found.map(|(_, &node)| self.nodes[node].live.as_slice())
    }

    fn remember(&mut self) {
        if let Some(mut history) = self.history.take() {
            history.push(self.clone());
            self.history = Some(history);
        }
    }

    /// Count an operation; fail it if that is its fate.
    fn enter(&mut self, op: Op) -> io::Result<()> {
        let count = self.counts.entry(op).or_default();
        let number = *count;
        *count += 1;
        match self.fault {
            Some(fault) if fault.op == op && (fault.at..fault.at + fault.count).contains(&number) => {
                self.has_refused_to_sync |= matches!(op, Op::Sync | Op::SyncFolder | Op::SyncFile);
                Err(io::Error::from_raw_os_error(fault.errno))
            }
            _ => Ok(()),
        }
    }

    fn node(&self, path: &Path) -> io::Result<usize> {
        self.live.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Node {
    fn surviving(&self, survival: Survival, chance: &mut Chance) -> Vec<u8> {
        match survival {
            Survival::Synced => self.durable.clone(),
            Survival::All => self.live.clone(),
            // A file that is overwritten in place is small enough to change at once.
            Survival::Some(_) if !self.live.starts_with(&self.durable) => {
                if chance.below(2) == 0 {
                    self.live.clone()
                } else {
                    self.durable.clone()
                }
            }
            Survival::Some(_) => {
                let unsynced = self.live.len() - self.durable.len();
                let more = chance.below(unsynced + 1);
                let mut bytes = self.live[..self.durable.len() + more].to_vec();
                // The length of a file may grow before its content does.
                if unsynced > 0 && chance.below(3) == 0 {
                    bytes.resize(bytes.len() + chance.below(40), 0);
                }
                bytes
            }
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct SimDisk(Arc<Mutex<World>>);

impl SimDisk {
    pub(crate) fn of(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    pub(crate) fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    fn change<T>(&self, op: Op, work: impl FnOnce(&mut World) -> io::Result<T>) -> io::Result<T> {
        self.world(|world| {
            world.enter(op)?;
            let done = work(world);
            if !matches!(op, Op::Read | Op::List) {
                world.remember();
            }
            done
        })
    }
}

struct SimFile {
    disk: SimDisk,
    node: usize,
}

impl File for SimFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.world(|world| {
            let number = world.counts.get(&Op::Write).copied().unwrap_or(0);
            let fault = world.fault.filter(|fault| fault.op == Op::Write && fault.partial > 0);
            let taken = match fault {
                Some(fault) if fault.at == number + 1 => fault.partial.min(bytes.len()),
                _ => bytes.len(),
            };
            world.enter(Op::Write)?;
            world.nodes[self.node].live.extend_from_slice(&bytes[..taken]);
            world.remember();
            Ok(taken)
        })
    }

    fn overwrite(&self, bytes: &[u8]) -> io::Result<()> {
        self.disk.change(Op::Overwrite, |world| {
            let live = &mut world.nodes[self.node].live;
            live.resize(live.len().max(bytes.len()), 0);
            live[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.world(|world| {
            assert!(!world.nodes[self.node].is_lying, "a file was synced again after its sync had failed");
            let entered = world.enter(Op::Sync);
            let node = &mut world.nodes[self.node];
            match &entered {
                Ok(()) => node.durable = node.live.clone(),
                Err(_) => node.is_lying = true,
            }
            world.remember();
            entered
        })
    }
}

struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl Lock for SimLock {
    fn stands(&self) -> bool {
        self.disk.world(|world| world.locks.contains(&self.path))
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.world(|world| world.locks.remove(&self.path));
    }
}

impl Disk for SimDisk {
    fn make_folder(&self, _path: &Path) -> io::Result<()> {
        self.change(Op::MakeFolder, |_| Ok(()))
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<Entry>> {
        self.change(Op::List, |world| {
            let entry = |(path, &node): (&PathBuf, &usize)| Entry {
                name: path.file_name().unwrap().to_str().unwrap().to_owned(),
                bytes: world.nodes[node].live.len() as u64,
            };
            Ok(world.live.iter().map(entry).collect())
        })
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let node = self.change(Op::Create, |world| {
            if world.live.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            world.nodes.push(Node::default());
            world.live.insert(path.to_path_buf(), world.nodes.len() - 1);
            Ok(world.nodes.len() - 1)
        })?;
        Ok(Arc::new(SimFile { disk: self.clone(), node }))
    }

    fn open_cell(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let node = self.change(Op::OpenCell, |world| {
            if let Some(&node) = world.live.get(path) {
                return Ok(node);
            }
            world.nodes.push(Node::default());
            world.live.insert(path.to_path_buf(), world.nodes.len() - 1);
            Ok(world.nodes.len() - 1)
        })?;
        Ok(Arc::new(SimFile { disk: self.clone(), node }))
    }

    fn read(&self, path: &Path, limit: Option<u64>) -> io::Result<Vec<u8>> {
        self.change(Op::Read, |world| {
            let bytes = &world.nodes[world.node(path)?].live;
            let end = limit.map_or(bytes.len(), |limit| bytes.len().min(usize::try_from(limit).unwrap()));
            Ok(bytes[..end].to_vec())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(Op::Rename, |world| {
            let node = world.node(from)?;
            world.live.remove(from);
            world.live.insert(to.to_path_buf(), node);
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(Op::Remove, |world| {
            world.node(path)?;
            world.live.remove(path);
            Ok(())
        })
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.change(Op::SyncFile, |world| {
            let node = world.node(path)?;
            world.nodes[node].durable = world.nodes[node].live.clone();
            Ok(())
        })
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        self.change(Op::SyncFolder, |world| {
            world.durable = world.live.clone();
            Ok(())
        })
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Refusal> {
        let is_free = self.change(Op::Lock, |world| Ok(world.locks.insert(path.to_path_buf())));
        match is_free {
            Ok(true) => Ok(Box::new(SimLock { disk: self.clone(), path: path.to_path_buf() })),
            Ok(false) => Err(Refusal::Held(Some(4711))),
            Err(error) => Err(Refusal::Failed(error)),
        }
    }
}
