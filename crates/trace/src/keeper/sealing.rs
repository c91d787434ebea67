//! Sealing: a closed segment becomes its compressed form, and goes only when that form was read back and fits.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use wal::chain::Root;
use wal::sealed::{self, SealRefused, Sealed};

use crate::contents;
use crate::disk::{Disk, File};
use crate::folder::{Form, State};
use crate::keeper::{KeepError, Keeper, held};

/// A segment that was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealing {
    /// Its number.
    pub segment: u64,
    /// How many bytes it had.
    pub raw_bytes: u64,
    /// How many it has now.
    pub sealed_bytes: u64,
}

impl Keeper {
    /// Seal the oldest closed segment below `below` that is not sealed yet; nothing if there is none.
    ///
    /// Segments that may not be sealed are passed over and can be asked for with [`Keeper::refused`].
    ///
    /// # Errors
    ///
    /// If the disk refuses. The segment is still there then.
    pub fn seal_next(&self, below: u64) -> Result<Option<Sealing>, KeepError> {
        let _alone = held(&self.work);
        self.tidy(below)?;
        for (&number, segment) in self.listing()?.segments.range(..below) {
            if segment.state() != State::Written || held(&self.refused).contains_key(&number) {
                continue;
            }
            match self.seal(number)? {
                Ok(sealing) => return Ok(Some(sealing)),
                Err(reason) => held(&self.refused).insert(number, reason),
            };
        }
        Ok(None)
    }

    /// Seal one segment, or say why it may not be.
    fn seal(&self, number: u64) -> Result<Result<Sealing, String>, KeepError> {
        let wal = Form::Wal.path(&self.folder, number);
        let unfinished = Form::Seal.unfinished(&self.folder, number);
        let bytes = self.disk.read(&wal, None).map_err(|error| KeepError::reading(&wal, &error))?;
        let written = match write_seal(&*self.disk, &unfinished, &bytes) {
            Ok(written) => written,
            Err(refused) => {
                self.discard(&unfinished)?;
                return match refused {
                    SealRefused::Write(error) => Err(KeepError::writing(&unfinished, &error)),
                    reason => Ok(Err(reason.to_string())),
                };
            }
        };
        let raw_bytes = bytes.len() as u64;
        if self.unseal(&unfinished)? != Some((written.root, bytes)) {
            self.discard(&unfinished)?;
            return Ok(Err("its seal did not read back as what was sealed".to_owned()));
        }
        let seal = Form::Seal.path(&self.folder, number);
        self.disk.rename(&unfinished, &seal).map_err(|error| KeepError::writing(&seal, &error))?;
        self.sync_names()?;
        self.disk.remove(&wal).map_err(|error| KeepError::removing(&wal, &error))?;
        self.sync_names()?;
        Ok(Ok(Sealing { segment: number, raw_bytes, sealed_bytes: written.written }))
    }

    /// Finish a seal that was interrupted before the `.wal` went, or drop it if it cannot be read.
    ///
    /// If both can be read and differ, or neither can, a person must decide: both stay.
    pub(crate) fn finish_seal(&self, number: u64) -> Result<(), KeepError> {
        let (wal, seal) = (Form::Wal.path(&self.folder, number), Form::Seal.path(&self.folder, number));
        let bytes = self.disk.read(&wal, None).map_err(|error| KeepError::reading(&wal, &error))?;
        let root = contents::from_wal(&bytes, &mut |_| {}).map(|contents| contents.root);
        let superfluous = match (self.unseal(&seal)?, root) {
            (Some(sealed), Ok(root)) if sealed == (root, bytes) => &wal,
            (None, Ok(_)) => &seal,
            _ => {
                let reason = "its seal holds something else than its .wal, and both are there".to_owned();
                held(&self.refused).insert(number, reason);
                return Ok(());
            }
        };
        self.discard(superfluous)?;
        self.sync_names()
    }

    /// The root that a seal states and the bytes that it was made from; nothing if it cannot be read.
    fn unseal(&self, seal: &Path) -> Result<Option<(Root, Vec<u8>)>, KeepError> {
        let bytes = self.disk.read(seal, None).map_err(|error| KeepError::reading(seal, &error))?;
        let unsealed = Sealed::parse(&bytes).and_then(|sealed| Ok((sealed.root(), sealed.unseal()?)));
        Ok(unsealed.ok())
    }

    pub(crate) fn discard(&self, path: &Path) -> Result<(), KeepError> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(KeepError::removing(path, &error)),
            _ => Ok(()),
        }
    }

    pub(crate) fn sync_names(&self) -> Result<(), KeepError> {
        self.disk.sync_folder(&self.folder).map_err(|error| KeepError::writing(&self.folder, &error))
    }
}

fn write_seal(disk: &dyn Disk, path: &Path, wal: &[u8]) -> Result<sealed::Sealing, SealRefused> {
    let file = disk.create(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, Appending(Arc::clone(&file)));
    let written = sealed::seal(wal, &mut out)?;
    out.flush()?;
    file.sync()?;
    Ok(written)
}

/// A file of the disk, as something to write to.
pub(crate) struct Appending(pub(crate) Arc<dyn File>);

impl Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
