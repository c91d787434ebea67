//! The private CA: certificates for the hosts that are recorded, and for no others.
//!
//! - [`certificate`]: what certificates say, as values.
//! - [`store`]: key and certificate on disk, made and issued anew.
//! - [`der`]: the few parts of a certificate that are read back.
//! - [`command`]: `blackbird-recorder ca`.

pub(crate) mod command;

mod certificate;
mod der;
mod store;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rustls::ServerConfig;

use crate::metrics::lock;
pub(crate) use certificate::Hosts;
pub(crate) use store::CaError;
use store::{Kept, Stamp};

/// The CA as a running recorder uses it.
pub(crate) struct Authority {
    folder: PathBuf,
    hosts: Hosts,
    loaded: Mutex<Option<Loaded>>,
}

/// What was read from the folder, and what was issued since.
struct Loaded {
    stamp: Stamp,
    kept: Kept,
    leaves: HashMap<String, Leaf>,
}

/// What is shown in the name of a host.
struct Leaf {
    config: Arc<ServerConfig>,
    /// When it is to be made anew.
    stale: SystemTime,
}

impl Authority {
    pub(crate) fn new(folder: PathBuf, hosts: Hosts) -> Self {
        Self { folder, hosts, loaded: Mutex::default() }
    }

    /// How to speak TLS in the name of a host. Key and certificate are made if they are not there.
    pub(crate) async fn identity(self: &Arc<Self>, host: &str) -> Result<Arc<ServerConfig>, CaError> {
        let now = SystemTime::now();
        if let Some(config) = self.known(host, now) {
            return Ok(config);
        }
        let (this, host) = (Arc::clone(self), host.to_owned());
        // Another process may hold the lock, and disks may be slow; other clients do not wait for that.
        let issued = tokio::task::spawn_blocking(move || this.issue(&host, now)).await;
        issued.unwrap_or_else(|error| Err(CaError::Failed(error.to_string())))
    }

    fn known(&self, host: &str, now: SystemTime) -> Option<Arc<ServerConfig>> {
        let loaded = lock(&self.loaded);
        let loaded = loaded.as_ref().filter(|loaded| self.is_current(loaded, now))?;
        loaded.leaves.get(host).filter(|leaf| now < leaf.stale).map(|leaf| Arc::clone(&leaf.config))
    }

    fn issue(&self, host: &str, now: SystemTime) -> Result<Arc<ServerConfig>, CaError> {
        let mut slot = lock(&self.loaded);
        if !slot.as_ref().is_some_and(|loaded| self.is_current(loaded, now)) {
            *slot = None;
        }
        let loaded = match &mut *slot {
            Some(loaded) => loaded,
            empty => {
                let kept = store::ensure(&self.folder, &self.hosts, now, false)?;
                empty.insert(Loaded { stamp: Stamp::of(&self.folder), kept, leaves: HashMap::new() })
            }
        };
        let (config, stale) = loaded.kept.issue(host, now)?;
        let config = Arc::new(config);
        loaded.leaves.insert(host.to_owned(), Leaf { config: Arc::clone(&config), stale });
        Ok(config)
    }

    /// Whether the folder is as it was read.
    fn is_current(&self, loaded: &Loaded, now: SystemTime) -> bool {
        loaded.stamp.is_whole()
            && loaded.stamp == Stamp::of(&self.folder)
            && !loaded.kept.validity.is_due(now)
    }
}

#[cfg(test)]
mod tests;
