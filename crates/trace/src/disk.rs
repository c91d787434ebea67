//! The file layer: what the trace needs of a disk, as traits so that tests can break it, and the real one.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, OFlags, flock};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; names that are not UTF-8 are none of the trace's and are left out.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// A file that is being written.
pub trait File: Send + Sync {
    /// Append some of `bytes`; returns how many were taken.
    ///
    /// # Errors
    ///
    /// If the operating system took none.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Replace what stands at the beginning of the file.
    ///
    /// # Errors
    ///
    /// If not all of it was taken.
    fn overwrite(&self, bytes: &[u8]) -> io::Result<()>;

    /// Wait until what was written is on the disk.
    ///
    /// # Errors
    ///
    /// If the disk did not take it; what of it is there is unknown then.
    fn sync(&self) -> io::Result<()>;
}

/// The right to write, held as long as this value lives.
pub trait Lock: Send {
    /// Whether the lock file still stands where it was taken, so that nobody else can hold another.
    fn stands(&self) -> bool;
}

/// Why the lock was not taken.
#[derive(Debug)]
pub enum Refusal {
    /// Another process holds it, and left its number if it could.
    Held(Option<u32>),
    /// The file could not be opened or locked.
    Failed(io::Error),
}

/// What the trace asks of a disk.
pub trait Disk: Send + Sync {
    /// Make the folder for its owner alone, with those above it that are missing; tighten it if it is there.
    ///
    /// # Errors
    ///
    /// If it cannot be made or is no folder.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// The files in a folder, in any order.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// Make a file that is not there yet, for its owner alone, and never through a link.
    ///
    /// # Errors
    ///
    /// If something has that name, or it cannot be made.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>>;

    /// Open a small file to overwrite it in place, made if it is missing; never through a link.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    fn open_cell(&self, path: &Path) -> io::Result<Arc<dyn File>>;

    /// The first `limit` bytes of a file, or all of it.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn read(&self, path: &Path, limit: Option<u64>) -> io::Result<Vec<u8>>;

    /// Give a file another name, in place of what had it.
    ///
    /// # Errors
    ///
    /// If it cannot be done.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Remove a file.
    ///
    /// # Errors
    ///
    /// If it cannot be done.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Wait until a file that another process wrote is on the disk.
    ///
    /// # Errors
    ///
    /// If the disk did not take it.
    fn sync_file(&self, path: &Path) -> io::Result<()>;

    /// Wait until the names in a folder are on the disk.
    ///
    /// # Errors
    ///
    /// If the disk did not take them.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Take the lock at once or not at all.
    ///
    /// # Errors
    ///
    /// If another process holds it, or the file cannot be opened.
    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Refusal>;
}

/// The disk of the operating system: files of 0600 and folders of 0700 under any umask.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsDisk;

struct OsFile(fs::File);

impl File for OsFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn overwrite(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, 0)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

struct OsLock {
    file: fs::File,
    path: PathBuf,
}

impl Lock for OsLock {
    fn stands(&self) -> bool {
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
}

impl Disk for OsDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
            return tighten_folder(path);
        }
        if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty() && !above.exists()) {
            self.make_folder(above)?;
        }
        match fs::DirBuilder::new().mode(FOLDER_MODE).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
        tighten_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // A file may go between the listing and the question for its length.
            match fs::metadata(entry.path()) {
                Ok(found) if found.is_file() => entries.push(Entry { name, bytes: found.len() }),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(entries)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = private(OpenOptions::new().append(true).create_new(true), path)?;
        Ok(Arc::new(OsFile(file)))
    }

    fn open_cell(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = private(OpenOptions::new().write(true).create(true).truncate(false), path)?;
        Ok(Arc::new(OsFile(file)))
    }

    fn read(&self, path: &Path, limit: Option<u64>) -> io::Result<Vec<u8>> {
        let file = fs::File::open(path)?;
        let length = file.metadata()?.len().min(limit.unwrap_or(u64::MAX));
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.take(limit.unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_data()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Refusal> {
        let options = || OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = private(&mut options(), path).map_err(Refusal::Failed)?;
        if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            let error = io::Error::from(error);
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(Refusal::Failed(error));
            }
            let mut holder = String::new();
            let known = file.read_to_string(&mut holder).is_ok();
            return Err(Refusal::Held(known.then(|| holder.trim().parse().ok()).flatten()));
        }
        let lock = OsLock { file, path: path.to_path_buf() };
        if !lock.stands() {
            return Err(Refusal::Failed(io::Error::other("the lock file was replaced while it was taken")));
        }
        // The number only helps a person: a full disk must not keep the recorder from its lock.
        let _ = leave_number(&lock.file);
        Ok(Box::new(lock))
    }
}

fn leave_number(mut file: &fs::File) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

/// Open for the owner alone. The mode given at creation keeps others out from the first byte; the umask can only
/// take more away, which is then given back.
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<fs::File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).expect("a flag of open fits its argument");
    let file = options.mode(FILE_MODE).custom_flags(no_link).open(path)?;
    if file.metadata()?.mode() & 0o777 != FILE_MODE {
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    }
    Ok(file)
}

fn tighten_folder(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.mode() & 0o777 == FOLDER_MODE {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

#[cfg(test)]
mod tests {
    use super::{Disk, OsDisk, Refusal};
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn nothing_is_created_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        for name in ["00000001.wal", "synced", "lock"] {
            symlink(&target, folder.path().join(name)).unwrap();
        }
        assert!(OsDisk.create(&folder.path().join("00000001.wal")).is_err());
        assert!(OsDisk.open_cell(&folder.path().join("synced")).is_err());
        assert!(matches!(OsDisk.lock(&folder.path().join("lock")), Err(Refusal::Failed(_))));
        assert!(!target.exists());
    }

    #[test]
    fn a_file_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00000001.wal");
        OsDisk.create(&path).unwrap().write(b"kept").unwrap();
        assert_eq!(OsDisk.create(&path).err().unwrap().kind(), ErrorKind::AlreadyExists);
        assert_eq!(OsDisk.read(&path, None).unwrap(), b"kept");
        assert_eq!(OsDisk.read(&path, Some(2)).unwrap(), b"ke");
    }

    #[test]
    fn a_cell_is_overwritten_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("synced");
        OsDisk.open_cell(&path).unwrap().overwrite(b"first").unwrap();
        OsDisk.open_cell(&path).unwrap().overwrite(b"again").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"again");
    }

    #[test]
    fn loose_modes_are_tightened() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("home/trace");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.join("synced"), b"").unwrap();
        fs::set_permissions(folder.join("synced"), fs::Permissions::from_mode(0o644)).unwrap();
        OsDisk.make_folder(&folder).unwrap();
        OsDisk.open_cell(&folder.join("synced")).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(folder.join("synced")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_lock_is_held_once_and_names_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = OsDisk.lock(&path).unwrap();
        assert!(held.stands());
        let Err(Refusal::Held(pid)) = OsDisk.lock(&path) else { panic!("a second lock was given") };
        assert_eq!(pid, Some(std::process::id()));
        drop(held);
        assert!(OsDisk.lock(&path).is_ok());
    }

    #[test]
    fn a_lock_whose_file_was_removed_no_longer_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = OsDisk.lock(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!held.stands());
        let _other = OsDisk.lock(&path).unwrap();
        assert!(!held.stands());
    }
}
