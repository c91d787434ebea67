//! Codings that end in their middle: what gave no text is a gap, and what came to its end is none.

use proptest::prelude::*;
use scribe::{Mode, Policy, What};
use serde_json::{Value, json};
use wal::record::Kind;

use crate::codings::{CODINGS, redacted, stored, text};
use crate::play::{Play, encode, policy, respond, secret};

fn undecodable(bytes: usize, records: usize) -> Value {
    json!({"reason": "undecodable", "direction": "response", "bytes": bytes, "records": records})
}

fn decoded(play: &Play) -> u64 {
    play.end()["response"]["decoded"].as_u64().unwrap()
}

/// A short text that every coding makes shorter: of what it cannot, a decoder gives back parts.
fn repeated() -> Vec<u8> {
    b"again, and ".repeat(20)
}

/// A zstd frame with a check at its end.
fn checked_frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut encoder, text).unwrap();
    encoder.finish().unwrap()
}

/// What is stored of a text that was cut: a secret may have begun in its last word.
fn without_last_word(text: &[u8]) -> Vec<u8> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = text.iter().rposition(|byte| !is_word(byte)).map_or(0, |last| last + 1);
    text[..end].to_vec()
}

#[test]
fn a_truncated_body_keeps_what_was_decoded() {
    let text = text(11, 300_000);
    for (coding, field) in CODINGS {
        let packed = encode(coding, &text);
        let cut = &packed[..packed.len() * 3 / 4];
        let play = stored(field, cut, &[]);
        let length = usize::try_from(decoded(&play)).unwrap();
        assert!(length > 100_000, "{coding}: {length}");
        assert_eq!(
            play.joined(Kind::ResponseBody),
            without_last_word(&redacted(&text[..length])),
            "{coding}"
        );
        if coding == "zstd" {
            let gaps = play.json(Kind::Gap);
            let lost = usize::try_from(gaps[0]["bytes"].as_u64().unwrap()).unwrap();
            assert!(gaps.len() == 1 && lost > 1000, "a block of zstd is read as a whole: {lost}");
            let again = stored(field, &cut[..cut.len() - lost], &[]);
            assert_eq!(decoded(&again), decoded(&play));
        }
    }
}

#[test]
fn the_word_at_the_cut_may_be_a_secret() {
    let text = format!("use {}", secret());
    for (coding, field) in CODINGS {
        let packed = encode(coding, text.as_bytes());
        for length in 1..packed.len() {
            let play = stored(field, &packed[..length], &[]);
            let kept = play.joined(Kind::ResponseBody);
            let [whole, redacted] = [b"use ".as_slice(), b"use [redacted:github_token]"];
            assert!(whole.starts_with(&kept) || kept == redacted, "{}", String::from_utf8_lossy(&kept));
            let torn = (4 + 1..text.len() as u64).contains(&decoded(&play));
            assert!(!torn || play.of(Kind::Gap).count() == 1, "{coding} {length}");
        }
    }
    let frame = encode("zstd", b"ghp_0123456789abcdefghijklmnopqrstuvwxyz");
    let play = stored("zstd", &frame[..frame.len() - 3], &[]);
    assert_eq!((play.joined(Kind::ResponseBody), decoded(&play)), (vec![], 37));
    assert_eq!(play.json(Kind::Gap), [undecodable(37, 1)]);
}

#[test]
fn where_nothing_was_decoded_everything_is_missing() {
    for (coding, field) in CODINGS {
        let packed = encode(coding, &repeated());
        let mut unread = 0;
        for length in 1..packed.len() {
            for places in [vec![], (0..length).collect()] {
                let play = stored(field, &packed[..length], &places);
                if decoded(&play) == 0 {
                    let records = if places.is_empty() { 1 } else { length };
                    assert_eq!(play.json(Kind::Gap), [undecodable(length, records)], "{coding} {length}");
                    assert_eq!(play.scribe.counters().gaps, [("undecodable", 1)].into());
                    unread += 1;
                }
                assert_eq!(play.scribe.counters().decode_memory, 0);
            }
        }
        assert!(unread >= 2, "{coding} {unread}");
    }
}

#[test]
fn what_came_to_its_end_is_no_gap() {
    let twice = encode("br", &encode("gzip", b"the text"));
    let mut cases = vec![("zstd", checked_frame(b"the text")), ("gzip, br", twice)];
    cases.extend(CODINGS.map(|(coding, field)| (field, encode(coding, b"the text"))));
    for (field, packed) in cases {
        for tail in 0..packed.len() {
            let play = stored(field, &packed, &[packed.len() - tail]);
            assert_eq!(play.joined(Kind::ResponseBody), b"the text", "{field}");
            assert_eq!(play.of(Kind::Gap).count(), 0, "{field} {tail}");
        }
    }
}

#[test]
fn an_empty_text_is_no_gap() {
    for (coding, field) in CODINGS {
        for packed in [vec![], encode(coding, b"")] {
            let every: Vec<usize> = (0..packed.len()).collect();
            assert_eq!(stored(field, &packed, &every).of(Kind::Gap).count(), 0, "{coding}");
        }
    }
    assert_eq!(stored("gzip, zstd", &encode("zstd", b""), &[]).of(Kind::Gap).count(), 0);
}

#[test]
fn an_end_may_be_missing_but_not_be_half_there() {
    for (field, packed, check) in
        [("gzip", encode("gzip", b"the text!"), 8), ("zstd", checked_frame(b"the text!"), 4)]
    {
        let end = packed.len() - check;
        let play = stored(field, &packed[..end], &[]);
        assert_eq!((play.joined(Kind::ResponseBody), play.of(Kind::Gap).count()), (b"the text!".to_vec(), 0));
        let play = stored(field, &packed[..end + 3], &[end, end + 1]);
        assert_eq!(play.joined(Kind::ResponseBody), b"the text!", "{field}");
        assert_eq!(play.json(Kind::Gap), [undecodable(3, 2)], "{field}");
    }
}

#[test]
fn only_what_follows_the_last_text_is_missing() {
    let (first, second) = (encode("zstd", b"one "), encode("zstd", &repeated()));
    let half = &second[..second.len() - 2];
    let both = [&first[..], half].concat();
    for (places, records) in
        [(vec![], 1), (vec![first.len()], 1), (vec![first.len() - 1, first.len() + 5], 2)]
    {
        let play = stored("zstd", &both, &places);
        assert_eq!(play.joined(Kind::ResponseBody), b"one ");
        assert_eq!(play.json(Kind::Gap), [undecodable(half.len(), records)], "{places:?}");
    }
}

#[test]
fn what_gave_no_text_before_a_break_is_missing_with_the_rest() {
    let first = encode("zstd", b"one ");
    let body = [&first[..], &first[..4], b"\xff\xff\xff\xff\xff\xff"].concat();
    let play = stored("zstd", &body, &[first.len(), first.len() + 4]);
    assert_eq!(play.joined(Kind::ResponseBody), b"one ");
    assert_eq!(play.json(Kind::Gap), [undecodable(10, 2)]);
}

#[test]
fn what_gave_no_text_before_a_hole_is_missing_too() {
    let first = encode("zstd", b"one ");
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[("content-encoding", "zstd")]);
    play.response(&first);
    play.response(&first[..6]);
    play.drop_response(1000, 3);
    play.close();
    let hole = json!({"reason": "queue_full", "direction": "response", "bytes": 1000, "records": 3});
    assert_eq!(play.json(Kind::Gap), [undecodable(6, 1), hole]);
}

#[test]
fn a_coding_below_another_may_be_unfinished() {
    let inner = encode("zstd", &repeated());
    for outer in ["gzip", "br", "zstd"] {
        let field = format!("zstd, {outer}");
        let cut = encode(outer, &inner[..inner.len() - 3]);
        let play = stored(&field, &cut, &[5]);
        assert_eq!(play.json(Kind::Gap), [undecodable(cut.len(), 2)], "{outer}");
        let whole = encode(outer, &inner);
        let play = stored(&field, &whole[..4], &[]);
        assert_eq!(play.json(Kind::Gap), [undecodable(4, 1)], "{outer}");
    }
}

#[test]
fn a_piece_that_was_read_in_part_is_missing_as_a_whole() {
    let (first, second) = (encode("zstd", b"one "), encode("zstd", &repeated()));
    let outer = |inner: &[u8]| encode("gzip", inner);
    let start = outer(&first);
    let part = outer(&[&first[..], &second[..second.len() - 2]].concat());
    let play = stored("zstd, gzip", &[&start[..], &part].concat(), &[start.len()]);
    assert_eq!(play.joined(Kind::ResponseBody), b"one one ");
    assert_eq!(play.json(Kind::Gap), [undecodable(part.len(), 1)]);
    // The outer coding swells so much that a piece of its text comes without taking a byte of the wire.
    let mut skipped = vec![0; 400_000];
    skipped[..8].copy_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0]);
    let swollen = outer(&[&first[..], &skipped].concat());
    let play = stored("zstd, gzip", &swollen, &[]);
    assert_eq!((play.joined(Kind::ResponseBody), play.of(Kind::Gap).count()), (b"one ".to_vec(), 1));
}

#[test]
fn bytes_that_are_no_longer_there_cannot_be_kept() {
    let packed = encode("zstd", &repeated());
    let keeping = Policy { keep_undecodable: true, ..policy(Mode::Full) };
    let play = respond(keeping, &[("content-encoding", "zstd")], &[&packed[..packed.len() - 3]]);
    assert_eq!(play.joined(Kind::ResponseBody), b"");
    assert_eq!(play.json(Kind::Gap), [undecodable(packed.len() - 3, 1)]);
}

#[test]
fn modes_that_read_a_body_tell_of_its_missing_end() {
    let packed = encode("zstd", &repeated());
    for (mode, gaps) in [(Mode::Full, 1), (Mode::Passthrough, 1), (Mode::Privacy, 0)] {
        let play = respond(policy(mode), &[("content-encoding", "zstd")], &[&packed[..packed.len() - 1]]);
        assert_eq!(play.of(Kind::Gap).count(), gaps, "{mode:?}");
    }
}

#[test]
fn a_request_tells_it_once_when_it_was_sent() {
    let packed = encode("gzip", b"the text");
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[("content-encoding", "gzip")]);
    play.request(&packed[..11]);
    play.tell(1, What::RequestSent);
    let gap = json!({"reason": "undecodable", "direction": "request", "bytes": 11, "records": 1});
    assert_eq!(play.json(Kind::Gap), [gap]);
    assert_eq!(play.scribe.counters().decode_memory, 0);
    play.close();
    assert_eq!(play.of(Kind::Gap).count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn wherever_it_ends_text_and_gap_make_up_the_whole(
        which in 0..CODINGS.len(), seed: u64, length in 1..200_000_usize, end: usize,
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let (coding, field) = CODINGS[which];
        let text = text(seed, length);
        let packed = encode(coding, &text);
        let cut = &packed[..end % packed.len()];
        let play = stored(field, cut, &places);
        let gaps = play.json(Kind::Gap);
        prop_assert!(gaps.len() <= 1);
        let lost = gaps.first().map_or(0, |gap| usize::try_from(gap["bytes"].as_u64().unwrap()).unwrap());
        prop_assert!(lost <= cut.len() && (decoded(&play) > 0 || lost == cut.len()));
        let there = redacted(&text[..usize::try_from(decoded(&play)).unwrap()]);
        let kept = play.joined(Kind::ResponseBody);
        prop_assert_eq!(&kept, &without_last_word(&there));
        // A torn word alone is counted in bytes of the text.
        if lost != there.len() - kept.len() {
            let again = stored(field, &cut[..cut.len() - lost], &places);
            prop_assert_eq!(decoded(&again), decoded(&play));
        }
        prop_assert_eq!(play.scribe.counters().decode_memory, 0);
    }
}
