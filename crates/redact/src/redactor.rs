//! The rules that are on, applied to a text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use regex::bytes::Regex;

use crate::finder::{Block, Finder, Match, Rule, Words};
use crate::markers::{self, Markers};
use crate::prefilter::{Anchors, Place, Prefilter};
use crate::rules::{Class, RuleFileError, Rules};
use crate::rulesets::{NEWEST, UnknownName};

/// How many secrets of each kind there were.
pub type Counts<'a> = BTreeMap<&'a str, usize>;

/// A secret: where it stands in the bytes, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// What its marker says.
    pub kind: &'a str,
}

/// Finds and hides secrets by the rules that are on.
pub struct Redactor {
    pub(crate) rules: Rules,
    pub(crate) version: String,
    /// Secrets that stay, because the user said so.
    pub(crate) allow: Option<Regex>,
    prefilter: Prefilter,
    /// The entries that are on and have no anchors, and so look at every text.
    unanchored: Vec<usize>,
}

/// What an entry takes for a secret.
struct Span {
    secret: Range<usize>,
    rank: usize,
    /// Where the match began that led to it, such as the name before a value.
    begin: usize,
}

/// What one search has found, and room for the next one.
#[derive(Default)]
pub(crate) struct Search {
    places: Vec<Place>,
    /// For each entry where its search goes on.
    resume: Vec<usize>,
    spans: Vec<Span>,
    /// The secrets with the rank of the entry that names their kind, in order and without overlap.
    pub(crate) secrets: Vec<(Range<usize>, usize)>,
    /// What was matched to find a secret or to ignore one, from the first byte of an anchor on, in any order. What
    /// more text can change reaches to the end of all texts.
    pub(crate) extents: Vec<Range<usize>>,
}

impl Redactor {
    /// The rules of the package.
    ///
    /// # Panics
    /// When that file is broken, which the tests of this crate rule out.
    #[must_use]
    pub fn builtin() -> Self {
        Self::from_toml(NEWEST, None).expect("the rules of the package are tested")
    }

    /// A rule file and, ranked behind it, the user's own rules.
    ///
    /// # Errors
    /// When a file cannot be read as redaction/1, or has an entry that breaks its rules.
    pub fn from_toml(builtin: &str, user: Option<&str>) -> Result<Self, RuleFileError> {
        let rules = Rules::read(builtin, user)?;
        let version = rules.version.clone();
        let prefilter = Prefilter::new(std::iter::empty());
        let mut redactor = Self { rules, version, allow: None, prefilter, unanchored: Vec::new() };
        redactor.prepare();
        Ok(redactor)
    }

    /// Look only for what is on.
    pub(crate) fn prepare(&mut self) {
        let rules = &self.rules;
        let on = |&rank: &usize| rules.classes[rules.entries[rank].class].on;
        let anchors = (0..rules.entries.len()).filter(on).map(|owner| {
            let entry = &rules.entries[owner];
            Anchors { owner, fold: entry.fold, literals: &entry.anchors }
        });
        self.prefilter = Prefilter::new(anchors);
        self.unanchored = (0..rules.entries.len())
            .filter(on)
            .filter(|&rank| rules.entries[rank].anchors.is_empty())
            .collect();
    }

    /// The version of the rules, to be recorded beside what was redacted; the user's own settings show in it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The classes, in the order of the file.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.rules.classes
    }

    /// Switch a class on or off.
    ///
    /// # Errors
    /// When there is no class of that name.
    pub fn switch(&mut self, class: &str, on: bool) -> Result<(), UnknownName> {
        self.rules.switch(class, on)?;
        self.prepare();
        Ok(())
    }

    /// Switch on and off what a use has need of, such as `wire` for recorded traffic.
    ///
    /// # Errors
    /// When there is no profile of that name.
    pub fn apply_profile(&mut self, name: &str) -> Result<(), UnknownName> {
        let profile = self.rules.profile(name)?;
        for class in &mut self.rules.classes {
            class.on = (class.on || profile.on.contains(&class.name)) && !profile.off.contains(&class.name);
        }
        self.prepare();
        Ok(())
    }

    /// The secrets in `data`, in order and without overlap.
    #[must_use]
    pub fn find(&self, data: &[u8]) -> Vec<Found<'_>> {
        let mut search = Search::default();
        self.search(data, 0, &mut search);
        let found = search.secrets.into_iter();
        found.map(|(span, rank)| Found { start: span.start, end: span.end, kind: self.kind(rank) }).collect()
    }

    /// What the marker of an entry says.
    pub(crate) fn kind(&self, rank: usize) -> &str {
        &self.rules.entries[rank].kind
    }

    /// The entries for random words that are on.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Words> {
        self.unanchored.iter().filter_map(|&rank| match &self.rules.entries[rank].finder {
            Finder::Words(words) => Some(&**words),
            _ => None,
        })
    }

    /// Find all that begins at `from` or behind it; the bytes before are only looked back at.
    pub(crate) fn search(&self, data: &[u8], from: usize, search: &mut Search) {
        search.places.clear();
        search.extents.clear();
        search.spans.clear();
        search.secrets.clear();
        self.prefilter.find(data, from, &mut search.places);
        if !search.places.is_empty() {
            self.look_at_places(data, search);
        }
        for &rank in &self.unanchored {
            self.look_everywhere(data, from, rank, search);
        }
        self.merge(data, search);
    }

    /// Ask each entry at each of its places.
    fn look_at_places(&self, data: &[u8], search: &mut Search) {
        search.resume.clear();
        search.resume.resize(self.rules.entries.len(), 0);
        let places = std::mem::take(&mut search.places);
        for place in &places {
            let rank = place.owner;
            if place.start < search.resume[rank] {
                continue;
            }
            match &self.rules.entries[rank].finder {
                Finder::Rule(rule) if rule.is_stepwise() => {
                    if let Some(found) = rule.find_at(data, place.start) {
                        search.resume[rank] = found.whole.end;
                        search.keep(found, rank);
                    }
                }
                _ => {
                    self.look_everywhere(data, place.start, rank, search);
                    search.resume[rank] = usize::MAX;
                }
            }
        }
        search.places = places;
    }

    /// Ask an entry for all that it finds from `from` on.
    fn look_everywhere(&self, data: &[u8], from: usize, rank: usize, search: &mut Search) {
        match &self.rules.entries[rank].finder {
            Finder::Rule(rule) => search.add_matches(rule, data, from, rank),
            Finder::Block(block) => search.add_blocks(block, data, from, rank),
            Finder::Words(words) => search.add_words(words, data, from, rank),
        }
    }

    /// Drop what is no secret after all, and join what overlaps.
    fn merge(&self, data: &[u8], search: &mut Search) {
        if search.spans.is_empty() {
            return;
        }
        let markers = Markers::in_text(data);
        search.spans.retain(|span| {
            (self.rules.entries[span.rank].finder.is_block() || !markers.explain(&span.secret, span.begin))
                && !self.allow.as_ref().is_some_and(|allow| allow.is_match(&data[span.secret.clone()]))
        });
        search.spans.sort_by_key(|span| (span.secret.start, span.rank));
        for Span { secret, rank, .. } in search.spans.drain(..) {
            match search.secrets.last_mut() {
                Some((last, _)) if secret.start < last.end => last.end = last.end.max(secret.end),
                _ => search.secrets.push((secret, rank)),
            }
        }
    }

    /// `data` with each secret replaced by its marker, and the count of each kind.
    #[must_use]
    pub fn redact<'d>(&self, data: &'d [u8]) -> (Cow<'d, [u8]>, Counts<'_>) {
        let mut counts = Counts::new();
        let found = self.find(data);
        if found.is_empty() {
            return (Cow::Borrowed(data), counts);
        }
        let mut clean = Vec::with_capacity(data.len());
        let mut copied = 0;
        for secret in found {
            clean.extend_from_slice(&data[copied..secret.start]);
            markers::write(secret.kind, &mut clean);
            copied = secret.end;
            *counts.entry(secret.kind).or_default() += 1;
        }
        clean.extend_from_slice(&data[copied..]);
        (Cow::Owned(clean), counts)
    }
}

impl Search {
    fn keep(&mut self, found: Match, rank: usize) {
        if !found.ignored {
            self.spans.push(Span { secret: found.secret, rank, begin: found.whole.start });
        }
        self.extents.push(found.whole);
    }

    fn add_matches(&mut self, rule: &Rule, data: &[u8], from: usize, rank: usize) {
        let mut at = from;
        while let Some(found) = rule.find_from(data, at) {
            at = found.whole.end;
            self.keep(found, rank);
        }
    }

    fn add_blocks(&mut self, block: &Block, data: &[u8], from: usize, rank: usize) {
        let mut at = from;
        while let Some(begun) = block.find_from(data, at) {
            at = begun.end.unwrap_or(begun.begin.end);
            self.extents.push(begun.begin.start..if begun.open { usize::MAX } else { at });
            if begun.end.is_some() {
                self.spans.push(Span { secret: begun.begin.start..at, rank, begin: begun.begin.start });
            }
        }
    }

    fn add_words(&mut self, words: &Words, data: &[u8], from: usize, rank: usize) {
        for word in words.find(data, from) {
            self.extents.push(word.clone());
            self.spans.push(Span { begin: word.start, secret: word, rank });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::builtin);

    /// The beginnings of secrets that the rules name, in odd case too.
    fn anchor() -> impl Strategy<Value = Vec<u8>> {
        let all: Vec<String> = REDACTOR
            .rules
            .entries
            .iter()
            .flat_map(|entry| entry.anchors.iter().map(|(text, _)| text.clone()))
            .collect();
        (prop::sample::select(all), any::<u64>()).prop_map(|(anchor, flips)| {
            // Three of four anchors stay as they are.
            let flips = if flips % 4 == 0 { flips >> 2 } else { 0 };
            let odd = |(place, byte): (usize, u8)| {
                let flipped = byte.is_ascii_alphabetic() && (flips >> (place % 62)) & 1 == 1;
                if flipped { byte ^ 0x20 } else { byte }
            };
            anchor.bytes().enumerate().map(odd).collect()
        })
    }

    /// Texts put together from what rules look at.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => anchor(),
            4 => "[A-Za-z0-9]{1,60}".prop_map(String::into_bytes),
            2 => "[0-9a-f]{8,64}".prop_map(String::into_bytes),
            3 => r#"[ "'=:@/.\\,;\n\t_-]{1,3}"#.prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..6),
            1 => Just(b"[redacted:password]".to_vec()),
            1 => Just(b"https://user:".to_vec()),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn anchors_never_change_what_is_found(text in text()) {
            let mut quick = Search::default();
            REDACTOR.search(&text, 0, &mut quick);
            let mut slow = Search::default();
            let on = |&rank: &usize| REDACTOR.rules.classes[REDACTOR.rules.entries[rank].class].on;
            for rank in (0..REDACTOR.rules.entries.len()).filter(on) {
                REDACTOR.look_everywhere(&text, 0, rank, &mut slow);
            }
            REDACTOR.merge(&text, &mut slow);
            prop_assert_eq!(quick.secrets, slow.secrets);
            let order = |extents: &[Range<usize>]| {
                let mut pairs: Vec<_> = extents.iter().map(|extent| (extent.start, extent.end)).collect();
                pairs.sort_unstable();
                pairs
            };
            prop_assert_eq!(order(&quick.extents), order(&slow.extents));
        }

        #[test]
        fn secrets_are_in_order_and_apart(text in text()) {
            let mut end = 0;
            for secret in REDACTOR.find(&text) {
                prop_assert!(end <= secret.start && secret.start < secret.end && secret.end <= text.len());
                end = secret.end;
            }
        }

        #[test]
        fn nothing_that_a_rule_finds_stays(text in text()) {
            let found = REDACTOR.find(&text);
            let markers = Markers::in_text(&text);
            for rank in 0..REDACTOR.rules.entries.len() {
                let mut alone = Search::default();
                REDACTOR.look_everywhere(&text, 0, rank, &mut alone);
                let on = REDACTOR.rules.classes[REDACTOR.rules.entries[rank].class].on;
                let left = |span: &Span| on && !markers.explain(&span.secret, span.begin);
                for Span { secret, .. } in alone.spans.into_iter().filter(left) {
                    prop_assert!(found.iter().any(|span| span.start <= secret.start && secret.end <= span.end));
                }
            }
        }

        #[test]
        fn redacting_twice_changes_nothing(text in text()) {
            let (once, _) = REDACTOR.redact(&text);
            let (twice, counts) = REDACTOR.redact(&once);
            prop_assert_eq!(once.escape_ascii().to_string(), twice.escape_ascii().to_string());
            prop_assert!(counts.is_empty());
        }
    }

    /// The word of a marker is no name of what stands behind it.
    #[test]
    fn a_marker_names_no_value() {
        let (once, _) = REDACTOR.redact(b"sk-0aa00aaaa00a00a0a00aaa0aaaa00000=\"0a0aaaaa");
        assert_eq!(once.as_ref(), b"[redacted:api_key]=\"0a0aaaaa");
        assert_eq!(REDACTOR.redact(&once).0.as_ref(), once.as_ref());
    }

    /// Where an attempt at each place could run through all of a text, this would not end in time.
    #[test]
    fn repeated_beginnings_end_in_time() {
        let anchors = REDACTOR
            .rules
            .entries
            .iter()
            .flat_map(|entry| entry.anchors.iter().map(|(text, _)| text.as_str()));
        let nasty = [
            "a:b",
            "eyJhbGciOiJ9.",
            "password>a",
            "cookie: a=bbbbbbbb; ",
            "machine a login b password ",
            "PASSWORD=your",
        ];
        for piece in anchors.chain(nasty) {
            let text = piece.repeat(20_000 / piece.len());
            let (once, _) = REDACTOR.redact(text.as_bytes());
            assert!(once.len() <= 20 * text.len(), "{piece}");
        }
    }
}
