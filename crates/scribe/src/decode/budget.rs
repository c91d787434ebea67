//! The memory that all decoders together may take.

/// How much there is, and how much is taken.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    used: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0 }
    }

    /// What decoders hold now.
    pub(crate) fn used(&self) -> usize {
        self.used
    }
}

/// What one decoder holds of the budget; it must be given back before it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Share(usize);

impl Share {
    /// Hold at least `need` bytes. Returns whether there was room.
    #[must_use]
    pub(crate) fn raise(&mut self, budget: &mut Budget, need: usize) -> bool {
        let more = need.saturating_sub(self.0);
        if more > budget.limit.saturating_sub(budget.used) {
            return false;
        }
        budget.used += more;
        self.0 += more;
        true
    }

    /// Give everything back.
    pub(crate) fn release(&mut self, budget: &mut Budget) {
        budget.used -= self.0;
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_together_stay_below_the_limit() {
        let mut budget = Budget::new(100);
        let (mut one, mut two) = (Share::default(), Share::default());
        assert!(one.raise(&mut budget, 60));
        assert!(!two.raise(&mut budget, 41));
        assert!(two.raise(&mut budget, 40));
        assert_eq!(budget.used(), 100);
        one.release(&mut budget);
        assert_eq!(budget.used(), 40);
        assert!(two.raise(&mut budget, 100));
        two.release(&mut budget);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_smaller_need_changes_nothing() {
        let mut budget = Budget::new(100);
        let mut share = Share::default();
        assert!(share.raise(&mut budget, 60) && share.raise(&mut budget, 10));
        assert_eq!(budget.used(), 60);
        share.release(&mut budget);
    }
}
