//! Asks as many times as it can, or reads streams and measures how late each event is.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::spawn_local;

use crate::wire::{now, read_head, request_body, skip};

/// What is asked for.
#[derive(Args, Clone)]
pub(crate) struct Load {
    /// Where the measured proxy, or the upstream itself, listens
    #[arg(long)]
    target: SocketAddr,
    /// What stands before the path, such as /bb/s/t/r
    #[arg(long, default_value = "")]
    prefix: String,
    /// Connections, or streams, at the same time
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// For how long JSON is asked for
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Read streams of so many events; 0 asks for JSON
    #[arg(long, default_value_t = 0)]
    events: u64,
    /// Microseconds between two events
    #[arg(long, default_value_t = 0)]
    gap: u64,
}

/// What all connections measured, in microseconds.
#[derive(Default)]
struct Measured {
    latencies: Vec<u64>,
    failures: u64,
}

/// Put the load on; returns the report.
pub(crate) async fn run(load: Load) -> io::Result<Value> {
    let measured = Rc::new(RefCell::new(Measured::default()));
    let began = Instant::now();
    let deadline = began + Duration::from_secs_f64(load.seconds);
    let tasks: Vec<_> = (0..load.connections)
        .map(|_| {
            let (load, measured) = (load.clone(), Rc::clone(&measured));
            spawn_local(async move {
                let outcome = if load.events > 0 {
                    stream(&load, &measured).await
                } else {
                    ask(&load, deadline, &measured).await
                };
                if outcome.is_err() {
                    measured.borrow_mut().failures += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    let elapsed = began.elapsed().as_secs_f64();
    let mut measured = measured.borrow_mut();
    measured.latencies.sort_unstable();
    let quantile = |share: usize| {
        let last = measured.latencies.len().saturating_sub(1);
        measured.latencies.get(last * share / 1000).copied().unwrap_or(0)
    };
    #[expect(clippy::cast_precision_loss)]
    let rate = measured.latencies.len() as f64 / elapsed;
    Ok(json!({
        "count": measured.latencies.len(), "seconds": elapsed, "rate": rate, "failures": measured.failures,
        "p50_us": quantile(500), "p95_us": quantile(950), "p99_us": quantile(990), "max_us": quantile(1000),
    }))
}

fn request(load: &Load, path: &str) -> Vec<u8> {
    let body = request_body();
    let head = format!(
        "POST {}{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer bench\r\nUser-Agent: bench/1\r\nAccept: */*\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        load.prefix,
        load.target,
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

async fn connect(load: &Load) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(load.target).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn ask(load: &Load, deadline: Instant, measured: &RefCell<Measured>) -> io::Result<()> {
    let request = request(load, "/json");
    let mut stream = connect(load).await?;
    let mut buffer = Vec::with_capacity(16 << 10);
    while Instant::now() < deadline {
        let began = Instant::now();
        stream.write_all(&request).await?;
        let head = read_head(&mut stream, &mut buffer).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if !head.line.contains(" 200 ") {
            return Err(io::Error::other(head.line));
        }
        if head.chunked {
            skip_chunks(&mut stream, &mut buffer).await?;
        } else {
            skip(&mut stream, &mut buffer, head.length.unwrap_or(0)).await?;
        }
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        measured.borrow_mut().latencies.push(micros);
    }
    Ok(())
}

/// Some proxies answer JSON in chunks.
async fn skip_chunks(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<()> {
    loop {
        if let Some(at) = buffer.windows(5).position(|window| window == b"0\r\n\r\n") {
            buffer.drain(..at + 5);
            return Ok(());
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Read one stream; each event says when it was sent.
async fn stream(load: &Load, measured: &RefCell<Measured>) -> io::Result<()> {
    const MARK: &[u8] = b"\"at\":";
    let mut stream = connect(load).await?;
    stream.write_all(&request(load, &format!("/sse?events={}&gap={}", load.events, load.gap))).await?;
    let mut buffer = Vec::with_capacity(64 << 10);
    read_head(&mut stream, &mut buffer).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut seen = 0;
    loop {
        let arrived = now();
        let mut from = 0;
        while let Some(at) = buffer[from..].windows(MARK.len()).position(|window| window == MARK) {
            let digits = from + at + MARK.len();
            let Some(text) = buffer.get(digits..digits + 20) else { break };
            let sent: u64 = String::from_utf8_lossy(text).parse().unwrap_or(arrived);
            measured.borrow_mut().latencies.push(arrived.saturating_sub(sent) / 1000);
            seen += 1;
            from = digits + 20;
        }
        buffer.drain(..from);
        if seen >= load.events {
            return Ok(());
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
