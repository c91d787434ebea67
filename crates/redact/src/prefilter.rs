//! Where the anchors of all rules first occur, found in one pass over the text.
//!
//! Every match of a rule begins with one of its anchors. So a rule none of whose anchors occurs finds nothing, and
//! any other can begin its search at the first of them: what is found stays the same.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, BuildError, MatchKind};

/// The anchors of one rule.
pub(crate) struct Anchors<'a> {
    /// The rule's place among all.
    pub(crate) owner: usize,
    /// Whether letters of either case are meant.
    pub(crate) fold: bool,
    pub(crate) literals: &'a [String],
}

/// The anchors of many rules, ready to be looked for.
pub(crate) struct Prefilter {
    automata: Vec<Automaton>,
}

struct Automaton {
    search: AhoCorasick,
    /// Who owns each literal.
    owners: Vec<usize>,
}

impl Prefilter {
    pub(crate) fn new(all: &[Anchors]) -> Result<Self, BuildError> {
        let automata = [false, true].into_iter().filter_map(|fold| Automaton::new(all, fold).transpose());
        Ok(Self { automata: automata.collect::<Result<_, _>>()? })
    }

    /// For each of `count` rules the place of the first of its anchors; nothing at all if there is no anchor, which
    /// is so for most short texts.
    pub(crate) fn first_places(&self, data: &[u8], count: usize) -> Vec<Option<usize>> {
        let mut places = Vec::new();
        for automaton in &self.automata {
            automaton.mark(data, count, &mut places);
        }
        places
    }
}

impl Automaton {
    fn new(all: &[Anchors], fold: bool) -> Result<Option<Self>, BuildError> {
        let chosen = all.iter().filter(|anchors| anchors.fold == fold);
        let pairs =
            chosen.flat_map(|anchors| anchors.literals.iter().map(|literal| (literal, anchors.owner)));
        let (literals, owners): (Vec<_>, Vec<_>) = pairs.unzip();
        if literals.is_empty() {
            return Ok(None);
        }
        let search = AhoCorasickBuilder::new()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(fold)
            .build(literals)?;
        Ok(Some(Self { search, owners }))
    }

    fn mark(&self, data: &[u8], count: usize, places: &mut Vec<Option<usize>>) {
        for found in self.search.find_overlapping_iter(data) {
            places.resize(count, None);
            let place = &mut places[self.owners[found.pattern()]];
            // A longer anchor ends later though it may begin earlier.
            *place = Some(place.map_or(found.start(), |earlier| earlier.min(found.start())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(anchors: &[(bool, &[&str])], data: &[u8]) -> Vec<Option<usize>> {
        let literals: Vec<Vec<String>> =
            anchors.iter().map(|(_, texts)| texts.iter().map(ToString::to_string).collect()).collect();
        let all: Vec<Anchors> = anchors
            .iter()
            .enumerate()
            .map(|(owner, (fold, _))| Anchors { owner, fold: *fold, literals: &literals[owner] })
            .collect();
        Prefilter::new(&all).expect("small").first_places(data, anchors.len())
    }

    #[test]
    fn each_rule_has_its_own_first_place() {
        assert_eq!(
            places(&[(false, &["gho_", "ghp_"]), (false, &["sk-"]), (false, &["x"])], b"a sk- ghp_ gho_"),
            [Some(6), Some(2), None]
        );
    }

    #[test]
    fn a_text_without_anchors_has_no_places() {
        assert_eq!(places(&[(false, &["a"])], b"b"), []);
    }

    #[test]
    fn overlapping_anchors_are_all_seen() {
        assert_eq!(
            places(&[(false, &["bcd"]), (false, &["abcde", "c"]), (false, &["abc"])], b"_abcde"),
            [Some(2), Some(1), Some(1)]
        );
    }

    #[test]
    fn only_folded_anchors_are_found_in_either_case() {
        assert_eq!(places(&[(true, &["pass"]), (false, &["pass"])], b"PaSs pass"), [Some(0), Some(5)]);
    }
}
