//! The rule files that are compiled in, by their version, and what is said of a name that nothing has.

/// The rules of the package, one file for both languages.
pub(crate) const NEWEST: &str = include_str!("../../../src/blackbox/redaction/rules.toml");

/// The versions, the newest last.
const VERSIONS: [&str; 2] = ["2026.11.2", "2026.11.3"];

/// Their files.
const FILES: [&str; 2] = [include_str!("../../../src/blackbox/redaction/rulesets/2026.11.2.toml"), NEWEST];

/// The versions of the rules that a configuration can ask for, the newest last.
#[must_use]
pub fn ruleset_versions() -> &'static [&'static str] {
    &VERSIONS
}

/// The rule file of a version.
pub(crate) fn rule_file(version: &str) -> Result<&'static str, UnknownName> {
    let place = VERSIONS.iter().position(|known| *known == version);
    place.map(|place| FILES[place]).ok_or_else(|| UnknownName::new("rule set", version, VERSIONS.into_iter()))
}

/// A class, profile or version of the rules that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} {name:?} ({}there is {})", self.hint(), .known.join(", "))]
pub struct UnknownName {
    /// `class`, `profile` or `rule set`.
    pub what: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
    /// Which of these it may have been meant to be.
    pub nearest: Option<String>,
}

impl UnknownName {
    pub(crate) fn new<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<String> = known.map(str::to_owned).collect();
        let near = known.iter().map(|other| (distance(name, other), other)).min();
        let nearest = near.filter(|(steps, other)| *steps <= other.len() / 3).map(|(_, other)| other.clone());
        Self { what, name: name.to_owned(), known, nearest }
    }

    fn hint(&self) -> String {
        self.nearest.as_ref().map_or_else(String::new, |nearest| format!("did you mean {nearest:?}? "))
    }
}

/// How many characters have to be added, removed or changed to make `one` the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, same) in other.chars().enumerate() {
            let changed = diagonal + usize::from(letter != same);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    #[test]
    fn every_file_says_the_version_it_is_known_by() {
        for version in ruleset_versions() {
            let redactor = Redactor::from_toml(rule_file(version).expect("known"), None).expect("usable");
            assert_eq!(redactor.version(), *version);
        }
    }

    #[test]
    fn an_unknown_version_is_told_with_what_there_is() {
        let told = rule_file("2026.11.22").expect_err("unknown").to_string();
        assert_eq!(
            told,
            r#"there is no rule set "2026.11.22" (did you mean "2026.11.2"? there is 2026.11.2, 2026.11.3)"#
        );
        let told = rule_file("one").expect_err("unknown").to_string();
        assert_eq!(told, r#"there is no rule set "one" (there is 2026.11.2, 2026.11.3)"#);
    }

    #[test]
    fn the_distance_counts_single_changes() {
        for (one, other, steps) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("keys", "kyes", 2), ("a", "ba", 1)]
        {
            assert_eq!(distance(one, other), steps, "{one} {other}");
        }
    }
}
