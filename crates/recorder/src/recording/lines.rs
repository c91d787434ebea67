//! Lines of agents' own logs on their way into records: each redacted as a whole, and written in pieces if it is long.

use std::collections::BTreeMap;

use redact::{Boundary, Redactor, Stream};
use serde::Deserialize;
use serde_json::json;
use wal::ids::Id;
use wal::record::flags;

/// What one record takes of a line.
const LONGEST_PIECE: usize = 4 << 20;

/// How many secrets of each kind were replaced.
pub(crate) type Redactions = BTreeMap<String, u64>;

/// A line of an agent's log, or a part of it: of a line in several parts, all have the same offset and length.
#[derive(Debug, Deserialize)]
pub(crate) struct NativeLine {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) text: String,
    /// Which part of its line this is, from 0.
    #[serde(default)]
    pub(crate) part: u64,
    /// Another part follows.
    #[serde(default)]
    pub(crate) more: bool,
}

/// A line of which parts are still to come.
struct Open {
    source: Id,
    offset: u64,
    next: u64,
    stream: Stream,
}

/// Makes payloads of lines. One line at a time may be without an end.
#[derive(Default)]
pub(crate) struct Lines {
    open: Option<Open>,
}

impl Lines {
    /// Whether these parts follow upon each other, and the first of them upon what was taken before.
    pub(crate) fn fits(&self, source: Id, lines: &[NativeLine]) -> bool {
        let mut expected =
            self.open.as_ref().filter(|open| open.source == source).map(|open| (open.offset, open.next));
        lines.iter().all(|line| {
            let fits = line.part == 0 || expected == Some((line.offset, line.part));
            expected = line.more.then_some((line.offset, line.part + 1));
            fits
        })
    }

    /// Hand out the payloads of a part that fits, each with the flags of its record.
    pub(crate) fn take(
        &mut self,
        redactor: &Redactor,
        source: Id,
        line: &NativeLine,
        counts: &mut Redactions,
        out: &mut dyn FnMut(u16, &[u8]),
    ) {
        let open = self.open.take().filter(|open| line.part > 0 && open.source == source);
        if open.is_none() && !line.more {
            let (clean, found) = redactor.redact(line.text.as_bytes());
            for (kind, count) in &found {
                *counts.entry((*kind).to_owned()).or_default() += *count as u64;
            }
            return cut(line, &clean, !found.is_empty(), out);
        }
        let mut stream = open.map_or_else(|| Stream::new(Boundary::None), |open| open.stream);
        let mut clean = Vec::with_capacity(line.text.len());
        let mut is_redacted = stream.push(redactor, line.text.as_bytes(), &mut clean, counts);
        if line.more {
            self.open = Some(Open { source, offset: line.offset, next: line.part + 1, stream });
        } else {
            is_redacted |= stream.finish(redactor, &mut clean, counts);
        }
        cut(line, &clean, is_redacted, out);
    }
}

/// A first piece begins with where its line stood, any other with an empty line.
fn cut(line: &NativeLine, clean: &[u8], is_redacted: bool, out: &mut dyn FnMut(u16, &[u8])) {
    let head = json!({"offset": line.offset, "length": line.length}).to_string();
    let redacted = if is_redacted { flags::REDACTED } else { 0 };
    let mut rest = clean;
    let mut is_first = line.part == 0;
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(LONGEST_PIECE));
        rest = behind;
        let continues = if line.more || !rest.is_empty() { flags::CONTINUES } else { 0 };
        let before = if is_first { head.as_bytes() } else { b"" };
        out(redacted | continues, &[before, b"\n", piece].concat());
        is_first = false;
        if rest.is_empty() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use redact::Settings;

    use super::*;

    const SOURCE: Id = Id(7);

    fn redactor() -> &'static Redactor {
        static REDACTOR: OnceLock<Redactor> = OnceLock::new();
        REDACTOR.get_or_init(|| {
            let settings = Settings { profile: Some("wire".to_owned()), ..Settings::default() };
            Redactor::from_settings(&settings).expect("the rules that are compiled in are valid")
        })
    }

    fn part(text: &str, part: u64, more: bool) -> NativeLine {
        NativeLine { offset: 40, length: 9, text: text.to_owned(), part, more }
    }

    fn payloads(lines: &[NativeLine]) -> (Vec<(u16, String)>, Redactions) {
        let (redactor, mut taken, mut counts) = (redactor(), Lines::default(), Redactions::new());
        let mut found = Vec::new();
        for line in lines {
            taken.take(redactor, SOURCE, line, &mut counts, &mut |flags, payload| {
                found.push((flags, String::from_utf8_lossy(payload).into_owned()));
            });
        }
        (found, counts)
    }

    fn token() -> String {
        format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")
    }

    #[test]
    fn a_line_has_its_place_before_its_text() {
        let (found, counts) = payloads(&[part("{\"a\":1}", 0, false)]);
        assert_eq!(found, [(0, "{\"length\":9,\"offset\":40}\n{\"a\":1}".to_owned())]);
        assert!(counts.is_empty());
    }

    #[test]
    fn a_secret_is_replaced_and_counted() {
        let (found, counts) = payloads(&[part(&format!("is {} here", token()), 0, false)]);
        assert_eq!(found[0].0, flags::REDACTED);
        assert!(found[0].1.ends_with("\nis [redacted:github_token] here"), "{}", found[0].1);
        assert_eq!(counts, Redactions::from([("github_token".to_owned(), 1)]));
    }

    #[test]
    fn a_secret_over_two_parts_is_found() {
        let token = token();
        let (first, second) = token.split_at(10);
        let (found, counts) =
            payloads(&[part(&format!("is {first}"), 0, true), part(&format!("{second} here"), 1, false)]);
        let text: String =
            found.iter().map(|(_, text)| text.split_once('\n').map_or("", |text| text.1)).collect();
        assert_eq!(text, "is [redacted:github_token] here");
        assert_eq!(counts.values().sum::<u64>(), 1);
        assert_eq!(found[0].0 & flags::CONTINUES, flags::CONTINUES);
        assert!(found[1].1.starts_with('\n'));
        assert_eq!(found[1].0 & flags::CONTINUES, 0);
    }

    #[test]
    fn a_long_line_takes_several_records() {
        let (found, _) = payloads(&[part(&"x".repeat(LONGEST_PIECE + 1), 0, false)]);
        assert_eq!(found.iter().map(|(flags, _)| *flags).collect::<Vec<_>>(), [flags::CONTINUES, 0]);
        assert_eq!(found[1].1, "\nx");
    }

    #[test]
    fn a_part_must_follow_upon_the_one_before() {
        let mut lines = Lines::default();
        assert!(!lines.fits(SOURCE, &[part("b", 1, false)]));
        assert!(lines.fits(SOURCE, &[part("a", 0, true), part("b", 1, false), part("c", 0, false)]));
        assert!(!lines.fits(SOURCE, &[part("a", 0, true), part("c", 2, false)]));
        lines.take(redactor(), SOURCE, &part("a", 0, true), &mut Redactions::new(), &mut |_, _| {});
        assert!(lines.fits(SOURCE, &[part("b", 1, false)]));
        assert!(!lines.fits(Id(8), &[part("b", 1, false)]));
        // Whoever sent the first part went away, and the line is sent anew.
        assert!(lines.fits(SOURCE, &[part("a", 0, false)]));
    }

    proptest! {
        #[test]
        fn parts_come_to_the_same_as_the_whole(
            pieces in proptest::collection::vec("[ -~é]{0,40}(token=[a-z0-9]{30})?", 1..5),
        ) {
            let whole = payloads(&[part(&pieces.concat(), 0, false)]);
            let last = pieces.len() as u64 - 1;
            let parts: Vec<_> = (0u64..).zip(&pieces).map(|(at, text)| part(text, at, at < last)).collect();
            let cut = payloads(&parts);
            let joined = |found: &[(u16, String)]| -> String {
                found.iter().map(|(_, text)| text.split_once('\n').map_or("", |text| text.1)).collect()
            };
            prop_assert_eq!(joined(&cut.0), joined(&whole.0));
            prop_assert_eq!(cut.1, whole.1);
        }
    }
}
