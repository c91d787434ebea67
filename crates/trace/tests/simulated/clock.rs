//! A clock that tests set.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use trace::Clock;

pub(crate) struct SetClock {
    wall: AtomicI64,
    monotonic: AtomicU64,
}

impl SetClock {
    pub(crate) fn new() -> Self {
        Self { wall: AtomicI64::new(1_794_830_400_000_000_000), monotonic: AtomicU64::new(5_000_000_000) }
    }

    pub(crate) fn advance(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap();
        self.monotonic.fetch_add(nanoseconds, Ordering::SeqCst);
        self.set_wall_ahead(duration);
    }

    /// What somebody does who sets the clock: the monotonic one does not move.
    pub(crate) fn set_wall_ahead(&self, duration: Duration) {
        self.wall.fetch_add(i64::try_from(duration.as_nanos()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn wall(&self) -> i64 {
        self.wall.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> u64 {
        self.monotonic.load(Ordering::SeqCst)
    }

    fn boot(&self) -> [u8; 16] {
        [7; 16]
    }
}
