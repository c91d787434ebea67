//! The clocks that the trace is dated by, as a trait so that tests can set them.

use rustix::time::{ClockId, clock_gettime};

const NANOSECONDS: i64 = 1_000_000_000;

/// Where times come from.
pub trait Clock: Send + Sync {
    /// The wall clock in nanoseconds since 1970.
    fn wall(&self) -> i64;

    /// A clock that nobody sets, in nanoseconds.
    fn monotonic(&self) -> u64;

    /// Which boot of the machine the monotonic clock belongs to; zeros if unknown.
    fn boot(&self) -> [u8; 16];
}

/// The clocks of the operating system.
#[derive(Debug)]
pub struct SystemClock {
    boot: [u8; 16],
}

impl SystemClock {
    /// The clocks, with the id of this boot read once.
    #[must_use]
    pub fn new() -> Self {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self { boot: parse_boot(&text).unwrap_or_default() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> i64 {
        nanoseconds(ClockId::Realtime)
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(nanoseconds(ClockId::Monotonic)).unwrap_or(0)
    }

    fn boot(&self) -> [u8; 16] {
        self.boot
    }
}

fn nanoseconds(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec.saturating_mul(NANOSECONDS).saturating_add(time.tv_nsec)
}

/// The 16 bytes of a UUID such as `6fd1d4a4-38b5-4a4f-9a8e-0d3f6f1f2b11`.
fn parse_boot(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.trim().chars().filter(|&character| character != '-').collect();
    if digits.len() != 32 {
        return None;
    }
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

/// Both clocks, read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The wall clock.
    pub(crate) wall: i64,
    /// The monotonic clock, in whole microseconds, as records have it.
    pub(crate) monotonic: u64,
}

impl Anchor {
    /// Read both clocks now.
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self { wall: clock.wall(), monotonic: whole_microseconds(clock.monotonic()) }
    }

    /// What the wall clock showed when the monotonic one showed `monotonic`.
    pub(crate) fn wall_at(self, monotonic: u64) -> i64 {
        let since = i128::from(monotonic) - i128::from(self.monotonic);
        i64::try_from(i128::from(self.wall) + since).unwrap_or(self.wall)
    }
}

/// The monotonic clock as records have it.
#[must_use]
pub fn monotonic() -> u64 {
    whole_microseconds(u64::try_from(nanoseconds(ClockId::Monotonic)).unwrap_or(0))
}

/// A time as records have it: a multiple of 1000 nanoseconds.
pub(crate) fn whole_microseconds(nanoseconds: u64) -> u64 {
    nanoseconds - nanoseconds % 1000
}

/// A time of the wall clock as `2026-11-16T12:00:00Z`.
#[must_use]
pub fn rfc3339(wall: i64) -> String {
    let seconds = wall.div_euclid(NANOSECONDS);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The date that lies `days` after 1970-01-01, counted in years that begin in March, so that leap days come last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Clock, SystemClock, monotonic, parse_boot, rfc3339, whole_microseconds};

    #[test]
    fn time_goes_on_in_microseconds() {
        let (before, after) = (monotonic(), monotonic());
        assert!(before > 0 && before <= after);
        assert_eq!(before % 1000, 0);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_827_696_000_000_000), "2000-02-29T12:34:56Z");
        assert_eq!(rfc3339(1_794_830_400_000_000_000), "2026-11-16T12:00:00Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn a_boot_id_has_sixteen_bytes() {
        let bytes = parse_boot("00112233-4455-6677-8899-aabbccddeeff\n").unwrap();
        assert_eq!(bytes[..3], [0x00, 0x11, 0x22]);
        assert_eq!(bytes[15], 0xff);
        assert_eq!(parse_boot("unknown"), None);
    }

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let clock = SystemClock::new();
        let before = clock.monotonic();
        assert!(clock.monotonic() >= before);
        assert!(clock.wall() > 0);
    }

    #[test]
    fn an_anchor_dates_what_came_before_and_after() {
        let anchor = Anchor { wall: 5_000, monotonic: 2_000 };
        assert_eq!(anchor.wall_at(3_000), 6_000);
        assert_eq!(anchor.wall_at(0), 3_000);
        assert_eq!(whole_microseconds(1_999), 1_000);
    }
}
