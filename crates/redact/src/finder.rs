//! What a single rule, block or entropy entry finds.

use std::ops::Range;

use regex::bytes::Regex;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, meta};

use crate::entropy;

/// The longest match of a user's rule that is looked for at one place after the other: where an attempt may run
/// through all of a text before it fails, many of them take time without bound.
const SHORT: usize = 4096;

/// One entry of the rule file, compiled.
pub(crate) enum Finder {
    Rule(Rule),
    Block(Block),
    Words(Box<Words>),
}

impl Finder {
    pub(crate) fn is_block(&self) -> bool {
        matches!(self, Self::Block(_))
    }

    /// Let the entry be looked for at one place after the other, because its pattern is tested for that.
    pub(crate) fn trust(&mut self) {
        if let Self::Rule(rule) = self {
            rule.stepwise = true;
        }
    }
}

/// What a rule has found: the secret, and all that was matched to find it.
pub(crate) struct Match {
    pub(crate) whole: Range<usize>,
    pub(crate) secret: Range<usize>,
    /// Whether it is no secret after all.
    pub(crate) ignored: bool,
}

/// A secret with a shape of its own.
pub(crate) struct Rule {
    pattern: meta::Regex,
    /// What the whole secret may not be.
    ignore: Option<Regex>,
    /// Whether it can be asked at each place by itself.
    stepwise: bool,
}

impl Rule {
    /// `longest` is how long a match can be, if that is bounded.
    pub(crate) fn new(pattern: meta::Regex, ignore: Option<Regex>, longest: Option<usize>) -> Self {
        Self { pattern, ignore, stepwise: longest.is_some_and(|longest| longest <= SHORT) }
    }

    pub(crate) fn is_stepwise(&self) -> bool {
        self.stepwise
    }

    /// The match that begins at `start`.
    pub(crate) fn find_at(&self, data: &[u8], start: usize) -> Option<Match> {
        self.search(data, &Input::new(data).range(start..).anchored(Anchored::Yes))
    }

    /// The first match that begins at `from` or behind it.
    pub(crate) fn find_from(&self, data: &[u8], from: usize) -> Option<Match> {
        self.search(data, &Input::new(data).range(from..))
    }

    fn search(&self, data: &[u8], input: &Input) -> Option<Match> {
        // The whole match and the group `secret` have two ends each, and there is no other group.
        let mut slots: [Option<NonMaxUsize>; 4] = [None; 4];
        let used = if self.pattern.captures_len() == 1 { 2 } else { 4 };
        self.pattern.search_slots(input, &mut slots[..used])?;
        let range = |at: usize| Some(slots[at]?.get()..slots[at + 1]?.get());
        let whole = range(0)?;
        let secret = range(2).unwrap_or_else(|| whole.clone());
        let ignored = is_ignored(self.ignore.as_ref(), &data[secret.clone()]);
        Some(Match { whole, secret, ignored })
    }
}

/// A secret with a begin and an end.
pub(crate) struct Block {
    pub(crate) begin: meta::Regex,
    pub(crate) end: Regex,
    /// What is hidden when the end is missing: from the last byte of the begin on.
    pub(crate) body: Regex,
    /// How many bytes behind the begin are looked at.
    pub(crate) limit: usize,
}

/// The begin of a block, and what it comes to.
pub(crate) struct Begun {
    pub(crate) begin: Range<usize>,
    /// Where the block ends, if it is one.
    pub(crate) end: Option<usize>,
    /// Whether more text could change that.
    pub(crate) open: bool,
}

impl Block {
    /// The first begin at `from` or behind it.
    pub(crate) fn find_from(&self, data: &[u8], from: usize) -> Option<Begun> {
        let begin = self.begin.search(&Input::new(data).range(from..))?.range();
        let at = begin.end;
        let reach = at.saturating_add(self.limit);
        let near = &data[..data.len().min(reach)];
        if let Some(end) = self.end.find_at(near, at) {
            return Some(Begun { begin, end: Some(end.end()), open: false });
        }
        // A begin is never empty, so that there is a byte before its end.
        let end = self.body.find(&data[at - 1..]).map(|body| at - 1 + body.end());
        Some(Begun { begin, end, open: reach > data.len() })
    }
}

/// Words that look random.
pub(crate) struct Words {
    pub(crate) alphabet: [bool; 256],
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Thousandths of a bit for each byte.
    pub(crate) bits: u64,
    pub(crate) needs: Vec<Need>,
    pub(crate) behind: Vec<String>,
    pub(crate) ignore: Option<Regex>,
    /// The terms of the entropy, up to the length `most`.
    pub(crate) table: Vec<u64>,
}

/// A class of characters that has to occur in a word.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Need {
    Upper,
    Lower,
    Digit,
}

impl Need {
    fn met_by(self, word: &[u8]) -> bool {
        match self {
            Self::Upper => word.iter().any(u8::is_ascii_uppercase),
            Self::Lower => word.iter().any(u8::is_ascii_lowercase),
            Self::Digit => word.iter().any(u8::is_ascii_digit),
        }
    }
}

impl Words {
    /// All words in `data` that begin at `from` or behind it and look random.
    pub(crate) fn find(&self, data: &[u8], from: usize) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let belongs = |byte: &u8| self.alphabet[usize::from(*byte)];
        let mut at = from;
        if self.goes_on(data, from) {
            at += data[from..].iter().position(|byte| !belongs(byte)).unwrap_or(data.len() - from);
        }
        while let Some(skipped) = data[at..].iter().position(belongs) {
            let start = at + skipped;
            let length = data[start..].iter().position(|byte| !belongs(byte)).unwrap_or(data.len() - start);
            at = start + length;
            if self.looks_random(&data[..start], &data[start..at]) {
                spans.push(start..at);
            }
        }
        spans
    }

    /// Whether a word that begins before `at` goes on there.
    pub(crate) fn goes_on(&self, data: &[u8], at: usize) -> bool {
        let belongs = |place: usize| data.get(place).is_some_and(|&byte| self.alphabet[usize::from(byte)]);
        at > 0 && belongs(at - 1) && belongs(at)
    }

    /// The begin of the word that `at` stands in; `at` itself if there is none, or if it is too long to be found.
    pub(crate) fn begin_of_word(&self, data: &[u8], at: usize) -> usize {
        if !self.goes_on(data, at) {
            return at;
        }
        let earliest = at.saturating_sub(self.most + 1);
        let before = data[earliest..at].iter().rposition(|&byte| !self.alphabet[usize::from(byte)]);
        before.map_or(if earliest == 0 { 0 } else { at }, |before| earliest + before + 1)
    }

    fn looks_random(&self, before: &[u8], word: &[u8]) -> bool {
        (self.least..=self.most).contains(&word.len())
            && self.needs.iter().all(|need| need.met_by(word))
            && !self.behind.iter().any(|literal| before.ends_with(literal.as_bytes()))
            && entropy::reaches(&self.table, word, self.bits)
            && !is_ignored(self.ignore.as_ref(), word)
    }
}

fn is_ignored(ignore: Option<&Regex>, secret: &[u8]) -> bool {
    ignore.is_some_and(|ignore| ignore.is_match(secret))
}
