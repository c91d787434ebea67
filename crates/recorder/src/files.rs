//! Files and folders of a home, for their owner's eyes alone.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const OWNER_ALONE: u32 = 0o600;
const OWNERS_FOLDER: u32 = 0o700;

/// Make a folder, and those above it, if it is not there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNERS_FOLDER).create(path)?;
    // A strange umask may have taken bits away that the owner needs.
    std::fs::set_permissions(path, Permissions::from_mode(OWNERS_FOLDER))
}

/// Make a file that was not there, with all of its content.
pub(crate) fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ALONE).open(path)?;
    file.set_permissions(Permissions::from_mode(OWNER_ALONE))?;
    file.write_all(content)?;
    file.sync_all()
}

/// Put a file in the place of whatever was there, whole or not at all.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create(&beside, content)?;
    std::fs::rename(&beside, path)
}

/// Open a file to append to it, making it if need be.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open_to_append(OpenOptions::new().append(true), path)
}

/// The same for one that looks at what is there.
pub(crate) fn append_and_read(path: &Path) -> io::Result<File> {
    open_to_append(OpenOptions::new().append(true).read(true), path)
}

fn open_to_append(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.create(true).mode(OWNER_ALONE).open(path)?;
    file.set_permissions(Permissions::from_mode(OWNER_ALONE))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn everything_is_for_the_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inner, file) = (folder.path().join("a/b"), folder.path().join("a/b/c"));
        make_folder(&inner).expect("made");
        create(&file, b"1").expect("made");
        replace(&file, b"2").expect("replaced");
        append(&file).expect("opened").write_all(b"3").expect("appended");
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
        assert_eq!(std::fs::read(&file).expect("read"), b"23");
        assert!(create(&file, b"").is_err());
    }
}
