//! The folder of a trace: which segments it has, and in which state each is.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, OsDisk};

/// The name of the file that says how far the trace is on the disk.
pub const SYNCED: &str = "synced";
/// The name of the lock file.
pub const LOCK: &str = "lock";
/// How a file ends that does not have its name yet.
const UNFINISHED: &str = ".part";

/// In which of its forms a segment is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it was written.
    Written,
    /// Sealed.
    Sealed,
    /// Sealed, and the segment as it was written is still there: a seal was interrupted.
    Sealing,
    /// There with its tombstone: a removal was interrupted. It can be read until the removal is finished.
    Removing,
    /// Removed on purpose; the tombstone is left.
    Gone,
}

/// One number of the trace, and the files that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub number: u64,
    /// The length of the `.wal`, if there is one.
    pub wal: Option<u64>,
    /// The length of the `.seal`, if there is one.
    pub seal: Option<u64>,
    /// Whether there is a tombstone.
    pub gone: bool,
}

impl Segment {
    /// In which form it is there.
    #[must_use]
    pub fn state(&self) -> State {
        match (self.wal.is_some(), self.seal.is_some(), self.gone) {
            (false, false, _) => State::Gone,
            (_, _, true) => State::Removing,
            (true, false, false) => State::Written,
            (false, true, false) => State::Sealed,
            (true, true, false) => State::Sealing,
        }
    }

    /// How many bytes its files take, without the tombstone.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.wal.unwrap_or(0) + self.seal.unwrap_or(0)
    }
}

/// The segments of a trace by number, and files that never got their name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The segments.
    pub segments: BTreeMap<u64, Segment>,
    /// Names of files that a seal or a removal left when it was interrupted.
    pub unfinished: Vec<String>,
}

/// The segments in the folder of a trace; none if there is no folder.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn read_folder(folder: &Path) -> io::Result<Listing> {
    list(&OsDisk, folder)
}

pub(crate) fn list(disk: &dyn Disk, folder: &Path) -> io::Result<Listing> {
    let entries = match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listing::default()),
        entries => entries?,
    };
    let mut listing = Listing::default();
    for entry in entries {
        if let Some((number, form)) = parse(&entry.name) {
            let segment = listing.segments.entry(number).or_insert(Segment { number, ..Segment::default() });
            match form {
                Form::Wal => segment.wal = Some(entry.bytes),
                Form::Seal => segment.seal = Some(entry.bytes),
                Form::Gone => segment.gone = true,
            }
        } else if entry.name.strip_suffix(UNFINISHED).is_some_and(|name| parse(name).is_some()) {
            listing.unfinished.push(entry.name);
        }
    }
    listing.unfinished.sort();
    Ok(listing)
}

/// What a file of a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Wal,
    Seal,
    Gone,
}

impl Form {
    const ALL: [Self; 3] = [Self::Wal, Self::Seal, Self::Gone];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Wal => ".wal",
            Self::Seal => ".seal",
            Self::Gone => ".gone",
        }
    }

    /// The name that a file of this form has.
    pub(crate) fn name(self, number: u64) -> String {
        format!("{number:08}{}", self.suffix())
    }

    /// Where the file of a segment is.
    pub(crate) fn path(self, folder: &Path, number: u64) -> PathBuf {
        folder.join(self.name(number))
    }

    /// Where the file is while it is being made.
    pub(crate) fn unfinished(self, folder: &Path, number: u64) -> PathBuf {
        folder.join(self.name(number) + UNFINISHED)
    }
}

fn parse(name: &str) -> Option<(u64, Form)> {
    Form::ALL.into_iter().find_map(|form| {
        let number = name.strip_suffix(form.suffix())?.parse().ok()?;
        // A number has one spelling, so that no two files claim it.
        (number > 0 && form.name(number) == name).then_some((number, form))
    })
}

#[cfg(test)]
mod tests {
    use super::{Form, State, parse, read_folder};
    use std::fs;

    #[test]
    fn a_number_has_one_spelling() {
        assert_eq!(parse("00000012.wal"), Some((12, Form::Wal)));
        assert_eq!(parse("123456789.seal"), Some((123_456_789, Form::Seal)));
        for name in ["12.wal", "000000012.wal", "00000000.wal", "+0000012.wal", "00000012.wal.part", "synced"]
        {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn states_follow_from_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["1.wal", "2.seal", "3.wal", "3.seal", "4.gone", "5.gone", "5.seal"];
        for name in names {
            fs::write(folder.path().join(format!("0000000{name}")), b"xy").unwrap();
        }
        fs::write(folder.path().join("00000006.seal.part"), b"").unwrap();
        fs::write(folder.path().join("notes.part"), b"").unwrap();
        let listing = read_folder(folder.path()).unwrap();
        let states: Vec<_> = listing.segments.values().map(super::Segment::state).collect();
        let expected = [State::Written, State::Sealed, State::Sealing, State::Gone, State::Removing];
        assert_eq!(states, expected);
        assert_eq!(listing.segments[&3].bytes(), 4);
        assert_eq!(listing.unfinished, ["00000006.seal.part"]);
    }

    #[test]
    fn a_missing_folder_has_no_segments() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_folder(&folder.path().join("trace")).unwrap().segments.is_empty());
    }
}
