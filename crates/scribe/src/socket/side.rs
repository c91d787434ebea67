//! One direction of a WebSocket: frames found, unmasked, counted, and handed on as messages.

use hmac::{Hmac, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use super::frames::{BadFrame, Frames, Head, Opcode, Part, unmask};
use super::inflate::{self, Inflate};
use super::message::Messages;
use crate::desk::{Desk, Outlet};
use crate::event::{Cause, Direction, Fields};
use crate::missing::{self, Missing, UNDECODABLE};
use crate::payloads::{self, BodyEnd, Gap};

/// What a side sent, counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: u64,
    pub(super) pings: u64,
    pub(super) pongs: u64,
    /// The payload of the first frame that closed this side.
    pub(super) close: Option<Vec<u8>>,
}

/// How the bytes of a direction are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Frames,
    /// They are no frames, or there was a hole: nothing more can be told from them.
    Lost,
    Over,
}

/// One direction.
pub(super) struct Side {
    direction: Direction,
    wire: u64,
    /// Nothing once bytes were dropped.
    hmac: Option<Hmac<Sha256>>,
    reading: Reading,
    frames: Frames,
    /// The frame whose payload is being read.
    head: Option<Head>,
    /// The payload of a frame that controls the connection.
    control: Vec<u8>,
    inflate: Option<Inflate>,
    messages: Messages,
    /// Whether a message has begun and not ended.
    under_way: bool,
    missing: Missing,
    pub(super) tally: Tally,
}

impl Side {
    pub(super) fn new(direction: Direction, fields: &Fields, desk: &Desk) -> Self {
        Self {
            direction,
            wire: 0,
            hmac: Some(desk.hmac()),
            reading: Reading::Frames,
            frames: Frames::default(),
            head: None,
            control: Vec::new(),
            inflate: inflate::agreed(fields, direction),
            messages: Messages::new(direction, desk.mode),
            under_way: false,
            missing: Missing::default(),
            tally: Tally::default(),
        }
    }

    /// Take more bytes of the wire.
    pub(super) fn take(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, data: &[u8]) {
        self.wire += data.len() as u64;
        if let Some(hmac) = &mut self.hmac {
            hmac.update(data);
        }
        let read = match self.reading {
            Reading::Frames => self.read(desk, outlet, data),
            Reading::Lost => 0,
            Reading::Over => return,
        };
        self.messages.pause(&mut desk.pen, outlet);
        if self.reading == Reading::Lost && self.messages.are_read() {
            let lost = Missing { reason: UNDECODABLE, bytes: (data.len() - read) as u64, records: 1 };
            self.missing.add(desk, outlet, self.direction, &lost);
        }
    }

    /// Bytes passed that nobody kept: where the next frame begins is not known any more.
    pub(super) fn skip(
        &mut self,
        desk: &mut Desk,
        outlet: &mut Outlet<'_>,
        cause: Cause,
        (bytes, chunks): (u64, u64),
    ) {
        let torn = self.lose(desk, outlet);
        self.missing.say(desk, outlet, self.direction);
        self.hmac = None;
        self.wire += bytes;
        let reason = missing::reason(cause);
        let gap = Gap { reason, direction: self.direction, bytes: bytes + torn, records: chunks };
        desk.write_gap(outlet, &gap);
    }

    /// Write what was held back, and what is missing. Once that is done, doing it again changes nothing.
    pub(super) fn finish(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) {
        if std::mem::take(&mut self.under_way) {
            self.messages.break_off(desk, outlet, false);
        }
        self.missing.say(desk, outlet, self.direction);
        self.abandon(desk);
    }

    /// Give back what decoding took; nothing more will be written.
    pub(super) fn abandon(&mut self, desk: &mut Desk) {
        if let Some(inflate) = &mut self.inflate {
            inflate.release(&mut desk.decoding);
        }
        self.reading = Reading::Over;
    }

    /// What became of the frames.
    pub(super) fn end(&self, complete: bool) -> BodyEnd<'_> {
        let hmac = self.hmac.clone().map(|hmac| payloads::hexadecimal(&hmac.finalize().into_bytes()));
        BodyEnd {
            wire: self.wire,
            decoded: self.messages.decoded,
            stored: self.messages.stored,
            encoding: self.inflate.as_ref().map(|_| inflate::NAME),
            hmac,
            complete,
            redactions: &self.messages.redactions,
            trailers: None,
        }
    }

    pub(super) fn kept(&self) -> Option<&Map<String, Value>> {
        self.messages.kept()
    }

    /// Read frames; returns how many bytes could be.
    fn read(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, data: &[u8]) -> usize {
        let mut at = 0;
        loop {
            let rest = &data[at..];
            let read = match self.frames.next(rest) {
                Ok(None) => return data.len(),
                Ok(Some((used, Part::Head(head)))) => self.begin(head).map(|()| used),
                Ok(Some((used, Part::Payload { place, before, ends }))) => {
                    self.payload(desk, outlet, &rest[place], before);
                    if ends {
                        self.end_frame(desk, outlet);
                    }
                    Ok(used)
                }
                Err(BadFrame) => Err(BadFrame),
            };
            let Ok(used) = read else {
                self.lose(desk, outlet);
                return at;
            };
            at += used;
        }
    }

    /// A frame begins, if it may begin here.
    fn begin(&mut self, head: Head) -> Result<(), BadFrame> {
        let starts = matches!(head.opcode, Opcode::Text | Opcode::Binary);
        let continues = head.opcode == Opcode::Continuation;
        let misplaced = (starts && self.under_way) || (continues && !self.under_way);
        if misplaced || (head.packed && (!starts || self.inflate.is_none())) {
            return Err(BadFrame);
        }
        self.head = Some(head);
        if starts {
            self.under_way = true;
            self.messages.begin(head.opcode == Opcode::Binary, head.packed);
            if let Some(inflate) = self.inflate.as_mut().filter(|_| head.packed) {
                inflate.begin();
            }
        }
        Ok(())
    }

    fn payload(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>, data: &[u8], before: u64) {
        let Some(head) = self.head else { return };
        let is_control = head.opcode.is_control();
        if data.is_empty() || !(is_control || self.messages.are_read()) {
            return;
        }
        let mut plain = std::mem::take(&mut desk.unmasked);
        let data = match head.mask {
            Some(mask) => {
                plain.clear();
                plain.extend_from_slice(data);
                unmask(&mut plain, mask, before);
                plain.as_slice()
            }
            None => data,
        };
        if is_control {
            self.control.extend_from_slice(data);
        } else {
            self.messages.take(desk, outlet, self.inflate.as_mut(), data);
        }
        desk.unmasked = plain;
    }

    fn end_frame(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) {
        let Some(head) = self.head.take() else { return };
        match head.opcode {
            Opcode::Close => {
                let payload = std::mem::take(&mut self.control);
                self.tally.close.get_or_insert(payload);
            }
            Opcode::Ping => self.tally.pings += 1,
            Opcode::Pong => self.tally.pongs += 1,
            Opcode::Text | Opcode::Binary | Opcode::Continuation if head.last => {
                self.under_way = false;
                self.tally.messages += 1;
                self.messages.end(desk, outlet, self.inflate.as_mut());
            }
            Opcode::Text | Opcode::Binary | Opcode::Continuation => {}
        }
        self.control.clear();
    }

    /// Nothing more can be read. Returns how much of a message was left out because it was torn.
    fn lose(&mut self, desk: &mut Desk, outlet: &mut Outlet<'_>) -> u64 {
        if self.reading != Reading::Frames {
            return 0;
        }
        let torn =
            if std::mem::take(&mut self.under_way) { self.messages.break_off(desk, outlet, true) } else { 0 };
        self.abandon(desk);
        self.reading = Reading::Lost;
        torn
    }
}
