//! A WebSocket: bytes both ways as they come, told to the tape after they were handed on.

use std::cell::{Cell, RefCell};
use std::io;

use scribe::event::{Direction, Failure};
use scribe::frames::{Frames, Opcode, Part};

use crate::forwarding::connection::{Connection, Next};
use crate::forwarding::dial::Link;
use crate::forwarding::duplex::{Listener, Over, hang_up};
use crate::forwarding::relay::End;
use crate::forwarding::tape::Tape;

/// What passes, told to the tape and watched.
struct Told<'a> {
    tape: &'a Tape,
    watch: Watch,
    /// Whether client and upstream ended what they sent in good order.
    ended: [Cell<bool>; 2],
}

/// What passes, seen from outside.
#[derive(Default)]
struct Watch {
    request: RefCell<Goodbye>,
    response: RefCell<Goodbye>,
}

/// Looks for the frame with which a side says that it has said all.
#[derive(Default)]
struct Goodbye {
    frames: Frames,
    closes: bool,
    said: bool,
    lost: bool,
}

impl Goodbye {
    fn look(&mut self, data: &[u8]) {
        let mut at = 0;
        while !self.lost && !self.said {
            match self.frames.next(&data[at..]) {
                Ok(None) => return,
                Ok(Some((used, part))) => {
                    at += used;
                    match part {
                        Part::Head(head) => self.closes = head.opcode == Opcode::Close,
                        Part::Payload { ends, .. } => self.said = ends && self.closes,
                    }
                }
                Err(_) => self.lost = true,
            }
        }
    }
}

impl Listener for Told<'_> {
    async fn passed(&self, direction: Direction, data: &[u8]) {
        self.watch.of(direction).borrow_mut().look(data);
        match direction {
            Direction::Request => self.tape.request_body(data, false).await,
            Direction::Response => self.tape.response_body(data).await,
        }
    }

    fn ended(&self, direction: Direction) {
        self.ended[usize::from(direction == Direction::Response)].set(true);
    }
}

impl Watch {
    fn of(&self, direction: Direction) -> &RefCell<Goodbye> {
        match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        }
    }

    fn has_said_goodbye(&self, direction: Direction) -> bool {
        self.of(direction).borrow().said
    }

    /// What the record says of the end. A side that said goodbye may go as it likes.
    fn failure(&self, over: Over) -> Option<Failure> {
        let said = |direction| self.has_said_goodbye(direction);
        let any = said(Direction::Request) || said(Direction::Response);
        match over {
            Over::Closed(_) if any => None,
            Over::Closed(Direction::Request) => {
                End::ClientGone(io::ErrorKind::UnexpectedEof.into()).failure()
            }
            Over::Closed(Direction::Response) => End::Cut.failure(),
            Over::Broke(direction, error) => {
                let is_cut = error.kind() == io::ErrorKind::UnexpectedEof;
                if said(direction) || (is_cut && any) {
                    return None;
                }
                match direction {
                    Direction::Request => End::ClientGone(error).failure(),
                    Direction::Response if is_cut => End::Cut.failure(),
                    Direction::Response => End::Reset(error).failure(),
                }
            }
            Over::Silent => {
                let message = "nothing passed through the WebSocket when the recorder stopped".to_owned();
                Some(Failure { at: "recorder", code: "stopped", message })
            }
        }
    }
}

impl Connection<'_> {
    /// Pass bytes until both sides have enough; the upstream has agreed to speak WebSocket.
    pub(super) async fn socket(&mut self, tape: &Tape, mut link: Link) -> Next {
        let told = Told { tape, watch: Watch::default(), ended: Default::default() };
        tape.complete(false, false);
        let over = self.pass_both_ways(&mut link, &told).await;
        let Told { watch, ended, .. } = told;
        let said = |direction| watch.has_said_goodbye(direction);
        let (client, server) = (said(Direction::Request), said(Direction::Response));
        let [client_ended, server_ended] = ended.map(Cell::into_inner);
        tape.complete(client || (client_ended && server), server || (server_ended && client));
        let next = hang_up(&over, link);
        tape.close(watch.failure(cause(over, server_ended)));
        next
    }
}

/// Whose end it was: a client that leaves after the upstream has, as it likes, was not the first.
fn cause(over: Over, server_ended: bool) -> Over {
    match over {
        Over::Broke(Direction::Request, _) if server_ended => Over::Closed(Direction::Response),
        over => over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(client: &[u8], server: &[u8]) -> Watch {
        let watch = Watch::default();
        for (direction, data) in [(Direction::Request, client), (Direction::Response, server)] {
            for byte in data {
                watch.of(direction).borrow_mut().look(&[*byte]);
            }
        }
        watch
    }

    #[test]
    fn a_goodbye_is_a_whole_close_frame_and_no_payload_that_looks_like_one() {
        let close = b"\x81\x02\x88\x00\x88\x02\x03\xe8";
        assert!(watch(close, b"").has_said_goodbye(Direction::Request));
        assert!(!watch(&close[..7], b"").has_said_goodbye(Direction::Request));
        assert!(!watch(b"\x83\x88\x00\x88\x00", b"").has_said_goodbye(Direction::Request));
    }

    #[test]
    fn what_ends_without_a_goodbye_is_a_failure_of_whoever_went() {
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let code = |watch: &Watch, over| watch.failure(over).map(|failure| failure.code);
        let nobody = watch(b"", b"");
        assert_eq!(code(&nobody, Over::Closed(Direction::Request)), Some("client_disconnected"));
        assert_eq!(code(&nobody, Over::Closed(Direction::Response)), Some("upstream_cut"));
        assert_eq!(code(&nobody, Over::Broke(Direction::Request, reset())), Some("client_reset"));
        assert_eq!(code(&nobody, Over::Broke(Direction::Response, reset())), Some("upstream_reset"));
        assert_eq!(code(&nobody, Over::Broke(Direction::Response, cut())), Some("upstream_cut"));
        assert_eq!(code(&nobody, Over::Silent), Some("stopped"));
        let client = watch(b"\x88\x00", b"");
        assert_eq!(code(&client, Over::Closed(Direction::Response)), None);
        assert_eq!(code(&client, Over::Broke(Direction::Request, reset())), None);
        assert_eq!(code(&client, Over::Broke(Direction::Response, reset())), Some("upstream_reset"));
        assert_eq!(code(&client, Over::Broke(Direction::Response, cut())), None);
    }

    #[test]
    fn a_client_that_breaks_off_after_the_upstream_ended_is_not_the_cause() {
        let broke = || Over::Broke(Direction::Request, io::ErrorKind::ConnectionReset.into());
        assert!(matches!(cause(broke(), true), Over::Closed(Direction::Response)));
        assert!(matches!(cause(broke(), false), Over::Broke(Direction::Request, _)));
        assert!(matches!(cause(Over::Closed(Direction::Request), true), Over::Closed(Direction::Request)));
    }
}
