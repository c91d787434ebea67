//! Limits: memory, size, and inputs made to break them.

use scribe::{Closing, Mode, Policy, ResponseHead, What};
use serde_json::json;
use wal::record::Kind;

use crate::play::{Play, brotli, encode, opening, owned, policy, respond};

fn with_memory(decode_memory: usize) -> Policy {
    Policy { decode_memory, ..policy(Mode::Full) }
}

/// Begin exchange `number` with a response of this coding, and its first bytes.
fn begin(play: &mut Play, number: u64, coding: &str, data: &[u8]) {
    play.tell(number, What::Open(&opening(&[])));
    let fields = owned(&[("content-encoding", coding)]);
    let head = ResponseHead { status: 200, version: "HTTP/1.1", fields, ..ResponseHead::default() };
    play.tell(number, What::ResponseHead(&head));
    play.tell(number, What::ResponseBody(data));
}

#[test]
fn all_decoders_share_one_budget() {
    let mut play = Play::new(with_memory(100 << 10));
    let packed = encode("gzip", b"some text");
    let (first, rest) = packed.split_at(12);
    begin(&mut play, 1, "gzip", first);
    assert_eq!(play.scribe.counters().decode_memory, 48 << 10);
    begin(&mut play, 2, "gzip", first);
    begin(&mut play, 3, "gzip", first);
    assert_eq!(play.scribe.counters().decode_memory, 96 << 10);
    let closing = Closing::default();
    for number in [3, 1] {
        play.tell(number, What::ResponseBody(rest));
        play.tell(number, What::Close(&closing));
    }
    let gap =
        json!({"reason": "decode_memory", "direction": "response", "bytes": packed.len(), "records": 2});
    assert_eq!(play.json(Kind::Gap), [gap]);
    assert_eq!(play.joined(Kind::ResponseBody), b"some text");
    assert_eq!(play.scribe.counters().gaps, [("decode_memory", 1)].into());
    assert_eq!(play.scribe.counters().decode_memory, 48 << 10);
    begin(&mut play, 4, "gzip", &packed);
    play.tell(4, What::Close(&closing));
    assert_eq!(play.joined(Kind::ResponseBody), b"some textsome text");
}

#[test]
fn memory_is_only_taken_when_bytes_come() {
    let mut play = Play::new(policy(Mode::Full));
    for number in 0..100 {
        begin(&mut play, number, "zstd", b"");
    }
    assert_eq!(play.scribe.counters().decode_memory, 0);
}

#[test]
fn windows_count_as_large_as_they_are() {
    let text: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
    let streamed = |log: u32| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        std::io::Write::write_all(&mut encoder, &text).unwrap();
        encoder.finish().unwrap()
    };
    for (coding, packed, window) in [
        ("zstd", streamed(20), 1 << 20),
        ("zstd", streamed(23), 8 << 20),
        ("br", brotli(&text, 18), 1 << 18),
        ("br", brotli(&text, 22), 1 << 22),
    ] {
        let mut play = Play::new(policy(Mode::Full));
        begin(&mut play, 1, coding, &packed[..packed.len() / 2]);
        let used = play.scribe.counters().decode_memory;
        assert!(used >= window && used < window + (1 << 20), "{coding}: {used} for {window}");
        let play = respond(with_memory(window), &[("content-encoding", coding)], &[&packed]);
        let gap =
            json!({"reason": "decode_memory", "direction": "response", "bytes": packed.len(), "records": 1});
        assert_eq!(play.json(Kind::Gap), [gap], "{coding}");
        assert_eq!(play.joined(Kind::ResponseBody), b"");
        let play = respond(with_memory(used), &[("content-encoding", coding)], &[&packed]);
        assert_eq!(play.end()["response"]["decoded"], text.len());
    }
}

#[test]
fn a_later_frame_may_need_too_much() {
    let mut packed = encode("zstd", b"a small one!");
    let length = packed.len();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    std::io::Write::write_all(&mut encoder, &[1; 100]).unwrap();
    packed.extend(encoder.finish().unwrap());
    let play = respond(with_memory(4 << 20), &[("content-encoding", "zstd")], &[&packed]);
    assert_eq!(play.joined(Kind::ResponseBody), b"a small one!");
    let gap = &play.json(Kind::Gap)[0];
    assert_eq!(gap["reason"], "decode_memory");
    assert_eq!(gap["bytes"], packed.len() - length);
}

#[test]
fn bombs_are_defused() {
    let zeros = vec![0; 12 << 20];
    let limited = || Policy { decoded_limit: 2 << 20, ..policy(Mode::Full) };
    for (coding, field) in [("gzip", "gzip"), ("raw-deflate", "deflate"), ("br", "br"), ("zstd", "zstd")] {
        let bomb = encode(coding, &zeros);
        assert!(bomb.len() < 100_000);
        let play = respond(limited(), &[("content-encoding", field)], &[&bomb]);
        assert_eq!(play.end()["response"]["decoded"], 2 << 20, "{coding}");
        assert_eq!(play.joined(Kind::ResponseBody), &zeros[..2 << 20]);
        assert!(play.of(Kind::ResponseBody).all(|made| made.payload.len() <= 1 << 20));
        let gap = &play.json(Kind::Gap)[0];
        assert_eq!((&gap["reason"], &gap["records"]), (&json!("decode_size"), &json!(1)));
        assert!(gap["bytes"].as_u64().unwrap() <= bomb.len() as u64);
        assert_eq!(play.scribe.counters().decode_memory, 0);
    }
    let bomb = encode("gzip", &encode("gzip", &encode("gzip", &zeros)));
    assert!(bomb.len() < 1000);
    let play = respond(limited(), &[("content-encoding", "gzip,gzip,gzip")], &[&bomb]);
    assert_eq!(play.end()["response"]["decoded"], 2 << 20);
}

#[test]
fn what_follows_a_bomb_is_part_of_the_gap() {
    let bomb = encode("gzip", &vec![0; 8 << 20]);
    let limited = Policy { decoded_limit: 1 << 20, ..policy(Mode::Full) };
    let (first, rest) = bomb.split_at(bomb.len() / 2);
    let play = respond(limited, &[("content-encoding", "gzip")], &[first, rest, b"more"]);
    let gap = &play.json(Kind::Gap)[0];
    assert_eq!((play.of(Kind::Gap).count(), &gap["records"]), (1, &json!(3)));
    assert!(gap["bytes"].as_u64().unwrap() > rest.len() as u64 + 4);
}

#[test]
fn a_text_that_just_fits_is_whole() {
    let limited = || Policy { decoded_limit: 1000, ..policy(Mode::Full) };
    let play = respond(limited(), &[("content-encoding", "gzip")], &[&encode("gzip", &[b'x'; 1000])]);
    assert_eq!((play.joined(Kind::ResponseBody).len(), play.of(Kind::Gap).count()), (1000, 0));
    let play = respond(limited(), &[("content-encoding", "gzip")], &[&encode("gzip", &[b'!'; 1001])]);
    assert_eq!((play.joined(Kind::ResponseBody).len(), play.of(Kind::Gap).count()), (1000, 1));
    let play = respond(limited(), &[], &[&[b'x'; 5000]]);
    assert_eq!((play.joined(Kind::ResponseBody).len(), play.of(Kind::Gap).count()), (5000, 0));
}

#[test]
fn long_losses_are_stated_as_they_grow() {
    let piece = vec![0; 1 << 20];
    let pieces: Vec<&[u8]> = vec![&piece; 10];
    let play = respond(policy(Mode::Full), &[("content-encoding", "secret-sauce")], &pieces);
    let gaps: Vec<_> =
        play.json(Kind::Gap).iter().map(|gap| (gap["bytes"].clone(), gap["records"].clone())).collect();
    assert_eq!(gaps, [(json!(4 << 20), json!(4)), (json!(4 << 20), json!(4)), (json!(2 << 20), json!(2))]);
}
