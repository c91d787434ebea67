//! What of an event may reach the disk: redacted first, then what the mode leaves, then no longer than is of use.

use redact::Redactor;
use scribe::event::Mode;
use serde_json::{Map, Value, json};

use crate::tools::reading::cut;

/// What is kept where no bodies are: that something was done, by which tool, for whom, and how it ended.
const HARMLESS: [&str; 17] = [
    "id",
    "event",
    "at",
    "client",
    "session",
    "task",
    "run",
    "hook",
    "call_id",
    "tool",
    "native_session",
    "native_thread",
    "turn",
    "exit_code",
    "duration_ms",
    "failed",
    "bytes",
];

/// The longest that some texts are kept, in bytes.
const LONGEST: [(&str, usize); 4] =
    [("patch", 64 << 10), ("output", 16 << 10), ("command", 16 << 10), ("error", 4 << 10)];

/// The same for all others, and for those inside of `input`.
const LONGEST_OTHER: usize = 4 << 10;

/// How many entries of a list or an object are kept.
const MOST: usize = 256;

/// How deep an event may be.
const DEEPEST: usize = 8;

/// The longest id; one that is longer is none.
const LONGEST_ID: usize = 64;

/// An event as it may be written, and whether a secret was replaced in it. What is no JSON object is an empty one.
pub(crate) fn keep(payload: &[u8], redactor: &Redactor, mode: Mode) -> (Vec<u8>, bool) {
    let (clean, found) = redactor.redact(payload);
    // A rule may take more than the inside of a text; what is no JSON any more must not be kept as it is.
    let event = object(&clean).or_else(|| object(payload).map(|event| piecewise(event, redactor)));
    let mut event = event.unwrap_or_default();
    if mode != Mode::Full {
        event.retain(|key, value| HARMLESS.contains(&key.as_str()) && is_plain(value));
    }
    let mut cuts = Vec::new();
    let mut kept = Map::new();
    for (key, value) in event.into_iter().take(MOST) {
        let longest =
            LONGEST.iter().find(|(name, _)| *name == key).map_or(LONGEST_OTHER, |(_, longest)| *longest);
        let mut is_cut = false;
        let value = bounded(value, longest, DEEPEST, &mut is_cut);
        if is_cut {
            cuts.push(key.clone());
        }
        kept.insert(key, value);
    }
    if !cuts.is_empty() {
        kept.insert("cut".to_owned(), json!(cuts));
    }
    (Value::Object(kept).to_string().into_bytes(), !found.is_empty())
}

/// The id of an event, if it has one.
pub(crate) fn id(payload: &[u8]) -> Option<String> {
    let event = object(payload)?;
    event.get("id")?.as_str().filter(|id| !id.is_empty() && id.len() <= LONGEST_ID).map(str::to_owned)
}

/// Whether this is an event at all.
pub(crate) fn is_event(payload: &[u8]) -> bool {
    object(payload).is_some()
}

fn object(payload: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(payload).ok()
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Each text of an event redacted by itself.
fn piecewise(event: Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    event.into_iter().map(|(key, value)| (key, redacted(value, redactor))).collect()
}

fn redacted(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => {
            json!(String::from_utf8_lossy(&redactor.redact(text.as_bytes()).0))
        }
        Value::Array(list) => list.into_iter().map(|each| redacted(each, redactor)).collect(),
        Value::Object(map) => Value::Object(piecewise(map, redactor)),
        other => other,
    }
}

fn bounded(value: Value, longest: usize, depth: usize, is_cut: &mut bool) -> Value {
    match value {
        Value::String(text) => {
            let short = cut(&text, longest);
            *is_cut |= short.len() < text.len();
            json!(short)
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            *is_cut = true;
            Value::Null
        }
        Value::Array(list) => {
            *is_cut |= list.len() > MOST;
            let each = |one| bounded(one, LONGEST_OTHER.min(longest), depth - 1, &mut *is_cut);
            Value::Array(list.into_iter().take(MOST).map(each).collect())
        }
        Value::Object(map) => {
            *is_cut |= map.len() > MOST;
            let each = |(key, one)| (key, bounded(one, LONGEST_OTHER.min(longest), depth - 1, &mut *is_cut));
            Value::Object(map.into_iter().take(MOST).map(each).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;

    fn redactor() -> &'static Redactor {
        static REDACTOR: OnceLock<Redactor> = OnceLock::new();
        REDACTOR.get_or_init(|| {
            let settings =
                redact::Settings { profile: Some("wire".to_owned()), ..redact::Settings::default() };
            Redactor::from_settings(&settings).expect("the rules that are compiled in are valid")
        })
    }

    fn kept(event: &Value, mode: Mode) -> (Value, bool) {
        let (payload, redacted) = keep(event.to_string().as_bytes(), redactor(), mode);
        (serde_json::from_slice(&payload).expect("what is kept is JSON"), redacted)
    }

    fn token() -> String {
        format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")
    }

    #[test]
    fn a_secret_is_replaced() {
        let (event, redacted) = kept(&json!({"output": format!("is {}", token())}), Mode::Full);
        assert_eq!(event, json!({"output": "is [redacted:github_token]"}));
        assert!(redacted);
    }

    #[test]
    fn a_secret_at_the_cut_is_replaced_before_it_is_cut() {
        let before = "x ".repeat((16 << 10) / 2 - 5);
        let (event, _) = kept(&json!({"output": format!("{before}{} y", token())}), Mode::Full);
        assert!(!event["output"].as_str().expect("a text").contains("ghp_"));
        assert_eq!(event["cut"], json!(["output"]));
    }

    #[test]
    fn other_modes_keep_no_words() {
        let event = json!({"id": "1", "tool": "Bash", "exit_code": 1, "command": "ls", "output": "x", "cwd": "/w",
                           "reads": ["a"], "failed": true, "call_id": {"a": "words"}, "mine": "words"});
        let expected = json!({"id": "1", "tool": "Bash", "exit_code": 1, "failed": true});
        for mode in [Mode::Privacy, Mode::Passthrough] {
            assert_eq!(kept(&event, mode).0, expected);
        }
    }

    #[test]
    fn what_is_no_object_is_empty() {
        assert_eq!(keep(b"[1]", redactor(), Mode::Full).0, b"{}");
        assert_eq!(keep(b"no", redactor(), Mode::Full).0, b"{}");
        assert!(!is_event(b"[1]"));
    }

    #[test]
    fn lists_are_cut() {
        let (event, _) = kept(&json!({"reads": vec!["a"; 300]}), Mode::Full);
        assert_eq!(event["reads"].as_array().map(Vec::len), Some(MOST));
        assert_eq!(event["cut"], json!(["reads"]));
    }

    proptest! {
        #[test]
        fn what_was_kept_is_kept_the_same(words in "[ -~é\n]{0,200}", list in proptest::collection::vec("[a-z/]{0,9}", 0..5)) {
            let event = json!({"output": words, "reads": list, "input": {"command": words}});
            let (once, _) = keep(event.to_string().as_bytes(), redactor(), Mode::Full);
            let (twice, _) = keep(&once, redactor(), Mode::Full);
            prop_assert_eq!(once, twice);
        }
    }
}
