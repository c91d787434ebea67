//! One exchange between a client and an upstream: bytes pass as they come, both ways at once, and are told to the tape
//! after they were handed on.

use std::cell::Cell;
use std::future::pending;
use std::io;
use std::ops::Range;
use std::time::Instant;

use bytes::{Buf, BytesMut};
use scribe::event::{Failure, Fields};
use tokio::sync::Notify;

use crate::forwarding::dial::{READ_SIZE, Reader, Writer};
use crate::forwarding::tape::Tape;
use crate::http::MOST_FIELDS;
use crate::http::body::{BadChunk, Body};
use crate::http::response::{Response, Unreadable};
use crate::metrics::Metrics;

/// How an exchange ended, and so what becomes of the two connections.
#[derive(Debug)]
pub(crate) enum End {
    /// Both connections can go on.
    Whole,
    /// Everything passed, and the connections end with it.
    WholeThenClose,
    /// The upstream agreed to speak WebSocket, and the client knows.
    Switched,
    /// The client is gone.
    ClientGone(io::Error),
    /// The client's chunks are malformed.
    BadRequest(BadChunk),
    /// The upstream closed its connection in the middle.
    Cut,
    /// The same under TLS, without a word of it.
    Torn,
    /// The upstream broke its connection off.
    Reset(io::Error),
    /// What the upstream sent is no HTTP, and was passed on as it was.
    Unreadable(Unreadable),
}

impl End {
    /// What the record says of it.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let (at, code, message) = match self {
            Self::Whole | Self::WholeThenClose | Self::Switched => return None,
            Self::ClientGone(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                ("client", "client_disconnected", "the client closed its connection".to_owned())
            }
            Self::ClientGone(error) => {
                ("client", "client_reset", format!("the client's connection broke: {error}"))
            }
            Self::BadRequest(BadChunk(problem)) => ("client", "bad_request", (*problem).to_owned()),
            Self::Cut | Self::Torn => {
                ("upstream", "upstream_cut", "the upstream closed its connection before the end".to_owned())
            }
            Self::Reset(error) => {
                ("upstream", "upstream_reset", format!("the upstream's connection broke: {error}"))
            }
            Self::Unreadable(Unreadable(problem)) => ("upstream", "bad_response", (*problem).to_owned()),
        };
        Some(Failure { at, code, message })
    }
}

/// Both sides of one exchange.
pub(crate) struct Exchange<'a> {
    pub(crate) method: &'a str,
    /// Whether the client wants to go on afterwards.
    pub(crate) persists: bool,
    pub(crate) tape: &'a Tape,
    pub(crate) metrics: &'a Metrics,
    /// Whether the client asks to speak WebSocket.
    pub(crate) upgrades: bool,
}

/// What came from the client.
pub(crate) struct Upload<'a> {
    pub(crate) reader: &'a mut Reader,
    pub(crate) inbox: &'a mut BytesMut,
    /// The head as the upstream gets it.
    pub(crate) head: Vec<u8>,
    /// When all was there to hand the head on.
    pub(crate) began: Instant,
    pub(crate) body: Body,
    pub(crate) writer: &'a mut Writer,
}

/// What comes from the upstream.
pub(crate) struct Download<'a> {
    pub(crate) reader: &'a mut Reader,
    pub(crate) inbox: &'a mut BytesMut,
    pub(crate) writer: &'a mut Writer,
}

/// What both directions have to know of each other.
#[derive(Default)]
struct Between {
    sent: Notify,
    /// The upstream takes no more of the request; it may still answer.
    refused: Cell<bool>,
}

impl Exchange<'_> {
    /// Pass both messages on.
    pub(crate) async fn run(&self, upload: Upload<'_>, download: Download<'_>) -> End {
        let between = Between::default();
        tokio::select! {
            biased;
            end = self.download(download, &between) => end,
            end = self.upload(upload, &between) => end,
        }
    }

    /// Pass the request on, then watch the client. Comes back only with trouble.
    async fn upload(&self, mut upload: Upload<'_>, between: &Between) -> End {
        let mut payload = Payload::default();
        // The head goes out with as much of the body as there is.
        let mut out = std::mem::take(&mut upload.head);
        loop {
            let used = match payload.find(&mut upload.body, upload.inbox) {
                Ok(used) => used,
                Err(bad) => return End::BadRequest(bad),
            };
            upload.body.finish_chunks();
            if let Some(began) = (!out.is_empty()).then_some(upload.began) {
                out.extend_from_slice(&upload.inbox[..used]);
                if upload.writer.write(&out).await.is_err() {
                    return Self::refused(between).await;
                }
                self.metrics.request_overhead.add(began.elapsed());
                out = Vec::new();
            } else if used > 0 && upload.writer.write(&upload.inbox[..used]).await.is_err() {
                return Self::refused(between).await;
            }
            let done = upload.body.is_done() && !self.tape.is_request_sent();
            match payload.of(&upload.inbox[..used]) {
                [] if done => self.tape.request_sent(),
                [] => {}
                data => self.tape.request_body(data, done).await,
            }
            upload.inbox.advance(used);
            if done {
                between.sent.notify_one();
            }
            if upload.body.is_done() && upload.inbox.len() >= READ_SIZE {
                return pending().await;
            }
            match upload.reader.read(upload.inbox).await {
                Ok(0) => return End::ClientGone(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) => return End::ClientGone(error),
            }
        }
    }

    /// The upstream takes no more. It may have answered already and closed: the answer is what counts.
    async fn refused(between: &Between) -> End {
        between.refused.set(true);
        pending().await
    }

    /// Pass the response on, its informational forerunners included.
    async fn download(&self, mut download: Download<'_>, between: &Between) -> End {
        let (response, mut body) = match self.heads(&mut download).await {
            Ok(found) => found,
            Err(End::Switched) => return self.switched(&mut download, between).await,
            Err(end) => return end,
        };
        let persists = self.persists && response.connection.persists(response.minor);
        let framed = !matches!(body, Body::UntilClose);
        if let Err(end) = self.body(&mut download, response, &mut body).await {
            return end;
        }
        if !framed || !persists || between.refused.get() {
            return End::WholeThenClose;
        }
        if !self.tape.is_request_sent() {
            // An early answer: the client may still be sending, and the upstream still reading.
            self.tape.flush();
            tokio::select! {
                () = between.sent.notified() => {}
                _ = download.reader.read(download.inbox) => return End::WholeThenClose,
            }
        }
        End::Whole
    }

    /// What an upstream that was that quick still has to be sent comes first.
    async fn switched(&self, download: &mut Download<'_>, between: &Between) -> End {
        while !self.tape.is_request_sent() {
            if between.refused.get() {
                return End::Cut;
            }
            tokio::select! {
                () = between.sent.notified() => {}
                read = download.reader.read(download.inbox) => match read {
                    Ok(0) => return End::Cut,
                    Ok(_) => {}
                    Err(error) => return broken(error),
                },
            }
        }
        End::Switched
    }

    /// Read heads up to the final one; informational ones are passed on at once.
    async fn heads(&self, download: &mut Download<'_>) -> Result<(Response, Body), End> {
        let mut seen = 0;
        loop {
            match Response::parse(download.inbox, seen) {
                Ok(Some(response)) if response.is_informational() => {
                    let mut head = Vec::new();
                    response.write(&mut head, &download.inbox[..response.length]);
                    download.writer.write(&head).await.map_err(End::ClientGone)?;
                    download.inbox.advance(response.length);
                    self.tape.head(response.head);
                    self.tape.flush();
                    seen = 0;
                    continue;
                }
                Ok(Some(response)) if response.head.status == 101 && self.upgrades => {
                    // The very bytes: here, fields of this hop are those of the next.
                    let head = &download.inbox[..response.length];
                    download.writer.write(head).await.map_err(End::ClientGone)?;
                    download.inbox.advance(response.length);
                    self.tape.head(response.head);
                    self.tape.flush();
                    return Err(End::Switched);
                }
                Ok(Some(response)) if response.head.status == 101 => {
                    return Err(self
                        .unreadable(download, Unreadable("the upstream changed the protocol unasked"))
                        .await);
                }
                Ok(Some(response)) => match response.body(self.method) {
                    Ok(body) => return Ok((response, body)),
                    Err(problem) => return Err(self.unreadable(download, problem).await),
                },
                Ok(None) => seen = download.inbox.len(),
                Err(problem) => return Err(self.unreadable(download, problem).await),
            }
            match download.reader.read(download.inbox).await {
                Ok(0) => {
                    download.writer.write(download.inbox).await.map_err(End::ClientGone)?;
                    return Err(End::Cut);
                }
                Ok(_) => {}
                Err(error) => return Err(broken(error)),
            }
        }
    }

    /// Pass the final head and its body on.
    async fn body(
        &self,
        download: &mut Download<'_>,
        response: Response,
        body: &mut Body,
    ) -> Result<(), End> {
        let mut payload = Payload::default();
        let mut arrived = Instant::now();
        let mut out = Vec::new();
        response.write(&mut out, &download.inbox[..response.length]);
        download.inbox.advance(response.length);
        self.tape.head(response.head);
        let mut trailers = Fields::new();
        loop {
            let used = match payload.find(body, download.inbox) {
                Ok(used) => used,
                Err(BadChunk(problem)) => return Err(self.garbled(download, &out, problem).await),
            };
            if out.is_empty() {
                self.hand_on(download.writer, &download.inbox[..used], arrived).await?;
            } else {
                out.extend_from_slice(&download.inbox[..used]);
                self.hand_on(download.writer, &out, arrived).await?;
                out = Vec::new();
            }
            if let Some(spelled) = body.finish_chunks() {
                trailers = parse_trailers(&spelled);
            }
            if body.is_done() {
                // Said before the last bytes are told: a client that has them all may leave while that waits.
                self.tape.response_complete(std::mem::take(&mut trailers));
            }
            match payload.of(&download.inbox[..used]) {
                [] if body.is_done() => {}
                [] => self.tape.flush(),
                data => self.tape.response_body(data).await,
            }
            download.inbox.advance(used);
            if body.is_done() {
                return Ok(());
            }
            match download.reader.read(download.inbox).await {
                Ok(0) if matches!(body, Body::UntilClose) => {
                    self.tape.response_complete(Fields::new());
                    return Ok(());
                }
                Ok(0) => return Err(End::Cut),
                Ok(_) => arrived = Instant::now(),
                Err(error) => return Err(broken(error)),
            }
        }
    }

    /// Write to the client; what it costs is counted unless the client itself makes us wait.
    async fn hand_on(&self, writer: &mut Writer, data: &[u8], arrived: Instant) -> Result<(), End> {
        if data.is_empty() {
            return Ok(());
        }
        let written = writer.try_write(data).map_err(End::ClientGone)?;
        if written == data.len() {
            self.metrics.response_overhead.add(arrived.elapsed());
            return Ok(());
        }
        writer.write(&data[written..]).await.map_err(End::ClientGone)
    }

    /// Chunks that cannot be read are passed on as they are, like all else.
    async fn garbled(&self, download: &mut Download<'_>, head: &[u8], problem: &'static str) -> End {
        if let Err(error) = download.writer.write(head).await {
            return End::ClientGone(error);
        }
        self.unreadable(download, Unreadable(problem)).await
    }

    /// Pass on what is no HTTP, up to its end.
    async fn unreadable(&self, download: &mut Download<'_>, problem: Unreadable) -> End {
        loop {
            if let Err(error) = download.writer.write(download.inbox).await {
                return End::ClientGone(error);
            }
            if !download.inbox.is_empty() {
                self.tape.unreadable(download.inbox.len());
            }
            download.inbox.clear();
            match download.reader.read(download.inbox).await {
                Ok(0) | Err(_) => return End::Unreadable(problem),
                Ok(_) => {}
            }
        }
    }
}

/// A TLS connection that ends without a word was cut; any other error broke it.
fn broken(error: io::Error) -> End {
    if error.kind() == io::ErrorKind::UnexpectedEof { End::Torn } else { End::Reset(error) }
}

/// The payload among bytes that passed, gathered only if it lies in several places.
#[derive(Default)]
struct Payload {
    places: Vec<Range<usize>>,
    gathered: Vec<u8>,
}

impl Payload {
    /// Tells how many bytes of `data` belong to the body.
    fn find(&mut self, body: &mut Body, data: &[u8]) -> Result<usize, BadChunk> {
        self.places.clear();
        body.advance(data, |place| self.places.push(place))
    }

    fn of<'a>(&'a mut self, data: &'a [u8]) -> &'a [u8] {
        if let [place] = self.places.as_slice() {
            return &data[place.clone()];
        }
        self.gathered.clear();
        for place in &self.places {
            self.gathered.extend_from_slice(&data[place.clone()]);
        }
        &self.gathered
    }
}

/// Trailer fields; lines that are none are left out of the record, though they passed.
fn parse_trailers(spelled: &[u8]) -> Fields {
    let mut headers = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let text = [spelled, b"\r\n"].concat();
    match httparse::parse_headers(&text, &mut headers) {
        Ok(httparse::Status::Complete((_, fields))) => {
            fields.iter().map(|field| (field.name.as_bytes().to_vec(), field.value.to_vec())).collect()
        }
        _ => Fields::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_read() {
        assert_eq!(parse_trailers(b"X-Sum: 1\r\n"), [(b"X-Sum".to_vec(), b"1".to_vec())]);
        assert_eq!(parse_trailers(b""), Fields::new());
    }

    #[test]
    fn payload_in_one_place_is_not_copied() {
        let mut payload = Payload::default();
        let data = b"5\r\nhello\r\n";
        assert_eq!(payload.find(&mut Body::chunked(), data), Ok(data.len()));
        assert_eq!(payload.of(data).as_ptr(), data[3..].as_ptr());
        let data = b"1\r\na\r\n1\r\nb\r\n";
        assert_eq!(payload.find(&mut Body::chunked(), data), Ok(data.len()));
        assert_eq!(payload.of(data), b"ab");
    }
}
