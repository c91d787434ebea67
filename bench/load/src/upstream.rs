//! Answers with JSON of one size, or with a stream of events that carry the moment they were sent.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::wire::{now, read_head, skip};

/// How many streams were begun, so that each has a phase of its own.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// Spreads phases evenly over any gap.
const PRIME: u64 = 7919;

/// Serve for ever.
pub(crate) async fn serve(listen: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // A client that leaves ends its own connection and nothing else.
        drop(tokio::spawn(answer(stream)));
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let filler = "x".repeat(2000);
    let json = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{{\"text\":\"{filler}\"}}",
        filler.len() + 11
    );
    let mut buffer = Vec::with_capacity(16 << 10);
    while let Some(request) = read_head(&mut stream, &mut buffer).await? {
        skip(&mut stream, &mut buffer, request.length.unwrap_or(0)).await?;
        if request.line.contains("/sse") {
            let number = |name: &str| {
                let value = request.line.split([' ', '?', '&']).find_map(|word| word.strip_prefix(name));
                value.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0)
            };
            events(&mut stream, number("events="), number("gap=")).await?;
        } else {
            stream.write_all(json.as_bytes()).await?;
        }
    }
    Ok(())
}

async fn events(stream: &mut TcpStream, count: u64, gap: u64) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut out = String::new();
    // Streams of different models do not tick together.
    let phase = STREAMS.fetch_add(1, Ordering::Relaxed) * PRIME % gap.max(1);
    let begin = Instant::now() + Duration::from_micros(phase);
    let mut pause = tokio::time::interval_at(begin, Duration::from_micros(gap.max(1)));
    for _ in 0..count {
        if gap > 0 {
            pause.tick().await;
        }
        let event = format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\" word\"}},\"at\":{:020}}}\n\n",
            now()
        );
        // Writing to a String cannot fail.
        let _ = write!(out, "{:x}\r\n{event}\r\n", event.len());
        // Each on its own, as models send them.
        stream.write_all(out.as_bytes()).await?;
        out.clear();
    }
    stream.write_all(b"0\r\n\r\n").await
}
