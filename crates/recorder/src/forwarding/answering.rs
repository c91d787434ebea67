//! What the recorder says in its own name to a client, and what the trace says of that.

use std::time::Instant;

use scribe::event::{Failure, Opening, ResponseHead};
use wal::ids::Id;

use crate::forwarding::connection::{Connection, Next};
use crate::forwarding::guard::TurnedAway;
use crate::forwarding::tape::Tape;
use crate::http::answer::Answer;
use crate::http::request::{Refused, Request};
use crate::http::version_name;
use crate::log;

impl Connection<'_> {
    /// Say that a request is not let in.
    pub(super) async fn turn_away(&mut self, request: &Request, (status, code, message): TurnedAway) -> Next {
        log::info("a request was turned away", &[("code", code), ("cause", message)]);
        self.shared.recorder.metrics.count_error(code);
        let mut answer = Answer::error(status, code, message);
        if status == 407 {
            answer.extra = "proxy-authenticate: Basic realm=\"blackbird\"\r\n";
        }
        self.say(&answer, request, true).await
    }

    /// A head that is none: say so, and let the trace know that something was refused, but not what it was.
    pub(super) async fn refuse(&mut self, Refused(status, message): Refused) -> Next {
        let opening =
            Opening { request: Id(ulid::Ulid::new().0), version: version_name(1), ..Opening::default() };
        let tape = Tape::open(&self.shared.recorder, Instant::now(), opening);
        let answer = Answer::error(status, "bad_request", message);
        self.record_answer(&tape, &answer, "bad_request", message).await;
        let mut out = Vec::new();
        answer.write(&mut out, true, true);
        // A client that does not wait for its refusal misses nothing.
        let _ = self.writer.write(&out).await;
        Next::Close
    }

    /// Answer in our own name, on the record.
    pub(super) async fn fail(
        &mut self,
        tape: &Tape,
        request: &Request,
        status: u16,
        code: &'static str,
        message: &str,
    ) -> Next {
        let mut answer = Answer::error(status, code, message);
        if status == 426 {
            answer.extra = "upgrade: HTTP/1.1\r\n";
        }
        let next = self.say(&answer, request, true).await;
        self.record_answer(tape, &answer, code, message).await;
        next
    }

    async fn record_answer(&self, tape: &Tape, answer: &Answer, code: &'static str, message: &str) {
        let fields = vec![(b"content-type".to_vec(), answer.content_type.as_bytes().to_vec())];
        let head =
            ResponseHead { status: answer.status, reason: Vec::new(), version: version_name(1), fields };
        tape.head(head);
        tape.response_body(&answer.body).await;
        let at = match code {
            "bad_request" => "client",
            "connect_failed" | "tls_failed" => "upstream",
            _ => "recorder",
        };
        tape.close(Some(Failure { at, code, message: message.to_owned() }));
    }

    pub(super) async fn say(&mut self, answer: &Answer, request: &Request, close: bool) -> Next {
        let close = close || !request.connection.persists(request.minor) || self.stop.is_draining();
        let mut out = Vec::new();
        answer.write(&mut out, request.method != "HEAD", close);
        match self.writer.write(&out).await {
            Ok(()) if !close => Next::GoOn,
            _ => Next::Close,
        }
    }
}
