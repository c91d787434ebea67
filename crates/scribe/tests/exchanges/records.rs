//! The JSON of each record, as wal/1 has it.

use scribe::event::Cause;
use scribe::{Attribution, Closing, Direction, Failure, Identity, Mode, ResponseHead, Timings, What};
use serde_json::{Value, json};
use wal::record::{Kind, flags};

use crate::play::{Play, REQUEST, opening, owned, policy, real_policy, respond, secret};

/// HMAC-SHA256 of nothing, under the key of these tests.
const HMAC_OF_NOTHING: &str = "9dac6a74401b46ed9b489d0e19d68d1b13cc6b5090352fdcfa5bd74df4e69d87";

fn text(play: &Play, index: usize) -> String {
    String::from_utf8(play.made[index].payload.clone()).unwrap()
}

#[test]
fn a_request_start_says_who_asked_what_of_whom() {
    let mut play = Play::new(real_policy(Mode::Full));
    let mut opening = opening(&[("Host", "127.0.0.1:4141"), ("x-api-key", "whatever"), ("X-Odd", "")]);
    opening.target = b"/v1/messages?beta=true&key=hidden".to_vec();
    opening.upstream = Some("anthropic".to_owned());
    opening.url = Some("https://api.anthropic.com/v1/messages?beta=true&key=hidden".to_owned());
    opening.identity = Identity {
        session: Some("harbour".to_owned()),
        task: Some("t1".to_owned()),
        run: Some("run_1".to_owned()),
        attribution: Attribution::Run,
    };
    opening.client = vec![("claude_code_session", "6f0c".to_owned())];
    play.tell(1, What::Open(&opening));
    let version = play.scribe.policy_version().to_owned();
    let expected = concat!(
        r#"{"method":"POST","target":"/v1/messages?beta=true&key=[redacted:query]","version":"HTTP/1.1","#,
        r#""headers":[["Host","127.0.0.1:4141"],["x-api-key","[redacted:header]"],["X-Odd",""]],"#,
        r#""upstream":"anthropic","#,
        r#""url":"https://api.anthropic.com/v1/messages?beta=true&key=[redacted:query]","#,
        r#""session":"harbour","task":"t1","run":"run_1","attribution":"run","#,
        r#""client":{"claude_code_session":"6f0c"},"mode":"full","policy":"VERSION"}"#
    );
    assert_eq!(text(&play, 0), expected.replace("VERSION", &version));
    let made = &play.made[0];
    assert_eq!((made.kind, made.flags, made.request), (Kind::RequestStart, flags::REDACTED, REQUEST));
    assert_eq!((play.at, made.monotonic), (1_001_234, 1_001_000));
    assert_eq!(
        play.scribe.counters().redactions,
        [("header".to_owned(), 1), ("target".to_owned(), 2)].into()
    );
}

#[test]
fn what_is_not_known_is_null_and_an_unknown_path_is_said() {
    let mut play = Play::new(policy(Mode::Privacy));
    let mut opening = opening(&[("x-name", "caf\u{e9}")]);
    opening.fields.push((b"x-latin".to_vec(), b"caf\xe9".to_vec()));
    opening.recognised = false;
    play.tell(1, What::Open(&opening));
    let mut payload: Value = serde_json::from_str(&text(&play, 0)).unwrap();
    payload["policy"].take();
    let expected = json!({
        "method": "POST", "target": "/v1/messages", "version": "HTTP/1.1",
        "headers": [["x-name", "café"], ["x-latin", "café"]], "upstream": null, "url": null, "session": null,
        "task": null, "run": null, "attribution": "none", "client": {}, "recognised": false, "mode": "privacy",
        "policy": null
    });
    assert_eq!(payload, expected);
    assert_eq!(play.made[0].flags, 0);
}

#[test]
fn informational_responses_come_before_the_final_one() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    let fields = owned(&[("content-encoding", "zstd")]);
    let early = ResponseHead { status: 103, reason: b"Early".to_vec(), version: "HTTP/1.1", fields };
    play.tell(1, What::ResponseHead(&early));
    play.answer(&[("Set-Cookie", "a=b"), ("server", "x")]);
    play.response(b"plain");
    play.close();
    let early =
        r#"{"status":103,"reason":"Early","version":"HTTP/1.1","headers":[["content-encoding","zstd"]]}"#;
    assert_eq!(text(&play, 1), early);
    let head = concat!(
        r#"{"status":200,"reason":"OK","version":"HTTP/1.1","#,
        r#""headers":[["Set-Cookie","[redacted:header]"],["server","x"]]}"#
    );
    assert_eq!(text(&play, 2), head);
    assert_eq!((play.made[1].flags, play.made[2].flags), (0, flags::REDACTED));
    assert_eq!(play.joined(Kind::ResponseBody), b"plain");
}

#[test]
fn an_end_counts_both_bodies() {
    let mut play = Play::new(real_policy(Mode::Full));
    play.open(&[("content-type", "application/json")]);
    play.request(format!(r#"{{"token":"{}"}}"#, secret()).as_bytes());
    play.answer(&[("content-type", "text/plain")]);
    let closing = Closing {
        request_complete: true,
        response_complete: false,
        trailers: owned(&[("x-checksum", "1"), ("x-api-key", "k")]),
        timings: Timings { connected: Some(0), request_sent: Some(4), first_byte: None, end: Some(9) },
        ..Closing::default()
    };
    play.tell(1, What::Close(&closing));
    let end = play.end();
    let hmac = end["request"]["hmac"].as_str().unwrap().to_owned();
    assert_eq!(hmac.len(), 64);
    let expected = json!({
        "request": {"wire": 52, "decoded": 52, "stored": 35, "encoding": null, "hmac": hmac, "complete": true,
            "redactions": {"github_token": 1}},
        "response": {"wire": 0, "decoded": 0, "stored": 0, "encoding": null, "hmac": HMAC_OF_NOTHING,
            "complete": false, "redactions": {},
            "trailers": [["x-checksum", "1"], ["x-api-key", "[redacted:header]"]]},
        "timings": {"connected": 0, "request_sent": 4, "first_byte": null, "end": 9},
        "kept": {}
    });
    assert_eq!(end, expected);
    assert_eq!(play.joined(Kind::RequestBody), br#"{"token":"[redacted:github_token]"}"#);
    assert_eq!(play.made.last().unwrap().flags, flags::REDACTED);
    assert_eq!(play.scribe.open_exchanges(), 0);
}

#[test]
fn an_error_says_where_and_why() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    let failure =
        Failure { at: "upstream", code: "connect_failed", message: "nobody listens there".to_owned() };
    play.tell(1, What::Close(&Closing { failure: Some(failure), ..Closing::default() }));
    let body = format!(
        r#"{{"wire":0,"decoded":0,"stored":0,"encoding":null,"hmac":"{HMAC_OF_NOTHING}","complete":false,"redactions":{{}}"#
    );
    let expected = format!(
        concat!(
            r#"{{"where":"upstream","code":"connect_failed","message":"nobody listens there","#,
            r#""request":{body}}},"response":{body},"trailers":[]}},"#,
            r#""timings":{{"connected":null,"request_sent":null,"first_byte":null,"end":null}},"kept":{{}}}}"#
        ),
        body = body
    );
    assert_eq!(text(&play, 1), expected);
    assert_eq!(play.made[1].kind, Kind::Error);
}

#[test]
fn a_gap_says_what_is_missing() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    let (cause, direction) = (Cause::QueueFull, Direction::Request);
    play.tell(1, What::Dropped { cause, direction, bytes: 8192, chunks: 2 });
    assert_eq!(text(&play, 1), r#"{"reason":"queue_full","direction":"request","bytes":8192,"records":2}"#);
    assert_eq!((play.made[1].kind, play.made[1].flags), (Kind::Gap, 0));
    assert_eq!(play.scribe.counters().gaps, [("queue_full", 1)].into());
}

#[test]
fn bytes_that_nobody_could_read_are_undecodable() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[("content-type", "text/plain")]);
    play.response(b"before it ");
    let (cause, direction) = (Cause::Unreadable, Direction::Response);
    play.tell(1, What::Dropped { cause, direction, bytes: 77, chunks: 1 });
    play.close();
    assert_eq!(play.joined(Kind::ResponseBody), b"before it ");
    let gap = json!({"reason": "undecodable", "direction": "response", "bytes": 77, "records": 1});
    assert_eq!(play.json(Kind::Gap), [gap]);
    assert_eq!(play.scribe.counters().gaps, [("undecodable", 1)].into());
    assert_eq!(
        (&play.end()["response"]["wire"], &play.end()["response"]["hmac"]),
        (&json!(87), &json!(null))
    );
}

#[test]
fn a_request_that_was_sent_is_written_to_its_end() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[("content-type", "application/json")]);
    play.request(br#"{"model":"#);
    play.request(br#""m"}"#);
    assert_eq!(play.of(Kind::RequestBody).count(), 0);
    play.tell(1, What::RequestSent);
    assert_eq!(play.joined(Kind::RequestBody), br#"{"model":"m"}"#);
    let made = play.made.clone();
    play.tell(1, What::RequestSent);
    assert_eq!(play.made, made);
    play.close();
    assert_eq!(play.made.len(), made.len() + 1);
    let end = &play.end()["request"];
    assert_eq!((&end["wire"], &end["decoded"], &end["stored"]), (&json!(13), &json!(13), &json!(13)));
}

#[test]
fn the_hmac_is_of_the_wire_under_the_key() {
    // python3 -c "import hmac; print(hmac.new(bytes([7]) * 32, b'hello', 'sha256').hexdigest())"
    let expected = "290af183d08286ae740dfed386724985dc666de6350a8df2e8520307ae2503ed";
    let play = respond(policy(Mode::Full), &[], &[b"he", b"", b"llo"]);
    assert_eq!(play.end()["response"]["hmac"], expected);
}

#[test]
fn long_bodies_are_split_into_payloads_of_a_mebibyte() {
    let body = vec![b'x'; 5 << 20];
    let play = respond(policy(Mode::Full), &[], &[&body]);
    assert!(play.of(Kind::ResponseBody).all(|made| made.payload.len() <= 1 << 20));
    assert_eq!(play.joined(Kind::ResponseBody), body);
}

#[test]
fn what_arrives_is_written_at_once() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[("content-type", "text/event-stream; charset=utf-8")]);
    play.response(b"data: 1\n\n");
    assert_eq!(play.joined(Kind::ResponseBody), b"data: 1\n\n");
    play.response(b"data: ");
    play.response(b"2\n\ndata: 3");
    assert_eq!(play.joined(Kind::ResponseBody), b"data: 1\n\ndata: 2\n\n");
    assert_eq!(play.of(Kind::ResponseBody).count(), 2);
    play.close();
    assert_eq!(play.joined(Kind::ResponseBody), b"data: 1\n\ndata: 2\n\ndata: 3");
}

#[test]
fn events_of_no_exchange_are_ignored_and_counted() {
    let mut play = Play::new(policy(Mode::Full));
    play.close();
    play.request(b"x");
    play.answer(&[]);
    play.open(&[]);
    play.close();
    play.response(b"late");
    play.close();
    play.drop_response(1, 1);
    assert_eq!(play.made.len(), 2);
    assert_eq!(play.scribe.counters().ignored, 6);
    play.open(&[]);
    play.open(&[]);
    assert_eq!((play.scribe.open_exchanges(), play.scribe.counters().ignored), (1, 7));
}

#[test]
fn exchanges_do_not_mix() {
    let mut play = Play::new(policy(Mode::Full));
    for exchange in [1, 2] {
        let mut opening = opening(&[]);
        opening.request = wal::ids::Id(u128::from(exchange));
        play.tell(exchange, What::Open(&opening));
    }
    for (exchange, data) in [(1, "one "), (2, "two "), (1, "more of one"), (2, "more of two")] {
        play.tell(exchange, What::RequestBody(data.as_bytes()));
    }
    let closing = Closing::default();
    play.tell(2, What::Close(&closing));
    play.tell(1, What::Close(&closing));
    let bodies: Vec<_> =
        play.of(Kind::RequestBody).map(|made| (made.request.0, made.payload.clone())).collect();
    assert_eq!(bodies, [(2, b"two more of two".to_vec()), (1, b"one more of one".to_vec())]);
}

#[test]
fn statements_are_redacted() {
    let play = Play::new(policy(Mode::Full));
    let (clean, replaced) = play.scribe.redact_text(format!("goal: use {}", secret()).as_bytes());
    assert_eq!((clean.as_slice(), replaced), (&b"goal: use [redacted:github_token]"[..], true));
    assert_eq!(play.scribe.redact_text(b"goal"), (b"goal".to_vec(), false));
}
