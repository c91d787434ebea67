//! Events that were taken already, by their ids: whoever got no answer sends an event again, or leaves it in the spool.

use std::collections::{HashMap, VecDeque};

/// How many are remembered; whoever reads the trace leaves out what came twice all the same.
const MOST: usize = 8192;

/// The last ids, and the sequences of their records.
#[derive(Default)]
pub(crate) struct Known {
    sequences: HashMap<String, u64>,
    order: VecDeque<String>,
}

impl Known {
    /// The record that an event with this id became.
    pub(crate) fn sequence(&self, id: &str) -> Option<u64> {
        self.sequences.get(id).copied()
    }

    /// Remember the record of an event.
    pub(crate) fn note(&mut self, id: &str, sequence: u64) {
        if self.sequences.insert(id.to_owned(), sequence).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.sequences.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_remembered() {
        let mut known = Known::default();
        for number in 0..=MOST as u64 {
            known.note(&number.to_string(), number);
        }
        assert_eq!(known.sequence("0"), None);
        assert_eq!(known.sequence("1"), Some(1));
        assert_eq!(known.order.len(), MOST);
    }
}
