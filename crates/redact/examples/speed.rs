//! How fast a stream is redacted: `cargo run --release --example speed -- [event|line|none] FILE [BYTES A PUSH]`.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use redact::{Boundary, Redactor, Settings, Stream};

/// How long is measured.
const SPAN: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [boundary, path, rest @ ..] = arguments.as_slice() else {
        return Err("give a boundary and a file".into());
    };
    let boundary = match boundary.as_str() {
        "event" => Boundary::Event,
        "line" => Boundary::Line,
        _ => Boundary::None,
    };
    let text = std::fs::read(path)?;
    let piece = rest.first().map_or(Ok(16 << 10), |piece| piece.parse())?;
    let begun = Instant::now();
    let redactor =
        Redactor::from_settings(&Settings { profile: Some("wire".to_owned()), ..Settings::default() })?;
    let built = begun.elapsed();
    let mut bytes = 0;
    let mut counts = BTreeMap::new();
    let mut out = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < SPAN {
        let mut stream = Stream::new(boundary);
        for data in text.chunks(piece) {
            out.clear();
            stream.push(&redactor, data, &mut out, &mut counts);
        }
        stream.finish(&redactor, &mut out, &mut counts);
        bytes += text.len();
    }
    let speed = bytes as u128 / begun.elapsed().as_micros();
    let rounds = (bytes / text.len()) as u64;
    let found: u64 = counts.values().sum::<u64>() / rounds;
    writeln!(
        std::io::stdout(),
        "{path}: {speed} MB/s in pieces of {piece} bytes, {found} found; the rules took {} ms to build",
        built.as_millis()
    )?;
    Ok(())
}
