//! What a closed segment holds, from whichever of its files is there.

use std::io;
use std::path::Path;

use thiserror::Error;
use wal::chain::{Chain, Root};
use wal::record::{CRC_BYTES, HEADER_BYTES, Record};
use wal::scan::{Scanner, Step};
use wal::sealed::{self, Sealed, SealedError};
use wal::segment::{Header, HeaderError, MAX_HEADER};

use crate::disk::Disk;
use crate::folder::{Form, Segment};

/// How many bytes of a seal stand before the segment's header.
const SEAL_PREAMBLE: usize = 16;

/// Why a segment cannot be read.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// Its header is unreadable, and so is the whole segment.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Its seal is damaged.
    #[error(transparent)]
    Seal(#[from] SealedError),
}

/// What is known of a segment once all of it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// What it says of itself.
    pub(crate) header: Header,
    /// The root over its intact records.
    pub(crate) root: Root,
    /// The sequence of its last intact record.
    pub(crate) last_sequence: Option<u64>,
    /// Where that record ends in the `.wal`.
    pub(crate) end: u64,
    /// How long the `.wal` is or was.
    pub(crate) raw_bytes: u64,
}

/// Read a whole segment; `visit` gets its intact records in order.
///
/// A seal has precedence: it gets its name when it is whole. The `.wal` beside it stands in should it be damaged.
pub(crate) fn read(
    disk: &dyn Disk,
    folder: &Path,
    segment: &Segment,
    visit: &mut dyn FnMut(&Record<'_>),
) -> Result<Contents, ReadError> {
    if segment.seal.is_some() {
        let bytes = disk.read(&Form::Seal.path(folder, segment.number), None)?;
        match from_seal(&bytes, visit) {
            Err(_) if segment.wal.is_some() => {}
            read => return Ok(read?),
        }
    }
    let bytes = disk.read(&Form::Wal.path(folder, segment.number), None)?;
    Ok(from_wal(&bytes, visit)?)
}

/// Read the bytes of a `.wal`.
pub(crate) fn from_wal(bytes: &[u8], visit: &mut dyn FnMut(&Record<'_>)) -> Result<Contents, HeaderError> {
    let scanner = Scanner::new(bytes)?;
    let (header, header_bytes) = (scanner.header().clone(), scanner.header_bytes());
    let mut chain = Chain::new(header_bytes);
    let (mut last_sequence, mut end) = (None, header_bytes.len());
    for step in scanner {
        if let Step::Record { offset, end: after, record } = step {
            chain.update(&bytes[offset + CRC_BYTES..after]);
            (last_sequence, end) = (Some(record.sequence), after);
            visit(&record);
        }
    }
    Ok(Contents { header, root: chain.root(), last_sequence, end: end as u64, raw_bytes: bytes.len() as u64 })
}

fn from_seal(bytes: &[u8], visit: &mut dyn FnMut(&Record<'_>)) -> Result<Contents, SealedError> {
    let sealed = Sealed::parse(bytes)?;
    let mut contents = Contents {
        header: sealed.header().clone(),
        root: sealed.root(),
        last_sequence: None,
        end: sealed.header_bytes().len() as u64,
        raw_bytes: sealed.segment_bytes(),
    };
    for record in sealed.records()?.iter() {
        contents.last_sequence = Some(record.sequence);
        contents.end += (HEADER_BYTES + record.payload.len()) as u64;
        visit(&record);
    }
    Ok(contents)
}

/// The header of a segment, without the rest of it.
pub(crate) fn header(disk: &dyn Disk, folder: &Path, segment: &Segment) -> Result<Header, ReadError> {
    let limit = Some((SEAL_PREAMBLE + MAX_HEADER) as u64);
    if segment.seal.is_some() {
        let bytes = disk.read(&Form::Seal.path(folder, segment.number), limit)?;
        let is_seal = bytes.starts_with(&sealed::MAGIC);
        match Header::parse(bytes.get(SEAL_PREAMBLE..).unwrap_or_default()) {
            Ok((header, _)) if is_seal => return Ok(header),
            Err(error) if segment.wal.is_none() => return Err(error.into()),
            _ if segment.wal.is_none() => return Err(HeaderError::Magic.into()),
            _ => {}
        }
    }
    let bytes = disk.read(&Form::Wal.path(folder, segment.number), limit)?;
    Ok(Header::parse(&bytes)?.0)
}
