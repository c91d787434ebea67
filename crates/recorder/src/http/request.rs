//! The head of a request, checked strictly, and how it is spelled for the upstream.

use scribe::event::Fields;

use super::body::Body;
use super::fields::{self, Connection};
use super::{LONGEST_HEAD, MOST_FIELDS, end_of_head};

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// As it stood in the request line.
    pub(crate) target: Vec<u8>,
    /// 0 or 1.
    pub(crate) minor: u8,
    pub(crate) fields: Fields,
    pub(crate) connection: Connection,
    /// Bytes of the head.
    pub(crate) length: usize,
}

/// Why a request is refused: the status and the cause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) u16, pub(crate) &'static str);

/// What a request would carry to the upstream beyond what it says itself.
pub(crate) struct Outgoing<'a> {
    pub(crate) target: &'a [u8],
    pub(crate) host: &'a [u8],
    /// Whether the upstream is asked to speak WebSocket.
    pub(crate) upgrades: bool,
}

impl Request {
    /// Read a head; `None` if it is not all there yet. `seen` bytes were looked at before.
    pub(crate) fn parse(data: &[u8], seen: usize) -> Result<Option<Self>, Refused> {
        let Some(length) = end_of_head(data, seen) else {
            if data.len() > LONGEST_HEAD {
                return Err(Refused(431, "the head of the request is too long"));
            }
            // Whoever ends lines with LF alone would wait for ever.
            let ended = |mark: &[u8]| memchr::memmem::find(data, mark).is_some();
            if ended(b"\n\n") || ended(b"\n\r\n") {
                return Err(Refused(400, "a line of the head does not end with CR LF"));
            }
            return Ok(None);
        };
        let head = &data[..length];
        check_line_ends(head)?;
        let mut headers = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => {
                return Err(Refused(400, "the head of the request is malformed"));
            }
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refused(431, "the request has too many fields"));
            }
            Err(httparse::Error::Version) if has_three_words(head) => {
                return Err(Refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here"));
            }
            Err(_) => return Err(Refused(400, "the head of the request is malformed")),
        }
        let fields: Fields = parsed
            .headers
            .iter()
            .map(|field| (field.name.as_bytes().to_vec(), field.value.to_vec()))
            .collect();
        let request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().as_bytes().to_vec(),
            minor: parsed.version.unwrap_or(1),
            connection: Connection::of(&fields),
            fields,
            length,
        };
        request.host()?;
        Ok(Some(request))
    }

    /// What the `Host` field says; there is exactly one in HTTP/1.1.
    pub(crate) fn host(&self) -> Result<Option<&[u8]>, Refused> {
        match fields::only(&self.fields, b"host") {
            Ok(None) if self.minor >= 1 => Err(Refused(400, "the request has no Host field")),
            Ok(host) => Ok(host),
            Err(()) => Err(Refused(400, "the request has several Host fields")),
        }
    }

    /// How the body is framed. Whatever two readers could understand differently is refused.
    pub(crate) fn body(&self) -> Result<Body, Refused> {
        let length = fields::only(&self.fields, b"content-length")
            .map_err(|()| Refused(400, "the request has several Content-Length fields"))?;
        let coding = fields::only(&self.fields, b"transfer-encoding")
            .map_err(|()| Refused(400, "the request has several Transfer-Encoding fields"))?;
        match (length, coding) {
            (Some(_), Some(_)) => {
                Err(Refused(400, "the request has both Content-Length and Transfer-Encoding"))
            }
            (None, Some(_)) if self.minor == 0 => {
                Err(Refused(400, "an HTTP/1.0 request has a Transfer-Encoding"))
            }
            (None, Some(coding)) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Body::chunked()),
            (None, Some(_)) => Err(Refused(501, "the request has a Transfer-Encoding other than chunked")),
            (Some(length), None) => fields::length(length)
                .map(Body::length)
                .ok_or(Refused(400, "the Content-Length of the request is no number")),
            (None, None) => Ok(Body::Done),
        }
    }

    /// Whether the recorder is asked as a proxy: the target names a host.
    pub(crate) fn is_for_a_proxy(&self) -> bool {
        self.method == "CONNECT" || is_absolute(&self.target)
    }

    /// Whether the request asks to go on in another protocol.
    pub(crate) fn upgrades_to(&self, protocol: &[u8]) -> bool {
        fields::first(&self.fields, b"upgrade")
            .is_some_and(|value| fields::tokens(value).any(|token| token.eq_ignore_ascii_case(protocol)))
    }

    /// Whether the request is one that a WebSocket begins with (RFC 6455, section 4.1).
    pub(crate) fn is_websocket(&self) -> bool {
        self.method == "GET"
            && self.minor >= 1
            && self.upgrades_to(b"websocket")
            && self.connection.names(b"upgrade")
            && matches!(self.body(), Ok(Body::Done))
    }

    /// Spell the head for the upstream: the same fields in the same order and case, but for those of one hop, those
    /// of the recorder itself and the value of `Host`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, to: &Outgoing) {
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(to.target);
        out.extend_from_slice(if self.minor == 0 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
        for (name, value) in &self.fields {
            if name.eq_ignore_ascii_case(b"host") {
                fields::write(out, name, to.host);
            } else if name.eq_ignore_ascii_case(b"connection") {
                fields::write_connection(out, name, value, to.upgrades);
            } else if (to.upgrades && name.eq_ignore_ascii_case(b"upgrade")) || !self.stays_here(name, value)
            {
                fields::write(out, name, value);
            }
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Whether a field is for this hop alone.
    fn stays_here(&self, name: &[u8], value: &[u8]) -> bool {
        if name.eq_ignore_ascii_case(b"te") {
            // Trailers are passed on, so that whoever understands them may have them.
            return !value.eq_ignore_ascii_case(b"trailers");
        }
        is_ours(name)
            || self.connection.names(name)
            || [b"keep-alive".as_slice(), b"proxy-connection", b"proxy-authorization", b"upgrade"]
                .iter()
                .any(|hop| name.eq_ignore_ascii_case(hop))
    }
}

/// Whether a target is a whole URL.
fn is_absolute(target: &[u8]) -> bool {
    let begins = |scheme: &[u8]| {
        target.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme))
    };
    target.first() != Some(&b'/') && (begins(b"http://") || begins(b"https://"))
}

/// Whether a field is spoken to the recorder itself.
pub(crate) fn is_ours(name: &[u8]) -> bool {
    const PREFIX: &[u8] = b"x-blackbird-";
    name.len() >= PREFIX.len() && name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX)
}

/// Whether the request line has the shape of one, so that its version is what is wrong.
fn has_three_words(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    line.split(|&byte| byte == b' ').count() == 3
}

/// Every line ends with CR LF, and neither stands anywhere else.
fn check_line_ends(head: &[u8]) -> Result<(), Refused> {
    let bare = memchr::memchr2_iter(b'\r', b'\n', head).any(|at| match head[at] {
        b'\r' => head.get(at + 1) != Some(&b'\n'),
        _ => at == 0 || head[at - 1] != b'\r',
    });
    if bare { Err(Refused(400, "a line of the head does not end with CR LF")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(head: &str) -> Result<Request, Refused> {
        Request::parse(head.as_bytes(), 0).map(|request| request.expect("the head is whole"))
    }

    fn framing(fields: &str) -> Result<Body, Refused> {
        parse(&format!("POST /v1 HTTP/1.1\r\nHost: a\r\n{fields}\r\n"))?.body()
    }

    #[test]
    fn a_head_is_spelled_as_it_was_but_for_the_hop() {
        let request = parse(
            "POST /anthropic/v1/messages HTTP/1.1\r\nhOsT: 127.0.0.1:4141\r\nX-Twice: 1\r\nAccept:*/*\r\nX-Twice:  2 \r\n\
             Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nX-Blackbird-Session: s\r\n\
             Proxy-Authorization: Basic x\r\nContent-Length: 2\r\n\r\n",
        )
        .expect("sound");
        let mut out = Vec::new();
        request.write(&mut out, &Outgoing { target: b"/v1/messages", host: b"api.example", upgrades: false });
        assert_eq!(
            String::from_utf8(out).expect("ASCII"),
            "POST /v1/messages HTTP/1.1\r\nhOsT: api.example\r\nX-Twice: 1\r\nAccept: */*\r\nX-Twice: 2\r\n\
             Connection: keep-alive\r\nTE: trailers\r\nContent-Length: 2\r\n\r\n"
        );
    }

    #[test]
    fn a_websocket_is_asked_for_in_the_same_words() {
        let head = "GET /v1/responses HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Hop, Upgrade\r\nX-Hop: 1\r\n\
                    UPGRADE: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Extensions: permessage-deflate; x=1\r\n\r\n";
        let request = parse(head).expect("sound");
        assert!(request.is_websocket());
        let mut out = Vec::new();
        request.write(&mut out, &Outgoing { target: b"/v1/responses", host: b"a", upgrades: true });
        let expected =
            head.replace("X-Hop: 1\r\n", "").replace("keep-alive, X-Hop, Upgrade", "keep-alive, Upgrade");
        assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
    }

    #[test]
    fn not_every_upgrade_is_a_websocket() {
        for head in [
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n",
        ] {
            assert!(!parse(head).expect("sound").is_websocket(), "{head}");
        }
    }

    #[test]
    fn ambiguous_framing_is_refused() {
        for (fields, status) in [
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("Content-Length: 1, 1\r\n", 400),
            ("Content-Length: +1\r\n", 400),
            ("Transfer-Encoding: xchunked\r\n", 501),
            ("Transfer-Encoding: chunked, chunked\r\n", 501),
            ("Transfer-Encoding: gzip, chunked\r\n", 501),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400),
            ("Transfer-Encoding:\u{b}chunked\r\n", 400),
        ] {
            assert_eq!(framing(fields).expect_err(fields).0, status, "{fields}");
        }
        assert!(matches!(framing("Content-Length: 7\r\n"), Ok(Body::Length(7))));
        assert!(matches!(framing("Transfer-Encoding: Chunked\r\n"), Ok(Body::Chunked(_))));
        assert!(matches!(framing(""), Ok(Body::Done)));
    }

    #[test]
    fn malformed_heads_are_refused() {
        for (head, status) in [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("G\u{7f}T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ] {
            assert_eq!(Request::parse(head.as_bytes(), 0).expect_err(head).0, status, "{head:?}");
        }
    }

    #[test]
    fn an_endless_head_is_refused() {
        let head = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(LONGEST_HEAD));
        assert_eq!(Request::parse(head.as_bytes(), 0).expect_err("too long").0, 431);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>) {
            let _ = Request::parse(&data, 0);
        }
    }
}
