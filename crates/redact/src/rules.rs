//! The rule file, read and checked.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::entropy;
use crate::finder::{Block, Finder, Need, Rule, Words};
use crate::following::Following;
use crate::patterns::{
    PatternError, compile, compile_anchored, compile_behind, compile_whole, following, longest,
};
use crate::rulesets::UnknownName;
use crate::wire::Wire;

/// The meaning of a rule file that this crate knows.
const FORMAT: &str = "redaction/1";

/// The longest word that an entropy entry may ask for, which bounds its table.
const LONGEST_WORD: usize = 4096;

/// The class of a rule of the user that names none.
const USER_CLASS: &str = "user";

/// Why a rule file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleFileError {
    /// The text is not TOML, or a key is missing, unknown or of the wrong type.
    #[error("the rule file cannot be read: {0}")]
    Toml(#[from] toml::de::Error),
    /// The file says that it means something else.
    #[error("the rule file has the format {0:?}; only {FORMAT:?} is known")]
    Format(String),
    /// The file of the package does not say its version.
    #[error("the rule file has no version")]
    NoVersion,
    /// One entry is wrong.
    #[error("the rule file's entry {id:?} cannot be used: {problem}")]
    Entry {
        /// The entry's own id or name.
        id: String,
        /// What is wrong with it.
        problem: EntryProblem,
    },
}

/// What is wrong with one entry of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryProblem {
    /// Another entry has the same id or name.
    #[error("the name is taken")]
    Taken,
    /// The class is not among those of the file.
    #[error("there is no class {0:?}")]
    UnknownClass(String),
    /// The kind cannot stand in a marker.
    #[error("the kind {0:?} is not of the form [a-z][a-z0-9_]*")]
    Kind(String),
    /// A pattern is outside the language.
    #[error("in its {key}: {reason}")]
    Pattern {
        /// The key that holds the pattern.
        key: &'static str,
        /// Why it is refused.
        reason: PatternError,
    },
    /// An anchor, alphabet or literal string that can never be found.
    #[error("{0}")]
    Literal(&'static str),
    /// Lengths or limits that contradict each other.
    #[error("{0}")]
    Range(&'static str),
}

/// What can be switched on and off as one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// How it is called.
    pub name: String,
    /// Whether its rules are applied.
    pub on: bool,
    /// What it hides, in a sentence.
    pub help: String,
}

/// Classes that are on and off for one use.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) on: Vec<String>,
    #[serde(default)]
    pub(crate) off: Vec<String>,
}

/// An entry of the file, compiled, in the order of rank.
pub(crate) struct Entry {
    /// The place of its class among all.
    pub(crate) class: usize,
    pub(crate) kind: String,
    /// What every match begins with, each with the bytes that can follow upon it; nothing if that is not known.
    pub(crate) anchors: Vec<(String, Following)>,
    pub(crate) fold: bool,
    pub(crate) finder: Finder,
}

/// A rule file, and the user's own rules behind it.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) version: String,
    pub(crate) classes: Vec<Class>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) entries: Vec<Entry>,
    ids: BTreeSet<String>,
}

impl Rules {
    /// Read the rules of the package and, ranked behind them, those of the user.
    pub(crate) fn read(builtin: &str, user: Option<&str>) -> Result<Self, RuleFileError> {
        let mut rules = Self::default();
        let file: File = toml::from_str(builtin)?;
        if file.format.as_deref() != Some(FORMAT) {
            return Err(RuleFileError::Format(file.format.unwrap_or_default()));
        }
        rules.version = file.version.clone().ok_or(RuleFileError::NoVersion)?;
        rules.add(file)?;
        for entry in &mut rules.entries {
            entry.finder.trust();
        }
        if let Some(user) = user {
            let file: UserFile = toml::from_str(user)?;
            let class =
                Class { name: USER_CLASS.to_owned(), on: true, help: "The user's own rules.".to_owned() };
            rules.add(File { class: vec![class], rule: file.rule, ..File::default() })?;
        }
        Ok(rules)
    }

    /// Switch a class on or off.
    pub(crate) fn switch(&mut self, name: &str, on: bool) -> Result<(), UnknownName> {
        if let Some(class) = self.classes.iter_mut().find(|class| class.name == name) {
            class.on = on;
            return Ok(());
        }
        Err(UnknownName::new("class", name, self.classes.iter().map(|class| class.name.as_str())))
    }

    pub(crate) fn profile(&self, name: &str) -> Result<Profile, UnknownName> {
        let known = || self.profiles.iter().map(|profile| profile.name.as_str());
        let found = self.profiles.iter().find(|profile| profile.name == name).cloned();
        found.ok_or_else(|| UnknownName::new("profile", name, known()))
    }

    /// Rank the entries of a file behind those that are there.
    fn add(&mut self, file: File) -> Result<(), RuleFileError> {
        for class in file.class {
            let taken = self.classes.iter().any(|known| known.name == class.name);
            named(&class.name, if taken { Err(EntryProblem::Taken) } else { Ok(()) })?;
            self.classes.push(class);
        }
        for profile in file.profile {
            for class in profile.on.iter().chain(&profile.off) {
                named(&profile.name, self.class(class))?;
            }
            self.profiles.push(profile);
        }
        for block in file.block {
            named(&block.id, self.block(&block))?;
        }
        for rule in file.rule {
            named(&rule.id, self.rule(&rule))?;
        }
        for words in file.entropy {
            named(&words.id, self.words(&words))?;
        }
        Ok(())
    }

    fn rule(&mut self, rule: &RuleEntry) -> Result<(), EntryProblem> {
        let class = self.check(&rule.id, &rule.class, &rule.kind)?;
        check_anchors(&rule.anchors, rule.fold)?;
        let finder = rule.compile()?;
        self.entries.push(Entry {
            class,
            kind: rule.kind.clone(),
            anchors: following(&rule.pattern, &rule.anchors, rule.fold).map_err(in_key("pattern"))?,
            fold: rule.fold,
            finder,
        });
        Ok(())
    }

    fn block(&mut self, block: &BlockEntry) -> Result<(), EntryProblem> {
        let class = self.check(&block.id, &block.class, &block.kind)?;
        check_anchors(&block.anchors, false)?;
        let finder = block.compile()?;
        self.entries.push(Entry {
            class,
            kind: block.kind.clone(),
            anchors: following(&block.begin, &block.anchors, false).map_err(in_key("begin"))?,
            fold: false,
            finder,
        });
        Ok(())
    }

    fn words(&mut self, words: &EntropyEntry) -> Result<(), EntryProblem> {
        let class = self.check(&words.id, &words.class, &words.kind)?;
        let finder = words.compile()?;
        self.entries.push(Entry {
            class,
            kind: words.kind.clone(),
            anchors: Vec::new(),
            fold: false,
            finder,
        });
        Ok(())
    }

    /// Check what every entry says of itself; returns the place of its class.
    fn check(&mut self, id: &str, class: &str, kind: &str) -> Result<usize, EntryProblem> {
        if !self.ids.insert(id.to_owned()) {
            return Err(EntryProblem::Taken);
        }
        if !is_kind(kind) {
            return Err(EntryProblem::Kind(kind.to_owned()));
        }
        self.class(class)
    }

    fn class(&self, name: &str) -> Result<usize, EntryProblem> {
        let place = self.classes.iter().position(|class| class.name == name);
        place.ok_or_else(|| EntryProblem::UnknownClass(name.to_owned()))
    }
}

/// The table `[wire]` of a rule file.
pub(crate) fn read_wire(text: &str) -> Result<Wire, RuleFileError> {
    let file: File = toml::from_str(text)?;
    Ok(file.wire)
}

fn check_anchors(anchors: &[String], fold: bool) -> Result<(), EntryProblem> {
    if anchors.iter().any(String::is_empty) {
        return Err(EntryProblem::Literal("an anchor is empty"));
    }
    if fold && anchors.iter().any(|anchor| anchor.bytes().any(|byte| byte.is_ascii_uppercase())) {
        return Err(EntryProblem::Literal("an anchor of a rule with 'fold' has upper-case letters"));
    }
    Ok(())
}

/// Says in which entry a problem lies.
fn named<T>(id: &str, result: Result<T, EntryProblem>) -> Result<T, RuleFileError> {
    result.map_err(|problem| RuleFileError::Entry { id: id.to_owned(), problem })
}

fn is_kind(kind: &str) -> bool {
    kind.starts_with(|first: char| first.is_ascii_lowercase())
        && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct File {
    format: Option<String>,
    version: Option<String>,
    class: Vec<Class>,
    profile: Vec<Profile>,
    rule: Vec<RuleEntry>,
    block: Vec<BlockEntry>,
    entropy: Vec<EntropyEntry>,
    wire: Wire,
}

/// The rules that a user adds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserFile {
    rule: Vec<RuleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    id: String,
    #[serde(default = "user_class")]
    class: String,
    kind: String,
    pattern: String,
    #[serde(default)]
    anchors: Vec<String>,
    #[serde(default)]
    fold: bool,
    #[serde(default)]
    ignore: Vec<String>,
}

fn user_class() -> String {
    USER_CLASS.to_owned()
}

impl RuleEntry {
    fn compile(&self) -> Result<Finder, EntryProblem> {
        let pattern = compile_anchored(&self.pattern, &self.anchors, self.fold).map_err(in_key("pattern"))?;
        let ignore = compile_whole(&self.ignore).map_err(in_key("ignore"))?;
        let longest = longest(&self.pattern, self.fold).map_err(in_key("pattern"))?;
        Ok(Finder::Rule(Rule::new(pattern, ignore, longest)))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockEntry {
    id: String,
    class: String,
    kind: String,
    begin: String,
    end: String,
    body: String,
    limit: usize,
    #[serde(default)]
    anchors: Vec<String>,
}

impl BlockEntry {
    fn compile(&self) -> Result<Finder, EntryProblem> {
        Ok(Finder::Block(Block {
            begin: compile_anchored(&self.begin, &self.anchors, false).map_err(in_key("begin"))?,
            end: compile(&self.end, false).map_err(in_key("end"))?,
            body: compile_behind(&self.body).map_err(in_key("body"))?,
            limit: self.limit,
        }))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntropyEntry {
    id: String,
    class: String,
    kind: String,
    alphabet: String,
    least: usize,
    most: usize,
    bits: u32,
    #[serde(default)]
    needs: Vec<Need>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    behind: Vec<String>,
}

impl EntropyEntry {
    fn compile(&self) -> Result<Finder, EntryProblem> {
        if self.least == 0 || self.least > self.most || self.most > LONGEST_WORD {
            return Err(EntryProblem::Range("'least' and 'most' are not in the order 1, least, most, 4096"));
        }
        if self.alphabet.is_empty() || !self.alphabet.is_ascii() {
            return Err(EntryProblem::Literal("the alphabet is empty or has characters beyond ASCII"));
        }
        if self.behind.iter().any(String::is_empty) {
            return Err(EntryProblem::Literal("a string of 'behind' is empty"));
        }
        let mut alphabet = [false; 256];
        for byte in self.alphabet.bytes() {
            alphabet[usize::from(byte)] = true;
        }
        Ok(Finder::Words(Box::new(Words {
            alphabet,
            least: self.least,
            most: self.most,
            bits: u64::from(self.bits),
            needs: self.needs.clone(),
            behind: self.behind.clone(),
            ignore: compile_whole(&self.ignore).map_err(in_key("ignore"))?,
            table: entropy::table(self.most),
        })))
    }
}

fn in_key(key: &'static str) -> impl Fn(PatternError) -> EntryProblem {
    move |reason| EntryProblem::Pattern { key, reason }
}
