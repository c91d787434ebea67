//! A tunnel to a host that is not recorded: bytes both ways, counted and not looked at.

use std::sync::Arc;

use scribe::event::{Direction, Failure, Fields, ResponseHead};

use crate::forwarding::connection::{Connection, Next};
use crate::forwarding::duplex::{Listener, Over, hang_up};
use crate::forwarding::forward::ESTABLISHED;
use crate::forwarding::relay::End;
use crate::forwarding::routes::Upstream;
use crate::forwarding::tape::Tape;
use crate::http::request::Request;
use crate::http::version_name;

/// Counts what passes.
struct Counter<'a>(&'a Tape);

impl Listener for Counter<'_> {
    async fn passed(&self, direction: Direction, data: &[u8]) {
        self.0.count_passed(direction, data.len());
    }

    fn ended(&self, direction: Direction) {
        match direction {
            Direction::Request => self.0.request_sent(),
            Direction::Response => self.0.response_complete(Fields::new()),
        }
    }
}

impl Connection<'_> {
    /// Connect to where the client asked for, and pass bytes until both sides have enough.
    pub(super) async fn tunnel(&mut self, request: &Request, tape: &Tape, place: Arc<Upstream>) -> Next {
        self.link = None;
        let mut link = match self.connect_or_say(request, &place, tape).await {
            Ok(link) => link,
            Err(next) => return next,
        };
        if let Err(error) = self.writer.write(ESTABLISHED).await {
            tape.close(End::ClientGone(error).failure());
            return Next::Close;
        }
        tape.head(ResponseHead { status: 200, version: version_name(1), ..ResponseHead::default() });
        tape.flush();
        let over = self.pass_both_ways(&mut link, &Counter(tape)).await;
        let next = hang_up(&over, link);
        tape.close(match over {
            Over::Closed(_) => None,
            Over::Broke(Direction::Request, error) => End::ClientGone(error).failure(),
            Over::Broke(Direction::Response, error) => End::Reset(error).failure(),
            Over::Silent => {
                let message = "nothing passed through the tunnel when the recorder stopped".to_owned();
                Some(Failure { at: "recorder", code: "stopped", message })
            }
        });
        next
    }
}
