//! Frames of either side: whatever they say, in whatever pieces it passes, the messages are read back.

use proptest::prelude::*;
use scribe::{Closing, Direction, Mode, Policy, What};
use serde_json::{Value, json};
use wal::record::{Kind, flags};

use crate::play::{Play, contains, cut, policy, secret};
use crate::speller::{ANEW, DEFLATE, Message, Speller, begin, told, whole};

fn gaps(play: &Play) -> Vec<(Value, Value, Value)> {
    play.json(Kind::Gap)
        .into_iter()
        .map(|gap| (gap["reason"].clone(), gap["direction"].clone(), gap["bytes"].clone()))
        .collect()
}

#[test]
fn an_exchange_has_messages_and_an_end_that_counts_them() {
    let mut play = begin(policy(Mode::Full), &[]);
    let mut client = Speller::new(Some([1, 2, 3, 4]), false);
    let mut server = Speller::new(None, false);
    let asked = Message { between: vec![9, 9], ..Message::text("{\"type\":\"ask\"}").fragments(&[3, 7]) };
    let sent = [client.message(&asked), client.close(1000, "enough")].concat();
    play.request(&sent);
    let answers = [Message::text(""), Message { binary: true, ..Message::text("\u{1}") }];
    let received = [server.all(&answers), server.frame(0x8a, b""), server.frame(0x88, b"")].concat();
    play.response(&received);
    play.close();
    assert_eq!(told(&play, true), whole(&[asked]));
    assert_eq!(told(&play, false), whole(&answers));
    assert_eq!(play.of(Kind::WsFrame).count(), 3);
    assert_eq!(play.of(Kind::RequestBody).chain(play.of(Kind::ResponseBody)).count(), 0);
    let end = play.end();
    let expected = json!({
        "client": {"messages": 1, "pings": 4, "pongs": 0, "close": {"code": 1000, "reason": "enough"}},
        "server": {"messages": 2, "pings": 0, "pongs": 1, "close": {"code": null, "reason": ""}},
    });
    assert_eq!(end["websocket"], expected);
    for (side, wire, decoded) in [("request", sent.len(), 14), ("response", received.len(), 1)] {
        assert_eq!(end[side]["wire"], wire);
        assert_eq!((&end[side]["decoded"], &end[side]["stored"]), (&json!(decoded), &json!(decoded)));
        assert_eq!((&end[side]["encoding"], &end[side]["complete"]), (&json!(null), &json!(true)));
    }
    assert_eq!(play.of(Kind::Gap).count(), 0);
}

#[test]
fn an_exchange_without_an_upgrade_has_no_messages() {
    let mut play = Play::new(policy(Mode::Full));
    play.open(&[]);
    play.answer(&[]);
    play.response(b"\x81\x05Hello");
    play.close();
    assert_eq!(play.joined(Kind::ResponseBody), b"\x81\x05Hello");
    assert_eq!(play.end()["websocket"], Value::Null);
}

#[test]
fn what_was_deflated_says_so() {
    let mut play = begin(policy(Mode::Full), &[DEFLATE]);
    let mut server = Speller::new(None, false);
    let messages =
        [Message::packed("again and again"), Message::text("plain"), Message::packed("again and again")];
    play.response(&server.all(&messages));
    play.close();
    assert_eq!(told(&play, false), whole(&messages));
    let decoded: Vec<bool> = play.of(Kind::WsFrame).map(|made| made.flags & flags::DECODED != 0).collect();
    assert_eq!(decoded, [true, false, true]);
    assert_eq!(play.end()["response"]["encoding"], "permessage-deflate");
    assert_eq!(play.scribe.counters().decode_memory, 0);
}

#[test]
fn a_packed_message_without_a_byte_does_no_harm() {
    let mut play = begin(policy(Mode::Full), &[DEFLATE]);
    let mut server = Speller::new(None, false);
    let messages = [Message::packed("one"), Message::packed("two")];
    let spelled = [server.message(&messages[0]), server.frame(0xc1, b""), server.message(&messages[1])];
    play.response(&spelled.concat());
    play.close();
    assert_eq!(told(&play, false), whole(&[messages[0].clone(), Message::text(""), messages[1].clone()]));
    assert_eq!(play.of(Kind::Gap).count(), 0);
}

#[test]
fn a_long_message_is_written_while_it_comes() {
    let mut play = begin(policy(Mode::Full), &[]);
    let mut client = Speller::new(Some([9, 8, 7, 6]), false);
    let message = Message::text(&"all is well. ".repeat(300_000));
    let spelled = client.message(&message);
    let (early, late) = spelled.split_at(spelled.len() / 2);
    play.request(early);
    let written: usize = play.of(Kind::WsFrame).map(|made| made.payload.len()).sum();
    assert!(written + 20_000 > early.len(), "{written} of {} bytes", early.len());
    assert!(play.of(Kind::WsFrame).all(|made| made.flags == flags::FROM_CLIENT | flags::CONTINUES));
    play.request(late);
    play.close();
    assert_eq!(told(&play, true), whole(&[message]));
    assert!(play.of(Kind::WsFrame).all(|made| made.payload.len() <= 1 << 20));
}

#[test]
fn a_message_that_broke_off_is_there_as_far_as_it_came() {
    for packed in [false, true] {
        let mut play = begin(policy(Mode::Full), &[DEFLATE]);
        let mut server = Speller::new(None, false);
        let text: String =
            (0..20_000_u32).fold(String::new(), |text, number| text + &(number * number).to_string() + " ");
        let message = Message { packed, ..Message::text(&text) };
        let spelled = server.message(&message);
        play.response(&spelled[..spelled.len() / 2]);
        play.close();
        let [(binary, data, ended)] = told(&play, false).try_into().unwrap();
        assert_eq!((binary, ended), (false, false));
        assert!(data.len() > text.len() / 3 && text.as_bytes().starts_with(&data));
        assert_eq!(play.end()["websocket"]["server"]["messages"], 0);
    }
}

#[test]
fn secrets_are_replaced_however_they_are_sent() {
    let secret = secret();
    let text = format!("{{\"key\":\"{secret}\"}}");
    for packed in [false, true] {
        for cuts in [vec![], vec![12, 14, 30], (0..text.len()).collect()] {
            let mut play = begin(policy(Mode::Full), &[DEFLATE]);
            let mut client = Speller::new(Some([1, 2, 3, 4]), false);
            let message = Message { packed, ..Message::text(&text).fragments(&cuts) };
            play.request(&[client.all(&[message]), client.close(1000, &secret)].concat());
            play.close();
            assert!(!contains(&play.everything(), &secret));
            let expected = b"{\"key\":\"[redacted:github_token]\"}".to_vec();
            assert_eq!(told(&play, true), [(false, expected, true)]);
            assert!(play.of(Kind::WsFrame).all(|made| made.flags & flags::REDACTED != 0));
            assert_eq!(play.end()["request"]["redactions"], json!({"github_token": 1}));
            assert_eq!(play.end()["websocket"]["client"]["close"]["reason"], "[redacted:github_token]");
        }
    }
}

#[test]
fn no_rule_spans_a_message() {
    let secret = secret();
    let (one, two) = secret.split_at(10);
    let mut play = begin(policy(Mode::Full), &[]);
    play.response(&Speller::new(None, false).all(&[Message::text(one), Message::text(two)]));
    play.close();
    assert_eq!(told(&play, false), whole(&[Message::text(one), Message::text(two)]));
}

#[test]
fn privacy_mode_counts_alone() {
    let mut play = begin(policy(Mode::Privacy), &[DEFLATE]);
    let mut client = Speller::new(Some([1, 2, 3, 4]), false);
    let messages = [Message::text("seen"), Message::packed("by nobody")];
    play.request(&[client.all(&messages), client.close(1001, "nor this")].concat());
    play.response(b"\xff\xff no frame");
    play.close();
    assert_eq!((play.of(Kind::WsFrame).count(), play.of(Kind::Gap).count()), (0, 0));
    let sent = json!({"messages": 2, "pings": 0, "pongs": 0, "close": {"code": 1001, "reason": null}});
    assert_eq!(play.end()["websocket"]["client"], sent);
    assert_eq!((&play.end()["request"]["decoded"], &play.end()["request"]["stored"]), (&json!(0), &json!(0)));
    for hidden in ["seen", "nobody", "nor this"] {
        assert!(!contains(&play.everything(), hidden));
    }
}

#[test]
fn passthrough_mode_keeps_a_few_values_of_each_message() {
    let mut play = begin(policy(Mode::Passthrough), &[DEFLATE]);
    let mut server = Speller::new(None, false);
    let messages = [
        Message::packed(
            "{\"type\": \"response.created\",\n \"response\": {\"model\": \"m-1\", \"secret\": \"word\"}}",
        ),
        Message::text("{\"broken"),
        Message { binary: true, ..Message::text("{\"model\": \"m-2\"}") },
        Message::text("{\"response\": {\"usage\": {\"output_tokens\": 7}}}"),
    ];
    play.response(&server.all(&messages));
    play.close();
    assert_eq!(play.of(Kind::WsFrame).count(), 0);
    let kept = json!({"request": {}, "response": {"model": "m-1", "usage": {"output_tokens": 7}}});
    assert_eq!(play.end()["kept"], kept);
    assert!(!contains(&play.everything(), "word"));
}

#[test]
fn what_is_no_frame_is_a_gap_and_so_is_all_after_it() {
    let mut play = begin(policy(Mode::Full), &[]);
    let mut server = Speller::new(None, false);
    let good = Message::text("good");
    play.response(&[server.message(&good), b"\x01\x03cut".to_vec(), b"\x83\x00".to_vec()].concat());
    play.response(&server.message(&Message::text("too late")));
    play.close();
    assert_eq!(told(&play, false)[0], (false, b"good".to_vec(), true));
    assert_eq!(gaps(&play), [(json!("undecodable"), json!("response"), json!(12))]);
}

#[test]
fn compression_that_nobody_agreed_upon_is_unreadable() {
    let mut play = begin(policy(Mode::Full), &[]);
    let spelled = Speller::new(None, false).message(&Message::packed("never"));
    play.response(&spelled);
    play.close();
    assert_eq!(told(&play, false), []);
    assert_eq!(gaps(&play), [(json!("undecodable"), json!("response"), json!(spelled.len()))]);
}

#[test]
fn a_message_that_cannot_be_inflated_is_a_gap_alone() {
    let broken = Speller::new(None, false).frame(0xc1, &[0xff; 9]);
    for (fields, later) in [(DEFLATE, false), (ANEW, true)] {
        let mut play = begin(policy(Mode::Full), &[fields]);
        let mut server = Speller::new(None, true);
        let (plain, packed) = (Message::text("plain"), Message::packed("packed"));
        play.response(&[broken.clone(), server.message(&plain), server.message(&packed)].concat());
        play.close();
        let readable = if later { vec![plain, packed] } else { vec![plain] };
        assert_eq!(told(&play, false), whole(&readable));
        assert_eq!(gaps(&play).len(), if later { 1 } else { 2 });
        assert_eq!(gaps(&play)[0], (json!("undecodable"), json!("response"), json!(9)));
        assert_eq!(play.end()["websocket"]["server"]["messages"], 3);
    }
}

#[test]
fn a_message_that_swells_too_much_is_cut_and_ends() {
    let mut play = begin(Policy { decoded_limit: 10_000, ..policy(Mode::Full) }, &[ANEW]);
    let mut server = Speller::new(None, true);
    let (long, short) = (Message::packed(&"all right ".repeat(5_000)), Message::packed("short"));
    play.response(&server.all(&[long.clone(), short]));
    play.close();
    let told = told(&play, false);
    let [(_, data, true), (_, last, true)] = told.as_slice() else { panic!("both messages end") };
    assert_eq!(last, b"short");
    assert!(data.len() <= 10_000 && data.len() > 9_000 && long.data.starts_with(data));
    assert_eq!(gaps(&play)[0].0, "decode_size");
    assert_eq!(gaps(&play).len(), 1);
}

#[test]
fn without_memory_there_are_gaps() {
    let mut play = begin(Policy { decode_memory: 1000, ..policy(Mode::Full) }, &[DEFLATE]);
    play.response(&Speller::new(None, false).all(&[Message::packed("one"), Message::text("two")]));
    play.close();
    assert_eq!(told(&play, false), whole(&[Message::text("two")]));
    assert_eq!(gaps(&play)[0].0, "decode_memory");
}

#[test]
fn behind_a_hole_nothing_is_read() {
    let mut play = begin(policy(Mode::Full), &[]);
    let mut server = Speller::new(None, false);
    let secret = secret();
    let spelled = server.message(&Message::text(&format!("a key: {secret}")));
    play.response(&spelled[..spelled.len() - 30]);
    play.drop_response(30, 2);
    play.response(&server.message(&Message::text("later")));
    play.close();
    assert_eq!(told(&play, false), [(false, b"a key: ".to_vec(), false)]);
    assert!(!contains(&play.everything(), "ghp_"));
    assert_eq!(gaps(&play)[0], (json!("queue_full"), json!("response"), json!(40)));
    assert_eq!(gaps(&play)[1].0, "undecodable");
    assert_eq!(play.end()["response"]["hmac"], Value::Null);
}

#[test]
fn sides_do_not_disturb_each_other() {
    let mut play = begin(policy(Mode::Full), &[]);
    let (mut client, mut server) = (Speller::new(Some([1, 0, 1, 0]), false), Speller::new(None, false));
    let long = "word ".repeat(10_000);
    let up = client.message(&Message::text(&long));
    let down = server.message(&Message { binary: true, ..Message::text(&long) });
    for (up, down) in up.chunks(5_000).zip(down.chunks(5_000)) {
        play.request(up);
        play.response(down);
    }
    let closing = Closing { request_complete: true, ..Closing::default() };
    play.tell(1, What::Close(&closing));
    assert_eq!(told(&play, true), [(false, long.clone().into_bytes(), true)]);
    assert_eq!(told(&play, false)[0].1.len(), long.len());
    assert_eq!(play.end()["request"]["complete"], true);
    assert_eq!(play.end()["response"]["complete"], false);
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let data = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..200),
        1 => prop::collection::vec(prop::sample::select(b"abc ".to_vec()), 0..70_000),
    ];
    let between = prop::collection::vec(prop::sample::select(vec![9_u8, 10]), 0..3);
    let message = (any::<bool>(), any::<bool>(), data, prop::collection::vec(any::<usize>(), 0..5), between)
        .prop_map(|(binary, packed, data, cuts, between)| Message { binary, packed, data, cuts, between });
    prop::collection::vec(message, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_messages_are_read_back(
        messages in messages(),
        mask in prop::option::of(any::<[u8; 4]>()),
        anew: bool,
        places in prop::collection::vec(any::<usize>(), 0..30),
    ) {
        for direction in [Direction::Request, Direction::Response] {
            let mut play = begin(policy(Mode::Full), &[if anew { ANEW } else { DEFLATE }]);
            let spelled = Speller::new(mask, anew).all(&messages);
            for piece in cut(&spelled, &places) {
                match direction {
                    Direction::Request => play.request(piece),
                    Direction::Response => play.response(piece),
                }
            }
            play.close();
            prop_assert_eq!(told(&play, direction == Direction::Request), whole(&messages));
            prop_assert_eq!(play.of(Kind::Gap).count(), 0);
            prop_assert_eq!(play.scribe.counters().decode_memory, 0);
        }
    }

    #[test]
    fn any_bytes_are_survived(
        data in prop::collection::vec(any::<u8>(), 0..300),
        start in prop::sample::select(vec![b"".as_slice(), b"\xc1\x7e\x01\x00", b"\x01\x00\xc1\x05", b"\x81\xff\0\0\0\0\0\0\x01\0"]),
        places in prop::collection::vec(any::<usize>(), 0..6),
        mode in prop::sample::select(vec![Mode::Full, Mode::Privacy, Mode::Passthrough]),
    ) {
        let mut play = begin(policy(mode), &[DEFLATE]);
        let data = [start, &data].concat();
        for piece in cut(&data, &places) {
            play.request(piece);
        }
        play.close();
        prop_assert_eq!(play.end()["request"]["wire"].as_u64(), Some(data.len() as u64));
        prop_assert_eq!(play.scribe.counters().decode_memory, 0);
    }
}
