//! The resolved configuration that the command line hands to the recorder.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use scribe::event::Mode;
use serde::Deserialize;

use crate::forwarding::intercepts::{BadIntercept, Intercepts};
use crate::forwarding::routes::{BadUrl, Routes};

/// The meaning of the file that this program knows.
const SCHEMA: &str = "recorder-config/1";

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("the configuration {path} cannot be read: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    #[error("the configuration {path} is not what this recorder expects: {error}")]
    Json { path: PathBuf, error: serde_json::Error },
    #[error("the configuration {path} has the schema {found:?}, and this recorder knows {SCHEMA:?}")]
    Schema { path: PathBuf, found: String },
    #[error("the upstream {name:?} cannot be used: {error}")]
    Upstream { name: String, error: BadUrl },
    #[error("the table of intercepted hosts cannot be used: {0}")]
    Intercept(#[from] BadIntercept),
    #[error("listening on {0}, which other machines reach, needs a token; set proxy.token")]
    Open(SocketAddr),
}

/// Everything that the recorder can be told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The file that this was read from.
    #[serde(skip)]
    pub(crate) path: PathBuf,
    schema: String,
    pub(crate) home: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) token: Option<String>,
    pub(crate) control_socket: PathBuf,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    upstreams: BTreeMap<String, String>,
    default_upstream: Option<String>,
    /// Hosts that are recorded when the recorder is used as a proxy, and the names of their upstreams.
    #[serde(default)]
    intercept: BTreeMap<String, String>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) mode: Mode,
    #[serde(default)]
    pub(crate) websocket: WebSockets,
    /// For the hook program alone.
    #[serde(default, rename = "hooks")]
    _hooks: serde::de::IgnoredAny,
    pub(crate) lossless: bool,
    pub(crate) queue_bytes: usize,
    pub(crate) keep_undecodable: bool,
    pub(crate) decode_memory: usize,
    pub(crate) decoded_limit: u64,
    pub(crate) drain_seconds: u64,
    pub(crate) threads: Option<usize>,
    pub(crate) trace: Trace,
    pub(crate) redaction: Redaction,
}

/// What becomes of requests to speak WebSocket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WebSockets {
    #[default]
    Relay,
    /// They are answered with 426, upon which clients fall back to HTTP.
    Decline,
}

/// How the trace is kept.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trace {
    pub(crate) persist: Persist,
    pub(crate) sync_ms: u64,
    pub(crate) rotate_bytes: u64,
    pub(crate) rotate_seconds: u64,
    pub(crate) retention_days: Option<u32>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) seal: bool,
}

/// What is promised of a record that was taken.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Persist {
    Written,
    Grouped,
    Each,
}

/// The user's settings of redaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redaction {
    pub(crate) ruleset_version: Option<String>,
    pub(crate) off: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) rules: Option<String>,
}

impl Config {
    /// Read and check the file.
    pub(crate) fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read(path).map_err(|error| ConfigError::Read { path: path.to_owned(), error })?;
        let mut config: Self = serde_json::from_slice(&text)
            .map_err(|error| ConfigError::Json { path: path.to_owned(), error })?;
        if config.schema != SCHEMA {
            return Err(ConfigError::Schema { path: path.to_owned(), found: config.schema });
        }
        if !config.listen.ip().is_loopback() && config.token.as_ref().is_none_or(String::is_empty) {
            return Err(ConfigError::Open(config.listen));
        }
        config.intercepts(&config.routes()?)?;
        path.clone_into(&mut config.path);
        Ok(config)
    }

    /// Where requests go.
    pub(crate) fn routes(&self) -> Result<Routes, ConfigError> {
        let named = |name: &str| {
            let name = name.to_owned();
            move |error| ConfigError::Upstream { name, error }
        };
        let mut routes = Routes::default();
        for (name, url) in &self.upstreams {
            routes.add(name, url).map_err(named(name))?;
        }
        if let Some(url) = &self.default_upstream {
            routes.set_default(url).map_err(named("default"))?;
        }
        Ok(routes)
    }

    /// The hosts that are recorded when the recorder is used as a proxy.
    pub(crate) fn intercepts(&self, routes: &Routes) -> Result<Intercepts, ConfigError> {
        Ok(Intercepts::new(&self.intercept, routes)?)
    }

    /// The folder of the private CA.
    pub(crate) fn ca_folder(&self) -> PathBuf {
        self.home.join("ca")
    }

    /// The folder of the trace.
    pub(crate) fn trace_folder(&self) -> PathBuf {
        self.home.join("trace")
    }

    /// The folder of what belongs to a running recorder.
    pub(crate) fn run_folder(&self) -> PathBuf {
        self.home.join("run")
    }
}
