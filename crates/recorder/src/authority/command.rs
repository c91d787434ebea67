//! `blackbird-recorder ca`: the private CA made or issued anew, and told about in one line of JSON.

use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::certificate::{Hosts, hexadecimal};
use super::store::{self, CaError, State};
use crate::config::{Config, ConfigError};
use crate::log;

/// What to print, and whether it is an error.
pub(crate) fn run(config: Result<Config, ConfigError>, renew: bool) -> (Value, bool) {
    let config = match config {
        Ok(config) => config,
        Err(error) => return (refusal("bad_config", &error.to_string(), "run 'blackbird up'"), false),
    };
    match ensure(&config, renew) {
        Ok(told) => (told, true),
        Err(error) => {
            let (code, message, remedy) = error.told();
            (refusal(code, &message, &remedy), false)
        }
    }
}

fn ensure(config: &Config, renew: bool) -> Result<Value, CaError> {
    let intercepts = config.routes().and_then(|routes| config.intercepts(&routes));
    let intercepts = intercepts.map_err(|error| CaError::Failed(error.to_string()))?;
    let hosts = Hosts::new(intercepts.tls_hosts());
    let folder = config.ca_folder();
    let kept = store::ensure(&folder, &hosts, SystemTime::now(), renew)?;
    let state = match kept.state {
        State::Kept => "kept",
        State::Made => "made",
        State::Reissued => "reissued",
        State::Renewed => "renewed",
    };
    Ok(json!({
        "ok": true,
        "certificate": folder.join("ca.pem"),
        "hosts": hosts.list(),
        "not_before": log::rfc3339(kept.validity.begins.into()),
        "not_after": log::rfc3339(kept.validity.ends.into()),
        "fingerprint": hexadecimal(&Sha256::digest(&kept.certificate)),
        "state": state,
    }))
}

fn refusal(code: &str, message: &str, remedy: &str) -> Value {
    json!({"ok": false, "code": code, "message": message, "remedy": remedy})
}
