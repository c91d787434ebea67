//! Frames: the data of a stream, cut and compressed, and unpacked again.

use std::io::{self, Write};

use zstd::bulk::Decompressor;
use zstd::stream::write::Encoder;
use zstd::zstd_safe;

use super::MAX_FRAME;
use super::index::{Frame, Piece, Stream, Stretch};

/// How a stream is compressed.
struct Effort {
    level: i32,
    long_distance: bool,
    frame: usize,
}

/// Requests repeat each other over megabytes; the other streams repeat themselves within kilobytes, where looking far
/// back costs time and, measured, space.
fn effort(stream: Stream) -> Effort {
    match stream {
        Stream::Request => Effort { level: 7, long_distance: true, frame: MAX_FRAME },
        Stream::Rows | Stream::Other | Stream::Response => {
            Effort { level: 9, long_distance: false, frame: SMALL_FRAME }
        }
    }
}

/// What streams are cut into that gain nothing from longer frames: less is unpacked for a request.
const SMALL_FRAME: usize = 8 << 20;

/// Zstandard's window: as large as the largest frame.
const WINDOW_LOG: u32 = 25;

/// How far a stream was given out.
pub(super) struct Cursor {
    first_frame: u64,
    frame: u64,
    pub(super) at: u64,
}

impl Cursor {
    pub(super) fn new(stream: Stream, first_frame: u64) -> Self {
        Self { first_frame, frame: effort(stream).frame as u64, at: 0 }
    }

    /// The frame that the next byte lies in.
    pub(super) fn current_frame(&self) -> u64 {
        self.first_frame + self.at / self.frame
    }

    /// The first frame after those of this stream.
    pub(super) fn end_frame(&self) -> u64 {
        self.first_frame + self.at.div_ceil(self.frame)
    }

    /// The place of the next `length` bytes.
    pub(super) fn advance(&mut self, mut length: u64) -> Stretch {
        let mut stretch = Stretch::new();
        while length > 0 {
            let inside = self.at % self.frame;
            let taken = length.min(self.frame - inside);
            let numbers = [self.current_frame(), inside, taken];
            let [frame, offset, taken_here] =
                numbers.map(|number| u32::try_from(number).expect("a segment of at most 4 GiB"));
            stretch.push(Piece(frame, offset, taken_here));
            self.at += taken;
            length -= taken;
        }
        stretch
    }
}

/// Write the frames of one stream, whose pieces have `total` bytes.
pub(super) fn write_stream<'a>(
    out: &mut Counted<impl Write>,
    stream: Stream,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    total: u64,
    frames: &mut Vec<Frame>,
) -> io::Result<()> {
    let effort = effort(stream);
    let mut pieces = pieces.into_iter();
    let mut piece: &[u8] = &[];
    let mut rest = total;
    while rest > 0 {
        let raw = rest.min(effort.frame as u64);
        let offset = out.written;
        let mut encoder = Encoder::new(&mut *out, effort.level)?;
        encoder.window_log(WINDOW_LOG)?;
        encoder.long_distance_matching(effort.long_distance)?;
        encoder.set_pledged_src_size(Some(raw))?;
        let mut checksum = crc32fast::Hasher::new();
        let mut missing = usize::try_from(raw).expect("a frame fits in memory");
        while missing > 0 {
            if piece.is_empty() {
                piece = pieces.next().expect("the pieces have as many bytes as were counted");
            }
            let (now, later) = piece.split_at(piece.len().min(missing));
            encoder.write_all(now)?;
            checksum.update(now);
            missing -= now.len();
            piece = later;
        }
        encoder.finish()?;
        let length = out.written - offset;
        let raw_length = u32::try_from(raw).expect("a frame has at most 32 MiB");
        frames.push(Frame { stream, offset, length, raw: raw_length, crc: checksum.finalize() });
        rest -= raw;
    }
    Ok(())
}

/// A writer that knows how many bytes it took.
pub(super) struct Counted<W> {
    pub(super) out: W,
    pub(super) written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The `raw` bytes that one zstd frame holds.
pub(super) fn unpack(packed: &[u8], raw: usize) -> Result<Vec<u8>, &'static str> {
    let stated = zstd_safe::get_frame_content_size(packed).ok().flatten();
    if stated != Some(raw as u64) {
        return Err("it states another length than the index");
    }
    let mut decompressor = Decompressor::new().map_err(|_| "there is no memory to unpack it")?;
    match decompressor.decompress(packed, raw) {
        Ok(bytes) if bytes.len() == raw => Ok(bytes),
        _ => Err("it cannot be unpacked"),
    }
}
