//! Header fields, and what they say of a connection and of a body.

use scribe::event::Fields;

/// What the `Connection` fields of a head say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Connection {
    /// The connection ends with this message.
    pub(crate) close: bool,
    /// An HTTP/1.0 peer wants to go on.
    pub(crate) keep_alive: bool,
    /// Fields that are meant for the next hop alone, in lower case.
    pub(crate) named: Vec<Vec<u8>>,
}

/// Fields that frame or route a message: a peer cannot have them removed by naming them in `Connection`.
const NEVER_REMOVED: [&[u8]; 4] = [b"content-length", b"transfer-encoding", b"host", b"connection"];

impl Connection {
    pub(crate) fn of(fields: &Fields) -> Self {
        let mut connection = Self::default();
        for (_, value) in fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"connection")) {
            for token in tokens(value) {
                match token.to_ascii_lowercase().as_slice() {
                    b"close" => connection.close = true,
                    b"keep-alive" => connection.keep_alive = true,
                    other if NEVER_REMOVED.contains(&other) => {}
                    other => connection.named.push(other.to_vec()),
                }
            }
        }
        connection
    }

    /// Whether a field is one that `Connection` names.
    pub(crate) fn names(&self, field: &[u8]) -> bool {
        self.named.iter().any(|named| field.eq_ignore_ascii_case(named))
    }

    /// Whether the connection goes on behind a message of this minor version.
    pub(crate) fn persists(&self, minor: u8) -> bool {
        !self.close && (minor >= 1 || self.keep_alive)
    }
}

/// The elements of a comma-separated list, without the blanks around them and without empty ones.
pub(crate) fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// The value of the only field of that name; `Err` if there are several.
pub(crate) fn only<'a>(fields: &'a Fields, name: &[u8]) -> Result<Option<&'a [u8]>, ()> {
    let mut found = fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = found.next().map(|(_, value)| value.as_slice());
    if found.next().is_some() { Err(()) } else { Ok(first) }
}

/// The value of the first field of that name.
pub(crate) fn first<'a>(fields: &'a Fields, name: &[u8]) -> Option<&'a [u8]> {
    fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
}

/// A length as `Content-Length` spells it: digits and nothing else.
pub(crate) fn length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Append a field line that says of the connection no more than whether it goes on, and in which protocol if that is
/// to change.
///
/// Fields that it named are for one hop alone, and so is their naming.
pub(crate) fn write_connection(out: &mut Vec<u8>, name: &[u8], value: &[u8], upgrades: bool) {
    let options = [b"close".as_slice(), b"keep-alive", b"upgrade"];
    let options = if upgrades { &options[..] } else { &options[..2] };
    let kept: Vec<&[u8]> = tokens(value)
        .filter(|token| options.iter().any(|option| token.eq_ignore_ascii_case(option)))
        .collect();
    if kept.len() == tokens(value).count() {
        write(out, name, value);
    } else if !kept.is_empty() {
        write(out, name, &kept.join(b", ".as_slice()));
    }
}

/// Append a field line.
pub(crate) fn write(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn connection_options_are_told_from_field_names() {
        let connection =
            Connection::of(&fields(&[("Connection", "Close, X-Hop"), ("connection", "te, keep-alive")]));
        let named = vec![b"x-hop".to_vec(), b"te".to_vec()];
        assert_eq!(connection, Connection { close: true, keep_alive: true, named });
        assert!(connection.names(b"X-HOP"));
    }

    #[test]
    fn framing_cannot_be_named_away() {
        let connection =
            Connection::of(&fields(&[("Connection", "content-length, Transfer-Encoding, host")]));
        assert_eq!(connection.named, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn versions_differ_in_what_they_imply() {
        assert!(Connection::default().persists(1));
        assert!(!Connection::default().persists(0));
        assert!(Connection::of(&fields(&[("connection", "keep-alive")])).persists(0));
        assert!(!Connection::of(&fields(&[("connection", "close")])).persists(1));
    }

    #[test]
    fn lengths_are_digits_alone() {
        assert_eq!(length(b"42"), Some(42));
        for bad in [b"".as_slice(), b"+1", b"-1", b"1 ", b"0x1", b"1,1", b"99999999999999999999"] {
            assert_eq!(length(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_connection_line_keeps_only_its_options() {
        let line = |value: &str, upgrades| {
            let mut out = Vec::new();
            write_connection(&mut out, b"Connection", value.as_bytes(), upgrades);
            String::from_utf8(out).expect("ASCII")
        };
        assert_eq!(line("Keep-Alive", false), "Connection: Keep-Alive\r\n");
        assert_eq!(line("close, x-hop", false), "Connection: close\r\n");
        assert_eq!(line("upgrade", false), "");
        assert_eq!(line("keep-alive, Upgrade", true), "Connection: keep-alive, Upgrade\r\n");
        assert_eq!(line("x-hop, Upgrade", true), "Connection: Upgrade\r\n");
    }
}
