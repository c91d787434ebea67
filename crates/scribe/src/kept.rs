//! What passthrough mode keeps of bodies: the values of a few keys, merged and cut to what is harmless.

use redact::Redactor;
use serde_json::{Map, Value};

/// Keys whose values are kept: how a model was asked, how it stopped and what it cost, in the words of each dialect.
pub(crate) const KEPT_KEYS: &[&str] = &[
    "done",
    "done_reason",
    "eval_count",
    "eval_duration",
    "finishReason",
    "finish_reason",
    "incomplete_details",
    "load_duration",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "model",
    "modelVersion",
    "prompt_eval_count",
    "prompt_eval_duration",
    "service_tier",
    "status",
    "stop_reason",
    "stream",
    "total_duration",
    "usage",
    "usageMetadata",
];

/// Containers in which such keys stand. Elsewhere (arguments of tools, schemas, messages) a key of that name is the
/// user's own.
pub(crate) const ENVELOPES: &[&str] = &["candidates", "choices", "delta", "message", "response"];

/// The longest string that is kept, in characters.
const LONGEST_STRING: usize = 128;

/// How many values are kept of a body at most, so that a stream of ever new keys ends somewhere.
const MOST_VALUES: usize = 256;

/// What was kept of one body.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    values: Map<String, Value>,
    count: usize,
}

impl Kept {
    /// Keep the value of a key that is on the list.
    pub(crate) fn add(&mut self, redactor: &Redactor, key: &str, json: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
        if let Some(harmless) = harmless(redactor, value) {
            merge(&mut self.values, &mut self.count, key, harmless);
        }
    }

    pub(crate) fn values(&self) -> &Map<String, Value> {
        &self.values
    }
}

/// Numbers, booleans, nulls and short strings, and objects of such.
fn harmless(redactor: &Redactor, value: Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value),
        Value::String(text) => short(redactor, &text).map(Value::String),
        Value::Object(members) => {
            let kept =
                |(key, value): (String, Value)| Some((short(redactor, &key)?, harmless(redactor, value)?));
            Some(Value::Object(members.into_iter().filter_map(kept).collect()))
        }
        Value::Array(_) => None,
    }
}

fn short(redactor: &Redactor, text: &str) -> Option<String> {
    if text.chars().count() > LONGEST_STRING {
        return None;
    }
    String::from_utf8(redactor.redact(text.as_bytes()).0.into_owned()).ok()
}

/// Later values win, except that a null takes nothing away; objects are merged key by key.
fn merge(into: &mut Map<String, Value>, count: &mut usize, key: &str, value: Value) {
    match (into.get_mut(key), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (key, value) in new {
                merge(old, count, &key, value);
            }
        }
        (Some(old), value) => {
            if !value.is_null() {
                *old = value;
            }
        }
        (None, Value::Object(new)) if *count < MOST_VALUES => {
            *count += 1;
            let mut object = Map::new();
            for (key, value) in new {
                merge(&mut object, count, &key, value);
            }
            into.insert(key.to_owned(), Value::Object(object));
        }
        (None, value) if *count < MOST_VALUES => {
            *count += 1;
            into.insert(key.to_owned(), value);
        }
        (None, _) => {}
    }
}
