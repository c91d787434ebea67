//! What comes out of a stream is what redacting the whole would make of it, however the text is cut.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::settings::Settings;

#[path = "../../tests/cases/mod.rs"]
mod cases;

/// All classes are on.
static ALL: LazyLock<Redactor> = LazyLock::new(|| {
    let settings = Settings { on: vec!["identity".to_owned()], ..Settings::default() };
    Redactor::from_settings(&settings).expect("a class of the package")
});

/// What the recorder uses.
static WIRE: LazyLock<Redactor> = LazyLock::new(|| {
    let settings = Settings { profile: Some("wire".to_owned()), ..Settings::default() };
    Redactor::from_settings(&settings).expect("a profile of the package")
});

const SMALL: Limits = Limits { hold: 256, longest_match: 4096, longest_message: 1024 };

type Counts = BTreeMap<String, u64>;

fn stream_all<'d>(
    redactor: &Redactor,
    mut stream: Stream,
    pieces: impl IntoIterator<Item = &'d [u8]>,
) -> (Vec<u8>, Counts) {
    let mut out = Vec::new();
    let mut counts = Counts::new();
    for piece in pieces {
        stream.push(redactor, piece, &mut out, &mut counts);
    }
    stream.finish(redactor, &mut out, &mut counts);
    (out, counts)
}

fn whole(redactor: &Redactor, text: &[u8]) -> (Vec<u8>, Counts) {
    let (clean, counts) = redactor.redact(text);
    (clean.into_owned(), counts.into_iter().map(|(kind, count)| (kind.to_owned(), count as u64)).collect())
}

/// `text` in pieces of the given lengths, which are used again and again.
fn pieces<'d>(mut text: &'d [u8], lengths: &[usize]) -> Vec<&'d [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if text.is_empty() {
            break;
        }
        let (piece, rest) = text.split_at(text.len().min(*length));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

fn shown(text: &[u8]) -> String {
    text.escape_ascii().to_string()
}

/// Words in which nothing is found.
fn filler(length: usize) -> Vec<u8> {
    b"the tide comes in, \n".iter().copied().cycle().take(length).collect()
}

#[test]
fn no_secret_of_the_corpus_survives_a_cut_at_any_place() {
    for case in cases::cases() {
        let hold = (case.text.len() + 1).next_multiple_of(64);
        let limits = Limits { hold, longest_match: 64 << 10, ..SMALL };
        let (before, behind) =
            ([&filler(hold - 2)[..], b", "].concat(), [b"\n", &filler(2 * hold)[..]].concat());
        let text = [&before[..], &case.text, &behind].concat();
        let expected = [before, case.expected, behind].concat();
        // The first piece is as long as to release all up to the place.
        let step = case.text.len() / 250 + 1;
        for place in (hold..=hold + case.text.len()).step_by(step) {
            let (first, second) = text.split_at(place + hold);
            let stream = Stream::with_limits(Boundary::None, limits);
            let (out, _) = stream_all(&ALL, stream, [first, second]);
            assert!(out == expected, "line {} cut at {}: {}", case.line, place - hold, shown(&out));
        }
    }
}

#[test]
fn the_corpus_as_one_text_comes_out_the_same_in_pieces_of_any_size() {
    let text: Vec<u8> =
        cases::cases().into_iter().flat_map(|case| [case.text, b"\n\n".to_vec()]).flatten().collect();
    let expected = whole(&ALL, &text);
    for size in [1, 7, 100, 4095, 4096, 4097, 20_000, text.len()] {
        let (out, counts) = stream_all(&ALL, Stream::new(Boundary::None), text.chunks(size));
        assert!(out == expected.0, "pieces of {size}");
        assert_eq!(counts, expected.1);
    }
}

/// The messages of a text, found byte by byte.
fn messages(text: &[u8], boundary: Boundary) -> Vec<&[u8]> {
    let ends = (1..=text.len()).filter(|&end| {
        let head = &text[..end];
        match boundary {
            Boundary::None => false,
            Boundary::Line => head.ends_with(b"\n"),
            Boundary::Event => {
                head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n") || head.ends_with(b"\r\r")
            }
        }
    });
    let mut start = 0;
    let mut found: Vec<&[u8]> = ends.map(|end| &text[std::mem::replace(&mut start, end)..end]).collect();
    found.push(&text[start..]);
    found
}

fn by_message(redactor: &Redactor, text: &[u8], boundary: Boundary) -> Vec<u8> {
    messages(text, boundary).into_iter().flat_map(|message| redactor.redact(message).0.into_owned()).collect()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let anchors: Vec<String> =
        ALL.rules.entries.iter().flat_map(|entry| &entry.anchors).map(|(text, _)| text.clone()).collect();
    let secrets: Vec<Vec<u8>> =
        cases::cases().into_iter().map(|case| case.text).filter(|text| text.len() < 240).collect();
    let piece = prop_oneof![
        6 => prop::sample::select(secrets),
        3 => prop::sample::select(anchors).prop_map(String::into_bytes),
        4 => "[A-Za-z0-9]{1,60}".prop_map(String::into_bytes),
        4 => r#"[ "'=:@/.\\,;\n\r\t_-]{1,3}"#.prop_map(String::into_bytes),
        3 => prop::sample::select(vec!["\n\n", "\r\n\r\n", "\n", "\r\r", "\n\r\n", "\"\n"]).prop_map(|end: &str| end.as_bytes().to_vec()),
        3 => (1..300_usize).prop_map(filler),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => Just(b"[redacted:password]".to_vec()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1..20_usize, 1..900_usize, Just(5000)], 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_come_to_the_same_as_the_whole(text in text(), lengths in lengths(), wire in any::<bool>()) {
        let redactor: &Redactor = if wire { &WIRE } else { &ALL };
        let limits = Limits { hold: 1024, longest_match: 1 << 20, ..SMALL };
        let stream = Stream::with_limits(Boundary::None, limits);
        let (out, counts) = stream_all(redactor, stream, pieces(&text, &lengths));
        let expected = whole(redactor, &text);
        prop_assert_eq!(shown(&out), shown(&expected.0));
        prop_assert_eq!(counts, expected.1);
    }

    #[test]
    fn messages_are_redacted_each_by_itself(
        text in text(),
        lengths in lengths(),
        wire in any::<bool>(),
        boundary in prop::sample::select(vec![Boundary::Line, Boundary::Event]),
    ) {
        let redactor: &Redactor = if wire { &WIRE } else { &ALL };
        let (out, _) = stream_all(redactor, Stream::new(boundary), pieces(&text, &lengths));
        prop_assert_eq!(shown(&out), shown(&by_message(redactor, &text, boundary)));
    }

    #[test]
    fn complete_messages_are_released_at_once(
        text in text(),
        lengths in lengths(),
        boundary in prop::sample::select(vec![Boundary::Line, Boundary::Event]),
    ) {
        let mut stream = Stream::new(boundary);
        let mut pushed = 0;
        let (mut out, mut counts) = (Vec::new(), Counts::new());
        for piece in pieces(&text, &lengths) {
            stream.push(&WIRE, piece, &mut out, &mut counts);
            pushed += piece.len();
            let unfinished = messages(&text[..pushed], boundary).pop().unwrap_or_default().len();
            prop_assert_eq!(stream.held(), unfinished);
        }
    }

    #[test]
    fn any_limits_and_any_text_end_well(text in text(), lengths in lengths(), hold in 1..64_usize) {
        let limits = Limits { hold, longest_match: hold * 4, longest_message: hold * 2 };
        for boundary in [Boundary::None, Boundary::Line, Boundary::Event] {
            let (_, counts) = stream_all(&ALL, Stream::with_limits(boundary, limits), pieces(&text, &lengths));
            prop_assert!(counts.values().all(|&count| count > 0));
        }
    }
}

#[test]
fn plain_text_is_held_back_a_little() {
    let mut stream = Stream::new(Boundary::None);
    let (mut out, mut counts) = (Vec::new(), Counts::new());
    let text = filler(100_000);
    for piece in text.chunks(100) {
        assert!(!stream.push(&WIRE, piece, &mut out, &mut counts));
        assert!(stream.held() <= 2 * LIMITS.hold + 100);
    }
    assert!(stream.held() >= LIMITS.hold);
    stream.finish(&WIRE, &mut out, &mut counts);
    assert_eq!((stream.held(), out), (0, text));
}

#[test]
fn whether_anything_was_replaced_is_told_with_what_is_released() {
    let mut stream = Stream::new(Boundary::Line);
    let (mut out, mut counts) = (Vec::new(), Counts::new());
    assert!(!stream.push(&WIRE, b"password=hun", &mut out, &mut counts));
    assert!(stream.push(&WIRE, b"ter2\nplain\npassword=hunter3", &mut out, &mut counts));
    assert_eq!(out, b"password=[redacted:password]\nplain\n");
    assert!(stream.finish(&WIRE, &mut out, &mut counts));
    assert_eq!(out, b"password=[redacted:password]\nplain\npassword=[redacted:password]");
    assert_eq!(counts, Counts::from([("password".to_owned(), 2)]));
}

#[test]
fn no_match_crosses_the_end_of_a_message() {
    let text = b"machine a.example\nlogin anna\npassword hunter2x\n";
    let (out, _) = stream_all(&WIRE, Stream::new(Boundary::Line), [&text[..]]);
    assert_eq!(shown(&out), shown(text));
    let (out, _) = stream_all(&WIRE, Stream::new(Boundary::Event), [&text[..]]);
    assert_eq!(out, b"machine a.example\nlogin anna\npassword [redacted:password]\n");
}

// Put together here, so that the file itself holds nothing that a scanner would take for a secret.
const BEGIN: &[u8] = b"-----BEG\x49N RSA PRIVATE KEY-----\n";
const END: &[u8] = b"-----END RSA PRIVATE KEY-----\n";

#[test]
fn a_block_is_waited_for() {
    let body = b"MIIEpAIBAAKCAQEA0123456789abcdef\n".repeat(400);
    let text = [&filler(9000), BEGIN, &body, END, &filler(9000)].concat();
    for size in [64, 1000, 8192] {
        let (out, _) = stream_all(&WIRE, Stream::new(Boundary::None), text.chunks(size));
        assert_eq!(out, [&filler(9000)[..], b"[redacted:private_key]\n", &filler(9000)].concat(), "{size}");
    }
}

#[test]
fn a_begin_without_an_end_is_released_in_the_end() {
    let text = [BEGIN, &filler(30_000)].concat();
    let mut stream = Stream::new(Boundary::None);
    let (mut out, mut counts) = (Vec::new(), Counts::new());
    stream.push(&WIRE, &text[..16_000], &mut out, &mut counts);
    assert_eq!(out, b"");
    stream.push(&WIRE, &text[16_000..], &mut out, &mut counts);
    assert!(out.starts_with(BEGIN));
    stream.finish(&WIRE, &mut out, &mut counts);
    assert_eq!(out, text);
}

#[test]
fn the_rest_of_a_secret_without_end_is_swallowed() {
    let key = [b"ghp".as_slice(), b"_", &b"a1B2c3D4".repeat(50_000)].concat();
    let text = [&filler(100), &key, b" behind it".as_slice()].concat();
    for size in [10_000, 300_000] {
        let mut stream = Stream::new(Boundary::None);
        let (mut out, mut counts) = (Vec::new(), Counts::new());
        let mut most = 0;
        for piece in text.chunks(size) {
            stream.push(&WIRE, piece, &mut out, &mut counts);
            most = most.max(stream.held());
        }
        stream.finish(&WIRE, &mut out, &mut counts);
        assert_eq!(out, [&filler(100)[..], b"[redacted:github_token] behind it"].concat());
        assert_eq!(counts, Counts::from([("github_token".to_owned(), 1)]));
        assert!(most <= 2 * LIMITS.longest_match, "{most}");
    }
}

#[test]
fn a_message_that_does_not_end_is_released_as_text_without_messages() {
    let line = [&filler(800)[..], b"password=hunter2 ", &filler(3000)].concat().replace_newlines();
    let text = [&line[..], b"\n", b"password=hunter3\n"].concat();
    let mut stream = Stream::with_limits(Boundary::Line, SMALL);
    let (mut out, mut counts) = (Vec::new(), Counts::new());
    for piece in text.chunks(200) {
        stream.push(&WIRE, piece, &mut out, &mut counts);
        assert!(stream.held() <= SMALL.longest_message + 200);
    }
    assert_eq!((stream.held(), out), (0, by_message(&WIRE, &text, Boundary::Line)));
    assert_eq!(counts, Counts::from([("password".to_owned(), 2)]));
}

trait ReplaceNewlines {
    fn replace_newlines(self) -> Self;
}

impl ReplaceNewlines for Vec<u8> {
    fn replace_newlines(mut self) -> Self {
        self.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        self
    }
}

#[test]
fn every_end_of_an_event_counts() {
    for end in ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"] {
        let text = format!("data: a{end}data: b");
        let mut stream = Stream::new(Boundary::Event);
        let (mut out, mut counts) = (Vec::new(), Counts::new());
        for byte in text.as_bytes() {
            stream.push(&WIRE, std::slice::from_ref(byte), &mut out, &mut counts);
        }
        assert_eq!((out, stream.held()), (format!("data: a{end}").into_bytes(), 7), "{end:?}");
    }
}
