//! The built program: what reaches the terminal and the exit code.

use std::process::{Command, Output};

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
