//! Sealing: from the bytes of a segment to those of its seal.

use std::collections::HashMap;
use std::io::{self, Write};

use thiserror::Error;

use super::frames::{Counted, Cursor, write_stream};
use super::index::{Frame, GroupEntry, Index, Stream, Stretch, group_name};
use super::rows::{self, Base};
use super::sharing::Sharing;
use super::{FOOTER_CHECKED, MAGIC, MAX_INDEX, MAX_SEGMENT, VERSION};
use crate::chain::{Chain, Root};
use crate::checksum;
use crate::ids::Id;
use crate::record::{self, CRC_BYTES, Record};
use crate::scan::{Scanner, Step, known};
use crate::segment::{Header, HeaderError};

/// What was sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sealing {
    /// The root of the segment.
    pub root: Root,
    /// How many records it holds.
    pub records: u64,
    /// How many requests they belong to.
    pub requests: u64,
    /// The sequence of the last record; nothing if there is none.
    pub last_sequence: Option<u64>,
    /// How many bytes were written.
    pub written: u64,
}

/// Why a segment was not sealed. It stays as it is.
#[derive(Debug, Error)]
pub enum SealRefused {
    /// It cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// It is damaged, and a seal would hide that.
    #[error("the segment is corrupt from byte {start} to byte {end}")]
    Corruption {
        /// Where the damage begins.
        start: usize,
        /// Where the next intact record begins.
        end: usize,
    },
    /// A seal has no place for what this record says.
    #[error(
        "record {sequence} has the version {version}, and a seal keeps version {} alone",
        record::VERSION
    )]
    RecordVersion {
        /// Which record.
        sequence: u64,
        /// Its version.
        version: u8,
    },
    /// It is longer than a reader would take.
    #[error("the segment or its index is too long for a seal")]
    TooLong,
    /// The seal could not be written.
    #[error("the seal could not be written: {0}")]
    Write(#[from] io::Error),
}

/// How hard the index is compressed.
const INDEX_LEVEL: i32 = 9;

/// Write the seal of `segment` to `out`.
///
/// # Errors
///
/// If the segment may not be sealed, or `out` does not take the bytes. What was written until then is of no use.
pub fn seal(segment: &[u8], out: impl Write) -> Result<Sealing, SealRefused> {
    if segment.len() as u64 > MAX_SEGMENT {
        return Err(SealRefused::TooLong);
    }
    let survey = Survey::of(segment)?;
    let plan = Plan::of(segment, &survey);
    let header = &segment[..survey.header_length];
    let mut out = Counted { out, written: 0 };
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&0_u16.to_le_bytes())?;
    out.write_all(&u32::try_from(header.len()).map_err(|_| SealRefused::TooLong)?.to_le_bytes())?;
    out.write_all(header)?;
    let frames = plan.write_frames(segment, &survey, &mut out)?;
    let index = Index {
        frames,
        unit: survey.base.unit,
        records: survey.records,
        bytes: segment.len() as u64,
        groups: plan.groups,
        torn: plan.torn,
    };
    finish(&mut out, &index, survey.root)?;
    Ok(Sealing {
        root: survey.root,
        records: survey.records,
        requests: survey.groups.iter().filter(|(id, _)| !id.is_zero()).count() as u64,
        last_sequence: survey.last_sequence,
        written: out.written,
    })
}

/// Write the index and the footer.
fn finish(out: &mut Counted<impl Write>, index: &Index, root: Root) -> Result<(), SealRefused> {
    let raw = serde_json::to_vec(index).map_err(io::Error::from)?;
    let raw_length =
        u32::try_from(raw.len()).ok().filter(|_| raw.len() <= MAX_INDEX).ok_or(SealRefused::TooLong)?;
    let packed = zstd::bulk::compress(&raw, INDEX_LEVEL)?;
    let packed_length = u32::try_from(packed.len()).map_err(|_| SealRefused::TooLong)?;
    let mut footer = Vec::with_capacity(super::FOOTER_BYTES);
    footer.extend_from_slice(&out.written.to_le_bytes());
    footer.extend_from_slice(&packed_length.to_le_bytes());
    footer.extend_from_slice(&raw_length.to_le_bytes());
    footer.extend_from_slice(&root.0);
    debug_assert_eq!(footer.len(), FOOTER_CHECKED);
    let crc = checksum::of([packed.as_slice(), &footer]);
    footer.extend_from_slice(&crc.to_le_bytes());
    footer.extend_from_slice(&[0; 4]);
    footer.extend_from_slice(&MAGIC);
    out.write_all(&packed)?;
    out.write_all(&footer)?;
    Ok(out.flush()?)
}

/// What a segment holds, as offsets into it.
struct Survey {
    header_length: usize,
    base: Base,
    groups: Vec<(Id, Vec<usize>)>,
    records: u64,
    last_sequence: Option<u64>,
    torn_start: usize,
    root: Root,
}

impl Survey {
    fn of(segment: &[u8]) -> Result<Self, SealRefused> {
        let scanner = Scanner::new(segment)?;
        let header_bytes = scanner.header_bytes();
        let &Header { first_sequence, monotonic, .. } = scanner.header();
        let mut chain = Chain::new(header_bytes);
        let mut places: HashMap<Id, usize> = HashMap::new();
        let mut groups: Vec<(Id, Vec<usize>)> = Vec::new();
        let (mut records, mut last_sequence, mut torn_start) = (0, None, segment.len());
        let mut in_microseconds = monotonic % 1000 == 0;
        for step in scanner {
            match step {
                Step::Record { offset, end, record } => {
                    if record.version != record::VERSION {
                        let Record { sequence, version, .. } = record;
                        return Err(SealRefused::RecordVersion { sequence, version });
                    }
                    chain.update(&segment[offset + CRC_BYTES..end]);
                    let place = *places.entry(record.request).or_insert_with(|| {
                        groups.push((record.request, Vec::new()));
                        groups.len() - 1
                    });
                    groups[place].1.push(offset);
                    in_microseconds &= record.monotonic % 1000 == 0;
                    records += 1;
                    last_sequence = Some(record.sequence);
                }
                Step::Corruption { start, end } => return Err(SealRefused::Corruption { start, end }),
                Step::Torn { start, .. } => torn_start = start,
            }
        }
        let base = Base { sequence: first_sequence, monotonic, unit: if in_microseconds { 1000 } else { 1 } };
        let (header_length, root) = (header_bytes.len(), chain.root());
        Ok(Self { header_length, base, groups, records, last_sequence, torn_start, root })
    }

    /// The records of one group.
    fn records<'a>(segment: &'a [u8], offsets: &'a [usize]) -> impl Iterator<Item = Record<'a>> {
        offsets.iter().map(|&offset| known(segment, offset))
    }

    /// What a stream of payloads holds, group by group.
    fn payloads<'a>(&'a self, segment: &'a [u8], stream: Stream) -> impl Iterator<Item = &'a [u8]> {
        self.groups
            .iter()
            .flat_map(|(_, offsets)| Self::records(segment, offsets))
            .filter(move |record| Stream::of(record) == stream)
            .map(|record| record.payload)
    }
}

/// Where everything will lie, decided before the first frame is written.
struct Plan {
    rows: Vec<u8>,
    groups: Vec<GroupEntry>,
    torn: Stretch,
    /// How much of each group's request lies where an earlier one does.
    shared: Vec<u64>,
    /// How many bytes each stream holds.
    totals: [u64; 4],
}

impl Plan {
    fn of(segment: &[u8], survey: &Survey) -> Self {
        let mut plan = Self {
            rows: Vec::new(),
            groups: Vec::new(),
            torn: Stretch::new(),
            shared: Vec::new(),
            totals: [0; 4],
        };
        let mut lengths = Vec::with_capacity(survey.groups.len());
        let mut cursor = Cursor::new(Stream::Rows, 0);
        for (id, offsets) in &survey.groups {
            let before = plan.rows.len();
            rows::encode(&mut plan.rows, Survey::records(segment, offsets), survey.base);
            let mut length = [0; 4];
            for record in Survey::records(segment, offsets) {
                length[Stream::of(&record) as usize] += record.payload.len() as u64;
            }
            lengths.push(length);
            let entry = GroupEntry::empty(group_name(*id), offsets.len() as u64);
            plan.groups.push(GroupEntry { rows: cursor.advance((plan.rows.len() - before) as u64), ..entry });
        }
        let mut cursor = plan.next_stream(&cursor, Stream::Other);
        for (group, length) in plan.groups.iter_mut().zip(&lengths) {
            group.other = cursor.advance(length[Stream::Other as usize]);
        }
        plan.torn = cursor.advance((segment.len() - survey.torn_start) as u64);
        let mut cursor = plan.next_stream(&cursor, Stream::Request);
        let mut sharing = Sharing::default();
        for (group, (_, offsets)) in plan.groups.iter_mut().zip(&survey.groups) {
            let (stretch, shared) = sharing.place(request_body(segment, offsets).collect(), &mut cursor);
            group.request = stretch;
            plan.shared.push(shared);
        }
        let mut cursor = plan.next_stream(&cursor, Stream::Response);
        for (group, length) in plan.groups.iter_mut().zip(&lengths) {
            group.response = cursor.advance(length[Stream::Response as usize]);
        }
        plan.totals[Stream::Response as usize] = cursor.at;
        plan
    }

    /// Note how long the stream of `cursor` became; returns the cursor of the one after it.
    fn next_stream(&mut self, cursor: &Cursor, next: Stream) -> Cursor {
        self.totals[next as usize - 1] = cursor.at;
        Cursor::new(next, cursor.end_frame())
    }

    fn write_frames(
        &self,
        segment: &[u8],
        survey: &Survey,
        out: &mut Counted<impl Write>,
    ) -> io::Result<Vec<Frame>> {
        let [rows, other, request, response] = self.totals;
        let mut frames = Vec::new();
        write_stream(out, Stream::Rows, [self.rows.as_slice()], rows, &mut frames)?;
        let torn = &segment[survey.torn_start..];
        let others = survey.payloads(segment, Stream::Other).chain([torn]);
        write_stream(out, Stream::Other, others, other, &mut frames)?;
        let requests = survey.groups.iter().zip(&self.shared).flat_map(|((_, offsets), &shared)| {
            request_body(segment, offsets).scan(shared, |skip, part| {
                let skipped = usize::try_from(*skip).map_or(part.len(), |skip| skip.min(part.len()));
                *skip -= skipped as u64;
                Some(&part[skipped..])
            })
        });
        write_stream(out, Stream::Request, requests, request, &mut frames)?;
        write_stream(
            out,
            Stream::Response,
            survey.payloads(segment, Stream::Response),
            response,
            &mut frames,
        )?;
        Ok(frames)
    }
}

/// What one group puts into the stream of requests.
fn request_body<'a>(segment: &'a [u8], offsets: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let records = Survey::records(segment, offsets).filter(|record| Stream::of(record) == Stream::Request);
    records.map(|record| record.payload)
}
