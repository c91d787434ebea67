//! Fresh ids: the time in milliseconds, then 80 random bits.

use ulid::Ulid;
use wal::ids::Id;

use crate::clock::Clock;

/// Makes ids that nobody else makes.
#[derive(Debug)]
pub(crate) struct Identity {
    random: u128,
}

impl Identity {
    /// Begin with randomness of the operating system.
    pub(crate) fn begin() -> Result<Self, getrandom::Error> {
        Ok(Self { random: random()? })
    }

    /// The next id. Should the operating system have no more randomness to give, ids go on from the last one.
    pub(crate) fn next(&mut self, clock: &dyn Clock) -> Id {
        self.random = random().unwrap_or_else(|_| self.random.wrapping_add(1));
        let milliseconds = u64::try_from(clock.wall() / 1_000_000).unwrap_or(0);
        Id(Ulid::from_parts(milliseconds, self.random).0)
    }
}

fn random() -> Result<u128, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use crate::clock::SystemClock;

    #[test]
    fn no_id_comes_twice() {
        let clock = SystemClock::new();
        let mut identity = Identity::begin().unwrap();
        let ids: std::collections::BTreeSet<_> = (0..100).map(|_| identity.next(&clock)).collect();
        assert_eq!(ids.len(), 100);
    }
}
