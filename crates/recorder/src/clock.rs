//! The monotonic clock, in whole microseconds spelled as nanoseconds.

use rustix::time::{ClockId, clock_gettime};

/// Monotonic nanoseconds, a multiple of 1000 as wal/1 wants them.
pub(crate) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or_default() * 1_000_000_000 + nanos.unwrap_or_default() / 1000 * 1000
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_goes_on_in_microseconds() {
        let (before, after) = (super::monotonic(), super::monotonic());
        assert!(before > 0 && before <= after);
        assert_eq!(before % 1000, 0);
    }
}
