//! The corpus, case by case, with all classes on.

mod cases;

use cases::cases;
use redact::Redactor;

fn redactor() -> Redactor {
    let mut redactor = Redactor::builtin();
    redactor.switch("identity", true).expect("a class of the package");
    redactor
}

#[test]
fn every_case_comes_out_as_written() {
    let redactor = redactor();
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
    let redactor = redactor();
    for case in cases() {
        let (again, counts) = redactor.redact(&case.expected);
        assert!(*again == case.expected && counts.is_empty(), "line {}: {}", case.line, again.escape_ascii());
    }
}

#[test]
fn the_corpus_is_not_empty() {
    assert!(cases().len() > 300);
}
