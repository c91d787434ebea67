//! The head of a response, and how its body is framed.

use scribe::event::{Fields, ResponseHead};

use super::body::Body;
use super::fields::{self, Connection};
use super::{LONGEST_HEAD, MOST_FIELDS, version_name};

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) head: ResponseHead,
    pub(crate) minor: u8,
    pub(crate) connection: Connection,
    /// Bytes of the head.
    pub(crate) length: usize,
}

/// The bytes are no head of a response that could be read; they are passed on as they are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

impl Response {
    /// Read a head; `None` if it is not all there yet. `seen` bytes were looked at before.
    pub(crate) fn parse(data: &[u8], seen: usize) -> Result<Option<Self>, Unreadable> {
        // A server that ends its lines with LF alone is understood by most clients, so httparse decides.
        let from = seen.saturating_sub(2);
        let ended = |mark: &[u8]| memchr::memmem::find(&data[from..], mark).is_some();
        if !ended(b"\n\r\n") && !ended(b"\n\n") {
            if data.len() > LONGEST_HEAD {
                return Err(Unreadable("the head of the response is too long"));
            }
            if data.len() >= 5 && !data.starts_with(b"HTTP/") {
                return Err(Unreadable("what came is no HTTP/1 response"));
            }
            return Ok(None);
        }
        let mut headers = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(data) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Unreadable("the head of the response is malformed")),
        };
        let fields: Fields = parsed
            .headers
            .iter()
            .map(|field| (field.name.as_bytes().to_vec(), field.value.to_vec()))
            .collect();
        let minor = parsed.version.unwrap_or(1);
        Ok(Some(Self {
            connection: Connection::of(&fields),
            minor,
            length,
            head: ResponseHead {
                status: parsed.code.unwrap_or_default(),
                reason: reason(data),
                version: version_name(minor),
                fields,
            },
        }))
    }

    /// Whether another response to the same request follows.
    pub(crate) fn is_informational(&self) -> bool {
        (100..200).contains(&self.head.status) && self.head.status != 101
    }

    /// How the body is framed, given the request's method (RFC 9112, section 6.3).
    pub(crate) fn body(&self, method: &str) -> Result<Body, Unreadable> {
        let status = self.head.status;
        if method == "HEAD" || status < 200 || status == 204 || status == 304 {
            return Ok(Body::Done);
        }
        if let Some(coding) = fields::first(&self.head.fields, b"transfer-encoding") {
            let last = fields::tokens(coding).last().unwrap_or_default();
            return Ok(if last.eq_ignore_ascii_case(b"chunked") {
                Body::chunked()
            } else {
                Body::UntilClose
            });
        }
        let mut lengths =
            self.head.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"content-length"));
        let Some((_, first)) = lengths.next() else { return Ok(Body::UntilClose) };
        if lengths.any(|(_, other)| other != first) {
            return Err(Unreadable("the response has several lengths"));
        }
        fields::length(first).map(Body::length).ok_or(Unreadable("the length of the response is no number"))
    }

    /// The head as the client gets it: the very bytes, unless a field is for the upstream's hop alone.
    pub(crate) fn write(&self, out: &mut Vec<u8>, spelled: &[u8]) {
        let is_hop =
            |name: &[u8]| self.connection.names(name) || name.eq_ignore_ascii_case(b"proxy-connection");
        if !self.head.fields.iter().any(|(name, _)| is_hop(name)) {
            out.extend_from_slice(spelled);
            return;
        }
        let line = memchr::memchr(b'\n', spelled).map_or(spelled.len(), |at| at + 1);
        out.extend_from_slice(&spelled[..line]);
        for (name, value) in &self.head.fields {
            if name.eq_ignore_ascii_case(b"connection") {
                fields::write_connection(out, name, value, false);
            } else if !is_hop(name) {
                fields::write(out, name, value);
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// The reason phrase as it stands on the status line; httparse leaves out those that are not ASCII.
fn reason(head: &[u8]) -> Vec<u8> {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.splitn(3, |&byte| byte == b' ').nth(2).unwrap_or_default().trim_ascii_end().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(head: &str) -> Response {
        Response::parse(head.as_bytes(), 0).expect("sound").expect("whole")
    }

    #[test]
    fn framing_follows_the_method_and_the_status() {
        let body = |method: &str, head: &str| parse(head).body(method).expect("sound");
        assert!(matches!(body("GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Body::Length(5)));
        assert!(matches!(body("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Body::Done));
        assert!(matches!(body("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), Body::Done));
        assert!(matches!(
            body("GET", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Body::Done
        ));
        assert!(matches!(
            body("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"),
            Body::Chunked(_)
        ));
        assert!(matches!(
            body("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
            Body::UntilClose
        ));
        assert!(matches!(body("GET", "HTTP/1.0 200 OK\r\n\r\n"), Body::UntilClose));
    }

    #[test]
    fn a_reason_is_kept_whatever_it_is() {
        let response =
            Response::parse(b"HTTP/1.1 500 caf\xe9  au lait \r\n\r\n", 0).expect("sound").expect("whole");
        assert_eq!(response.head.reason, b"caf\xe9  au lait");
        assert_eq!(parse("HTTP/1.1 200\r\n\r\n").head.reason, b"");
    }

    #[test]
    fn contradicting_lengths_are_unreadable() {
        let response = parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n");
        assert_eq!(
            response.body("GET").expect_err("two lengths"),
            Unreadable("the response has several lengths")
        );
    }

    #[test]
    fn a_head_without_hop_fields_keeps_its_spelling() {
        let spelled =
            "HTTP/1.1 299  Odd  Reason\r\nx-A:1\r\nConnection: close\r\nKeep-Alive: timeout=5\r\n\r\n";
        let mut out = Vec::new();
        parse(spelled).write(&mut out, spelled.as_bytes());
        assert_eq!(String::from_utf8(out).expect("ASCII"), spelled);
    }

    #[test]
    fn fields_that_connection_names_stay_behind() {
        let spelled = "HTTP/1.1 200 OK\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n";
        let mut out = Vec::new();
        parse(spelled).write(&mut out, spelled.as_bytes());
        let expected = "HTTP/1.1 200 OK\r\nConnection: close\r\nX-End: 2\r\n\r\n";
        assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
    }

    #[test]
    fn any_mixture_of_line_ends_ends_a_head() {
        for head in
            ["HTTP/1.1 200 OK\nA: 1\n\n", "HTTP/1.1 200 OK\nA: 1\n\r\n", "HTTP/1.1 200 OK\r\nA: 1\r\n\n"]
        {
            assert_eq!(parse(head).length, head.len(), "{head:?}");
        }
    }

    #[test]
    fn garbage_is_noticed_early() {
        assert_eq!(
            Response::parse(b"SSH-2.0-x", 0).expect_err("SSH"),
            Unreadable("what came is no HTTP/1 response")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>) {
            let _ = Response::parse(&data, 0);
        }
    }
}
