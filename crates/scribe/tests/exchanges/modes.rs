//! Modes: what is not to be recorded is nowhere.

use proptest::prelude::*;
use scribe::{Mode, Policy};
use serde_json::json;
use wal::record::Kind;

use crate::play::{Play, contains, cut, encode, policy};

/// Stands in every body.
const MARK: &str = "what-nobody-may-see";

/// A request and a response with the mark all over them.
fn exchange(policy: Policy, coding: &str, pieces: &[usize]) -> Play {
    let request = json!({
        "model": "m-1", "stream": true, MARK: MARK,
        "messages": [{"role": "user", "content": MARK, "usage": MARK, "model": {"a": MARK}}],
        "tools": [{"name": MARK, "input_schema": {"properties": {"model": {"type": MARK}, "status": MARK}}}],
    });
    let response = [
        json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 3}, "content": MARK}}),
        json!({"type": "content_block_delta", "delta": {"text": format!("\"usage\": {{\"a\": \"{MARK}\"}}")}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
    ];
    let response = response.map(|event| format!("event: {MARK}\ndata: {event}\n\n: {MARK}\n")).concat();
    let code = |body: String| match coding {
        "gzip" | "br" | "zstd" => encode(coding, body.as_bytes()),
        _ => body.into_bytes(),
    };
    let mut play = Play::new(policy);
    play.open(&[("content-type", "application/json"), ("content-encoding", coding)]);
    let request = code(request.to_string());
    for piece in cut(&request, pieces) {
        play.request(piece);
    }
    play.answer(&[("content-type", "text/event-stream"), ("content-encoding", coding)]);
    let response = code(response);
    for piece in cut(&response, pieces) {
        play.response(piece);
    }
    play.close();
    play
}

fn bodies(play: &Play) -> usize {
    play.of(Kind::RequestBody).chain(play.of(Kind::ResponseBody)).count()
}

#[test]
fn full_mode_has_it_all() {
    let play = exchange(policy(Mode::Full), "", &[]);
    assert!(contains(&play.everything(), MARK));
    assert_eq!(play.end()["kept"], json!({}));
}

#[test]
fn privacy_mode_counts_and_hashes_only() {
    for coding in ["", "gzip", "br", "zstd", "unheard-of"] {
        let full = exchange(policy(Mode::Full), coding, &[]);
        let play = exchange(policy(Mode::Privacy), coding, &[10, 20]);
        assert!(!contains(&play.everything(), MARK));
        assert_eq!((bodies(&play), play.of(Kind::Gap).count()), (0, 0));
        for side in ["request", "response"] {
            let (end, whole) = (&play.end()[side], &full.end()[side]);
            assert_eq!((&end["wire"], &end["hmac"]), (&whole["wire"], &whole["hmac"]));
            assert_eq!((&end["decoded"], &end["stored"]), (&json!(0), &json!(0)));
            assert_eq!(end["encoding"], whole["encoding"]);
        }
        assert_eq!(play.end()["kept"], json!({}));
    }
}

#[test]
fn passthrough_mode_keeps_a_few_values() {
    for coding in ["", "gzip", "br", "zstd"] {
        let play = exchange(policy(Mode::Passthrough), coding, &[]);
        assert!(!contains(&play.everything(), MARK));
        assert_eq!(bodies(&play), 0);
        let kept = json!({
            "request": {"model": "m-1", "stream": true},
            "response": {
                "model": "m-1", "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 7}
            },
        });
        assert_eq!(play.end()["kept"], kept, "{coding}");
        assert_eq!(play.end()["response"]["stored"], 0);
    }
}

#[test]
fn bytes_are_not_kept_in_other_modes_even_if_undecodable_ones_are() {
    for mode in [Mode::Privacy, Mode::Passthrough] {
        let keeping = || Policy { keep_undecodable: true, ..policy(mode) };
        for coding in ["unheard-of", "deflate"] {
            let mut play = Play::new(keeping());
            play.open(&[("content-encoding", coding)]);
            play.request(MARK.as_bytes());
            play.answer(&[("content-encoding", coding)]);
            play.response(MARK.as_bytes());
            play.drop_response(1, 1);
            play.response(MARK.as_bytes());
            play.close();
            assert!(!contains(&play.everything(), MARK));
            assert_eq!(bodies(&play), 0);
        }
    }
}

#[test]
fn what_passthrough_mode_cannot_read_is_a_gap() {
    let play = exchange(policy(Mode::Passthrough), "unheard-of", &[]);
    assert_eq!(play.of(Kind::Gap).count(), 2);
    assert_eq!(play.end()["kept"], json!({"request": {}, "response": {}}));
}

#[test]
fn passthrough_mode_does_not_look_into_pictures() {
    let mut play = Play::new(policy(Mode::Passthrough));
    play.open(&[("content-type", "image/png")]);
    play.request(br#"{"model":"m"}"#);
    play.answer(&[("content-type", "text/html")]);
    play.response(br#"{"model":"m"}"#);
    play.close();
    assert_eq!(play.end()["kept"], json!({}));
    assert_eq!(play.end()["request"]["decoded"], 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_split_shows_anything(
        coding in prop::sample::select(vec!["", "gzip", "zstd", "br"]),
        pieces in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let whole = exchange(policy(Mode::Passthrough), coding, &[]);
        let play = exchange(policy(Mode::Passthrough), coding, &pieces);
        prop_assert!(!contains(&play.everything(), MARK));
        prop_assert_eq!(&play.end()["kept"], &whole.end()["kept"]);
    }
}
