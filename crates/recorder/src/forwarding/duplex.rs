//! Bytes both ways at once until both sides have enough, whatever they mean.

use std::cell::Cell;
use std::io;
use std::time::Instant;

use bytes::BytesMut;
use scribe::event::Direction;

use crate::forwarding::connection::{Connection, Next};
use crate::forwarding::dial::{Link, Reader, Writer};
use crate::log;

/// Hears of what passes.
pub(super) trait Listener {
    /// Bytes were handed on.
    async fn passed(&self, direction: Direction, data: &[u8]);

    /// A side has said that it sends no more, and that was passed on.
    fn ended(&self, direction: Direction);
}

/// How it ended.
#[derive(Debug)]
pub(super) enum Over {
    /// Both connections were closed, that of this sender first.
    Closed(Direction),
    /// The connection of this sender broke.
    Broke(Direction, io::Error),
    /// Nothing passed any more, and the recorder is stopping.
    Silent,
}

/// How one direction ended.
enum Half {
    /// The sender said that it has no more, and that was passed on.
    Ended,
    /// The sender's connection broke.
    Broken(io::Error),
    /// The receiver takes no more; its own words tell why.
    Refused(io::Error),
}

impl Connection<'_> {
    /// Pass bytes until both sides have enough.
    pub(super) async fn pass_both_ways(&mut self, link: &mut Link, listener: &impl Listener) -> Over {
        let last = Cell::new(Instant::now());
        let way = |direction| Way { listener, direction, last: &last };
        let (up, down) = (way(Direction::Request), way(Direction::Response));
        let up = up.pass(&mut self.reader, &mut self.inbox, &mut link.writer);
        let down = down.pass(&mut link.reader, &mut link.inbox, &mut self.writer);
        tokio::pin!(up, down);
        let (mut upload, mut download) = (None, None);
        let mut first = Direction::Response;
        loop {
            tokio::select! {
                half = &mut up, if upload.is_none() => {
                    if download.is_none() {
                        first = Direction::Request;
                    }
                    upload = Some(half);
                }
                half = &mut down, if download.is_none() => download = Some(half),
                () = self.stop.silent(&last) => return Over::Silent,
            }
            (upload, download) = match (upload, download) {
                (Some(Half::Broken(error)), _) | (Some(_), Some(Half::Refused(error))) => {
                    return Over::Broke(Direction::Request, error);
                }
                (_, Some(Half::Broken(error))) | (Some(Half::Refused(error)), Some(_)) => {
                    return Over::Broke(Direction::Response, error);
                }
                (Some(Half::Ended), Some(Half::Ended)) => return Over::Closed(first),
                // Who takes no more is about to say why, and until then its last words may still come.
                unfinished => unfinished,
            };
        }
    }
}

/// What the end of one side means for the other: it hears the same.
pub(super) fn hang_up(over: &Over, link: Link) -> Next {
    match over {
        Over::Closed(_) | Over::Silent => Next::Close,
        // Under TLS, that is an end without a word.
        Over::Broke(_, error) if error.kind() == io::ErrorKind::UnexpectedEof => Next::Tear,
        Over::Broke(Direction::Response, _) => Next::Reset,
        Over::Broke(Direction::Request, _) => {
            if let Err(error) = link.writer.break_off() {
                log::debug("a reset could not be passed on", &[("error", &error.to_string())]);
            }
            Next::Reset
        }
    }
}

/// One of the two ways.
struct Way<'a, L> {
    listener: &'a L,
    direction: Direction,
    last: &'a Cell<Instant>,
}

impl<L: Listener> Way<'_, L> {
    /// Pass bytes until they end.
    async fn pass(&self, reader: &mut Reader, inbox: &mut BytesMut, writer: &mut Writer) -> Half {
        loop {
            if !inbox.is_empty() {
                if let Err(error) = writer.write(inbox).await {
                    return Half::Refused(error);
                }
                self.last.set(Instant::now());
                self.listener.passed(self.direction, inbox).await;
                inbox.clear();
            }
            match reader.read(inbox).await {
                Ok(0) => match writer.shutdown().await {
                    Ok(()) => {
                        self.listener.ended(self.direction);
                        return Half::Ended;
                    }
                    Err(error) => return Half::Refused(error),
                },
                Ok(_) => {}
                Err(error) => return Half::Broken(error),
            }
        }
    }
}
