//! Finds secrets in bytes and hides them, by the rule file that the Python package reads too.
//!
//! This crate is pure: text in, text without secrets out. `docs/formats/redaction-1.md` defines what is found; the
//! Python package implements the same page, and both are held to one corpus.
//!
//! - [`redactor`]: the rules that are on, applied to a text.
//! - [`rules`]: the rule file, read and checked.
//! - [`patterns`]: the language of patterns, checked before it is compiled.
//! - [`syntax`]: what a pattern is written in, read sign by sign.
//! - [`anchors`]: whether every match of a pattern begins with one of its anchors.
//! - [`prefilter`]: where the anchors of all rules first occur, found in one pass.
//! - [`finder`]: what a single rule, block or entropy entry finds.
//! - [`markers`]: what stands in the place of a secret, written and found again.
//! - [`entropy`]: how random a word looks, in whole numbers.

mod anchors;
mod entropy;
mod finder;
mod markers;
mod patterns;
mod prefilter;
mod redactor;
mod rules;
mod syntax;

pub use patterns::PatternError;
pub use redactor::{Counts, Found, Redactor, UnknownName};
pub use rules::{Class, EntryProblem, RuleFileError};
