//! One connection of a client: request after request, each relayed to its upstream over a connection that this client
//! has for itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use scribe::event::{Opening, Via};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wal::ids::Id;

use crate::authority::Authority;
use crate::forwarding::dial::{self, DialError, Dialer, Link, Reader, Writer};
use crate::forwarding::forward::{Inside, tunnel_opening};
use crate::forwarding::guard::{Guard, TOKEN_FIELD};
use crate::forwarding::intercepts::Intercepts;
use crate::forwarding::relay::{Download, End, Exchange, Upload};
use crate::forwarding::routes::{self, Destination, Routed, Routes, Upstream, is_recognised};
use crate::forwarding::runs::{self, Owner, Runs};
use crate::forwarding::tape::{Recorder, Tape};
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
    pub(crate) intercepts: Intercepts,
    pub(crate) authority: Arc<Authority>,
    pub(crate) guard: Guard,
    pub(crate) runs: Arc<Runs>,
    pub(crate) recorder: Recorder,
    pub(crate) dialer: Dialer,
    pub(crate) facts: Arc<own::Facts>,
    /// Whether a WebSocket is relayed.
    pub(crate) websockets: bool,
}

/// What becomes of the client's connection after an exchange.
pub(super) enum Next {
    GoOn,
    Close,
    /// Close without a word of TLS, if that is spoken.
    Tear,
    Reset,
    /// It goes on as one to a host that is recorded.
    Intercept(Inside),
}

/// A connection of a client.
pub(super) struct Connection<'a> {
    pub(super) shared: &'a Shared,
    pub(super) stop: Stop,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) inbox: BytesMut,
    pub(super) link: Option<Link>,
    /// Where the client believes to be, if it asked for a tunnel to a host that is recorded.
    pub(super) inside: Option<Inside>,
}

/// Where a request goes, for whom, and how it came.
pub(super) struct Passage {
    pub(super) routed: Routed,
    pub(super) owner: Owner,
    pub(super) client: Vec<(&'static str, String)>,
    pub(super) via: Via,
    /// When the head was there.
    pub(super) parsed: Instant,
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
        let connection =
            Connection { shared, stop, reader, writer, inbox: BytesMut::new(), link: None, inside: None };
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
                Next::Tear => return self.tear().await,
                Next::Reset => return self.reset(),
                Next::Intercept(inside) => match self.enter(inside).await {
                    Some(connection) => self = connection,
                    None => return,
                },
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

    async fn handle(&mut self, request: Request, began: Instant) -> Next {
        let parsed = Instant::now();
        if let Some(inside) = &self.inside {
            let passage = inside.passage(self.shared, &request, parsed);
            return self.pass_on(request, began, passage).await;
        }
        if request.is_for_a_proxy() {
            return self.forward(request, began).await;
        }
        let mut prefix = routes::prefix(&request.target);
        if let Err(refusal) = self.shared.guard.check(&request.fields, prefix.token.as_deref()) {
            return self.turn_away(&request, refusal).await;
        }
        let client = runs::client_ids(&request.fields);
        let owner = self.shared.runs.identify(prefix.claim.take(), &request.fields, &client);
        let routed = self.shared.routes.route(&prefix, &owner.upstreams);
        if let Destination::Own(path) = &routed.to {
            let answer = own::answer(&self.shared.facts, &request.method, path);
            let close = !matches!(request.body(), Ok(Body::Done));
            return self.say(&answer, &request, close).await;
        }
        let passage = Passage { routed, owner, client, via: Via::Reverse, parsed };
        self.pass_on(request, began, passage).await
    }

    /// Relay a request to its upstream, on the record.
    pub(super) async fn pass_on(&mut self, mut request: Request, began: Instant, passage: Passage) -> Next {
        let parsed = passage.parsed;
        let routed = &passage.routed;
        let upstream = self.destination(&request, routed);
        let body = request.body();
        let upgrades = request.is_websocket();
        let mut head = Vec::new();
        if let Ok(upstream) = &upstream {
            head.reserve(request.length + 256);
            let target = upstream.target(&routed.rest);
            request.write(
                &mut head,
                &Outgoing { target: &target, host: upstream.authority.as_bytes(), upgrades },
            );
        }
        let opening = Self::opening(&mut request, passage);
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
        let link = match self.connect_or_say(&request, &upstream, &tape).await {
            Ok(link) => link,
            Err(next) => return next,
        };
        // The time that it took to connect is the network's, not ours.
        let began = Instant::now().checked_sub(prepared).unwrap_or(parsed);
        self.relay(&request, Sending { head, began, body, upgrades }, &tape, link).await
    }

    async fn relay(&mut self, request: &Request, sending: Sending, tape: &Tape, mut link: Link) -> Next {
        let exchange = Exchange {
            method: &request.method,
            persists: request.connection.persists(request.minor),
            tape,
            metrics: &self.shared.recorder.metrics,
            upgrades: sending.upgrades,
        };
        let Sending { head, began, body, .. } = sending;
        let (reader, inbox) = (&mut self.reader, &mut self.inbox);
        let upload = Upload { reader, inbox, head, began, body, writer: &mut link.writer };
        let download =
            Download { reader: &mut link.reader, inbox: &mut link.inbox, writer: &mut self.writer };
        let end = exchange.run(upload, download).await;
        if matches!(end, End::Switched) {
            return self.socket(tape, link).await;
        }
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
            End::Whole
            | End::WholeThenClose
            | End::Switched
            | End::Cut
            | End::Unreadable(_)
            | End::ClientGone(_) => Next::Close,
            End::Torn => Next::Tear,
            End::Reset(_) | End::BadRequest(_) => Next::Reset,
        }
    }

    /// What the tape begins with; takes the fields along.
    fn opening(request: &mut Request, passage: Passage) -> Opening {
        let Passage { routed, owner, client, via, .. } = passage;
        let mut fields = std::mem::take(&mut request.fields);
        fields.retain(|(name, _)| !name.eq_ignore_ascii_case(TOKEN_FIELD));
        if let (Via::Tunnel, Destination::Upstream(place)) = (via, &routed.to) {
            return tunnel_opening(request, format!("http://{}/", place.endpoint()), owner.identity);
        }
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
            identity: owner.identity,
            client,
            via,
        }
    }

    /// Who gets the request, or why nobody does: status, code and cause.
    fn destination(
        &self,
        request: &Request,
        routed: &Routed,
    ) -> Result<Arc<Upstream>, (u16, &'static str, &'static str)> {
        if request.method == "CONNECT" {
            return Err((405, "refused", "a tunnel is opened by its first request and by no other"));
        }
        match &routed.to {
            Destination::Upstream(upstream)
                if request.upgrades_to(b"websocket")
                    && !(self.shared.websockets && request.is_websocket()) =>
            {
                log::debug("a WebSocket was declined", &[("upstream", &upstream.name)]);
                Err((426, "refused", "this WebSocket is not relayed; speak HTTP"))
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

    /// The link to an upstream; if there is none, the client and the tape were told why.
    pub(super) async fn connect_or_say(
        &mut self,
        request: &Request,
        upstream: &Arc<Upstream>,
        tape: &Tape,
    ) -> Result<Link, Next> {
        match self.connect(upstream, tape).await {
            Ok(link) => Ok(link),
            Err(Unconnected::ClientGone(error)) => {
                tape.close(End::ClientGone(error).failure());
                Err(Next::Close)
            }
            Err(Unconnected::Dial(error)) => {
                let code =
                    if matches!(error, DialError::Connect(..)) { "connect_failed" } else { "tls_failed" };
                Err(self.fail(tape, request, 502, code, &error.to_string()).await)
            }
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

    /// End the connection so that the last bytes arrive: a socket closed with bytes unread would take them back.
    pub(super) async fn linger(mut self) {
        self.link = None;
        if self.writer.shutdown().await.is_ok() {
            self.drain().await;
        }
    }

    /// The same, if the upstream's TLS ended without a word: so does the client's.
    async fn tear(mut self) {
        self.link = None;
        if self.writer.tear().is_ok() {
            self.drain().await;
        }
    }

    /// Let the client go on sending into the void for a while.
    async fn drain(&mut self) {
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
    pub(super) fn reset(self) {
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
    upgrades: bool,
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
