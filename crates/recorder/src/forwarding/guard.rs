//! Who may speak to the recorder: programs of this machine, and no page in a browser.

use scribe::event::Fields;

use crate::forwarding::routes::split_port;
use crate::http::fields;

/// The field that may carry the token.
pub(crate) const TOKEN_FIELD: &[u8] = b"x-blackbird-token";

/// What is let in.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    token: Option<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Why a request is turned away: status, code and cause.
pub(crate) type TurnedAway = (u16, &'static str, &'static str);

impl Guard {
    pub(crate) fn new(token: Option<String>, hosts: &[String], origins: &[String]) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { token, hosts: lower(hosts), origins: lower(origins) }
    }

    /// Check a request by its fields and the token that stood in its path.
    pub(crate) fn check(&self, fields: &Fields, path_token: Option<&str>) -> Result<(), TurnedAway> {
        if let Some(token) = &self.token {
            let given = path_token.map(str::as_bytes).or_else(|| fields::first(fields, TOKEN_FIELD));
            if !given.is_some_and(|given| is_same(given, token.as_bytes())) {
                return Err((
                    401,
                    "token_missing",
                    "the recorder wants its token, in x-blackbird-token or as /bbt/<token>/",
                ));
            }
        }
        if let Some(host) = fields::first(fields, b"host") {
            if !self.is_host_allowed(host) {
                // A page that had its own name resolved to this machine would say that name here.
                return Err((
                    403,
                    "host_refused",
                    "the Host field names neither this machine nor one of proxy.allowed_hosts",
                ));
            }
        }
        self.check_origin(fields)
    }

    /// Check a request that uses the recorder as its proxy, by its fields and the password it gave. Its `Host` is that of
    /// its destination.
    pub(crate) fn check_proxy(&self, fields: &Fields, password: Option<&[u8]>) -> Result<(), TurnedAway> {
        if let Some(token) = &self.token {
            if !password.is_some_and(|given| is_same(given, token.as_bytes())) {
                return Err((
                    407,
                    "token_missing",
                    "the recorder wants its token, as the password of the proxy",
                ));
            }
        }
        self.check_origin(fields)
    }

    fn check_origin(&self, fields: &Fields) -> Result<(), TurnedAway> {
        if let Some(origin) = fields::first(fields, b"origin") {
            if !self.is_origin_allowed(origin) {
                return Err((
                    403,
                    "origin_refused",
                    "a page of another site asked; proxy.allowed_origins can let it in",
                ));
            }
        }
        if fields::first(fields, b"sec-fetch-site") == Some(b"cross-site")
            && fields::first(fields, b"origin").is_none()
        {
            return Err((403, "origin_refused", "a page of another site asked"));
        }
        Ok(())
    }

    fn is_host_allowed(&self, host: &[u8]) -> bool {
        let Ok(host) = std::str::from_utf8(host) else { return false };
        let host = host.to_ascii_lowercase();
        let Some((name, _)) = split_port(&host) else { return false };
        is_loopback(name) || self.hosts.iter().any(|allowed| *allowed == host || allowed == name)
    }

    fn is_origin_allowed(&self, origin: &[u8]) -> bool {
        let Ok(origin) = std::str::from_utf8(origin) else { return false };
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.and_then(split_port).is_some_and(|(name, _)| is_loopback(name))
    }
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Compare without telling by time how much was right.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len()
        && given.iter().zip(expected).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, pairs: &[(&str, &str)], token: Option<&str>) -> u16 {
        let fields =
            pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect();
        guard.check(&fields, token).map_or_else(|refusal| refusal.0, |()| 200)
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        let guard = Guard::new(None, &["docker.Internal".to_owned()], &[]);
        for host in
            ["127.0.0.1:4141", "localhost", "LOCALHOST:1", "[::1]:4141", "127.8.8.8", "docker.internal:4141"]
        {
            assert_eq!(check(&guard, &[("Host", host)], None), 200, "{host}");
        }
        for host in
            ["example.com", "127.0.0.1.example.com", "localhost.example.com:4141", "10.0.0.1", "", "::1"]
        {
            assert_eq!(check(&guard, &[("host", host)], None), 403, "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_turned_away() {
        let guard = Guard::new(None, &[], &["vscode-webview://x".to_owned()]);
        for (origin, status) in [
            ("http://localhost:3000", 200),
            ("http://127.0.0.1", 200),
            ("vscode-webview://x", 200),
            ("https://example.com", 403),
            ("null", 403),
            ("http://localhost.example.com", 403),
        ] {
            assert_eq!(check(&guard, &[("Host", "localhost"), ("Origin", origin)], None), status, "{origin}");
        }
        assert_eq!(check(&guard, &[("Host", "localhost"), ("Sec-Fetch-Site", "cross-site")], None), 403);
    }

    #[test]
    fn a_token_is_demanded_if_there_is_one() {
        let guard = Guard::new(Some("secret".to_owned()), &["box".to_owned()], &[]);
        assert_eq!(check(&guard, &[("Host", "box")], None), 401);
        assert_eq!(check(&guard, &[("Host", "box"), ("X-Blackbird-Token", "secre")], None), 401);
        assert_eq!(check(&guard, &[("Host", "box"), ("X-Blackbird-Token", "secret")], None), 200);
        assert_eq!(check(&guard, &[("Host", "box")], Some("secret")), 200);
    }
}
