//! The little HTTP that upstream and load speak.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt};

/// The body of every request: what a small turn of an agent looks like.
pub(crate) fn request_body() -> Vec<u8> {
    let text = "Read the two files, run the test and tell what is wrong. ".repeat(16);
    format!("{{\"model\":\"m\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}")
        .into_bytes()
}

/// Nanoseconds, the same for all processes of this machine.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A message's head, and what came behind it.
pub(crate) struct Message {
    /// The first line.
    pub(crate) line: String,
    pub(crate) length: Option<usize>,
    pub(crate) chunked: bool,
}

/// Read a head; what came behind it stays in `buffer`.
pub(crate) async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Message>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            buffer.drain(..end + 4);
            let mut lines = head.lines();
            let line = lines.next().unwrap_or_default().to_owned();
            let mut message = Message { line, length: None, chunked: false };
            for field in lines {
                let (name, value) = field.split_once(':').unwrap_or((field, ""));
                if name.eq_ignore_ascii_case("content-length") {
                    message.length = value.trim().parse().ok();
                }
                message.chunked |= name.eq_ignore_ascii_case("transfer-encoding");
            }
            return Ok(Some(message));
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// Read and forget a body of a stated length.
pub(crate) async fn skip(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
    length: usize,
) -> io::Result<()> {
    while buffer.len() < length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    buffer.drain(..length);
    Ok(())
}
