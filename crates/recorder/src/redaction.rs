//! Copies a text with its secrets replaced by markers, and tells how many of each kind there were.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use redact::{Redactor, UnknownName};

use crate::command::Redaction;

/// The rules that a command line asks for.
pub(crate) fn redactor(request: &Redaction) -> Result<Redactor, UnknownName> {
    let mut redactor = Redactor::builtin();
    if let Some(profile) = &request.profile {
        redactor.apply_profile(profile)?;
    }
    for class in &request.off {
        redactor.switch(class, false)?;
    }
    Ok(redactor)
}

/// Copy `input` to `output` without its secrets; returns a line that tells the counts.
pub(crate) fn copy(
    redactor: &Redactor,
    lines: bool,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<String> {
    let mut total = BTreeMap::new();
    let mut text = Vec::new();
    loop {
        text.clear();
        let read = if lines { input.read_until(b'\n', &mut text)? } else { input.read_to_end(&mut text)? };
        if read == 0 {
            break;
        }
        let line = text.strip_suffix(b"\n").filter(|_| lines);
        let (clean, counts) = redactor.redact(line.unwrap_or(&text));
        output.write_all(&clean)?;
        if line.is_some() {
            output.write_all(b"\n")?;
        }
        for (kind, count) in counts {
            *total.entry(kind).or_default() += count;
        }
    }
    output.flush()?;
    Ok(summary(redactor.version(), &total))
}

fn summary(version: &str, counts: &BTreeMap<&str, usize>) -> String {
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind}={count}")).collect();
    let colon = if kinds.is_empty() { "" } else { ": " };
    format!("redacted {} by rules {version}{colon}{}", counts.values().sum::<usize>(), kinds.join(" "))
}
