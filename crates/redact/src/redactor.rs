//! The rules that are on, applied to a text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::markers::{self, Markers};
use crate::prefilter::{Anchors, Prefilter};
use crate::rules::{Class, RuleFileError, Rules};

/// The rules of the package, one file for both languages.
const BUILTIN: &str = include_str!("../../../src/blackbox/redaction/rules.toml");

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

/// A class or profile that the rule file does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} {name:?} (there is {known})", known = .known.join(", "))]
pub struct UnknownName {
    /// `class` or `profile`.
    pub what: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}

/// Finds and hides secrets by the rules that are on.
pub struct Redactor {
    rules: Rules,
    prefilter: Prefilter,
    /// The entries that have no anchors, and so look at every text.
    unanchored: Vec<usize>,
}

impl Redactor {
    /// The rules of the package.
    ///
    /// # Panics
    /// When that file is broken, which the tests of this crate rule out.
    #[must_use]
    pub fn builtin() -> Self {
        Self::from_toml(BUILTIN, None).expect("the rules of the package are tested")
    }

    /// A rule file and, ranked behind it, the user's own rules.
    ///
    /// # Errors
    /// When a file cannot be read as redaction/1, or has an entry that breaks its rules.
    pub fn from_toml(builtin: &str, user: Option<&str>) -> Result<Self, RuleFileError> {
        let rules = Rules::read(builtin, user)?;
        let anchors: Vec<Anchors> = rules
            .entries
            .iter()
            .enumerate()
            .map(|(owner, entry)| Anchors { owner, fold: entry.fold, literals: &entry.anchors })
            .collect();
        let prefilter = Prefilter::new(&anchors)?;
        let unanchored =
            (0..rules.entries.len()).filter(|&rank| rules.entries[rank].anchors.is_empty()).collect();
        Ok(Self { rules, prefilter, unanchored })
    }

    /// The version of the rules, to be recorded beside what was redacted.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.rules.version
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
        if let Some(known) = self.rules.classes.iter_mut().find(|known| known.name == class) {
            known.on = on;
            return Ok(());
        }
        let known = self.rules.classes.iter().map(|known| known.name.clone()).collect();
        Err(UnknownName { what: "class", name: class.to_owned(), known })
    }

    /// Switch off what a use has no need of, such as `wire` for recorded traffic.
    ///
    /// # Errors
    /// When there is no profile of that name.
    pub fn apply_profile(&mut self, name: &str) -> Result<(), UnknownName> {
        let Some(profile) = self.rules.profiles.iter().find(|profile| profile.name == name) else {
            let known = self.rules.profiles.iter().map(|profile| profile.name.clone()).collect();
            return Err(UnknownName { what: "profile", name: name.to_owned(), known });
        };
        for class in &mut self.rules.classes {
            class.on &= !profile.off.contains(&class.name);
        }
        Ok(())
    }

    /// The secrets in `data`, in order and without overlap.
    #[must_use]
    pub fn find(&self, data: &[u8]) -> Vec<Found<'_>> {
        let places = self.prefilter.first_places(data, self.rules.entries.len());
        let anchored = places.iter().enumerate().filter_map(|(rank, place)| place.map(|place| (rank, place)));
        let unanchored = self.unanchored.iter().map(|&rank| (rank, 0));
        self.find_from(data, anchored.chain(unanchored))
    }

    /// What the entries of the given ranks find, each from its own place on.
    fn find_from(&self, data: &[u8], places: impl Iterator<Item = (usize, usize)>) -> Vec<Found<'_>> {
        let entries = &self.rules.entries;
        let mut spans = Vec::new();
        for (rank, from) in places {
            if self.rules.classes[entries[rank].class].on {
                spans.extend(entries[rank].finder.find(data, from).into_iter().map(|span| (span, rank)));
            }
        }
        if !spans.is_empty() {
            let markers = Markers::in_text(data);
            spans.retain(|(span, rank)| entries[*rank].finder.is_block() || !markers.touch(span));
        }
        spans.sort_by_key(|(span, rank)| (span.start, *rank));
        let mut found: Vec<Found> = Vec::new();
        for (span, rank) in spans {
            match found.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => found.push(Found { start: span.start, end: span.end, kind: &entries[rank].kind }),
            }
        }
        found
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

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::builtin);

    /// The beginnings of secrets that the rules name, in odd case too.
    fn anchor() -> impl Strategy<Value = Vec<u8>> {
        let all: Vec<String> =
            REDACTOR.rules.entries.iter().flat_map(|entry| entry.anchors.clone()).collect();
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
            let everywhere = (0..REDACTOR.rules.entries.len()).map(|rank| (rank, 0));
            prop_assert_eq!(REDACTOR.find(&text), REDACTOR.find_from(&text, everywhere));
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
            for entry in &REDACTOR.rules.entries {
                let spans = entry.finder.find(&text, 0);
                for span in spans.into_iter().filter(|span| !markers.touch(span)) {
                    prop_assert!(found.iter().any(|secret| secret.start <= span.start && span.end <= secret.end));
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
}
