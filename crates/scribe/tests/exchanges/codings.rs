//! Content codings: whatever the pieces, what is stored is the text.

use proptest::prelude::*;
use scribe::Mode;
use serde_json::json;
use wal::record::{Kind, flags};

use crate::play::{Play, brotli, cut, encode, policy, respond, secret};

/// A coding, and what its header field says.
pub(crate) const CODINGS: [(&str, &str); 6] = [
    ("gzip", "gzip"),
    ("gzip", "x-gzip"),
    ("zlib", "deflate"),
    ("raw-deflate", "Deflate"),
    ("br", "br"),
    ("zstd", " zstd "),
];

/// Text with secrets, that compresses somewhat.
pub(crate) fn text(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut text = Vec::new();
    while text.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match state >> 61 {
            0 => text.extend_from_slice(secret().as_bytes()),
            1 => text.extend_from_slice(b"\n\n"),
            _ => text.extend_from_slice(format!(" word{} ", state >> 40).as_bytes()),
        }
    }
    text
}

pub(crate) fn stored(field: &str, packed: &[u8], places: &[usize]) -> Play {
    let fields = [("Content-Encoding", field), ("content-type", "text/plain")];
    respond(policy(Mode::Full), &fields, &cut(packed, places))
}

pub(crate) fn redacted(text: &[u8]) -> Vec<u8> {
    policy(Mode::Full).redactor.redact(text).0.into_owned()
}

#[test]
fn each_coding_is_undone_byte_by_byte() {
    let text = text(3, 3000);
    for (coding, field) in CODINGS {
        let packed = encode(coding, &text);
        let every: Vec<usize> = (0..packed.len()).collect();
        let play = stored(field, &packed, &every);
        assert_eq!(play.joined(Kind::ResponseBody), redacted(&text), "{coding}");
        let end = &play.end()["response"];
        assert_eq!(end["wire"], packed.len());
        assert_eq!(end["decoded"], text.len());
        assert_eq!(end["stored"], redacted(&text).len());
        assert_eq!(end["encoding"], field.trim());
        assert_eq!(play.of(Kind::Gap).count(), 0, "{coding}");
        assert!(play.of(Kind::ResponseBody).all(|made| made.flags & flags::DECODED != 0));
        assert_eq!(play.scribe.counters().decode_memory, 0);
    }
}

#[test]
fn each_flush_of_the_sender_is_recorded_at_once() {
    use std::io::Write;
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[("content-encoding", "gzip"), ("content-type", "text/event-stream")]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for number in 0..5 {
        let event = format!("data: {number}\n\n");
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        play.response(&std::mem::take(encoder.get_mut()));
        assert_eq!(play.made.last().unwrap().payload, event.as_bytes());
    }
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    play.close();
    play.open(&[]);
    play.answer(&[("content-encoding", "zstd"), ("content-type", "text/event-stream")]);
    for number in 0..5 {
        let event = format!("data: {number}\n\n");
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        play.response(&std::mem::take(encoder.get_mut()));
        assert_eq!(play.made.last().unwrap().payload, event.as_bytes());
    }
    play.close();
    play.open(&[]);
    play.answer(&[("content-encoding", "br"), ("content-type", "text/event-stream")]);
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
    for number in 0..5 {
        let event = format!("data: {number}\n\n");
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        play.response(&std::mem::take(encoder.get_mut()));
        assert_eq!(play.made.last().unwrap().payload, event.as_bytes());
    }
}

#[test]
fn codings_lie_one_above_the_other() {
    let text = text(5, 20_000);
    let twice = encode("br", &encode("gzip", &text));
    assert_eq!(stored("gzip, br", &twice, &[7, 100]).joined(Kind::ResponseBody), redacted(&text));
    let thrice = encode("zstd", &twice);
    let play = stored("gzip, identity, br,zstd", &thrice, &[1, 2, 3, 500]);
    assert_eq!(play.joined(Kind::ResponseBody), redacted(&text));
    let fields = [("content-encoding", "gzip"), ("Content-Encoding", "br")];
    let play = respond(policy(Mode::Full), &fields, &[&twice]);
    assert_eq!(play.joined(Kind::ResponseBody), redacted(&text));
    assert_eq!(play.end()["response"]["encoding"], "gzip, br");
}

#[test]
fn identity_is_no_coding() {
    for field in ["identity", "", " , IDENTITY"] {
        let play = stored(field, b"text", &[]);
        assert_eq!(play.joined(Kind::ResponseBody), b"text");
        assert_eq!(play.end()["response"]["encoding"], json!(null));
        assert!(play.of(Kind::ResponseBody).all(|made| made.flags == 0));
    }
}

#[test]
fn members_and_frames_follow_each_other() {
    let parts = ["one ", "", "two ", "three"];
    for coding in ["gzip", "zstd"] {
        let mut packed: Vec<u8> = parts.iter().flat_map(|part| encode(coding, part.as_bytes())).collect();
        if coding == "zstd" {
            packed.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
            packed.extend(encode(coding, b" four"));
        } else {
            packed.extend_from_slice(&[0; 13]);
        }
        let every: Vec<usize> = (0..packed.len()).collect();
        for places in [&[][..], &every] {
            let text = String::from_utf8(stored(coding, &packed, places).joined(Kind::ResponseBody)).unwrap();
            assert_eq!(text, if coding == "zstd" { "one two three four" } else { "one two three" });
        }
    }
}

#[test]
fn an_unknown_coding_is_a_gap() {
    for field in ["compress", "gzip, exi", "gzip, gzip, gzip, gzip", "aes128gcm"] {
        let play = stored(field, b"0123456789", &[3, 4]);
        assert_eq!(play.joined(Kind::ResponseBody), b"");
        let gap = json!({"reason": "undecodable", "direction": "response", "bytes": 10, "records": 3});
        assert_eq!(play.json(Kind::Gap), [gap]);
        assert_eq!(play.end()["response"]["wire"], 10);
        assert_eq!(play.end()["response"]["encoding"], field);
    }
}

#[test]
fn a_body_that_is_not_what_its_coding_says_is_a_gap() {
    for (_, field) in CODINGS {
        for first in ["{\"plain\": true}", "\x1f\u{7f} and so on", "(no"] {
            let mut body = first.as_bytes().to_vec();
            body.extend([0xff; 300]);
            for places in [&[][..], &[1, 2, 3, 4, 5, 6, 7, 8]] {
                let play = stored(field, &body, places);
                let gaps = play.json(Kind::Gap);
                assert_eq!(gaps.len(), 1, "{field} {first}");
                assert_eq!(gaps[0]["reason"], "undecodable");
                let bytes = gaps[0]["bytes"].as_u64().unwrap();
                let decoded = play.end()["response"]["decoded"].as_u64().unwrap();
                assert!(bytes == body.len() as u64 || decoded > 0, "{field} {first} {bytes} {decoded}");
                assert_eq!(play.scribe.counters().decode_memory, 0);
            }
        }
    }
}

#[test]
fn what_breaks_midway_keeps_its_beginning() {
    let text = text(17, 400_000);
    for (coding, field) in CODINGS {
        let mut packed = encode(coding, &text);
        let middle = packed.len() / 2;
        packed[middle..middle + 40].fill(0xff);
        let places: Vec<usize> = (0..packed.len()).step_by(1000).collect();
        let play = stored(field, &packed, &places);
        let gaps = play.json(Kind::Gap);
        // Some decoders do not notice, and end with another text: the check at the end tells.
        let Some(gap) = gaps.first() else { continue };
        assert_eq!((gaps.len(), &gap["reason"]), (1, &json!("undecodable")), "{coding}");
        assert!(gap["bytes"].as_u64().unwrap() <= (packed.len() - middle + 140_000) as u64);
        assert!(play.end()["response"]["decoded"].as_u64().unwrap() > 50_000, "{coding}");
    }
}

#[test]
fn what_follows_the_end_is_a_gap() {
    for (coding, field) in CODINGS {
        let mut packed = encode(coding, b"the text");
        let length = packed.len();
        packed.extend_from_slice(b"and something else");
        let play = stored(field, &packed, &[length]);
        assert_eq!(play.joined(Kind::ResponseBody), b"the text", "{coding}");
        let gap = json!({"reason": "undecodable", "direction": "response", "bytes": 18, "records": 1});
        assert_eq!(play.json(Kind::Gap), [gap], "{coding}");
    }
}

#[test]
fn undecodable_bytes_are_kept_for_who_asks_for_it() {
    let keeping = || scribe::Policy { keep_undecodable: true, ..policy(Mode::Full) };
    let play = respond(keeping(), &[("content-encoding", "compress")], &[b"\x1f\x9d", b"abc"]);
    assert_eq!(play.joined(Kind::ResponseBody), b"\x1f\x9dabc");
    assert!(play.of(Kind::ResponseBody).all(|made| made.flags == 0));
    assert_eq!(play.of(Kind::Gap).count(), 0);
    assert_eq!(play.end()["response"]["stored"], 5);
    let play = respond(keeping(), &[("content-encoding", "gzip")], &[b"no gzip"]);
    assert_eq!((play.joined(Kind::ResponseBody), play.of(Kind::Gap).count()), (b"no gzip".to_vec(), 0));
    let play = respond(keeping(), &[("content-encoding", "gzip")], &[b"\x1f\x8b", b"no", b"gzip"]);
    assert_eq!(play.joined(Kind::ResponseBody), b"nogzip");
    let gap = json!({"reason": "undecodable", "direction": "response", "bytes": 2, "records": 1});
    assert_eq!(play.json(Kind::Gap), [gap]);
    let mut packed = encode("gzip", b"text ");
    packed.extend_from_slice(b"tail");
    let play = respond(keeping(), &[("content-encoding", "gzip")], &[&packed]);
    assert_eq!(play.joined(Kind::ResponseBody), b"text tail");
}

#[test]
fn windows_of_any_size_are_read() {
    let text = text(23, 400_000);
    for lgwin in [10, 16, 17, 18, 22, 24] {
        let play = stored("br", &brotli(&text, lgwin), &[1, 1000]);
        assert_eq!(play.end()["response"]["decoded"], text.len(), "{lgwin}");
    }
    for log in [10, 17, 23] {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(log).unwrap();
        std::io::Write::write_all(&mut encoder, &text).unwrap();
        let play = stored("zstd", &encoder.finish().unwrap(), &[1, 1000]);
        assert_eq!(play.end()["response"]["decoded"], text.len(), "{log}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_split_gives_the_same(
        which in 0..CODINGS.len(), seed: u64, length in 0..60_000_usize,
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let (coding, field) = CODINGS[which];
        let text = text(seed, length);
        let packed = encode(coding, &text);
        let play = stored(field, &packed, &places);
        prop_assert_eq!(play.joined(Kind::ResponseBody), redacted(&text));
        prop_assert_eq!(&play.end()["response"]["decoded"], &json!(text.len()));
        prop_assert_eq!(play.of(Kind::Gap).count(), 0);
    }

    #[test]
    fn any_bytes_are_decoded_or_a_gap(
        which in 0..CODINGS.len(), mut body in prop::collection::vec(any::<u8>(), 0..300), real: bool,
        at: usize, places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let (coding, field) = CODINGS[which];
        if real {
            let mut packed = encode(coding, &text(body.len() as u64, 3000));
            let at = at % packed.len();
            let spoiled = body.iter().copied().take(packed.len() - at).collect::<Vec<_>>();
            packed[at..at + spoiled.len()].copy_from_slice(&spoiled);
            body = packed;
        }
        let play = stored(field, &body, &places);
        prop_assert_eq!(&play.end()["response"]["wire"], &json!(body.len()));
        prop_assert_eq!(play.scribe.counters().decode_memory, 0);
        let gaps = play.json(Kind::Gap);
        prop_assert!(gaps.iter().all(|gap| gap["reason"] != "decode_size"));
        prop_assert!(gaps.iter().all(|gap| gap["bytes"].as_u64() <= Some(body.len() as u64)));
    }
}
