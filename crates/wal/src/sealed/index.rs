//! The index of a sealed segment: where each frame lies, and where in them each request.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{MAX_FRAME, MAX_SEGMENT, rows};
use crate::ids::{Id, NoId};
use crate::record::{HEADER_BYTES, Kind, Record, flags};

/// The four kinds of data that frames hold, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stream {
    Rows,
    Other,
    Request,
    Response,
}

impl Stream {
    pub(super) const ALL: [Self; 4] = [Self::Rows, Self::Other, Self::Request, Self::Response];

    /// Where the payload of a record lies.
    pub(super) fn of(record: &Record<'_>) -> Self {
        Self::of_fields(record.kind, record.flags)
    }

    /// Where the payload of a record with this type and these flags lies.
    pub(super) fn of_fields(kind: u8, record_flags: u16) -> Self {
        match Kind::from_code(kind) {
            Some(Kind::RequestBody) => Self::Request,
            Some(Kind::WsFrame) if record_flags & flags::FROM_CLIENT != 0 => Self::Request,
            Some(Kind::ResponseBody | Kind::WsFrame) => Self::Response,
            _ => Self::Other,
        }
    }
}

/// One zstd frame: where it lies in the file, and what it holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) stream: Stream,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) raw: u32,
    pub(super) crc: u32,
}

/// A part of a frame: its number, the offset in what it holds, and the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece(pub(super) u32, pub(super) u32, pub(super) u32);

/// A place in a stream: pieces that are read one after the other.
pub(super) type Stretch = Vec<Piece>;

/// Where the records of one request lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GroupEntry {
    pub(super) id: String,
    pub(super) count: u64,
    pub(super) rows: Stretch,
    pub(super) other: Stretch,
    pub(super) request: Stretch,
    pub(super) response: Stretch,
}

impl GroupEntry {
    /// A group whose records lie nowhere yet.
    pub(super) fn empty(id: String, count: u64) -> Self {
        let nowhere = Stretch::new;
        Self { id, count, rows: nowhere(), other: nowhere(), request: nowhere(), response: nowhere() }
    }

    /// The place of this group in a stream.
    pub(super) fn stretch(&self, stream: Stream) -> &Stretch {
        match stream {
            Stream::Rows => &self.rows,
            Stream::Other => &self.other,
            Stream::Request => &self.request,
            Stream::Response => &self.response,
        }
    }
}

/// The whole index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) frames: Vec<Frame>,
    pub(super) unit: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) groups: Vec<GroupEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) torn: Stretch,
}

/// The id of a group in the index: nothing for records that belong to no request.
pub(super) fn group_name(id: Id) -> String {
    if id.is_zero() { String::new() } else { id.to_string() }
}

/// The id that a group of the index has.
fn group_id(name: &str) -> Result<Id, NoId> {
    if name.is_empty() { Ok(Id::default()) } else { name.parse() }
}

/// The length of a stretch.
pub(super) fn length(stretch: &Stretch) -> u64 {
    stretch.iter().map(|piece| u64::from(piece.2)).sum()
}

/// Check that everything the index names is there and that its numbers fit each other; returns the ids of the groups.
///
/// After this, nothing that is unpacked can be longer than the segment that the index describes.
pub(super) fn check(index: &Index, start: u64, end: u64, header_length: usize) -> Result<Vec<Id>, String> {
    if ![1, 1000].contains(&index.unit) {
        return Err(format!("its unit of time is {}", index.unit));
    }
    for (number, frame) in index.frames.iter().enumerate() {
        let inside =
            frame.offset >= start && frame.offset.checked_add(frame.length).is_some_and(|last| last <= end);
        if !inside || frame.raw as usize > MAX_FRAME {
            return Err(format!("frame {number} lies outside of the file, or is too large"));
        }
    }
    let mut ids = Vec::with_capacity(index.groups.len());
    let mut known = HashSet::with_capacity(index.groups.len());
    let (mut records, mut payloads) = (0_u64, length(&index.torn));
    check_stretch(index, &index.torn, Stream::Other)?;
    for group in &index.groups {
        let id = group_id(&group.id).map_err(|error| error.to_string())?;
        ids.push(id);
        if !known.insert(id) {
            return Err(format!("it has the group {:?} twice", group.id));
        }
        for stream in Stream::ALL {
            check_stretch(index, group.stretch(stream), stream)?;
        }
        if !(rows::least(group.count)..=rows::most(group.count)).contains(&length(&group.rows)) {
            return Err(format!("the group {:?} cannot have {} records", group.id, group.count));
        }
        records = records.saturating_add(group.count);
        payloads =
            payloads.saturating_add(length(&group.other) + length(&group.request) + length(&group.response));
    }
    let heads = records.saturating_mul(HEADER_BYTES as u64);
    let bytes = heads.saturating_add(payloads).saturating_add(header_length as u64);
    if records != index.records || bytes != index.bytes || bytes > MAX_SEGMENT {
        return Err("the lengths of its groups do not add up".to_owned());
    }
    Ok(ids)
}

fn check_stretch(index: &Index, stretch: &Stretch, stream: Stream) -> Result<(), String> {
    for piece in stretch {
        let fits = index.frames.get(piece.0 as usize).is_some_and(|frame| {
            frame.stream == stream && piece.1.checked_add(piece.2).is_some_and(|last| last <= frame.raw)
        });
        if !fits {
            return Err(format!(
                "it names {} bytes at {} of frame {}, which are not there",
                piece.2, piece.1, piece.0
            ));
        }
    }
    Ok(())
}
