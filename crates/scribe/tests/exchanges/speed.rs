//! How fast events become records; run by hand: `cargo test --release -p blackbird-scribe -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use scribe::{Event, Mode, Policy, Scribe, What};

use crate::play::{Play, encode, opening, owned, real_policy};

/// How long this thread has worked: others may have worked meanwhile. Where the system does not tell, how long it took.
fn worked(since: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Feed pieces until a second has passed; prints time an event and throughput.
fn measure(name: &str, mode: Mode, fields: &[(&str, &str)], piece: &[u8]) {
    let mut scribe = Scribe::new(Policy { decoded_limit: u64::MAX, ..real_policy(mode) });
    let mut written = 0_usize;
    let mut out = |entry: scribe::Entry<'_>| written += entry.payload.len();
    let opening = opening(&[]);
    scribe.take(&Event { exchange: 1, at: 0, what: What::Open(&opening) }, &mut out);
    let head = scribe::ResponseHead { status: 200, fields: owned(fields), ..Default::default() };
    scribe.take(&Event { exchange: 1, at: 0, what: What::ResponseHead(&head) }, &mut out);
    let start = Instant::now();
    let before = worked(start);
    let mut events = 0_u32;
    while start.elapsed() < Duration::from_secs(1) {
        for at in 0..100 {
            scribe.take(&Event { exchange: 1, at, what: What::ResponseBody(piece) }, &mut out);
        }
        events += 100;
    }
    let seconds = worked(start) - before;
    let bytes = f64::from(events) * f64::from(u32::try_from(piece.len()).unwrap());
    println!(
        "{name:<34} {:>6} bytes {:>10.0} ns/event {:>8.1} MB/s, {written} written",
        piece.len(),
        seconds * 1e9 / f64::from(events),
        bytes / seconds / 1e6
    );
}

#[test]
#[ignore = "a measurement"]
fn events_a_second() {
    let event = |words: usize| {
        let text = "the quick brown fox jumps ".repeat(words);
        let delta = format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n"
        )
    };
    let stream = [("content-type", "text/event-stream")];
    for (mode, name) in [(Mode::Full, "full"), (Mode::Privacy, "privacy"), (Mode::Passthrough, "passthrough")]
    {
        measure(&format!("{name}: one short event"), mode, &stream, event(1).as_bytes());
        measure(&format!("{name}: 4 KiB of events"), mode, &stream, event(1).repeat(26).as_bytes());
        measure(&format!("{name}: 64 KiB of events"), mode, &stream, event(1).repeat(420).as_bytes());
        let document = event(2500);
        measure(&format!("{name}: 64 KiB of a document"), mode, &[], document.as_bytes());
    }
    let members = encode("gzip", event(1).repeat(420).as_bytes());
    measure("full: gzip", Mode::Full, &[("content-encoding", "gzip"), stream[0]], &members);
    let frames = encode("zstd", event(1).repeat(420).as_bytes());
    measure("full: zstd", Mode::Full, &[("content-encoding", "zstd"), stream[0]], &frames);
}

#[test]
#[ignore = "a measurement"]
fn exchanges_a_second() {
    let mut play = Play::new(real_policy(Mode::Full));
    let start = Instant::now();
    let before = worked(start);
    for _ in 0..100_000 {
        play.open(&[("host", "127.0.0.1"), ("x-api-key", "abc"), ("content-type", "application/json")]);
        play.request(br#"{"model":"m"}"#);
        play.answer(&[("content-type", "application/json"), ("server", "s")]);
        play.response(br#"{"model":"m"}"#);
        play.close();
        play.made.clear();
    }
    println!("{:.0} ns an exchange of five events", (worked(start) - before) * 1e9 / 100_000.0);
}
