//! The corpus that Python is tested on too: `fixtures/redaction/README.md` says how it is written.

use redact::Redactor;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/redaction/corpus.txt");

/// A text, and what redacting makes of it.
struct Case {
    line: usize,
    text: Vec<u8>,
    expected: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let corpus = std::fs::read_to_string(PATH).expect("the corpus is part of the repository");
    let lines = corpus.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with("## "));
    lines.map(|(index, line)| case(index + 1, line)).collect()
}

fn case(line: usize, written: &str) -> Case {
    let mut text = String::new();
    let mut expected = String::new();
    let mut rest = written;
    while let Some((before, secret)) = rest.split_once('⟦') {
        let (kind, secret) = secret.split_once('|').expect("a kind stands before the bar");
        let (secret, behind) = secret.split_once('⟧').expect("a secret is closed");
        text.extend([before, secret]);
        expected.extend([before, "[redacted:", kind, "]"]);
        rest = behind;
    }
    Case { line, text: bytes(&[&text, rest].concat()), expected: bytes(&[&expected, rest].concat()) }
}

/// What is written means: a dot in the middle is nothing, and a backslash begins an escape.
fn bytes(written: &str) -> Vec<u8> {
    let plain = written.replace('·', "");
    let mut bytes = Vec::new();
    let mut rest = plain.as_bytes();
    while let [byte, behind @ ..] = rest {
        rest = behind;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let [escaped, behind @ ..] = rest else { panic!("a backslash ends the line {written:?}") };
        rest = behind;
        bytes.push(match escaped {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'\\' => b'\\',
            _ => panic!("an unknown escape in {written:?}"),
        });
    }
    bytes
}

#[test]
fn every_case_comes_out_as_written() {
    let redactor = Redactor::builtin();
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let (clean, _) = redactor.redact(&case.text);
            let differs = *clean != case.expected;
            differs.then(|| format!("line {}: {}", case.line, clean.escape_ascii()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn redacting_again_changes_nothing() {
    let redactor = Redactor::builtin();
    for case in cases() {
        let (again, counts) = redactor.redact(&case.expected);
        assert!(*again == case.expected && counts.is_empty(), "line {}: {}", case.line, again.escape_ascii());
    }
}

#[test]
fn the_corpus_is_not_empty() {
    assert!(cases().len() > 300);
}
