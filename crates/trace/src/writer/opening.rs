//! How a writer starts: folder, lock, recovery, and the promise about what is already there.

use std::io;
use std::path::Path;
use std::sync::Arc;

use wal::segment::MAX_POLICY;
use wal::synced::Synced;

use crate::clock::Clock;
use crate::disk::{Disk, File, Lock, Refusal};
use crate::folder::{LOCK, SYNCED};
use crate::options::{OpenError, Options, Persist};
use crate::writer::identity::Identity;
use crate::writer::recovery::{self, Recovered};
use crate::writer::syncer::Syncer;

/// What a writer starts with.
pub(crate) struct Start {
    pub(crate) lock: Box<dyn Lock>,
    pub(crate) identity: Identity,
    pub(crate) recovered: Recovered,
    pub(crate) syncer: Syncer,
}

/// Take the lock and find out where the trace goes on.
pub(crate) fn start(
    options: &Options,
    disk: &Arc<dyn Disk>,
    clock: &Arc<dyn Clock>,
) -> Result<Start, OpenError> {
    if options.policy.len() > MAX_POLICY {
        return Err(OpenError::Policy(options.policy.len()));
    }
    let folder = &options.folder;
    let identity = Identity::begin().map_err(|error| OpenError::Resource("randomness", error.to_string()))?;
    let usable = "make sure that the folder belongs to you and can be written";
    disk.make_folder(folder).map_err(|error| failure(folder, "making the folder", error, usable))?;
    let lock = take_lock(&**disk, folder)?;
    let recovered = recovery::recover(&**disk, folder).map_err(|unreadable| {
        let remedy = "make it readable, or move the trace away to begin a new one";
        failure(&unreadable.path, "reading the trace", unreadable.error, remedy)
    })?;
    let cell = open_cell(&**disk, folder, options.persist)
        .map_err(|error| failure(&folder.join(SYNCED), "opening it", error, "remove it: it is made again"))?;
    let (safe, trouble) = secure(&**disk, folder, options.persist, &recovered, cell.as_ref());
    let syncer =
        Syncer::start(Arc::clone(disk), Arc::clone(clock), folder.clone(), options.persist, safe, cell)
            .map_err(|error| OpenError::Resource("thread", error.to_string()))?;
    if let Some(trouble) = trouble {
        syncer.report(trouble);
    }
    Ok(Start { lock, identity, recovered, syncer })
}

fn failure(path: &Path, action: &'static str, error: io::Error, remedy: &'static str) -> OpenError {
    OpenError::Disk { path: path.to_path_buf(), action, error, remedy }
}

fn take_lock(disk: &dyn Disk, folder: &Path) -> Result<Box<dyn Lock>, OpenError> {
    let path = folder.join(LOCK);
    disk.lock(&path).map_err(|refusal| match refusal {
        Refusal::Held(pid) => OpenError::Locked { folder: folder.to_path_buf(), pid },
        Refusal::Failed(error) => {
            let remedy = "make sure that it is a plain file of yours on a disk that has locks";
            failure(&path, "locking it", error, remedy)
        }
    })
}

/// The file `synced`. If nothing is ever synced it would only hold readers back, so it goes.
fn open_cell(disk: &dyn Disk, folder: &Path, persist: Persist) -> io::Result<Option<Arc<dyn File>>> {
    let path = folder.join(SYNCED);
    if persist != Persist::Written {
        return disk.open_cell(&path).map(Some);
    }
    match disk.remove(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}

/// Sync what another process left, since the next segment's header will vouch for it; then all of it is safe.
fn secure(
    disk: &dyn Disk,
    folder: &Path,
    persist: Persist,
    recovered: &Recovered,
    cell: Option<&Arc<dyn File>>,
) -> (Synced, Option<String>) {
    let before = recovered.synced.unwrap_or_default();
    if persist == Persist::Written || recovered.next_number == 1 {
        return (before, None);
    }
    let files = recovered.unsynced.iter().try_for_each(|path| disk.sync_file(path));
    if let Err(error) = files.and_then(|()| disk.sync_folder(folder)) {
        return (before, Some(format!("what is already in the trace could not be synced: {error}")));
    }
    let Some(last) = recovered.last_record.filter(|last| last.sequence >= before.sequence) else {
        return (before, None);
    };
    let published = cell.map_or(Ok(()), |cell| cell.overwrite(&last.encode()));
    (last, published.err().map(|error| format!("the file `synced` could not be written: {error}")))
}
