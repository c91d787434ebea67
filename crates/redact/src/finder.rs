//! What a single rule, block or entropy entry finds.

use std::ops::Range;

use regex::bytes::Regex;

use crate::entropy;
use crate::patterns::SECRET;

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

    /// All spans in `data`, in order, given that none begins before `from`.
    pub(crate) fn find(&self, data: &[u8], from: usize) -> Vec<Range<usize>> {
        match self {
            Self::Rule(rule) => rule.find(data, from),
            Self::Block(block) => block.find(data, from),
            Self::Words(words) => words.find(data),
        }
    }
}

/// A secret with a shape of its own.
pub(crate) struct Rule {
    pub(crate) pattern: Regex,
    /// What the whole secret may not be.
    pub(crate) ignore: Option<Regex>,
}

impl Rule {
    fn find(&self, data: &[u8], from: usize) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut at = from;
        if self.pattern.captures_len() == 1 {
            while let Some(found) = self.pattern.find_at(data, at) {
                at = found.end();
                self.keep(data, found.range(), &mut spans);
            }
            return spans;
        }
        while let Some(groups) = self.pattern.captures_at(data, at) {
            let whole = groups.get(0).expect("a match has a whole").range();
            at = whole.end;
            self.keep(data, groups.name(SECRET).map_or(whole, |secret| secret.range()), &mut spans);
        }
        spans
    }

    fn keep(&self, data: &[u8], span: Range<usize>, spans: &mut Vec<Range<usize>>) {
        if !is_ignored(self.ignore.as_ref(), &data[span.clone()]) {
            spans.push(span);
        }
    }
}

/// A secret with a begin and an end.
pub(crate) struct Block {
    pub(crate) begin: Regex,
    pub(crate) end: Regex,
    /// What is hidden when the end is missing: from the last byte of the begin on.
    pub(crate) body: Regex,
    /// How many bytes behind the begin are looked at.
    pub(crate) limit: usize,
}

impl Block {
    fn find(&self, data: &[u8], from: usize) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut at = from;
        while let Some(begin) = self.begin.find_at(data, at) {
            at = begin.end();
            let near = &data[..data.len().min(at.saturating_add(self.limit))];
            let end = self.end.find_at(near, at).map(|end| end.end());
            // A begin is never empty, so that there is a byte before its end.
            let body = || self.body.find(&data[at - 1..]).map(|body| at - 1 + body.end());
            if let Some(last) = end.or_else(body) {
                at = last;
                spans.push(begin.start()..last);
            }
        }
        spans
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
    fn find(&self, data: &[u8]) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut at = 0;
        let belongs = |byte: &u8| self.alphabet[usize::from(*byte)];
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
