//! The cases of the corpus that Python is tested on too: `fixtures/redaction/README.md` says how they are written.

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/redaction/corpus.txt");

/// A text, and what redacting makes of it.
pub(crate) struct Case {
    pub(crate) line: usize,
    pub(crate) text: Vec<u8>,
    pub(crate) expected: Vec<u8>,
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
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
