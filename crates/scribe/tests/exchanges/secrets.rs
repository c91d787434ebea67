//! Secrets: wherever they pass, none of them is written.

use proptest::prelude::*;
use scribe::{Attribution, Closing, Failure, Identity, Mode, ResponseHead, What};
use serde_json::json;
use wal::record::{Kind, flags};

use crate::play::{Play, contains, cut, encode, opening, owned, policy, real_policy, respond, secret};

/// What is planted where the place alone tells that it is a secret.
const PLANTED: &str = "planted-value-0815";

#[test]
fn heads_and_trailers_hold_none() {
    let mut play = Play::new(real_policy(Mode::Full));
    let token = secret();
    let mut opening = opening(&[
        ("Authorization", &format!("Bearer {PLANTED}")),
        ("COOKIE", &format!("session={PLANTED}")),
        ("x-goog-api-key", PLANTED),
        ("x-note", &format!("use {token} please")),
    ]);
    opening.target = format!("/v1/models?key={PLANTED}&note={token}").into_bytes();
    opening.url = Some(format!("https://example.com/v1/models?key={PLANTED}&note={token}"));
    opening.client = vec![("session", token.clone())];
    play.tell(1, What::Open(&opening));
    let fields = owned(&[("set-cookie", PLANTED), ("location", &format!("/?api_key={token}"))]);
    let reason = format!("No {token}").into_bytes();
    play.tell(1, What::ResponseHead(&ResponseHead { status: 401, reason, version: "HTTP/1.1", fields }));
    let failure = Failure { at: "upstream", code: "bad_response", message: format!("what is {token}?") };
    let trailers = owned(&[("x-api-key", PLANTED), ("x-note", &token)]);
    play.tell(1, What::Close(&Closing { failure: Some(failure), trailers, ..Closing::default() }));
    let everything = play.everything();
    assert!(!contains(&everything, PLANTED), "{}", String::from_utf8_lossy(&everything));
    assert!(!contains(&everything, &token), "{}", String::from_utf8_lossy(&everything));
    assert!(play.made.iter().all(|made| made.flags == flags::REDACTED));
    let start = &play.json(Kind::RequestStart)[0];
    assert_eq!(start["headers"][0], json!(["Authorization", "Bearer [redacted:header]"]));
    assert_eq!(start["headers"][3], json!(["x-note", "use [redacted:github_token] please"]));
    assert_eq!(play.json(Kind::ResponseStart)[0]["reason"], "No [redacted:github_token]");
    assert_eq!(play.json(Kind::Error)[0]["message"], "what is [redacted:github_token]?");
}

#[test]
fn odd_places_of_heads_hold_none() {
    let mut play = Play::new(real_policy(Mode::Full));
    let token = secret();
    let mut opening = opening(&[(&token, "1"), ("x-plain", "2"), (&format!("x-{token}-y"), &token)]);
    opening.method.clone_from(&token);
    opening.upstream = Some(format!("up {token}"));
    opening.identity = Identity {
        session: Some(token.clone()),
        task: Some(format!("\"{token}\"")),
        run: Some(token.clone()),
        attribution: Attribution::Claimed,
    };
    opening.client = vec![("session", token.clone())];
    play.tell(1, What::Open(&opening));
    play.answer(&[(&token, "1")]);
    let trailers = owned(&[(&token, "1")]);
    play.tell(1, What::Close(&Closing { trailers, ..Closing::default() }));
    assert!(!contains(&play.everything(), &token), "{}", String::from_utf8_lossy(&play.everything()));
    let mut start = play.json(Kind::RequestStart).remove(0);
    start["policy"].take();
    let marker = "[redacted:github_token]";
    let expected = json!({
        "method": marker, "target": "/v1/messages", "version": "HTTP/1.1",
        "headers": [[marker, "1"], ["x-plain", "2"], [format!("x-{marker}-y"), marker]],
        "upstream": format!("up {marker}"), "url": null,
        "session": marker, "task": format!("\"{marker}\""), "run": marker, "attribution": "claimed",
        "client": {"session": marker}, "mode": "full", "policy": null
    });
    assert_eq!(start, expected);
    assert_eq!(play.json(Kind::ResponseStart)[0]["headers"], json!([[marker, "1"]]));
    assert_eq!(play.end()["response"]["trailers"], json!([[marker, "1"]]));
    assert!(play.made.iter().all(|made| made.flags == flags::REDACTED));
    let counted = [("header".to_owned(), 5), ("text".to_owned(), 6)].into();
    assert_eq!(play.scribe.counters().redactions, counted);
}

#[test]
fn a_coding_that_is_a_secret_is_none() {
    let token = secret();
    let play = respond(policy(Mode::Full), &[("content-encoding", &token)], &[b"x"]);
    assert!(!contains(&play.everything(), &token));
    assert_eq!(play.end()["response"]["encoding"], "[redacted:github_token]");
}

#[test]
fn only_payloads_in_which_something_was_replaced_are_flagged() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[("content-type", "text/event-stream")]);
    for text in ["harmless".to_owned(), secret(), "harmless again".to_owned()] {
        play.response(format!("data: {text}\n\n").as_bytes());
    }
    play.close();
    let flagged: Vec<u16> = play.of(Kind::ResponseBody).map(|made| made.flags).collect();
    assert_eq!(flagged, [0, flags::REDACTED, 0]);
    assert_eq!(play.end()["response"]["redactions"], json!({"github_token": 1}));
    assert_eq!(play.scribe.counters().redactions, [("github_token".to_owned(), 1)].into());
}

#[test]
fn a_binary_body_is_stored_and_searched() {
    let mut body: Vec<u8> = (0..=255).cycle().take(50_000).collect();
    body.extend(format!("\0{}\0", secret()).bytes());
    body.extend((0..=255).cycle().take(50_000));
    let play = respond(policy(Mode::Full), &[("content-type", "image/png")], &[&body]);
    assert!(!contains(&play.everything(), &secret()));
    let stored = play.joined(Kind::ResponseBody);
    assert_eq!(stored, policy(Mode::Full).redactor.redact(&body).0.into_owned());
    assert!(stored.len() > 99_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_split_lets_one_through(
        types in prop::sample::select(vec!["text/event-stream", "application/x-ndjson", "application/json", ""]),
        coding in prop::sample::select(vec!["", "gzip", "zstd", "br"]),
        before in 0..20_000_usize, after in 0..20_000_usize,
        near in prop::collection::vec(0..60_usize, 0..4),
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let body = format!("data: {} {} {}\n\n", "a ".repeat(before / 2), secret(), "b ".repeat(after / 2));
        let packed =
            if coding.is_empty() { body.clone().into_bytes() } else { encode(coding, body.as_bytes()) };
        let mut places = places;
        places.extend(near.iter().map(|near| before + near));
        let fields = [("content-type", types), ("content-encoding", coding)];
        let play = respond(policy(Mode::Full), &fields, &cut(&packed, &places));
        prop_assert!(!contains(&play.everything(), &secret()));
        let stored = String::from_utf8(play.joined(Kind::ResponseBody)).unwrap();
        prop_assert_eq!(stored, body.replace(&secret(), "[redacted:github_token]"));
    }
}
