//! Finds secrets in bytes and hides them, by the rule file that the Python package reads too.
//!
//! This crate is pure: text in, text without secrets out. `docs/formats/redaction-1.md` defines what is found; the
//! Python package implements the same page, and both are held to one corpus.
//!
//! - [`stream`]: redaction of text that arrives in pieces.
//! - [`messages`]: where messages end in a stream.
//! - [`wire`]: credentials by where they stand in HTTP.
//! - [`settings`]: the user's settings, and the redactor that they ask for.
//! - [`redactor`]: the rules that are on, applied to a text.
//! - [`rulesets`]: the rule files that are compiled in, by their version.
//! - [`rules`]: the rule file, read and checked.
//! - [`patterns`]: the language of patterns, checked before it is compiled.
//! - [`syntax`]: what a pattern is written in, read sign by sign.
//! - [`anchors`]: whether every match of a pattern begins with one of its anchors.
//! - [`following`]: which bytes can follow upon an anchor.
//! - [`prefilter`]: where the anchors of all rules stand, found in one pass.
//! - [`finder`]: what a single rule, block or entropy entry finds.
//! - [`markers`]: what stands in the place of a secret, written and found again.
//! - [`entropy`]: how random a word looks, in whole numbers.

mod anchors;
mod entropy;
mod finder;
mod following;
mod markers;
mod messages;
mod patterns;
mod prefilter;
mod redactor;
mod rules;
mod rulesets;
mod settings;
mod stream;
mod syntax;
mod wire;

pub use messages::Boundary;
pub use patterns::PatternError;
pub use redactor::{Counts, Found, Redactor};
pub use rules::{Class, EntryProblem, RuleFileError};
pub use rulesets::{UnknownName, ruleset_versions};
pub use settings::{Settings, SettingsError};
pub use stream::Stream;
pub use wire::{header_value, is_secret_header, target};
