//! What the recorder answers itself: whether it is well, and what it has counted.

use std::sync::Arc;

use serde_json::json;

use crate::http::answer::Answer;
use crate::metrics::Metrics;

/// What the recorder knows of itself.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) version: &'static str,
    pub(crate) instance: String,
    pub(crate) mode: &'static str,
    pub(crate) policy: String,
}

/// The answer to a request for `/_blackbird/PATH`.
pub(crate) fn answer(facts: &Facts, method: &str, path: &str) -> Answer {
    if method != "GET" && method != "HEAD" {
        return Answer::error(405, "method", "only GET and HEAD are known here");
    }
    match path {
        "health" => health(facts),
        "metrics" => Answer {
            status: 200,
            content_type: "text/plain; version=0.0.4; charset=utf-8",
            body: facts.metrics.text().into_bytes(),
            extra: "",
        },
        _ => Answer::error(404, "not_found", "there is /_blackbird/health and /_blackbird/metrics"),
    }
}

/// Forwarding goes on when the disk fails, so that is told here and not by a status that would have it restarted.
fn health(facts: &Facts) -> Answer {
    let recording = facts.metrics.recording();
    Answer::json(&json!({
        "ok": true,
        "recording": recording.is_working,
        "last_error": recording.last_error,
        "lost_records": recording.lost_records,
        "version": facts.version,
        "instance": facts.instance,
        "mode": facts.mode,
        "policy": facts.policy,
    }))
}
