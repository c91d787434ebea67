//! Reading a seal: as little of it as a question needs, or all of it and checked against its root.

use std::collections::HashMap;

use thiserror::Error;

use super::frames::unpack;
use super::index::{GroupEntry, Index, Stream, Stretch, check, length};
use super::rows::{self, Base, Row};
use super::{FOOTER_BYTES, FOOTER_CHECKED, MAGIC, MAX_INDEX, PREAMBLE_BYTES, VERSION};
use crate::chain::{Chain, Root};
use crate::checksum;
use crate::ids::Id;
use crate::record::{self, Record};
use crate::segment::{Header, HeaderError};

/// Why a seal, or a part of it, cannot be read.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum SealedError {
    /// The file ends too early, or is no seal.
    #[error("the file is no sealed segment: {0}")]
    Shape(&'static str),
    /// The seal is in a version of the format that this program does not know.
    #[error(
        "the seal has version {version} and flags {flags}, and this program reads version {VERSION} without flags"
    )]
    Version {
        /// Its version.
        version: u16,
        /// Its flags.
        flags: u16,
    },
    /// The header of the segment cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The index is not what was written.
    #[error("the seal's index is damaged: {0}")]
    Index(String),
    /// A frame is not what was written.
    #[error("frame {frame} of the seal, at byte {offset}, is damaged: {cause}")]
    Frame {
        /// The number of the frame.
        frame: usize,
        /// Where it begins in the file.
        offset: u64,
        /// What does not fit.
        cause: &'static str,
    },
    /// The records of a request are not what was written.
    #[error("the rows of the group {id:?} are damaged")]
    Rows {
        /// The group's name in the index.
        id: String,
    },
    /// All can be read, and yet it is not what was sealed.
    #[error("the records of the seal give the root {found}, and its footer says {stated}")]
    Root {
        /// The root of what the seal holds.
        found: Root,
        /// The root that it claims.
        stated: Root,
    },
}

/// A sealed segment. Nothing but its index is unpacked until someone asks.
#[derive(Debug)]
pub struct Sealed<'a> {
    bytes: &'a [u8],
    header: Header,
    header_bytes: &'a [u8],
    index: Index,
    /// The ids of the groups, in their order.
    ids: Vec<Id>,
    places: HashMap<Id, usize>,
    root: Root,
}

/// What the index says of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupInfo {
    /// The request; zero for the records that belong to none.
    pub id: Id,
    /// How many records it has.
    pub records: u64,
    /// How many bytes of payload.
    pub bytes: u64,
}

impl<'a> Sealed<'a> {
    /// Read the index of a seal.
    ///
    /// # Errors
    ///
    /// If these bytes are no seal, one of another version, or one whose index was damaged.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SealedError> {
        let (preamble, after) =
            bytes.split_first_chunk::<PREAMBLE_BYTES>().ok_or(SealedError::Shape("it is too short"))?;
        if preamble[..8] != MAGIC {
            return Err(SealedError::Shape("it does not begin with a seal's signature"));
        }
        let version = u16::from_le_bytes(field(preamble, 8));
        let flags = u16::from_le_bytes(field(preamble, 10));
        if (version, flags) != (VERSION, 0) {
            return Err(SealedError::Version { version, flags });
        }
        let header_length = usize::try_from(u32::from_le_bytes(field(preamble, 12))).unwrap_or(usize::MAX);
        let header_bytes =
            after.get(..header_length).ok_or(SealedError::Shape("it ends inside the segment's header"))?;
        let (header, parsed) = Header::parse(header_bytes)?;
        if parsed != header_length {
            return Err(SealedError::Shape("the segment's header has another length"));
        }
        let (index, index_offset, root) = read_index(bytes)?;
        let frames_start = (PREAMBLE_BYTES + header_length) as u64;
        let ids = check(&index, frames_start, index_offset, header_length).map_err(SealedError::Index)?;
        let places = ids.iter().copied().zip(0..).collect();
        Ok(Self { bytes, header, header_bytes, index, ids, places, root })
    }

    /// What the segment says of itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The bytes of the header, which the chain begins with.
    #[must_use]
    pub fn header_bytes(&self) -> &'a [u8] {
        self.header_bytes
    }

    /// The root that the footer states. [`Sealed::records`] checks it.
    #[must_use]
    pub fn root(&self) -> Root {
        self.root
    }

    /// How many records there are.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.index.records
    }

    /// The length of the segment that it was made from.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        self.index.bytes
    }

    /// How many bytes of that segment are a torn tail.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        length(&self.index.torn)
    }

    /// All requests, in the order of their first records.
    pub fn groups(&self) -> impl Iterator<Item = GroupInfo> {
        self.index.groups.iter().zip(&self.ids).map(|(entry, &id)| GroupInfo {
            id,
            records: entry.count,
            bytes: length(&entry.other) + length(&entry.request) + length(&entry.response),
        })
    }

    /// The records of one request, or those that belong to none if `id` is zero; only their frames are unpacked.
    ///
    /// # Errors
    ///
    /// If a frame that they lie in is damaged.
    pub fn group(&self, id: Id) -> Result<Option<Group>, SealedError> {
        let Some(&place) = self.places.get(&id) else { return Ok(None) };
        self.unpack_group(&self.index.groups[place], id, &mut Unpacker::new(self)).map(Some)
    }

    /// All records, once they were checked against the root.
    ///
    /// # Errors
    ///
    /// If anything is damaged, or the records are not those that were sealed.
    pub fn records(&self) -> Result<Records, SealedError> {
        self.unpack_records(&mut Unpacker::new(self))
    }

    /// The very bytes of the segment that it was made from.
    ///
    /// # Errors
    ///
    /// If anything is damaged, or the records are not those that were sealed.
    pub fn unseal(&self) -> Result<Vec<u8>, SealedError> {
        let mut unpacker = Unpacker::new(self);
        let records = self.unpack_records(&mut unpacker)?;
        let mut out = Vec::with_capacity(usize::try_from(self.index.bytes).unwrap_or(0));
        out.extend_from_slice(self.header_bytes);
        for record in records.iter() {
            record::encode(&mut out, self.header.id, &record);
        }
        unpacker.append(&self.index.torn, &mut out)?;
        Ok(out)
    }

    fn unpack_records(&self, unpacker: &mut Unpacker<'_, 'a>) -> Result<Records, SealedError> {
        let mut groups = Vec::with_capacity(self.index.groups.len());
        let mut order = Vec::new();
        for (place, (entry, &id)) in self.index.groups.iter().zip(&self.ids).enumerate() {
            let group = self.unpack_group(entry, id, unpacker)?;
            order.extend(
                group.rows.iter().enumerate().map(|(row, (values, _))| (values.sequence, place, row)),
            );
            groups.push(group);
        }
        order.sort_unstable();
        let records = Records { groups, order };
        let mut chain = Chain::new(self.header_bytes);
        for record in records.iter() {
            chain.update(&record.head());
            chain.update(record.payload);
        }
        let found = chain.root();
        if found == self.root { Ok(records) } else { Err(SealedError::Root { found, stated: self.root }) }
    }

    fn unpack_group(
        &self,
        entry: &GroupEntry,
        id: Id,
        unpacker: &mut Unpacker<'_, 'a>,
    ) -> Result<Group, SealedError> {
        let damaged = || SealedError::Rows { id: entry.id.clone() };
        let base = Base {
            sequence: self.header.first_sequence,
            monotonic: self.header.monotonic,
            unit: self.index.unit,
        };
        let count = usize::try_from(entry.count).map_err(|_| damaged())?;
        let mut packed_rows = Vec::new();
        unpacker.append(&entry.rows, &mut packed_rows)?;
        let rows = rows::decode(&packed_rows, count, base).ok_or_else(damaged)?;
        let mut payloads: [Vec<u8>; 4] = Default::default();
        for stream in Stream::ALL.into_iter().filter(|&stream| stream != Stream::Rows) {
            unpacker.append(entry.stretch(stream), &mut payloads[stream as usize])?;
        }
        let mut used = [0; 4];
        let located = rows.into_iter().map(|row| {
            let at = &mut used[Stream::of_fields(row.kind, row.flags) as usize];
            let start = *at;
            *at += row.length as usize;
            (row, start)
        });
        let rows = located.collect();
        if [1, 2, 3].iter().any(|&stream| used[stream] != payloads[stream].len()) {
            return Err(damaged());
        }
        Ok(Group { id, rows, payloads })
    }
}

/// The records of one request.
#[derive(Debug)]
pub struct Group {
    id: Id,
    /// Each with the offset of its payload in its stream.
    rows: Vec<(Row, usize)>,
    payloads: [Vec<u8>; 4],
}

impl Group {
    /// The records, in the order of their sequences.
    #[must_use]
    pub fn records(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        (0..self.rows.len()).map(|row| self.record(row))
    }

    fn record(&self, number: usize) -> Record<'_> {
        let (row, start) = &self.rows[number];
        let payloads = &self.payloads[Stream::of_fields(row.kind, row.flags) as usize];
        Record {
            version: record::VERSION,
            kind: row.kind,
            flags: row.flags,
            sequence: row.sequence,
            monotonic: row.monotonic,
            request: self.id,
            payload: &payloads[*start..start + row.length as usize],
        }
    }
}

/// All records of a seal.
#[derive(Debug)]
pub struct Records {
    groups: Vec<Group>,
    /// Sequence, group and row.
    order: Vec<(u64, usize, usize)>,
}

impl Records {
    /// The records, in the order of their sequences.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.order.iter().map(|&(_, group, row)| self.groups[group].record(row))
    }
}

/// Unpacks frames, and keeps the last of each stream: groups lie in the order in which they are asked for.
struct Unpacker<'s, 'a> {
    sealed: &'s Sealed<'a>,
    last: [Option<(usize, Vec<u8>)>; 4],
}

impl<'s, 'a> Unpacker<'s, 'a> {
    fn new(sealed: &'s Sealed<'a>) -> Self {
        Self { sealed, last: Default::default() }
    }

    /// Append the bytes of a stretch to `out`.
    fn append(&mut self, stretch: &Stretch, out: &mut Vec<u8>) -> Result<(), SealedError> {
        for piece in stretch {
            let [frame, offset, length] = [piece.0, piece.1, piece.2].map(|number| number as usize);
            let last = &mut self.last[self.sealed.index.frames[frame].stream as usize];
            if last.as_ref().is_none_or(|(kept, _)| *kept != frame) {
                *last = None;
            }
            let (_, raw) = match last {
                Some(kept) => kept,
                None => last.insert((frame, unpack_frame(self.sealed, frame)?)),
            };
            out.extend_from_slice(&raw[offset..offset + length]);
        }
        Ok(())
    }
}

fn unpack_frame(sealed: &Sealed<'_>, number: usize) -> Result<Vec<u8>, SealedError> {
    let frame = &sealed.index.frames[number];
    let damaged = |cause| SealedError::Frame { frame: number, offset: frame.offset, cause };
    let within = |number: u64| usize::try_from(number).map_err(|_| damaged("it does not fit in memory"));
    let (start, length) = (within(frame.offset)?, within(frame.length)?);
    let raw = unpack(&sealed.bytes[start..start + length], frame.raw as usize).map_err(damaged)?;
    if checksum::of([raw.as_slice()]) == frame.crc {
        Ok(raw)
    } else {
        Err(damaged("its checksum does not fit"))
    }
}

/// The index, its offset in the file, and the root, from the end of a seal.
fn read_index(bytes: &[u8]) -> Result<(Index, u64, Root), SealedError> {
    let (before, footer) =
        bytes.split_last_chunk::<FOOTER_BYTES>().ok_or(SealedError::Shape("it is too short"))?;
    if footer[56..] != MAGIC || footer[52..56] != [0; 4] {
        return Err(SealedError::Shape("it does not end with a seal's footer"));
    }
    let offset = u64::from_le_bytes(field(footer, 0));
    let packed_length = u32::from_le_bytes(field(footer, 8));
    let raw_length = u32::from_le_bytes(field(footer, 12)) as usize;
    let damaged = |cause: &str| SealedError::Index(cause.to_owned());
    let packed = usize::try_from(offset).ok().and_then(|offset| before.get(offset..));
    let packed = packed
        .filter(|packed| packed.len() as u64 == u64::from(packed_length))
        .ok_or_else(|| damaged("it does not lie before the footer"))?;
    if checksum::of([packed, &footer[..FOOTER_CHECKED]]).to_le_bytes() != footer[FOOTER_CHECKED..52] {
        return Err(damaged("its checksum does not fit"));
    }
    if raw_length > MAX_INDEX {
        return Err(damaged("it is longer than any index"));
    }
    let raw = unpack(packed, raw_length).map_err(damaged)?;
    let index = serde_json::from_slice(&raw).map_err(|error| SealedError::Index(error.to_string()))?;
    Ok((index, offset, Root(field(footer, 16))))
}

/// The `N` bytes at `offset`, which the caller knows to be there.
fn field<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes[offset..offset + N].try_into().expect("a slice of N bytes is an array of N bytes")
}
