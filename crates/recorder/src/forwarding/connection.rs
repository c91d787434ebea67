//! One connection of a client: request after request, each relayed to its upstream over a connection that this client
//! has for itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use scribe::event::{Failure, Opening, ResponseHead};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wal::ids::Id;

use crate::forwarding::dial::{self, DialError, Dialer, Link, Reader, Writer};
use crate::forwarding::guard::{Guard, TOKEN_FIELD};
use crate::forwarding::relay::{Download, End, Exchange, Upload};
use crate::forwarding::routes::{Destination, Routed, Routes, Upstream, is_recognised};
use crate::forwarding::runs::{self, Runs};
use crate::forwarding::tape::{Recorder, Tape};
use crate::http::answer::Answer;
use crate::http::body::Body;
use crate::http::request::{Outgoing, Refused, Request};
use crate::http::version_name;
use crate::log;
use crate::serving::own;
use crate::serving::stop::Stop;

/// How long a client that was answered before it had sent everything may go on sending into the void.
const LINGER: Duration = Duration::from_secs(2);

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) routes: Routes,
    pub(crate) guard: Guard,
    pub(crate) runs: Arc<Runs>,
    pub(crate) recorder: Recorder,
    pub(crate) dialer: Dialer,
    pub(crate) facts: Arc<own::Facts>,
}

/// What becomes of the client's connection after an exchange.
enum Next {
    GoOn,
    Close,
    Reset,
}

/// A connection of a client.
struct Connection<'a> {
    shared: &'a Shared,
    stop: Stop,
    reader: Reader,
    writer: Writer,
    inbox: BytesMut,
    link: Option<Link>,
}

/// Serve a client until either side has enough.
pub(crate) async fn serve(shared: &Shared, socket: TcpStream, stop: Stop) {
    let metrics = &shared.recorder.metrics;
    metrics.connections.fetch_add(1, Relaxed);
    metrics.open_connections.fetch_add(1, Relaxed);
    if let Err(error) = dial::tune(&socket) {
        log::debug("a client left before it was served", &[("error", &error.to_string())]);
    } else {
        let (reader, writer) = dial::plain(socket);
        let connection = Connection { shared, stop, reader, writer, inbox: BytesMut::new(), link: None };
        connection.run().await;
    }
    metrics.open_connections.fetch_sub(1, Relaxed);
}

impl Connection<'_> {
    async fn run(mut self) {
        loop {
            let next = match self.next_request().await {
                Ok(Some((request, began))) => self.handle(request, began).await,
                Ok(None) => Next::Close,
                Err(refused) => self.refuse(refused).await,
            };
            match next {
                Next::GoOn => {}
                Next::Close => return self.linger().await,
                Next::Reset => return self.reset(),
            }
        }
    }

    /// The next head, with the moment its first byte was seen; nothing if the connection is over.
    async fn next_request(&mut self) -> Result<Option<(Request, Instant)>, Refused> {
        let mut seen = 0;
        let mut began = Instant::now();
        loop {
            if !self.inbox.is_empty() {
                if let Some(request) = Request::parse(&self.inbox, seen)? {
                    self.inbox.advance(request.length);
                    return Ok(Some((request, began)));
                }
                seen = self.inbox.len();
            }
            let idle = self.inbox.is_empty();
            tokio::select! {
                biased;
                read = self.reader.read(&mut self.inbox) => match read {
                    Ok(0) | Err(_) => return Ok(None),
                    Ok(_) if idle => began = Instant::now(),
                    Ok(_) => {}
                },
                // An upstream that ends its connection ends the client's, as it would without us.
                () = ended(self.link.as_mut()), if idle => return Ok(None),
                () = self.stop.draining(), if idle => return Ok(None),
            }
        }
    }

    async fn handle(&mut self, mut request: Request, began: Instant) -> Next {
        let parsed = Instant::now();
        let routed = self.shared.routes.route(&request.target);
        if let Err((status, code, message)) =
            self.shared.guard.check(&request.fields, routed.token.as_deref())
        {
            log::info("a request was turned away", &[("code", code), ("cause", message)]);
            self.shared.recorder.metrics.count_error(code);
            return self.say(&Answer::error(status, code, message), &request, true).await;
        }
        if let Destination::Own(path) = &routed.to {
            let answer = own::answer(&self.shared.facts, &request.method, path);
            let close = !matches!(request.body(), Ok(Body::Done));
            return self.say(&answer, &request, close).await;
        }
        let upstream = Self::destination(&request, &routed);
        let body = request.body();
        let mut head = Vec::new();
        if let Ok(upstream) = &upstream {
            head.reserve(request.length + 256);
            let target = upstream.target(&routed.rest);
            request.write(&mut head, &Outgoing { target: &target, host: upstream.authority.as_bytes() });
        }
        let opening = self.opening(&mut request, routed);
        let tape = Tape::open(&self.shared.recorder, began, opening);
        let upstream = match upstream {
            Ok(upstream) => upstream,
            Err((status, code, message)) => return self.fail(&tape, &request, status, code, message).await,
        };
        let body = match body {
            Ok(body) => body,
            Err(Refused(status, message)) => {
                return self.fail(&tape, &request, status, "bad_request", message).await;
            }
        };
        let prepared = parsed.elapsed();
        let link = match self.connect(&upstream, &tape).await {
            Ok(link) => link,
            Err(Unconnected::ClientGone(error)) => {
                tape.close(End::ClientGone(error).failure());
                return Next::Close;
            }
            Err(Unconnected::Dial(error)) => {
                let code =
                    if matches!(error, DialError::Connect(..)) { "connect_failed" } else { "tls_failed" };
                return self.fail(&tape, &request, 502, code, &error.to_string()).await;
            }
        };
        // The time that it took to connect is the network's, not ours.
        let began = Instant::now().checked_sub(prepared).unwrap_or(parsed);
        self.relay(&request, Sending { head, began, body }, &tape, link).await
    }

    async fn relay(&mut self, request: &Request, sending: Sending, tape: &Tape, mut link: Link) -> Next {
        let exchange = Exchange {
            method: &request.method,
            persists: request.connection.persists(request.minor),
            tape,
            metrics: &self.shared.recorder.metrics,
        };
        let Sending { head, began, body } = sending;
        let (reader, inbox) = (&mut self.reader, &mut self.inbox);
        let upload = Upload { reader, inbox, head, began, body, writer: &mut link.writer };
        let download =
            Download { reader: &mut link.reader, inbox: &mut link.inbox, writer: &mut self.writer };
        let end = exchange.run(upload, download).await;
        self.conclude(request, tape, link, end).await
    }

    /// What the end of an exchange means for both connections. A link that is not put back is closed.
    async fn conclude(&mut self, request: &Request, tape: &Tape, link: Link, end: End) -> Next {
        if let End::BadRequest(bad) = &end {
            if !tape.has_responded() {
                drop(link);
                return self.fail(tape, request, 400, "bad_request", bad.0).await;
            }
        }
        let left = matches!(end, End::ClientGone(_)) && tape.is_response_complete() && tape.is_request_sent();
        tape.close(end.failure().filter(|_| !left));
        match end {
            End::Whole if !self.stop.is_draining() => {
                self.link = Some(link);
                Next::GoOn
            }
            End::Whole | End::WholeThenClose | End::Cut | End::Unreadable(_) | End::ClientGone(_) => {
                Next::Close
            }
            End::Reset(_) | End::BadRequest(_) => Next::Reset,
        }
    }

    /// What the tape begins with; takes the fields along.
    fn opening(&self, request: &mut Request, routed: Routed) -> Opening {
        let client = runs::client_ids(&request.fields);
        let identity = self.shared.runs.identify(routed.claim, &request.fields, &client);
        let mut fields = std::mem::take(&mut request.fields);
        fields.retain(|(name, _)| !name.eq_ignore_ascii_case(TOKEN_FIELD));
        let (upstream, url) = match &routed.to {
            Destination::Upstream(upstream) => {
                (Some(upstream.name.clone()), Some(upstream.url(&routed.rest)))
            }
            _ => (None, None),
        };
        Opening {
            request: Id(ulid::Ulid::new().0),
            method: request.method.clone(),
            recognised: is_recognised(&routed.rest),
            target: routed.rest,
            version: version_name(request.minor),
            fields,
            upstream,
            url,
            identity,
            client,
        }
    }

    /// Who gets the request, or why nobody does: status, code and cause.
    fn destination(
        request: &Request,
        routed: &Routed,
    ) -> Result<Arc<Upstream>, (u16, &'static str, &'static str)> {
        if request.method == "CONNECT" {
            return Err((405, "refused", "this is a reverse proxy and opens no tunnels"));
        }
        match &routed.to {
            Destination::Upstream(upstream) if request.upgrades_to(b"websocket") => {
                log::debug("a WebSocket was declined", &[("upstream", &upstream.name)]);
                Err((426, "refused", "WebSockets are not relayed; speak HTTP"))
            }
            Destination::Upstream(upstream) => Ok(Arc::clone(upstream)),
            Destination::Malformed(problem) => Err((400, "bad_request", problem)),
            Destination::Own(_) | Destination::Nowhere => Err((
                502,
                "no_upstream",
                "the path begins with no upstream's name, and proxy.upstream_url is not set",
            )),
        }
    }

    /// The link to an upstream: the one there is, or a new one. A client that leaves meanwhile is noticed.
    async fn connect(&mut self, upstream: &Arc<Upstream>, tape: &Tape) -> Result<Link, Unconnected> {
        if let Some(link) = self.link.take().filter(|link| link.upstream == *upstream) {
            tape.connected(false);
            return Ok(link);
        }
        tape.flush();
        let shared = self.shared;
        let dialing = shared.dialer.dial(upstream);
        tokio::pin!(dialing);
        loop {
            let full = self.inbox.len() >= dial::READ_SIZE;
            tokio::select! {
                biased;
                dialed = &mut dialing => {
                    let link = dialed.map_err(Unconnected::Dial)?;
                    tape.connected(true);
                    return Ok(link);
                }
                read = self.reader.read(&mut self.inbox), if !full => match read {
                    Ok(0) => return Err(Unconnected::ClientGone(io::ErrorKind::UnexpectedEof.into())),
                    Ok(_) => {}
                    Err(error) => return Err(Unconnected::ClientGone(error)),
                },
            }
        }
    }

    /// A head that is none: say so, and let the trace know that something was refused, but not what it was.
    async fn refuse(&mut self, Refused(status, message): Refused) -> Next {
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
    async fn fail(
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

    async fn say(&mut self, answer: &Answer, request: &Request, close: bool) -> Next {
        let close = close || !request.connection.persists(request.minor) || self.stop.is_draining();
        let mut out = Vec::new();
        answer.write(&mut out, request.method != "HEAD", close);
        match self.writer.write(&out).await {
            Ok(()) if !close => Next::GoOn,
            _ => Next::Close,
        }
    }

    /// End the connection so that the last bytes arrive: a socket closed with bytes unread would take them back.
    async fn linger(mut self) {
        self.link = None;
        if self.writer.shutdown().await.is_err() {
            return;
        }
        let drain = async {
            loop {
                self.inbox.clear();
                if !matches!(self.reader.read(&mut self.inbox).await, Ok(read) if read > 0) {
                    return;
                }
            }
        };
        // Whoever goes on longer is cut off, as any server would.
        let _ = timeout(LINGER, drain).await;
    }

    /// Break the connection off, as the upstream did.
    fn reset(self) {
        if let Err(error) = self.writer.break_off() {
            log::debug("a reset could not be passed on", &[("error", &error.to_string())]);
        }
    }
}

/// What is to be sent to an upstream.
struct Sending {
    head: Vec<u8>,
    began: Instant,
    body: Body,
}

/// Why there is no link.
enum Unconnected {
    Dial(DialError),
    ClientGone(io::Error),
}

/// Waits until an idle upstream says or ends anything, which is the end of it either way.
async fn ended(link: Option<&mut Link>) {
    match link {
        Some(link) => {
            let _ = link.reader.read(&mut link.inbox).await;
        }
        None => std::future::pending().await,
    }
}
