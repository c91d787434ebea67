//! The hosts whose traffic is recorded when the recorder is used as a proxy.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::forwarding::routes::{BadUrl, Routes, Upstream};

/// A host that is recorded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Intercept {
    /// Host and port as a client asks for them, in small letters.
    pub(crate) authority: String,
    /// Name or address, without brackets.
    pub(crate) host: String,
    /// Whether clients speak TLS to it.
    pub(crate) tls: bool,
    /// The name of the upstream that its requests go to.
    pub(crate) upstream: String,
}

/// Why a host cannot be recorded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadIntercept {
    #[error("{0:?} is no host with a port: {1}")]
    Authority(String, BadUrl),
    #[error("{0:?} has no port; write it as host:port")]
    Port(String),
    #[error("{0:?} belongs to {1:?}, and there is no upstream of that name")]
    Upstream(String, String),
}

/// All hosts that are recorded.
#[derive(Debug, Default)]
pub(crate) struct Intercepts(HashMap<String, Arc<Intercept>>);

impl Intercepts {
    /// Read the table of hosts and upstreams.
    pub(crate) fn new(table: &BTreeMap<String, String>, routes: &Routes) -> Result<Self, BadIntercept> {
        let mut known = HashMap::new();
        for (authority, upstream) in table {
            let intercept = Intercept::new(authority, upstream, routes)?;
            known.insert(intercept.authority.clone(), Arc::new(intercept));
        }
        Ok(Self(known))
    }

    /// What is to be done with a host and port, given in small letters.
    pub(crate) fn find(&self, authority: &str) -> Option<Arc<Intercept>> {
        self.0.get(authority).cloned()
    }

    /// The hosts that certificates are needed for.
    pub(crate) fn tls_hosts(&self) -> impl Iterator<Item = &str> {
        self.0.values().filter(|intercept| intercept.tls).map(|intercept| intercept.host.as_str())
    }
}

impl Intercept {
    fn new(authority: &str, upstream: &str, routes: &Routes) -> Result<Self, BadIntercept> {
        let (authority, place) = read_authority(authority)?;
        let known = routes.named(upstream, &[]);
        let known = known.ok_or_else(|| BadIntercept::Upstream(authority.clone(), upstream.to_owned()))?;
        // A provider's well-known address is under TLS even if its requests go to a plain gateway.
        let is_itself = known.tls && known.port == place.port && known.host.eq_ignore_ascii_case(&place.host);
        let tls = place.port == 443 || is_itself;
        Ok(Self { authority, host: place.host, tls, upstream: upstream.to_owned() })
    }
}

/// A host with its port, in small letters, and the same taken apart.
pub(crate) fn read_authority(text: &str) -> Result<(String, Upstream), BadIntercept> {
    let authority = text.to_ascii_lowercase();
    let bad = |error| BadIntercept::Authority(text.to_owned(), error);
    let place = Upstream::parse("", &format!("http://{authority}")).map_err(bad)?;
    if place.authority != authority || !authority.ends_with(&format!(":{}", place.port)) {
        return Err(BadIntercept::Port(text.to_owned()));
    }
    Ok((authority, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intercepts(table: &[(&str, &str)]) -> Result<Intercepts, BadIntercept> {
        let mut routes = Routes::default();
        routes.add("anthropic", "http://127.0.0.1:9/gateway").expect("sound");
        routes.add("box", "https://box.example:8443").expect("sound");
        routes.add("ollama", "http://127.0.0.1:11434").expect("sound");
        let table = table.iter().map(|(authority, name)| ((*authority).into(), (*name).into())).collect();
        Intercepts::new(&table, &routes)
    }

    #[test]
    fn tls_is_spoken_to_port_443_and_to_an_upstream_that_is_under_tls() {
        let table = [
            ("API.anthropic.com:443", "anthropic"),
            ("127.0.0.1:9", "anthropic"),
            ("box.example:8443", "box"),
            ("old.example:80", "box"),
            ("127.0.0.1:11434", "ollama"),
        ];
        let intercepts = intercepts(&table).expect("sound");
        let mut hosts: Vec<_> = intercepts.tls_hosts().collect();
        hosts.sort_unstable();
        assert_eq!(hosts, ["api.anthropic.com", "box.example"]);
        assert_eq!(
            intercepts.find("127.0.0.1:11434").map(|found| found.upstream.clone()),
            Some("ollama".into())
        );
        assert_eq!(intercepts.find("127.0.0.1:11435"), None);
    }

    #[test]
    fn what_is_no_host_with_a_port_is_refused() {
        for authority in
            ["api.example", "api.example:", "api.example:0", ":443", "a/b:443", "u:p@a:443", "[::1]"]
        {
            assert!(intercepts(&[(authority, "box")]).is_err(), "{authority}");
        }
        assert!(intercepts(&[("[::1]:443", "box")]).is_ok());
        let unknown = intercepts(&[("a.example:443", "nobody")]).expect_err("no upstream");
        assert_eq!(unknown, BadIntercept::Upstream("a.example:443".into(), "nobody".into()));
    }
}
