//! Pins: what must be kept, whatever its age, because somebody said so in the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::json;

use crate::keeper::summary::{Origin, Summary};

/// What a pin names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// All of a session.
    Session(String),
    /// One run.
    Run(String),
}

impl Subject {
    /// A statement that names both means the run.
    pub(crate) fn named_by(origin: Origin) -> Option<Self> {
        match (origin.run, origin.session) {
            (Some(run), _) => Some(Self::Run(run)),
            (None, Some(session)) => Some(Self::Session(session)),
            (None, None) => None,
        }
    }

    fn covers(&self, origin: &Origin) -> bool {
        match self {
            Self::Session(session) => origin.session.as_ref() == Some(session),
            Self::Run(run) => origin.run.as_ref() == Some(run),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(session) => write!(formatter, "session {session}"),
            Self::Run(run) => write!(formatter, "run {run}"),
        }
    }
}

/// One `pin` or `unpin`, and the segment that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    segment: u64,
    is_pin: bool,
}

/// What the trace says about pins. The last statement about a session or run decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    said: BTreeMap<Subject, Vec<Place>>,
}

impl Pins {
    /// Take in what a segment says; segments come in order.
    pub(crate) fn take(&mut self, segment: u64, summary: &Summary) {
        for statement in &summary.statements {
            let places = self.said.entry(statement.subject.clone()).or_default();
            places.push(Place { segment, is_pin: statement.is_pin });
        }
    }

    /// What is pinned.
    pub fn in_force(&self) -> impl Iterator<Item = &Subject> {
        let decided = self.said.iter().filter(|(_, places)| places.last().is_some_and(|last| last.is_pin));
        decided.map(|(subject, _)| subject)
    }

    /// The pins that cover a request or run.
    pub(crate) fn covering(&self, origin: &Origin) -> Vec<Subject> {
        self.in_force().filter(|subject| subject.covers(origin)).cloned().collect()
    }

    /// What must be said again when these segments go: a last word that stands in one of them, unless it is an `unpin`
    /// with nothing left to undo.
    pub(crate) fn to_restate(&self, removed: &BTreeSet<u64>) -> Self {
        let mut said = BTreeMap::new();
        for (subject, places) in &self.said {
            let Some(last) = places.last().filter(|last| removed.contains(&last.segment)) else { continue };
            let is_left = places.iter().any(|place| place.is_pin && !removed.contains(&place.segment));
            if last.is_pin || is_left {
                said.insert(subject.clone(), vec![*last]);
            }
        }
        Self { said }
    }

    /// The payloads that say the last word about each again.
    pub(crate) fn statements(&self, policy: &str) -> Vec<Vec<u8>> {
        let mut payloads = Vec::new();
        for (subject, places) in &self.said {
            let Some(last) = places.last() else { continue };
            let (session, run) = match subject {
                Subject::Session(session) => (Some(session), None),
                Subject::Run(run) => (None, Some(run)),
            };
            let value = json!({
                "event": if last.is_pin { "pin" } else { "unpin" },
                "session": session,
                "task": null,
                "run": run,
                "policy": policy,
                "data": {"restated": true},
            });
            payloads.push(value.to_string().into_bytes());
        }
        payloads
    }
}

#[cfg(test)]
mod tests {
    use super::{Pins, Place, Subject};
    use std::collections::BTreeSet;

    fn pins(said: &[(&str, u64, bool)]) -> Pins {
        let mut pins = Pins::default();
        for &(session, segment, is_pin) in said {
            let places = pins.said.entry(Subject::Session(session.to_owned())).or_default();
            places.push(Place { segment, is_pin });
        }
        pins
    }

    fn names(pins: &Pins) -> Vec<String> {
        pins.in_force().map(ToString::to_string).collect()
    }

    #[test]
    fn the_last_word_decides() {
        let pins = pins(&[("a", 1, true), ("b", 1, true), ("b", 2, false), ("c", 1, false), ("c", 3, true)]);
        assert_eq!(names(&pins), ["session a", "session c"]);
    }

    #[test]
    fn a_pin_in_force_is_said_again_and_a_later_word_stands() {
        let pins = pins(&[("a", 1, true), ("b", 1, true), ("b", 3, true)]);
        assert_eq!(names(&pins.to_restate(&BTreeSet::from([1]))), ["session a"]);
    }

    #[test]
    fn an_unpin_is_said_again_only_if_a_pin_would_come_back() {
        let pins = pins(&[("a", 1, true), ("a", 2, false)]);
        assert!(pins.to_restate(&BTreeSet::from([1, 2])).said.is_empty());
        let again = pins.to_restate(&BTreeSet::from([2]));
        assert_eq!(again.statements("2026.11.3").len(), 1);
        assert!(names(&again).is_empty());
    }

    #[test]
    fn a_restated_pin_names_its_session() {
        let payloads = pins(&[("harbour", 1, true)]).statements("2026.11.3");
        let value: serde_json::Value = serde_json::from_slice(&payloads[0]).unwrap();
        assert_eq!(value["event"], "pin");
        assert_eq!(value["session"], "harbour");
        assert_eq!(value["run"], serde_json::Value::Null);
        assert_eq!(value["policy"], "2026.11.3");
    }
}
