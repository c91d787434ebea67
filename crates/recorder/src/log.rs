//! The recorder's own log: one JSON object a line on standard error, without anything that passed through.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// Something that a person should look at.
pub(crate) fn warn(message: &str, facts: &[(&str, &str)]) {
    write("warning", message, facts);
}

/// Something worth knowing.
pub(crate) fn info(message: &str, facts: &[(&str, &str)]) {
    write("info", message, facts);
}

/// Something that helps to find a fault; told only if `BLACKBIRD_LOG` is `debug`.
pub(crate) fn debug(message: &str, facts: &[(&str, &str)]) {
    if std::env::var_os("BLACKBIRD_LOG").is_some_and(|level| level == "debug") {
        write("debug", message, facts);
    }
}

fn write(level: &str, message: &str, facts: &[(&str, &str)]) {
    let mut line = Map::new();
    line.insert("at".to_owned(), Value::from(rfc3339(SystemTime::now())));
    line.insert("level".to_owned(), Value::from(level));
    line.insert("pid".to_owned(), Value::from(std::process::id()));
    line.insert("message".to_owned(), Value::from(message));
    for (name, fact) in facts {
        line.insert((*name).to_owned(), Value::from(*fact));
    }
    // Nobody is left to tell if the log itself cannot be written.
    let _ = writeln!(std::io::stderr(), "{}", Value::Object(line));
}

/// A moment as RFC 3339 in UTC, to the millisecond.
pub(crate) fn rfc3339(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = trace::clock::rfc3339(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_spelled_in_utc() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_794_830_399, "2026-11-16T11:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
