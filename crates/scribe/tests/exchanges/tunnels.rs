//! Exchanges that nobody looks into: how many bytes passed, and not one of them.

use scribe::event::Via;
use scribe::{Closing, Direction, Mode, ResponseHead, What};
use serde_json::{Value, json};
use wal::record::Kind;

use crate::play::{Play, opening, policy};

#[test]
fn of_a_tunnel_the_bytes_are_counted_and_none_is_kept() {
    let mut play = Play::new(policy(Mode::Full));
    let mut opening = opening(&[]);
    opening.via = Via::Tunnel;
    play.tell(1, What::Open(&opening));
    let head = ResponseHead { status: 200, version: "HTTP/1.1", ..ResponseHead::default() };
    play.tell(1, What::ResponseHead(&head));
    for (direction, bytes) in [(Direction::Request, 5), (Direction::Response, 7), (Direction::Request, 1)] {
        play.tell(1, What::Passed { direction, bytes });
    }
    // Not even bytes that should never have been told.
    play.tell(1, What::ResponseBody(b"planted"));
    let closing = Closing { request_complete: true, ..Closing::default() };
    play.tell(1, What::Close(&closing));
    let kinds: Vec<Kind> = play.made.iter().map(|made| made.kind).collect();
    assert_eq!(kinds, [Kind::RequestStart, Kind::ResponseStart, Kind::ResponseEnd]);
    let payload = |index: usize| -> Value { serde_json::from_slice(&play.made[index].payload).unwrap() };
    assert_eq!(payload(0)["via"], "tunnel");
    let counted = |wire: u64, complete: bool| {
        json!({"wire": wire, "decoded": 0, "stored": 0, "encoding": null, "hmac": null, "complete": complete,
               "redactions": {}})
    };
    let mut response = counted(14, false);
    response["trailers"] = json!([]);
    assert_eq!((&payload(2)["request"], &payload(2)["response"]), (&counted(6, true), &response));
}

#[test]
fn how_a_client_came_is_said_unless_it_came_the_usual_way() {
    for (via, said) in [(Via::Reverse, Value::Null), (Via::Forward, json!("forward"))] {
        let mut play = Play::new(policy(Mode::Full));
        let mut opening = opening(&[]);
        opening.via = via;
        play.tell(1, What::Open(&opening));
        let payload: Value = serde_json::from_slice(&play.made[0].payload).unwrap();
        assert_eq!(payload.get("via").cloned().unwrap_or_default(), said);
    }
}
