//! The recorder as a proxy: hosts that are recorded are spoken to in their name, all others are left alone.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ServerConfig;
use rustls::server::Acceptor;
use scribe::event::{Failure, Fields, Identity, Opening, Via};
use tokio_rustls::StartHandshake;
use tokio_rustls::server::TlsStream;
use wal::ids::Id;

use crate::forwarding::connection::{Connection, Next, Passage, Shared};
use crate::forwarding::dial::{self, Reader, Writer};
use crate::forwarding::intercepts::{Intercept, read_authority};
use crate::forwarding::routes::{Claim, Destination, Routed, Upstream, is_id};
use crate::forwarding::runs;
use crate::forwarding::tape::Tape;
use crate::http::fields;
use crate::http::request::{Refused, Request};
use crate::http::version_name;
use crate::log;

/// What a client that asked for a tunnel hears when it has one.
pub(super) const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// The first byte of a TLS handshake; no HTTP method begins with it.
const HANDSHAKE: u8 = 0x16;

/// Where a client believes to be: at a host whose traffic is recorded.
pub(super) struct Inside {
    intercept: Arc<Intercept>,
    claim: Option<Claim>,
    /// How to show the host's certificate, if clients speak TLS to it.
    tls: Option<Arc<ServerConfig>>,
}

impl Inside {
    /// Where a request goes. Its path is the provider's own, whatever it begins with.
    pub(super) fn passage(&self, shared: &Shared, request: &Request, parsed: Instant) -> Passage {
        let client = runs::client_ids(&request.fields);
        let owner = shared.runs.identify(self.claim.clone(), &request.fields, &client);
        let is_path = request.target.starts_with(b"/") || request.target == b"*";
        let to = match shared.routes.in_the_name_of(&self.intercept, &owner.upstreams) {
            _ if !is_path => Destination::Malformed("the target is neither a path nor *"),
            Some(upstream) => Destination::Upstream(upstream),
            None => Destination::Nowhere,
        };
        let routed = Routed { to, rest: request.target.clone() };
        Passage { routed, owner, client, via: Via::Forward, parsed }
    }
}

/// What a client says of itself to its proxy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Credentials {
    claim: Option<Claim>,
    password: Option<Vec<u8>>,
}

impl Credentials {
    /// Read `Proxy-Authorization`: the user is the run, or a word that is none.
    fn of(request: &Fields) -> Self {
        let Some(value) = fields::first(request, b"proxy-authorization") else { return Self::default() };
        let Some((scheme, word)) = value.split_at_checked(b"basic ".len()) else { return Self::default() };
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return Self::default();
        }
        let Ok(pair) = STANDARD.decode(word.trim_ascii()) else { return Self::default() };
        let (user, password) = match memchr::memchr(b':', &pair) {
            Some(at) => (&pair[..at], Some(pair[at + 1..].to_vec())),
            None => (pair.as_slice(), None),
        };
        let run = (is_id(user) && user != b"-").then(|| String::from_utf8_lossy(user).into_owned());
        let claim = run.map(|run| Claim { session: None, task: None, run: Some(run) });
        Self { claim, password }
    }
}

impl Connection<'_> {
    /// Serve a request that names its host.
    pub(super) async fn forward(&mut self, mut request: Request, began: Instant) -> Next {
        let parsed = Instant::now();
        let Credentials { claim, password } = Credentials::of(&request.fields);
        if let Err(refusal) = self.shared.guard.check_proxy(&request.fields, password.as_deref()) {
            return self.turn_away(&request, refusal).await;
        }
        request.fields.retain(|(name, _)| !name.eq_ignore_ascii_case(b"proxy-authorization"));
        if request.method == "CONNECT" {
            return self.open(request, began, claim).await;
        }
        let (place, rest) = match read_url(&request.target) {
            Ok(found) => found,
            Err(problem) => return self.refuse(Refused(400, problem)).await,
        };
        let client = runs::client_ids(&request.fields);
        let owner = self.shared.runs.identify(claim, &request.fields, &client);
        let known = self.shared.intercepts.find(&place.endpoint());
        let upstream = known.and_then(|known| self.shared.routes.in_the_name_of(&known, &owner.upstreams));
        let (to, via) = match upstream {
            Some(upstream) => (upstream, Via::Forward),
            None => (Arc::new(place), Via::Tunnel),
        };
        let routed = Routed { to: Destination::Upstream(to), rest };
        self.pass_on(request, began, Passage { routed, owner, client, via, parsed }).await
    }

    /// Open a tunnel: to ourselves in the name of a host that is recorded, or to where it was asked for.
    async fn open(&mut self, request: Request, began: Instant, claim: Option<Claim>) -> Next {
        let asked = std::str::from_utf8(&request.target).ok().and_then(|text| read_authority(text).ok());
        let Some((authority, place)) = asked else {
            return self.refuse(Refused(400, "a tunnel is asked for as CONNECT host:port")).await;
        };
        let Some(intercept) = self.shared.intercepts.find(&authority) else {
            let client = runs::client_ids(&request.fields);
            let owner = self.shared.runs.identify(claim, &request.fields, &client);
            let opening = tunnel_opening(&request, authority, owner.identity);
            let tape = Tape::open(&self.shared.recorder, began, opening);
            return self.tunnel(&request, &tape, Arc::new(place)).await;
        };
        let mut inside = Inside { intercept, claim, tls: None };
        if inside.intercept.tls {
            match self.shared.authority.identity(&inside.intercept.host).await {
                Ok(tls) => inside.tls = Some(tls),
                Err(error) => {
                    let message = error.to_string();
                    log::warn("the private CA cannot be used", &[("error", &message)]);
                    let tape = Tape::open(&self.shared.recorder, began, self.entry(&inside));
                    return self.fail(&tape, &request, 502, "ca_unusable", &message).await;
                }
            }
        }
        match self.writer.write(ESTABLISHED).await {
            Ok(()) => Next::Intercept(inside),
            Err(_) => Next::Close,
        }
    }

    /// Go on as the host that the client asked for; nothing if the connection is over.
    pub(super) async fn enter(mut self, inside: Inside) -> Option<Self> {
        self.link = None;
        while self.inbox.is_empty() {
            tokio::select! {
                biased;
                read = self.reader.read(&mut self.inbox) => if !matches!(read, Ok(read) if read > 0) {
                    return None;
                },
                () = self.stop.draining() => return None,
            }
        }
        if self.inbox[0] != HANDSHAKE {
            self.inside = Some(inside);
            return Some(self);
        }
        let began = Instant::now();
        let opening = self.entry(&inside);
        let Self { shared, mut stop, reader, writer, inbox, .. } = self;
        let shaken = match inside.tls.clone() {
            Some(tls) => tokio::select! {
                biased;
                shaken = shake_hands(tls, reader, writer, &inbox) => shaken,
                () = stop.draining() => return None,
            },
            None => Err(io::Error::other("this host is configured as one without TLS")),
        };
        match shaken.and_then(|stream| dial::secured(stream.into())) {
            Ok((reader, writer)) => {
                let inbox = bytes::BytesMut::new();
                Some(Self { shared, stop, reader, writer, inbox, link: None, inside: Some(inside) })
            }
            // A spare connection that was given up again; a client that distrusts us says so.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => {
                let authority = &inside.intercept.authority;
                let message = format!(
                    "the client and the recorder, in the name of {authority}, did not agree on TLS: {error}"
                );
                let failure = Failure { at: "client", code: "tls_failed", message };
                Tape::open(&shared.recorder, began, opening).close(Some(failure));
                None
            }
        }
    }

    /// How a tunnel to a host that is recorded stands in the trace if it comes to nothing.
    fn entry(&self, inside: &Inside) -> Opening {
        let owner = self.shared.runs.identify(inside.claim.clone(), &Fields::new(), &[]);
        Opening {
            request: Id(ulid::Ulid::new().0),
            method: "CONNECT".to_owned(),
            target: inside.intercept.authority.clone().into_bytes(),
            version: version_name(1),
            upstream: Some(inside.intercept.upstream.clone()),
            identity: owner.identity,
            via: Via::Forward,
            ..Opening::default()
        }
    }
}

/// How an exchange that nobody looks into stands in the trace: where it went and for whom, and no more.
pub(super) fn tunnel_opening(request: &Request, target: String, identity: Identity) -> Opening {
    Opening {
        request: Id(ulid::Ulid::new().0),
        method: request.method.clone(),
        target: target.into_bytes(),
        version: version_name(request.minor),
        identity,
        via: Via::Tunnel,
        ..Opening::default()
    }
}

/// Accept TLS from a client of which some bytes were read already.
async fn shake_hands(
    tls: Arc<ServerConfig>,
    mut reader: Reader,
    writer: Writer,
    read: &[u8],
) -> io::Result<TlsStream<tokio::net::TcpStream>> {
    let mut acceptor = Acceptor::default();
    let mut more = bytes::BytesMut::from(read);
    let accepted = loop {
        let mut unread = &more[..];
        while !unread.is_empty() {
            acceptor.read_tls(&mut unread)?;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            Err((error, mut alert)) => {
                let mut words = Vec::new();
                alert.write_all(&mut words)?;
                let (_, mut writer) = (reader, writer);
                writer.write(&words).await?;
                writer.shutdown().await?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
        more.clear();
        if reader.read(&mut more).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let socket = dial::reunite(reader, writer)?;
    StartHandshake::from_parts(accepted, socket).into_stream(tls).await
}

/// The host of a URL, and the path that it is asked for.
fn read_url(target: &[u8]) -> Result<(Upstream, Vec<u8>), &'static str> {
    const SCHEME: usize = b"http://".len();
    let (scheme, rest) = target.split_at_checked(SCHEME).unwrap_or((target, b""));
    if !scheme.eq_ignore_ascii_case(b"http://") {
        return Err("a proxy is asked for https by CONNECT");
    }
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if path.contains(&b'#') {
        return Err("the target has a fragment");
    }
    let authority = std::str::from_utf8(authority).map_err(|_| "the target names no host")?;
    let place = Upstream::parse("", &format!("http://{}", authority.to_ascii_lowercase()));
    let place = place.map_err(|_| "the target names no host, or has credentials")?;
    let slash: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    Ok((place, [slash, path].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(value: &str) -> (Option<String>, Option<String>) {
        let read = Credentials::of(&vec![(b"Proxy-Authorization".to_vec(), value.as_bytes().to_vec())]);
        let password = read.password.map(|word| String::from_utf8(word).expect("text"));
        (read.claim.and_then(|claim| claim.run), password)
    }

    #[test]
    fn the_user_of_the_proxy_is_the_run_and_its_password_the_token() {
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        assert_eq!(credentials(&basic("run_1:secret")), (Some("run_1".into()), Some("secret".into())));
        assert_eq!(credentials(&basic("run_1:a:b")), (Some("run_1".into()), Some("a:b".into())));
        assert_eq!(credentials(&basic("-:secret")), (None, Some("secret".into())));
        assert_eq!(credentials(&basic("no id:secret")), (None, Some("secret".into())));
        assert_eq!(credentials(&basic("run_1")), (Some("run_1".into()), None));
        assert_eq!(credentials("bASIC cnVuXzE6eA=="), (Some("run_1".into()), Some("x".into())));
        for other in ["Basic", "Basic !", "Bearer cnVuXzE6eA==", ""] {
            assert_eq!(credentials(other), (None, None), "{other}");
        }
    }

    #[test]
    fn urls_are_taken_apart() {
        let read = |target: &str| {
            let known = |(place, rest): (Upstream, Vec<u8>)| {
                (place.endpoint(), String::from_utf8(rest).expect("ASCII"))
            };
            read_url(target.as_bytes()).map(known)
        };
        assert_eq!(read("http://Box.example/a?b"), Ok(("box.example:80".into(), "/a?b".into())));
        assert_eq!(read("HTTP://box:8080?b"), Ok(("box:8080".into(), "/?b".into())));
        assert_eq!(read("http://[::1]:81"), Ok(("[::1]:81".into(), "/".into())));
        for bad in
            ["https://box/", "http://", "http:///a", "http://u:p@box/", "http://box:0/", "http://box/#x"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
