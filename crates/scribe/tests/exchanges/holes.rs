//! Holes: bytes that the queue had no room for.

use scribe::{Mode, Policy};
use serde_json::{Value, json};
use wal::record::Kind;

use crate::play::{Play, contains, encode, policy, secret};

/// A response of two pieces with a hole between them.
fn torn(policy: Policy, fields: &[(&str, &str)], before: &[u8], after: &[u8]) -> Play {
    let mut play = Play::new(policy);
    play.open(&[]);
    play.answer(fields);
    play.response(before);
    play.drop_response(1000, 3);
    play.response(after);
    play.close();
    play
}

fn queue_full(bytes: u64, records: u64) -> Value {
    json!({"reason": "queue_full", "direction": "response", "bytes": bytes, "records": records})
}

#[test]
fn a_plain_body_goes_on_behind_a_hole() {
    let play = torn(policy(Mode::Full), &[("content-type", "text/plain")], b"before it, ", b" and behind it");
    assert_eq!(play.joined(Kind::ResponseBody), b"before it,  and behind it");
    let kinds: Vec<Kind> = play.made.iter().skip(2).map(|made| made.kind).collect();
    assert_eq!(kinds, [Kind::ResponseBody, Kind::Gap, Kind::ResponseBody, Kind::ResponseEnd]);
    assert_eq!(play.json(Kind::Gap), [queue_full(1000, 3)]);
    let end = &play.end()["response"];
    assert_eq!((&end["hmac"], &end["wire"], &end["stored"]), (&json!(null), &json!(1025), &json!(25)));
    assert_ne!(play.end()["request"]["hmac"], json!(null));
}

#[test]
fn words_at_the_edges_belong_to_the_hole() {
    let token = secret();
    let (head, tail) = token.split_at(20);
    let play = torn(
        policy(Mode::Full),
        &[("content-type", "text/plain")],
        format!("use {head}").as_bytes(),
        format!("{tail} now").as_bytes(),
    );
    assert_eq!(play.joined(Kind::ResponseBody), b"use  now");
    assert_eq!(play.json(Kind::Gap), [queue_full(1020, 3), queue_full(tail.len() as u64, 1)]);
    assert!(!contains(&play.everything(), &tail[..8]) && !contains(&play.everything(), &head[..8]));
}

#[test]
fn a_torn_word_may_come_in_pieces_but_not_for_ever() {
    let mut play = torn(policy(Mode::Full), &[], b"", b"");
    play.open(&[]);
    play.answer(&[]);
    play.drop_response(1, 1);
    play.response(b"abc");
    play.response(b"def ghi");
    play.close();
    assert_eq!(play.joined(Kind::ResponseBody), b" ghi");
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[]);
    play.drop_response(1, 1);
    play.response(&[b'x'; 3000]);
    play.response(&[b'x'; 3000]);
    play.close();
    assert_eq!(play.joined(Kind::ResponseBody).len(), 6000 - 4096);
}

#[test]
fn events_go_on_with_the_next_line() {
    let fields = [("content-type", "text/event-stream")];
    let play = torn(policy(Mode::Full), &fields, b"data: 1\n\ndata: {\"a", b"b\"}, some more\n\ndata: 3\n\n");
    assert_eq!(play.joined(Kind::ResponseBody), b"data: 1\n\ndata: {\"\n\ndata: 3\n\n");
    assert_eq!(play.json(Kind::Gap), [queue_full(1001, 3), queue_full(14, 1)]);
}

#[test]
fn nothing_can_be_read_behind_a_hole_in_a_compressed_body() {
    let text = b"compressed text that is long enough to be cut".repeat(10);
    for coding in ["gzip", "br", "zstd"] {
        let packed = encode(coding, &text);
        let (before, after) = packed.split_at(packed.len() - 4);
        let play = torn(policy(Mode::Full), &[("content-encoding", coding)], before, after);
        let undecodable = |bytes: usize| json!({"reason": "undecodable", "direction": "response", "bytes": bytes, "records": 1});
        let gaps = play.json(Kind::Gap);
        let decoded = play.end()["response"]["decoded"].as_u64().unwrap();
        if decoded == 0 {
            assert_eq!(gaps, [undecodable(before.len()), queue_full(1000, 3), undecodable(4)], "{coding}");
        } else {
            assert_eq!(gaps, [queue_full(1000, 3), undecodable(4)], "{coding}");
        }
        assert_eq!(play.end()["response"]["wire"], packed.len() + 1000);
        assert_eq!(play.end()["response"]["hmac"], json!(null));
        assert_eq!(play.scribe.counters().decode_memory, 0);
    }
}

#[test]
fn undecodable_rests_are_kept_for_who_asks_for_it() {
    let keeping = Policy { keep_undecodable: true, ..policy(Mode::Full) };
    let packed = encode("gzip", &b"some text ".repeat(100));
    let play = torn(keeping, &[("content-encoding", "gzip")], &packed[..packed.len() - 4], b"\x01\x02rest");
    assert!(play.joined(Kind::ResponseBody).ends_with(b"some text \x01\x02rest"));
    assert_eq!(play.json(Kind::Gap), [queue_full(1000, 3)]);
}

#[test]
fn losses_before_a_hole_are_stated_before_it() {
    let play = torn(policy(Mode::Full), &[("content-encoding", "odd")], b"12345", b"678");
    let undecodable =
        |bytes: u64| json!({"reason": "undecodable", "direction": "response", "bytes": bytes, "records": 1});
    assert_eq!(play.json(Kind::Gap), [undecodable(5), queue_full(1000, 3), undecodable(3)]);
}

#[test]
fn privacy_mode_states_holes_too() {
    let play = torn(policy(Mode::Privacy), &[], b"before", b"after");
    assert_eq!(play.json(Kind::Gap), [queue_full(1000, 3)]);
    assert_eq!(play.end()["response"]["hmac"], json!(null));
    assert_eq!(play.end()["response"]["wire"], 1011);
}

#[test]
fn passthrough_mode_finds_its_way_back_in_lines_alone() {
    let before = b"{\"status\":1,\"text\":\"...";
    let after = b"\"model\":\"no\"}\n{\"model\":\"yes\"}\n";
    let lines = torn(policy(Mode::Passthrough), &[("content-type", "application/x-ndjson")], before, after);
    assert_eq!(lines.end()["kept"]["response"], json!({"status": 1, "model": "yes"}));
    let document = torn(policy(Mode::Passthrough), &[("content-type", "application/json")], before, after);
    assert_eq!(document.end()["kept"]["response"], json!({"status": 1}));
}
