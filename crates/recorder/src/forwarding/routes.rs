//! Where a request goes: the run prefix, the name of an upstream, the path that is left.

use std::sync::Arc;

use crate::forwarding::intercepts::Intercept;

/// A provider that requests are forwarded to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// As configured, or `default`.
    pub(crate) name: String,
    pub(crate) tls: bool,
    /// Name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What the `Host` field says.
    pub(crate) authority: String,
    /// The path that all targets are put behind, without a slash at its end.
    base: String,
}

/// A URL that no upstream can have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} {problem}")]
pub(crate) struct BadUrl {
    url: String,
    problem: &'static str,
}

impl Upstream {
    /// Read a URL.
    pub(crate) fn parse(name: &str, url: &str) -> Result<Self, BadUrl> {
        let bad = |problem| BadUrl { url: without_credentials(url), problem };
        let (tls, rest) = if let Some(rest) = url.strip_prefix("https://") {
            (true, rest)
        } else if let Some(rest) = url.strip_prefix("http://") {
            (false, rest)
        } else {
            return Err(bad("does not begin with http:// or https://"));
        };
        if rest.bytes().any(|byte| byte.is_ascii_control() || byte == b' ' || !byte.is_ascii()) {
            return Err(bad("has characters that a URL cannot have"));
        }
        if rest.contains(['?', '#']) {
            return Err(bad("has a query or a fragment"));
        }
        let (authority, base) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(bad("has credentials; the client sends its own"));
        }
        let (host, port) = split_port(authority).ok_or_else(|| bad("has a port that is none"))?;
        if host.is_empty() {
            return Err(bad("names no host"));
        }
        Ok(Self {
            name: name.to_owned(),
            tls,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: port.unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.to_owned(),
            base: base.trim_end_matches('/').to_owned(),
        })
    }

    /// The target that the upstream gets.
    pub(crate) fn target(&self, rest: &[u8]) -> Vec<u8> {
        [self.base.as_bytes(), rest].concat()
    }

    /// Host and port.
    pub(crate) fn endpoint(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// The address that a target is forwarded to, for people.
    pub(crate) fn url(&self, rest: &[u8]) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}{}{}", self.authority, self.base, String::from_utf8_lossy(rest))
    }
}

/// A URL as it may be shown.
fn without_credentials(url: &str) -> String {
    let from = url.find("//").map_or(0, |at| at + 2);
    match url[from..].rfind('@') {
        Some(at) => format!("{}…{}", &url[..from], &url[from + at..]),
        None => url.to_owned(),
    }
}

/// A host and, if it is there, a port.
pub(crate) fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') => {
            Some((&authority[..at], Some(authority[at + 1..].parse().ok().filter(|&port| port > 0)?)))
        }
        _ => Some((authority, None)),
    }
}

/// The ids that a request gives for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) session: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) run: Option<String>,
}

/// What stood at the beginning of a target, for the recorder alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prefix<'a> {
    pub(crate) token: Option<String>,
    pub(crate) claim: Option<Claim>,
    /// What is left; a problem if the ids are none.
    rest: Result<&'a [u8], &'static str>,
    whole: &'a [u8],
}

/// What a target asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Routed {
    pub(crate) to: Destination,
    /// Path and query without the recorder's own prefixes.
    pub(crate) rest: Vec<u8>,
}

/// Who answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Upstream(Arc<Upstream>),
    /// The recorder itself; the path behind `/_blackbird/`.
    Own(String),
    /// Nobody: there is no default upstream.
    Nowhere,
    /// The target cannot be understood.
    Malformed(&'static str),
}

/// All upstreams.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    named: Vec<Arc<Upstream>>,
    default: Option<Arc<Upstream>>,
}

impl Routes {
    pub(crate) fn add(&mut self, name: &str, url: &str) -> Result<(), BadUrl> {
        self.named.push(Arc::new(Upstream::parse(name, url)?));
        Ok(())
    }

    pub(crate) fn set_default(&mut self, url: &str) -> Result<(), BadUrl> {
        self.default = Some(Arc::new(Upstream::parse("default", url)?));
        Ok(())
    }

    /// Whether any upstream is reached by TLS.
    pub(crate) fn need_tls(&self) -> bool {
        self.named.iter().chain(&self.default).any(|upstream| upstream.tls)
    }

    /// The upstream of that name: one of the run's own, or else a configured one.
    pub(crate) fn named(&self, name: &str, own: &[Arc<Upstream>]) -> Option<Arc<Upstream>> {
        own.iter().chain(&self.named).find(|upstream| upstream.name == name).cloned()
    }

    /// The upstream that gets what was meant for a host that is recorded. If it is that very host, paths are its own from
    /// the root on.
    pub(crate) fn in_the_name_of(&self, host: &Intercept, own: &[Arc<Upstream>]) -> Option<Arc<Upstream>> {
        let upstream = self.named(&host.upstream, own)?;
        if upstream.base.is_empty() || upstream.endpoint() != host.authority {
            return Some(upstream);
        }
        Some(Arc::new(Upstream { base: String::new(), ..Upstream::clone(&upstream) }))
    }

    /// Where a target goes, given the upstreams that its run has of its own.
    pub(crate) fn route(&self, prefix: &Prefix, own: &[Arc<Upstream>]) -> Routed {
        let malformed = |problem| Routed { to: Destination::Malformed(problem), rest: prefix.whole.to_vec() };
        let rest = match prefix.rest {
            Ok(rest) => rest,
            Err(problem) => return malformed(problem),
        };
        if let Some(own) = rest.strip_prefix(b"/_blackbird/") {
            let path = own.split(|&byte| byte == b'?').next().unwrap_or_default();
            let to = Destination::Own(String::from_utf8_lossy(path).into_owned());
            return Routed { to, rest: rest.to_vec() };
        }
        if !rest.starts_with(b"/") && rest != b"*" {
            return malformed("the target is neither a path nor *");
        }
        for upstream in own.iter().chain(&self.named) {
            let path = rest.get(1..).and_then(|path| path.strip_prefix(upstream.name.as_bytes()));
            match path {
                Some(behind) if behind.is_empty() || behind[0] == b'?' => {
                    let to = Destination::Upstream(Arc::clone(upstream));
                    return Routed { to, rest: [b"/", behind].concat() };
                }
                Some(behind) if behind[0] == b'/' => {
                    let to = Destination::Upstream(Arc::clone(upstream));
                    return Routed { to, rest: behind.to_vec() };
                }
                _ => {}
            }
        }
        let to = self
            .default
            .as_ref()
            .map_or(Destination::Nowhere, |upstream| Destination::Upstream(Arc::clone(upstream)));
        Routed { to, rest: rest.to_vec() }
    }
}

/// Take the recorder's own words off a target.
pub(crate) fn prefix(target: &[u8]) -> Prefix<'_> {
    let mut rest = target;
    let mut token = None;
    if let Some((word, behind)) = behind_word(rest, b"/bbt/") {
        token = Some(String::from_utf8_lossy(word).into_owned());
        rest = behind;
    }
    if !rest.starts_with(b"/bb/") {
        return Prefix { token, claim: None, rest: Ok(rest), whole: target };
    }
    match run_prefix(rest) {
        Some((claim, rest)) => Prefix { token, claim: Some(claim), rest: Ok(rest), whole: target },
        None => Prefix {
            token,
            claim: None,
            rest: Err("the path begins with /bb/ but not with /bb/<session>/<task>/<run>/"),
            whole: target,
        },
    }
}

/// The ids of `/bb/<session>/<task>/<run>`, and what stands behind them.
fn run_prefix(target: &[u8]) -> Option<(Claim, &[u8])> {
    let (session, rest) = behind_word(target, b"/bb/")?;
    let (task, rest) = behind_word(rest, b"/")?;
    let (run, rest) = behind_word(rest, b"/")?;
    let word = |word: &[u8]| is_id(word).then(|| String::from_utf8_lossy(word).into_owned());
    Some((Claim { session: Some(word(session)?), task: Some(word(task)?), run: Some(word(run)?) }, rest))
}

/// The path segment behind `prefix`, and all from the slash behind it on.
fn behind_word<'a>(target: &'a [u8], prefix: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let rest = target.strip_prefix(prefix)?;
    let end = rest.iter().position(|&byte| byte == b'/')?;
    Some(rest.split_at(end))
}

/// Whether a word may be an id of a session, a task or a run.
pub(crate) fn is_id(word: &[u8]) -> bool {
    (1..=64).contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// Ends of paths that a known dialect has, without the query.
const KNOWN_ENDS: [&str; 14] = [
    "/messages",
    "/count_tokens",
    "/chat/completions",
    "/completions",
    "/responses",
    "/embeddings",
    "/models",
    ":generateContent",
    ":streamGenerateContent",
    ":countTokens",
    ":embedContent",
    "/api/chat",
    "/api/generate",
    "/api/tags",
];

/// Whether a path is one that a known dialect has.
pub(crate) fn is_recognised(rest: &[u8]) -> bool {
    let path = rest.split(|&byte| byte == b'?').next().unwrap_or_default();
    KNOWN_ENDS.iter().any(|end| path.ends_with(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> Routes {
        let mut routes = Routes::default();
        routes.add("anthropic", "https://api.anthropic.com").expect("sound");
        routes.add("local", "http://[::1]:8080/base/").expect("sound");
        routes.set_default("http://127.0.0.1:9").expect("sound");
        routes
    }

    /// The upstream's name, what is forwarded, and the claim as words.
    fn routed(target: &str) -> (String, String, Vec<String>) {
        let prefix = prefix(target.as_bytes());
        let routed = routes().route(&prefix, &[]);
        let claim = prefix.claim.unwrap_or_default();
        let words = [claim.session, claim.task, claim.run].into_iter().flatten().collect();
        match routed.to {
            Destination::Upstream(upstream) => {
                let target = String::from_utf8(upstream.target(&routed.rest)).expect("ASCII");
                (upstream.name.clone(), target, words)
            }
            other => (format!("{other:?}"), String::from_utf8(routed.rest).expect("ASCII"), words),
        }
    }

    #[test]
    fn names_are_taken_from_the_path() {
        assert_eq!(
            routed("/anthropic/v1/messages?beta=true"),
            ("anthropic".into(), "/v1/messages?beta=true".into(), vec![])
        );
        assert_eq!(routed("/local/v1"), ("local".into(), "/base/v1".into(), vec![]));
        assert_eq!(routed("/local"), ("local".into(), "/base/".into(), vec![]));
        assert_eq!(routed("/local?x=1"), ("local".into(), "/base/?x=1".into(), vec![]));
    }

    #[test]
    fn everything_else_goes_to_the_default_untouched() {
        for path in ["/v1/messages", "/anthropics/v1", "/", "//anthropic/v1", "*"] {
            assert_eq!(routed(path), ("default".into(), path.into(), vec![]));
        }
    }

    #[test]
    fn the_run_prefix_is_taken_off() {
        let ids = vec!["s.1".to_owned(), "t_2".to_owned(), "run-3".to_owned()];
        assert_eq!(routed("/bb/s.1/t_2/run-3/anthropic/v1"), ("anthropic".into(), "/v1".into(), ids.clone()));
        assert_eq!(routed("/bb/s.1/t_2/run-3/v1/x"), ("default".into(), "/v1/x".into(), ids));
    }

    #[test]
    fn a_broken_prefix_is_never_forwarded() {
        for path in
            ["/bb/s/t", "/bb/s/t/r", "/bb//t/r/x", "/bb/s%2f/t/r/x", "http://host/x", "example.com:443"]
        {
            assert!(routed(path).0.starts_with("Malformed"), "{path}");
        }
    }

    #[test]
    fn the_recorder_has_paths_of_its_own() {
        assert_eq!(routed("/_blackbird/health?x=1").0, "Own(\"health\")");
        assert_eq!(routed("/bb/s/t/r/_blackbird/metrics").0, "Own(\"metrics\")");
    }

    #[test]
    fn a_token_comes_first() {
        let prefix = prefix(b"/bbt/secret/bb/s/t/r/anthropic/v1");
        assert_eq!(prefix.token.as_deref(), Some("secret"));
        assert_eq!(routes().route(&prefix, &[]).rest, b"/v1");
    }

    #[test]
    fn a_runs_own_upstreams_come_before_and_beside_the_configured_ones() {
        let own = ["anthropic", "gateway"].map(|name| {
            Arc::new(Upstream::parse(name, &format!("http://127.0.0.1:7/{name}")).expect("sound"))
        });
        let to = |target: &str| match routes().route(&prefix(target.as_bytes()), &own).to {
            Destination::Upstream(upstream) => upstream.url(b"/v1"),
            other => format!("{other:?}"),
        };
        assert_eq!(to("/anthropic/v1"), "http://127.0.0.1:7/anthropic/v1");
        assert_eq!(to("/gateway/v1"), "http://127.0.0.1:7/gateway/v1");
        assert_eq!(to("/local/v1"), "http://[::1]:8080/base/v1");
        let named = |name| routes().named(name, &own).map(|upstream| upstream.port);
        assert_eq!((named("anthropic"), named("local"), named("x")), (Some(7), Some(8080), None));
    }

    #[test]
    fn urls_are_checked() {
        for url in [
            "ftp://x",
            "https://",
            "https://user:pw@x",
            "https://x?y",
            "https://x:0",
            "https://x:http",
            "https://x y",
        ] {
            assert!(Upstream::parse("x", url).is_err(), "{url}");
        }
        let shown = Upstream::parse("x", "https://user:pw@x").expect_err("credentials").to_string();
        assert_eq!(shown, "\"https://…@x\" has credentials; the client sends its own");
        let upstream = Upstream::parse("x", "https://[::1]:8443/a").expect("sound");
        assert_eq!(
            (upstream.host.as_str(), upstream.port, upstream.authority.as_str()),
            ("::1", 8443, "[::1]:8443")
        );
        assert_eq!(upstream.url(b"/v1?key=1"), "https://[::1]:8443/a/v1?key=1");
    }

    #[test]
    fn dialects_are_recognised_by_the_end_of_the_path() {
        assert!(is_recognised(b"/v1beta/models/m:streamGenerateContent?alt=sse"));
        assert!(is_recognised(b"/any/v1/messages?beta=true"));
        assert!(!is_recognised(b"/wham/settings/user"));
    }
}
