//! What passthrough mode keeps, in each dialect.

use proptest::prelude::*;
use scribe::Mode;
use serde_json::{Value, json};

use crate::play::{cut, policy, respond, secret};

fn kept_in(media_type: &str, body: &str, places: &[usize]) -> Value {
    let pieces = cut(body.as_bytes(), places);
    let play = respond(policy(Mode::Passthrough), &[("content-type", media_type)], &pieces);
    play.end()["kept"]["response"].clone()
}

fn kept(body: &str) -> Value {
    kept_in("application/json", body, &[])
}

#[test]
fn each_dialect_tells_its_usage() {
    let chat = r#"{"id":"c","model":"g","choices":[{"index":0,"message":{"role":"assistant","content":"x"},
        "finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens_details":{"reasoning_tokens":2}},
        "service_tier":"default"}"#;
    let expected = json!({"model": "g", "finish_reason": "stop", "service_tier": "default",
        "usage": {"prompt_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 2}}});
    assert_eq!(kept(chat), expected);

    let responses = concat!(
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",",
        "\"incomplete_details\":null,\"output\":[{\"status\":\"x\"}],\"usage\":{\"input_tokens\":1}}}\n\n"
    );
    let expected = json!({"status": "completed", "incomplete_details": null, "usage": {"input_tokens": 1}});
    assert_eq!(kept_in("text/event-stream", responses, &[]), expected);

    let gemini = r#"[{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"modelVersion":"v"}
        ,{"usageMetadata":{"promptTokenCount":4,"promptTokensDetails":[{"modality":"TEXT"}]}}]"#;
    let expected =
        json!({"finishReason": "STOP", "modelVersion": "v", "usageMetadata": {"promptTokenCount": 4}});
    assert_eq!(kept(gemini), expected);

    let ollama = "{\"model\":\"l\",\"message\":{\"content\":\"a\"},\"done\":false}\n{\"model\":\"l\",\"done\":true,\
        \"done_reason\":\"stop\",\"eval_count\":9,\"total_duration\":123456789}\n";
    let expected = json!({"model": "l", "done": true, "done_reason": "stop", "eval_count": 9,
        "total_duration": 123_456_789});
    assert_eq!(kept_in("application/x-ndjson", ollama, &[]), expected);
}

#[test]
fn later_values_win_and_null_takes_nothing_away() {
    let body = "{\"usage\":{\"a\":1,\"b\":{\"c\":1}},\"model\":null}\n{\"usage\":{\"a\":2,\"b\":{\"d\":2}},\"model\":\"m\"}\n\
        {\"usage\":null,\"model\":null,\"status\":\"one\"}\n{\"status\":2}\n";
    let expected = json!({"usage": {"a": 2, "b": {"c": 1, "d": 2}}, "model": "m", "status": 2});
    assert_eq!(kept_in("application/x-ndjson", body, &[]), expected);
}

#[test]
fn text_that_looks_like_a_key_is_text() {
    let bodies = [
        r#"{"text":"\"usage\": {\"a\": 1}, \"model\": \"m\""}"#,
        r#"{"text":"\\","other":"{\"usage\":{\"a\":1}}"}"#,
        r#""{\"model\":\"m\"}""#,
        r#"["usage", "model", ":", {"text": "usage"}]"#,
        r#"{"a":{"usage":{"a":1}},"messages":[{"model":"m"}]}"#,
        r#"{"input":{"response":{"model":"m"}}}"#,
        r#"{"\u0075sage":1,"us\age":2}"#,
        r#"{"Usage":1,"usages":2,"usag":3,"":4}"#,
    ];
    for body in bodies {
        assert_eq!(kept(body), json!({}), "{body}");
        let places: Vec<usize> = (0..body.len()).collect();
        assert_eq!(kept_in("application/json", body, &places), json!({}), "{body}");
    }
}

#[test]
fn only_what_is_harmless_is_kept() {
    let body = json!({
        "usage": {"n": 1.5, "yes": true, "none": null, "list": [1], "long": "x".repeat(129), "short": "x".repeat(128)},
        "model": secret(),
        "status": ["a"],
        "stop_reason": "x".repeat(129),
    });
    let expected = json!({
        "usage": {"n": 1.5, "yes": true, "none": null, "short": "x".repeat(128)},
        "model": "[redacted:github_token]",
    });
    assert_eq!(kept(&body.to_string()), expected);
    let large = json!({"usage": {"a": "x".repeat(5000)}, "model": "m"});
    assert_eq!(kept(&large.to_string()), json!({"model": "m"}));
}

#[test]
fn ever_new_keys_end_somewhere() {
    let lines: Vec<String> = (0..1000).map(|number| format!("{{\"usage\":{{\"k{number}\":1}}}}\n")).collect();
    let body = lines.concat();
    let kept = kept_in("application/x-ndjson", &body, &[]);
    assert_eq!(kept["usage"].as_object().unwrap().len(), 255);
}

#[test]
fn a_broken_line_does_not_spoil_the_next() {
    let body = "{\"text\":\"never ends\n{\"model\":\"m\"}\nno json } ] }\n{\"status\":1}\n";
    assert_eq!(kept_in("application/x-ndjson", body, &[]), json!({"model": "m", "status": 1}));
    let body = "data: {\"text\":\"never ends\n\ndata: {\"model\": \ndata: \"m\"}\n\ndata: [DONE]\n\n";
    assert_eq!(kept_in("text/event-stream", body, &[]), json!({"model": "m"}));
}

#[test]
fn only_data_lines_of_events_are_read() {
    let body =
        "event: {\"model\":\"no\"}\nid: 1\r\ndatum: {\"model\":\"no\"}\ndata:{\"model\":\"yes\"}\r\n\r\n";
    assert_eq!(kept_in("text/event-stream", body, &[]), json!({"model": "yes"}));
}

#[test]
fn deep_nesting_is_survived() {
    let body = format!("{}{{\"model\":1}}{}{{\"status\":1}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(kept(&body), json!({"status": 1}));
    let body = format!("{{\"response\":{}{{\"model\":\"m\"}}", "{\"response\":".repeat(40));
    assert_eq!(kept(&body), json!({}));
}

/// Any JSON, with keys that matter and keys that do not.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\]:,\n ]{0,8}".prop_map(Value::from),
        Just(json!("\"usage\": {\"a\": 1}")),
    ];
    let key =
        prop::sample::select(vec!["usage", "model", "message", "choices", "other", "a\"b", "{\"usage\":"]);
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The same by walking the value.
fn expected(value: &Value, kept: &mut serde_json::Map<String, Value>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .filter(|item| item.is_object() || item.is_array())
                .for_each(|item| expected(item, kept));
        }
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), harmless(value)) {
                    ("usage" | "model", Some(value)) => merge(kept, key, value),
                    ("message" | "choices", _) => expected(value, kept),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn harmless(value: &Value) -> Option<Value> {
    match value {
        Value::Array(_) => None,
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(key, value)| Some((key.clone(), harmless(value)?)));
            Some(Value::Object(kept.collect()))
        }
        other => Some(other.clone()),
    }
}

fn merge(into: &mut serde_json::Map<String, Value>, key: &str, value: Value) {
    match (into.get_mut(key), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            new.into_iter().for_each(|(key, value)| merge(old, &key, value));
        }
        (Some(_), Value::Null) => {}
        (_, value) => drop(into.insert(key.to_owned(), value)),
    }
}

proptest! {
    #[test]
    fn the_scanner_finds_what_a_parser_would(
        value in value(), pretty: bool, places in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let body = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let mut wanted = serde_json::Map::new();
        expected(&value, &mut wanted);
        prop_assert_eq!(kept_in("application/json", &body, &places), Value::Object(wanted.clone()));
        let event = format!("data: {}\n", body.replace('\n', "\ndata: "));
        prop_assert_eq!(kept_in("text/event-stream", &event, &places), Value::Object(wanted));
    }

    #[test]
    fn any_text_is_survived(body in "[\\[\\]{}\":,\\\\a-z \n]{0,60}", places in prop::collection::vec(any::<usize>(), 0..5)) {
        for media_type in ["application/json", "text/event-stream", "application/x-ndjson"] {
            prop_assert!(kept_in(media_type, &body, &places).is_object());
        }
    }
}
