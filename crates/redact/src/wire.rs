//! Credentials by where they stand in HTTP: header fields and parameters of a query.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::redactor::Redactor;
use crate::rules::read_wire;
use crate::rulesets::NEWEST;

/// What is put in the place of a header's value.
const HEADER: &[u8] = b"[redacted:header]";

/// What is put in the place of a parameter's value.
const QUERY: &[u8] = b"[redacted:query]";

/// Words that may stand before the credentials of an `Authorization`, and tell nothing of them.
const SCHEMES: [&str; 10] =
    ["bearer", "basic", "token", "apikey", "digest", "bot", "dpop", "negotiate", "aws4-hmac-sha256", "ntlm"];

/// The table `[wire]` of a rule file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Wire {
    /// Header fields whose values are hidden.
    headers: Vec<String>,
    /// Ends of names of such fields.
    endings: Vec<String>,
    /// Parameters whose values are hidden.
    query: Vec<String>,
}

/// Where credentials stand changes with the protocols and not with the rules that a user pins.
static WIRE: LazyLock<Wire> =
    LazyLock::new(|| read_wire(NEWEST).expect("the rules of the package are tested"));

/// Whether the value of a header field is hidden, whatever it looks like.
#[must_use]
pub fn is_secret_header(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    let ends = |end: &String| {
        name.len() > end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    };
    WIRE.headers.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        || WIRE.endings.iter().any(ends)
}

/// The value of a header field without secrets: nothing of a credential but its scheme, else what the rules leave.
#[must_use]
pub fn header_value<'v>(redactor: &Redactor, name: &[u8], value: &'v [u8]) -> Cow<'v, [u8]> {
    if !is_secret_header(name) {
        return by_rules(redactor, name, value);
    }
    let trimmed = value.trim_ascii();
    if trimmed.is_empty() || trimmed == HEADER {
        return Cow::Borrowed(value);
    }
    let word = trimmed.iter().position(u8::is_ascii_whitespace).map_or(&trimmed[..0], |end| &trimmed[..end]);
    let named = name.trim_ascii().to_ascii_lowercase().ends_with(b"authorization");
    if named && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes())) {
        return Cow::Owned([word, b" ", HEADER].concat());
    }
    Cow::Borrowed(HEADER)
}

/// What the rules make of a value, given its name: a name such as `x-access-code` tells what its value is.
fn by_rules<'v>(redactor: &Redactor, name: &[u8], value: &'v [u8]) -> Cow<'v, [u8]> {
    let text = [name, b": ", value].concat();
    let lead = text.len() - value.len();
    let mut clean = Vec::new();
    let mut copied = lead;
    for secret in redactor.find(&text).into_iter().filter(|secret| secret.end > lead) {
        clean.extend_from_slice(&text[copied..secret.start.max(lead)]);
        crate::markers::write(secret.kind, &mut clean);
        copied = secret.end;
    }
    if copied == lead {
        return Cow::Borrowed(value);
    }
    clean.extend_from_slice(&text[copied..]);
    Cow::Owned(clean)
}

/// Path and query of a request without secrets: the values of known parameters, and what the rules find.
#[must_use]
pub fn target<'t>(redactor: &Redactor, target: &'t [u8]) -> Cow<'t, [u8]> {
    let known = without_parameters(target);
    match redactor.redact(&known).0 {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => known,
    }
}

fn without_parameters(target: &[u8]) -> Cow<'_, [u8]> {
    let Some(question) = target.iter().position(|&byte| byte == b'?') else { return Cow::Borrowed(target) };
    let (path, query) = target.split_at(question + 1);
    let mut clean = path.to_vec();
    let mut changed = false;
    for parameter in query.split_inclusive(|byte| matches!(byte, b'&' | b';' | b'#')) {
        let (body, end) = match parameter.split_last() {
            Some((b'&' | b';' | b'#', body)) => (body, &parameter[body.len()..]),
            _ => (parameter, &parameter[..0]),
        };
        let name = body.iter().position(|&byte| byte == b'=').map_or(body, |equals| &body[..equals]);
        let value = body.get(name.len() + 1..).unwrap_or_default();
        if !value.is_empty() && value != QUERY && is_secret_parameter(name) {
            clean.extend_from_slice(&body[..=name.len()]);
            clean.extend_from_slice(QUERY);
            changed = true;
        } else {
            clean.extend_from_slice(body);
        }
        clean.extend_from_slice(end);
    }
    if changed { Cow::Owned(clean) } else { Cow::Borrowed(target) }
}

fn is_secret_parameter(name: &[u8]) -> bool {
    let plain = percent_decode(name);
    WIRE.query.iter().any(|known| plain.eq_ignore_ascii_case(known.as_bytes()))
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let both = digit(text.get(at + 1)).zip(digit(text.get(at + 2))).filter(|_| byte == b'%');
        let decoded = both.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        plain.push(decoded.unwrap_or(byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::builtin);

    fn header(name: &str, value: &str) -> String {
        header_value(&REDACTOR, name.as_bytes(), value.as_bytes()).escape_ascii().to_string()
    }

    fn hidden(text: &str) -> String {
        target(&REDACTOR, text.as_bytes()).escape_ascii().to_string()
    }

    #[test]
    fn credentials_are_known_by_the_name_of_their_header() {
        for name in [
            "authorization",
            "Authorization",
            "X-API-KEY",
            "x-goog-api-key",
            "Set-Cookie",
            "chatgpt-account-id",
            "x-litellm-api-key",
            "X-Custom-Auth-Token",
            " cookie ",
        ] {
            assert!(is_secret_header(name.as_bytes()), "{name}");
        }
        for name in [
            "content-type",
            "anthropic-version",
            "anthropic-ratelimit-tokens-remaining",
            "x-request-id",
            "-api-key",
            "x-claude-code-session-id",
            "",
        ] {
            assert!(!is_secret_header(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn nothing_of_a_credential_stays_but_its_scheme() {
        for (name, value, clean) in [
            ("Authorization", "Bearer abc", "Bearer [redacted:header]"),
            ("authorization", "basic  YTpi", "basic [redacted:header]"),
            ("Proxy-Authorization", "Digest a=b, c=d", "Digest [redacted:header]"),
            ("Authorization", "abc def", "[redacted:header]"),
            ("Authorization", "Bearer", "[redacted:header]"),
            ("X-Api-Key", "token abc", "[redacted:header]"),
            ("Cookie", "a=b; c=d", "[redacted:header]"),
            ("Cookie", "", ""),
        ] {
            assert_eq!(header(name, value), clean, "{name}: {value}");
        }
    }

    #[test]
    fn other_headers_are_left_to_the_rules() {
        for (name, value, clean) in [
            ("Content-Type", "application/json", "application/json"),
            ("X-Note", "password=hunter2 stays not", "password=[redacted:password] stays not"),
            ("X-Client-Token", "a1b2c3d4e5f6a7b8", "[redacted:token]"),
            ("password", "is none", "is none"),
        ] {
            assert_eq!(header(name, value), clean, "{name}: {value}");
        }
    }

    #[test]
    fn known_parameters_lose_their_values() {
        for (text, clean) in [
            ("/v1/messages", "/v1/messages"),
            ("/v1/m:stream?alt=sse&key=abc", "/v1/m:stream?alt=sse&key=[redacted:query]"),
            ("/a?key=&alt=1", "/a?key=&alt=1"),
            ("/a?KEY=b;x=1#frag", "/a?KEY=[redacted:query];x=1#frag"),
            ("/a?%6Bey=b&monkey=c&key", "/a?%6Bey=[redacted:query]&monkey=c&key"),
            ("/a?x=1?token=2&token=3=4", "/a?x=1?token=2&token=[redacted:query]"),
            ("/a?%zz=1&=2&&", "/a?%zz=1&=2&&"),
        ] {
            assert_eq!(hidden(text), clean);
        }
    }

    #[test]
    fn the_rules_look_at_a_target_too() {
        assert_eq!(
            hidden("http://anna:s3cr3tW0rd@host/x?code=1"),
            "http://[redacted:url]@host/x?code=[redacted:query]"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn doing_it_again_changes_nothing(text in r"/[a-z/]{0,9}\?(?:(?:key|alt|code|x)?[=&;#%a-c0-9]{0,4}){0,6}") {
            let once = target(&REDACTOR, text.as_bytes()).into_owned();
            prop_assert_eq!(&*target(&REDACTOR, &once), &*once);
        }
    }
}
