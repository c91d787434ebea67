//! The segments of the corpus: what each of them shows.

use wal::ids::Id;
use wal::record::{Kind, Record, flags};
use wal::segment::Header;

use crate::writing::{Draft, RESPONSE_START, START, request, request_start};

/// A segment of the corpus under its name.
pub(crate) type Named = (&'static str, Vec<u8>);

/// All segments that stand alone.
pub(crate) fn all() -> Vec<Named> {
    [intact(), damaged(), unreadable()].concat()
}

/// Two exchanges and a checkpoint: what most segments look like.
fn plain() -> Draft {
    let mut draft = Draft::first();
    draft.exchange(request(1), "Where is the harbour?", &["Down", " the", " hill."]);
    draft.exchange(request(2), "And the church?", &["Next", " to", " it."]);
    draft.checkpoint("stop", "");
    draft
}

fn intact() -> Vec<Named> {
    vec![
        ("plain", plain().bytes),
        ("empty", Draft::first().bytes),
        ("kinds", kinds()),
        ("messages", messages()),
        ("resent", resent()),
        ("unknown-type", unknown_type()),
        ("unknown-version", unknown_version()),
        ("odd-times", odd_times()),
        ("gap", gap()),
        ("missing", missing()),
    ]
}

/// Every type, two requests interleaved, messages both ways, records without a request, empty payloads.
fn kinds() -> Vec<u8> {
    let none = Id::default();
    let start = r#"{"event":"run.start","session":"harbour","task":"t1","run":"run_01JCX5W00G7000000000000001","policy":"2026.11.3","data":{}}"#;
    let gap = r#"{"reason":"queue_full","direction":"response","bytes":8192,"records":2}"#;
    let error = r#"{"where":"upstream","code":"upstream_cut","message":"The provider closed the connection.","request":{"wire":10,"decoded":10,"stored":10,"encoding":null,"hmac":null,"complete":true,"redactions":{}},"response":{"wire":8300,"decoded":8300,"stored":108,"encoding":null,"hmac":null,"complete":false,"redactions":{},"trailers":[]},"timings":{"connected":0,"request_sent":300,"first_byte":null,"end":9000},"kept":{}}"#;
    let mut draft = Draft::first();
    draft
        .add(Kind::HarnessEvent, 0, none, start)
        .add(Kind::RequestStart, flags::REDACTED, request(1), request_start(10))
        .add(Kind::RequestStart, 0, request(2), request_start(0))
        .add(Kind::RequestBody, flags::DECODED, request(1), "{\"a\": 1}\n\n")
        .add(Kind::RequestBody, 0, request(2), "")
        .add(Kind::ResponseStart, 0, request(2), RESPONSE_START)
        .add(Kind::WsFrame, flags::FROM_CLIENT | flags::REDACTED, request(2), "{\"type\":\"ask\"}")
        .add(Kind::ResponseStart, 0, request(1), RESPONSE_START)
        .add(Kind::WsFrame, 0, request(2), [0xFF, 0x00, 0xFE])
        .add(Kind::ResponseBody, flags::DECODED, request(1), "data: Grüße\n\n")
        .add(Kind::WsFrame, flags::FROM_CLIENT, request(2), "bye")
        .add(Kind::Gap, 0, request(1), gap)
        .add(Kind::ToolEvent, 0, none, r#"{"tool":"shell","name":"ls","status":"ok"}"#)
        .add(Kind::NativeLine, flags::REDACTED, none, r#"{"type":"user","text":"[redacted:github_token]"}"#)
        .add(Kind::Error, 0, request(1), error)
        .add(Kind::Enrichment, 0, none, r#"{"model":"m-1","asked":"A title?","answered":"Harbour"}"#)
        .exchange(request(3), "Is it far?", &["No."])
        .checkpoint("interval", "")
        .add(Kind::ResponseBody, 0, request(2), "after the end")
        .checkpoint("rotation", "");
    draft.bytes
}

/// A WebSocket: messages whole and in pieces, text and binary, both ways at once, one that broke off.
fn messages() -> Vec<u8> {
    use flags::{BINARY, CONTINUES, DECODED, FROM_CLIENT, REDACTED};
    let switched = r#"{"status":101,"reason":"Switching Protocols","version":"HTTP/1.1","headers":[["Upgrade","websocket"],["Sec-WebSocket-Extensions","permessage-deflate"]]}"#;
    let gap = r#"{"reason":"undecodable","direction":"response","bytes":40,"records":1}"#;
    let end = r#"{"request":{"wire":90,"decoded":61,"stored":61,"encoding":"permessage-deflate","hmac":null,"complete":true,"redactions":{"github_token":1}},"response":{"wire":120,"decoded":47,"stored":47,"encoding":"permessage-deflate","hmac":null,"complete":true,"redactions":{},"trailers":[]},"timings":{"connected":210,"request_sent":400,"first_byte":900,"end":812345},"kept":{},"websocket":{"client":{"messages":3,"pings":0,"pongs":1,"close":{"code":1000,"reason":"done"}},"server":{"messages":3,"pings":1,"pongs":0,"close":{"code":1000,"reason":""}}}}"#;
    let socket = request(1);
    let mut draft = Draft::first();
    draft
        .add(Kind::RequestStart, 0, socket, request_start(0))
        .add(Kind::ResponseStart, 0, socket, switched)
        .add(Kind::WsFrame, FROM_CLIENT | DECODED | REDACTED, socket, r#"{"key":"[redacted:github_token]"}"#)
        .add(Kind::WsFrame, DECODED | CONTINUES, socket, r#"{"type":"#)
        .add(Kind::WsFrame, FROM_CLIENT | BINARY | CONTINUES, socket, [0x00, 0xFF])
        .add(Kind::WsFrame, DECODED, socket, r#""answer"}"#)
        .add(Kind::WsFrame, FROM_CLIENT | BINARY, socket, [0xFE])
        .add(Kind::WsFrame, 0, socket, "")
        .add(Kind::WsFrame, CONTINUES, socket, "never to be read whole: ")
        .add(Kind::Gap, 0, socket, gap)
        .add(Kind::WsFrame, 0, socket, "")
        .add(Kind::WsFrame, FROM_CLIENT | CONTINUES, socket, "")
        .add(Kind::WsFrame, FROM_CLIENT, socket, "bye")
        .add(Kind::WsFrame, BINARY | CONTINUES, socket, "broke off")
        .add(Kind::ResponseEnd, 0, socket, end)
        .checkpoint("stop", "");
    draft.bytes
}

/// A history that is sent again with each turn: in the seal, all three requests lie on the same bytes.
fn resent() -> Vec<u8> {
    let mut draft = Draft::first();
    let mut history = String::from(r#"{"model":"m-1","messages":["#);
    for turn in 1..=3_u8 {
        let words: Vec<String> = (0..if turn == 1 { 800 } else { 20_u32 })
            .map(|word| (word * word * u32::from(turn)).to_string())
            .collect();
        history.extend([r#"{"role":"user","content":""#, &words.join(" "), r#""},"#]);
        let body = format!("{}]}}", history.trim_end_matches(','));
        let id = request(u128::from(turn));
        draft.add(Kind::RequestStart, flags::REDACTED, id, request_start(body.len()));
        for chunk in body.as_bytes().chunks(4096) {
            draft.add(Kind::RequestBody, 0, id, chunk);
        }
        draft.add(Kind::ResponseStart, 0, id, RESPONSE_START).add(Kind::ResponseBody, 0, id, "data: {}\n\n");
    }
    draft.bytes
}

/// Types and flags that no reader of this version knows; they are kept.
fn unknown_type() -> Vec<u8> {
    let mut draft = Draft::first();
    let record = |sequence, kind, record_flags, payload| Record {
        version: 1,
        kind,
        flags: record_flags,
        sequence,
        monotonic: START + 1000 * sequence,
        request: request(1),
        payload,
    };
    draft
        .add_record(&record(1, 0, 0, b"type nought"))
        .add_record(&record(2, 14, 0x8000, b"the next type"))
        .add_record(&record(3, 255, 0xFFFF, b"the last type"))
        .exchange(request(2), "Still there?", &["Yes."]);
    draft.bytes
}

/// A record of another version: no damage, and yet this segment is not sealed.
fn unknown_version() -> Vec<u8> {
    let mut draft = Draft::first();
    let version_2 = Record {
        version: 2,
        kind: Kind::NativeLine.code(),
        flags: 0,
        sequence: 1,
        monotonic: START + 1000,
        request: Id::default(),
        payload: b"spelled otherwise",
    };
    draft.add_record(&version_2).exchange(request(1), "Still there?", &["Yes."]);
    draft.bytes
}

/// Times that run backwards, and one that is no multiple of 1000.
fn odd_times() -> Vec<u8> {
    let mut draft = Draft::first();
    for (sequence, monotonic) in
        [(1, START + 2_000_000), (2, START - 1_000_000), (3, START + 1), (4, 0), (5, u64::MAX)]
    {
        draft.add_record(&Record {
            version: 1,
            kind: Kind::ResponseBody.code(),
            flags: 0,
            sequence,
            monotonic,
            request: request(1),
            payload: b"tick",
        });
    }
    draft.bytes
}

/// Three records were lost, and a gap says so.
fn gap() -> Vec<u8> {
    let mut draft = Draft::first();
    draft.exchange(request(1), "Before?", &["Yes."]).skip(3);
    let payload = r#"{"reason":"write_error","direction":null,"bytes":412,"records":3,"first_sequence":6,"last_sequence":8,"error":"No space left on device (os error 28)"}"#;
    draft.add(Kind::Gap, 0, Id::default(), payload).exchange(request(2), "After?", &["Yes."]);
    draft.bytes
}

/// Three records are missing, and nothing says why.
fn missing() -> Vec<u8> {
    let mut draft = Draft::first();
    draft.exchange(request(1), "Before?", &["Yes."]).skip(3).exchange(request(2), "After?", &["Yes."]);
    draft.bytes
}

fn damaged() -> Vec<Named> {
    let whole = plain();
    let (bytes, offsets) = (&whole.bytes, &whole.offsets);
    let last = *offsets.last().unwrap();

    let torn = bytes[..bytes.len() - 7].to_vec();
    let torn_in_head = bytes[..last + 20].to_vec();
    let zero_tail = [bytes.as_slice(), &[0; 4096]].concat();
    let flipped = flip(bytes, offsets[4] + 60);
    let flipped_length = flip(bytes, offsets[4] + 6);
    let flipped_last = flip(bytes, last + 50);
    let flipped_twice = flip(&flip(bytes, offsets[1] + 50), offsets[9] + 2);
    let cut_out = [&bytes[..offsets[3] + 10], &bytes[offsets[5] + 30..]].concat();
    let repeated = [&bytes[..offsets[4]], &bytes[offsets[3]..]].concat();
    vec![
        ("torn", torn),
        ("torn-in-head", torn_in_head),
        ("zero-tail", zero_tail),
        ("flipped", flipped),
        ("flipped-length", flipped_length),
        ("flipped-last", flipped_last),
        ("flipped-twice", flipped_twice),
        ("cut-out", cut_out),
        ("repeated", repeated),
        ("foreign", foreign()),
    ]
}

/// A record of another segment between two of this one: whole, but not at home here.
fn foreign() -> Vec<u8> {
    let mut other = Draft::with_header(Header { id: Id(77), ..Draft::first().header });
    other.skip(5).add(Kind::NativeLine, 0, Id::default(), "from another file");
    let mut draft = Draft::first();
    draft.exchange(request(1), "Before?", &["Yes."]);
    draft.bytes.extend_from_slice(&other.bytes[other.offsets[0]..]);
    draft.skip(1).exchange(request(2), "After?", &["Yes."]);
    draft.bytes
}

fn unreadable() -> Vec<Named> {
    let bytes = plain().bytes;
    let mut other_flags = Draft::first().header.encode();
    other_flags[10] = 1;
    let body = other_flags.len() - 4;
    let crc = wal::checksum::of([&other_flags[..body]]);
    other_flags[body..].copy_from_slice(&crc.to_le_bytes());
    let mut other_version = bytes.clone();
    other_version[8] = 2;
    vec![
        ("bad-header", flip(&bytes, 110)),
        ("bad-magic", flip(&bytes, 3)),
        ("short-header", bytes[..100].to_vec()),
        ("no-bytes", Vec::new()),
        ("other-flags", other_flags),
        ("other-version", other_version),
    ]
}

fn flip(bytes: &[u8], offset: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[offset] ^= 0x10;
    flipped
}
