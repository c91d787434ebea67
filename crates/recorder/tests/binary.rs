//! The built program: what reaches the terminal and the exit code.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_blackbird-recorder"))
        .args(words)
        .output()
        .expect("the built program starts")
}

#[test]
fn version_goes_to_stdout_and_succeeds() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"blackbird-recorder "));
    assert_eq!(output.stderr, b"");
}

#[test]
fn anything_else_goes_to_stderr_with_the_usage_code() {
    for words in [&[][..], &["record"], &["--port", "1"]] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(output.stdout, b"", "{words:?}");
        assert!(output.stderr.ends_with(b"to see what it does.\n"), "{words:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_text_is_refused_too() {
    use std::os::unix::ffi::OsStrExt;
    let word = std::ffi::OsStr::from_bytes(b"\xff");
    let output = Command::new(env!("CARGO_BIN_EXE_blackbird-recorder"))
        .arg(word)
        .output()
        .expect("the built program starts");
    assert_eq!(output.status.code(), Some(2));
}

/// Run with `input` on standard input.
fn feed(words: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blackbird-recorder"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built program starts");
    child.stdin.take().expect("piped").write_all(input).expect("the program reads");
    child.wait_with_output().expect("the program ends")
}

/// Put together here, so that the file itself holds nothing that looks like a token.
fn token() -> String {
    format!("gh{}_{}", "p", "a1B2".repeat(9))
}

#[test]
fn secrets_are_replaced_and_counted() {
    let output = feed(&["redact"], format!("one {} two\n", token()).as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"one [redacted:github_token] two\n");
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.starts_with("redacted 1 by rules "), "{told}");
    assert!(told.ends_with(": github_token=1\n"), "{told}");
}

#[test]
fn lines_keep_their_ends_and_bytes_that_are_not_text_pass() {
    let input = [b"\xff\x00\r\n\n", token().as_bytes(), b"\nlast"].concat();
    let output = feed(&["redact", "--lines"], &input);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"\xff\x00\r\n\n[redacted:github_token]\nlast");
}

#[test]
fn nothing_to_hide_is_told_too() {
    let output = feed(&["redact"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"");
    assert!(output.stderr.starts_with(b"redacted 0 by rules "));
}

#[test]
fn an_unknown_class_or_profile_is_refused_in_one_line() {
    for (words, name) in
        [(["redact", "--off", "nonsense"], "class"), (["redact", "--profile", "nonsense"], "profile")]
    {
        let output = feed(&words, b"");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(output.stdout, b"", "{words:?}");
        let told = String::from_utf8(output.stderr).expect("text");
        assert!(told.starts_with(&format!("there is no {name} \"nonsense\"")), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_environment() {
    let full = std::fs::File::create("/dev/full").expect("Linux has it");
    let mut child = Command::new(env!("CARGO_BIN_EXE_blackbird-recorder"))
        .arg("redact")
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built program starts");
    child.stdin.take().expect("piped").write_all(b"text").expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stderr.starts_with(b"cannot copy standard input to standard output: "));
}
