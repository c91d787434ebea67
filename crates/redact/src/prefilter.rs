//! Where the anchors of all rules stand, found in one pass over the text.
//!
//! Every match of a rule begins with one of its anchors, so that a rule need be asked only where one stands. Of each
//! anchor the two neighbouring bytes that are rarest in text are looked for first; the table of those pairs fits into
//! the nearest cache, and a look at each place is independent of the one before.

use crate::following::Following;

/// How many pairs of bytes there are.
const PAIRS: usize = 1 << 16;

/// The bytes of text and code by how common they are, roughly.
const COMMON: &[u8] = b" etaoinsrlcdu\"mpfhg,.y_:b()w\\/v-=k'0123I{}x;TSAECRPqjz\n";

/// What passes most often. The pairs in it are looked for only if an anchor has no other.
const SAMPLE: &[u8] = br#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the"}}
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"choices":[{"delta":{"content":"and"}}]}
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_0","output_index":0,"delta":"not"}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"     1\tif else\n  return\n    //"#;

/// The anchors of one entry.
pub(crate) struct Anchors<'a> {
    /// The entry's place among all.
    pub(crate) owner: usize,
    /// Whether letters of either case are meant.
    pub(crate) fold: bool,
    pub(crate) literals: &'a [(String, Following)],
}

/// A place where a match of an entry can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) owner: usize,
}

/// The anchors of many rules, ready to be looked for.
pub(crate) struct Prefilter {
    /// A bit for each pair that is looked for.
    pairs: Box<[u64; PAIRS / 64]>,
    /// For each pair the place of its bucket; the first one is empty.
    heads: Box<[u16]>,
    buckets: Vec<Vec<Probe>>,
    literals: Vec<Literal>,
}

/// A literal, how many of its bytes stand before the pair, and how its first eight bytes are compared at once.
#[derive(Clone, Copy)]
struct Probe {
    literal: usize,
    before: usize,
    /// The bits that make small letters of capital ones where either is meant.
    small: u64,
    /// The bits that count.
    mask: u64,
    wanted: u64,
}

impl Probe {
    fn new(literal: usize, before: usize, bytes: &[u8], fold: bool) -> Self {
        let head = &bytes[..bytes.len().min(8)];
        let small = |byte: &u8| if fold && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
        let mask = word(&vec![0xff; head.len()]);
        let small = word(&head.iter().map(small).collect::<Vec<_>>());
        Self { literal, before, small, mask, wanted: word(head) | small }
    }
}

struct Literal {
    bytes: Box<[u8]>,
    fold: bool,
    owners: Vec<(usize, Following)>,
}

/// Up to eight bytes as one number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl Prefilter {
    pub(crate) fn new<'a>(all: impl Iterator<Item = Anchors<'a>>) -> Self {
        let mut filter = Self {
            pairs: Box::new([0; PAIRS / 64]),
            heads: vec![0; PAIRS].into(),
            buckets: vec![Vec::new()],
            literals: Vec::new(),
        };
        for anchors in all {
            for (text, following) in anchors.literals {
                let literal = filter.literal(text.as_bytes(), anchors.fold);
                filter.literals[literal].owners.push((anchors.owner, following.clone()));
            }
        }
        filter
    }

    /// The place of a literal, which is entered if it is new.
    fn literal(&mut self, bytes: &[u8], fold: bool) -> usize {
        let same = |literal: &Literal| literal.fold == fold && *literal.bytes == *bytes;
        if let Some(known) = self.literals.iter().position(same) {
            return known;
        }
        let literal = self.literals.len();
        self.literals.push(Literal { bytes: bytes.into(), fold, owners: Vec::new() });
        let (before, pairs) = rarest_pairs(bytes, fold);
        for pair in pairs {
            self.pairs[pair >> 6] |= 1 << (pair & 63);
            if self.heads[pair] == 0 {
                self.heads[pair] = u16::try_from(self.buckets.len()).unwrap_or_default();
                self.buckets.push(Vec::new());
            }
            self.buckets[usize::from(self.heads[pair])].push(Probe::new(literal, before, bytes, fold));
        }
        literal
    }

    /// Add to `places` where a match of any entry can begin, from the byte `from` on, in order.
    pub(crate) fn find(&self, data: &[u8], from: usize, places: &mut Vec<Place>) {
        let Some(&last) = data.get(from..).and_then(<[u8]>::last) else { return };
        let mut at = from;
        // Eight places at a time: a branch for each would cost more than the look itself.
        while let Some(window) = data[at..].first_chunk::<9>() {
            let even = u64::from_le_bytes(*window.first_chunk().expect("nine are more than eight"));
            let odd = u64::from_le_bytes(*window.last_chunk().expect("nine are more than eight"));
            let mut seen = 0;
            for step in 0..4 {
                seen |= self.has(even >> (16 * step)) << (2 * step);
                seen |= self.has(odd >> (16 * step)) << (2 * step + 1);
            }
            while seen != 0 {
                let place = at + seen.trailing_zeros() as usize;
                self.probe(data, from, place, pair(data[place], data[place + 1]), places);
                seen &= seen - 1;
            }
            at += 8;
        }
        for place in at..data.len() - 1 {
            self.probe(data, from, place, pair(data[place], data[place + 1]), places);
        }
        self.probe(data, from, data.len() - 1, pair(last, 0), places);
        places.sort();
    }

    /// Whether the pair in the lowest bits is looked for, as 0 or 1.
    fn has(&self, bits: u64) -> u64 {
        let pair = (bits & 0xffff) as usize;
        (self.pairs[pair >> 6] >> (pair & 63)) & 1
    }

    /// Look which literals have a pair that stands at `place`.
    fn probe(&self, data: &[u8], from: usize, place: usize, pair: usize, places: &mut Vec<Place>) {
        for probe in &self.buckets[usize::from(self.heads[pair])] {
            let Some(start) = place.checked_sub(probe.before).filter(|&start| start >= from) else {
                continue;
            };
            let head = data[start..]
                .first_chunk()
                .map_or_else(|| word(&data[start..]), |head| u64::from_le_bytes(*head));
            if (head | probe.small) & probe.mask == probe.wanted {
                Self::compare(data, start, &self.literals[probe.literal], places);
            }
        }
    }

    /// Compare a whole literal, and what follows upon it, with what stands at `start`.
    fn compare(data: &[u8], start: usize, literal: &Literal, places: &mut Vec<Place>) {
        let Some((head, rest)) = data[start..].split_at_checked(literal.bytes.len()) else { return };
        if if literal.fold { head.eq_ignore_ascii_case(&literal.bytes) } else { *head == *literal.bytes } {
            let ready = literal.owners.iter().filter(|(_, following)| following.allows(rest));
            places.extend(ready.map(|&(owner, _)| Place { start, owner }));
        }
    }
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(second) << 8 | usize::from(first)
}

/// The pair of a literal that is rarest in text, in all its spellings, and how many bytes stand before it.
fn rarest_pairs(literal: &[u8], fold: bool) -> (usize, Vec<usize>) {
    let both = |byte: u8| {
        if fold && byte.is_ascii_alphabetic() {
            vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]
        } else {
            vec![byte]
        }
    };
    if let [only] = literal {
        let pairs =
            both(*only).into_iter().flat_map(|first| (0..=255).map(move |second| pair(first, second)));
        return (0, pairs.collect());
    }
    let rarest = literal.windows(2).enumerate().min_by_key(|(_, two)| commonness(two));
    let (before, two) = rarest.map_or((0, literal), |rarest| rarest);
    let seconds = both(two[1]);
    let pairs =
        both(two[0]).into_iter().flat_map(|first| seconds.iter().map(move |&second| pair(first, second)));
    (before, pairs.collect())
}

/// How often a pair is to be expected, in no unit.
fn commonness(pair: &[u8]) -> usize {
    let frequency =
        |byte: u8| 1000 / (COMMON.iter().position(|&common| common == byte).unwrap_or(COMMON.len()) + 1);
    let sampled = SAMPLE.windows(2).filter(|sample| *sample == pair).count();
    sampled * 1_000_000 + frequency(pair[0]) * frequency(pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::following;

    /// Where the anchors of each rule stand, as the place and the number of the rule.
    fn places(anchors: &[(bool, &[&str])], data: &[u8], from: usize) -> Vec<(usize, usize)> {
        let alone =
            |text: &&str, fold| following(text, &[(*text).to_owned()], fold).expect("a literal").remove(0);
        let literals: Vec<Vec<_>> = anchors
            .iter()
            .map(|(fold, texts)| texts.iter().map(|text| alone(text, *fold)).collect())
            .collect();
        let all = anchors.iter().zip(&literals).enumerate();
        let filter = Prefilter::new(all.map(|(owner, ((fold, _), literals))| Anchors {
            owner,
            fold: *fold,
            literals,
        }));
        let mut found = Vec::new();
        filter.find(data, from, &mut found);
        found.into_iter().map(|place| (place.start, place.owner)).collect()
    }

    #[test]
    fn each_rule_has_its_places() {
        assert_eq!(
            places(&[(false, &["gho_", "ghp_"]), (false, &["sk-"]), (false, &["x"])], b"a sk- ghp_ gho_", 0),
            [(2, 1), (6, 0), (11, 0)]
        );
    }

    #[test]
    fn a_text_without_anchors_has_no_places() {
        assert_eq!(places(&[(false, &["a"])], b"b", 0), []);
        assert_eq!(places(&[(false, &["a"])], b"", 0), []);
    }

    #[test]
    fn overlapping_anchors_are_all_seen_in_order() {
        assert_eq!(
            places(&[(false, &["bcd"]), (false, &["abcde", "c"]), (false, &["abc"])], b"_abcde", 0),
            [(1, 1), (1, 2), (2, 0), (3, 1)]
        );
    }

    #[test]
    fn only_folded_anchors_are_found_in_either_case() {
        assert_eq!(
            places(&[(true, &["pass"]), (false, &["pass"])], b"PaSs pass", 0),
            [(0, 0), (5, 0), (5, 1)]
        );
    }

    #[test]
    fn no_anchor_begins_before_the_place_to_begin() {
        assert_eq!(places(&[(false, &["aa"])], b"aaaa", 1), [(1, 0), (2, 0)]);
    }

    #[test]
    fn anchors_are_found_wherever_they_stand() {
        for length in [1, 2, 3, 5] {
            let anchor = &"q7k2z"[..length];
            for before in 0..20 {
                for behind in 0..20 {
                    let text = ["-".repeat(before).as_str(), anchor, &"-".repeat(behind)].concat();
                    assert_eq!(places(&[(false, &[anchor])], text.as_bytes(), 0), [(before, 0)], "{text}");
                }
            }
        }
    }
}
