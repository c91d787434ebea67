//! Events that wait for a recorder: one a line, in a file that hooks append to and the next recorder takes away.
//!
//! Whoever appends holds the file's lock, and so does whoever moves it; one that was moved meanwhile is opened anew.
//! What was moved is removed when all of it is in the trace, so that an event may come twice and never goes missing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::files;

/// What may wait; beyond this a recorder is not missing for a while, but for good.
const LARGEST: u64 = 64 << 20;

/// How often a file is opened that is moved away under one's hands.
const ATTEMPTS: usize = 8;

/// The two files of a home.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    waiting: PathBuf,
    taken: PathBuf,
}

impl Spool {
    /// The spool of a home.
    pub(crate) fn of(home: &Path) -> Self {
        Self { waiting: home.join("spool.jsonl"), taken: home.join("spool.taken.jsonl") }
    }

    /// What waits, moved out of the way of those who append; what an earlier recorder left half done comes first.
    pub(crate) fn take(&self) -> io::Result<Option<Vec<u8>>> {
        if !self.taken.exists() {
            let Some(file) = existing(&self.waiting)? else { return Ok(None) };
            flock(&file, FlockOperation::LockExclusive)?;
            std::fs::rename(&self.waiting, &self.taken)?;
        }
        std::fs::read(&self.taken).map(Some)
    }

    /// What was taken is in the trace.
    pub(crate) fn forget(&self) -> io::Result<()> {
        std::fs::remove_file(&self.taken)
    }

    /// The end of the file, for one event; nobody else has it meanwhile, and it is still the one with this name.
    pub(crate) fn open(&self) -> io::Result<End> {
        for _ in 0..ATTEMPTS {
            let file = files::append_and_read(&self.waiting)?;
            flock(&file, FlockOperation::LockExclusive)?;
            let is_there = std::fs::metadata(&self.waiting)
                .is_ok_and(|named| file.metadata().is_ok_and(|open| open.ino() == named.ino()));
            if is_there {
                return Ok(End(file));
            }
        }
        Err(io::Error::other("the spool is moved again and again"))
    }
}

/// The end of a spool, locked.
pub(crate) struct End(File);

impl End {
    /// Append an event, which has no line feed in it.
    pub(crate) fn add(&mut self, event: &[u8]) -> io::Result<()> {
        let length = self.0.metadata()?.len();
        if length + event.len() as u64 > LARGEST {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the spool is full"));
        }
        let torn = length > 0 && last_byte(&mut self.0)? != b'\n';
        let before: &[u8] = if torn { b"\n" } else { b"" };
        self.0.write_all(&[before, event, b"\n"].concat())
    }
}

fn existing(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn add(spool: &Spool, event: &[u8]) -> io::Result<()> {
        spool.open()?.add(event)
    }

    #[test]
    fn what_is_added_is_taken_once() {
        let home = tempfile::tempdir().expect("a folder");
        let spool = Spool::of(home.path());
        assert_eq!(spool.take().expect("nothing"), None);
        add(&spool, b"{\"id\":1}").expect("added");
        add(&spool, b"{\"id\":2}").expect("added");
        let mode = std::fs::metadata(home.path().join("spool.jsonl")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(spool.take().expect("taken").as_deref(), Some(&b"{\"id\":1}\n{\"id\":2}\n"[..]));
        spool.forget().expect("removed");
        assert_eq!(spool.take().expect("nothing"), None);
    }

    #[test]
    fn what_was_not_finished_comes_again_before_the_rest() {
        let home = tempfile::tempdir().expect("a folder");
        let spool = Spool::of(home.path());
        add(&spool, b"1").expect("added");
        assert_eq!(spool.take().expect("taken").as_deref(), Some(&b"1\n"[..]));
        add(&spool, b"2").expect("added");
        assert_eq!(spool.take().expect("taken").as_deref(), Some(&b"1\n"[..]));
        spool.forget().expect("removed");
        assert_eq!(spool.take().expect("taken").as_deref(), Some(&b"2\n"[..]));
    }

    #[test]
    fn a_torn_line_does_not_spoil_the_next() {
        let home = tempfile::tempdir().expect("a folder");
        let spool = Spool::of(home.path());
        std::fs::write(home.path().join("spool.jsonl"), b"{\"id\":").expect("written");
        add(&spool, b"2").expect("added");
        assert_eq!(spool.take().expect("taken").as_deref(), Some(&b"{\"id\":\n2\n"[..]));
    }

    #[test]
    fn a_full_spool_takes_no_more() {
        let home = tempfile::tempdir().expect("a folder");
        let file = File::create(home.path().join("spool.jsonl")).expect("made");
        file.set_len(LARGEST).expect("grown");
        assert!(Spool::of(home.path()).open().expect("opened").add(b"1").is_err());
    }

    #[test]
    fn many_add_while_one_takes() {
        let home = tempfile::tempdir().expect("a folder");
        let spool = Spool::of(home.path());
        let mut seen = Vec::new();
        let collect = |seen: &mut Vec<String>| {
            if let Some(bytes) = spool.take().expect("taken") {
                seen.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned));
                spool.forget().expect("removed");
            }
        };
        std::thread::scope(|scope| {
            let adders: Vec<_> = (0..4)
                .map(|adder| {
                    let spool = &spool;
                    scope.spawn(move || {
                        for number in 0..50 {
                            add(spool, format!("{adder}-{number}").as_bytes()).expect("added");
                        }
                    })
                })
                .collect();
            while adders.iter().any(|adder| !adder.is_finished()) {
                collect(&mut seen);
            }
        });
        collect(&mut seen);
        collect(&mut seen);
        seen.sort();
        let mut expected: Vec<String> =
            (0..4).flat_map(|adder| (0..50).map(move |number| format!("{adder}-{number}"))).collect();
        expected.sort();
        assert_eq!(seen, expected);
    }
}
