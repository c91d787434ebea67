//! What the recorder counts, and how Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Four steps for each power of two, of microseconds.
const STEPS: u64 = 4;
const BUCKETS: usize = 128;

/// Durations, counted in steps that grow with them: a quantile is at most a fifth too large.
#[derive(Debug)]
pub(crate) struct Durations {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl Default for Durations {
    fn default() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], sum: AtomicU64::new(0) }
    }
}

impl Durations {
    pub(crate) fn add(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(micros)].fetch_add(1, Relaxed);
        self.sum.fetch_add(micros, Relaxed);
    }

    fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    /// The duration in microseconds that a share of all does not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let count = self.count();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = (count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (at, bucket) in self.buckets.iter().enumerate() {
            seen += bucket.load(Relaxed);
            if seen >= rank && seen > 0 {
                return upper(at);
            }
        }
        0
    }

    fn write(&self, out: &mut String, name: &str, labels: &str) {
        for share in [0.5, 0.95, 0.99] {
            let comma = if labels.is_empty() { "" } else { "," };
            let seconds = Seconds(self.quantile(share));
            line(out, name, &format!("{labels}{comma}quantile=\"{share}\""), seconds);
        }
        line(out, &format!("{name}_sum"), labels, Seconds(self.sum.load(Relaxed)));
        line(out, &format!("{name}_count"), labels, self.count());
    }
}

/// The bucket of a number of microseconds.
fn bucket(micros: u64) -> usize {
    if micros < STEPS {
        return usize::try_from(micros).unwrap_or_default();
    }
    let power = u64::from(micros.ilog2());
    let step = (micros >> (power - 2)) & (STEPS - 1);
    usize::try_from((power - 1) * STEPS + step).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The largest number of microseconds in a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (power, step) = (bucket / STEPS + 1, bucket % STEPS);
    (1 << power) + ((step + 1) << (power - 2)) - 1
}

/// Microseconds, shown as seconds.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// All counters of one recorder.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// From the last byte of a head that came in to the moment it was handed on.
    pub(crate) request_overhead: Durations,
    /// From bytes of a response that came in to the moment they were handed on.
    pub(crate) response_overhead: Durations,
    pub(crate) first_byte: Durations,
    pub(crate) connections: AtomicU64,
    pub(crate) open_connections: AtomicU64,
    pub(crate) active: AtomicU64,
    pub(crate) request_bytes: AtomicU64,
    pub(crate) response_bytes: AtomicU64,
    pub(crate) queue_bytes: AtomicU64,
    pub(crate) backpressure: AtomicU64,
    pub(crate) dropped_chunks: AtomicU64,
    pub(crate) dropped_bytes: AtomicU64,
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    errors: Mutex<BTreeMap<&'static str, u64>>,
    /// What only the recording thread knows.
    pub(crate) recording: Mutex<Recording>,
}

/// What the recording thread counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Recording {
    /// Whether what was last to be written was.
    pub(crate) is_working: bool,
    pub(crate) records: u64,
    pub(crate) written_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) syncs: u64,
    pub(crate) sync_micros: u64,
    pub(crate) longest_sync_micros: u64,
    pub(crate) lost_records: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) last_sequence: u64,
    pub(crate) synced_sequence: u64,
    pub(crate) segment: Option<u64>,
    pub(crate) decode_memory: u64,
    pub(crate) redactions: BTreeMap<String, u64>,
    pub(crate) gaps: BTreeMap<&'static str, u64>,
    pub(crate) last_error: Option<String>,
}

impl Metrics {
    /// An exchange came to its end; the status is 0 if there was no response.
    pub(crate) fn count_request(&self, upstream: &str, status: u16) {
        *lock(&self.requests).entry((upstream.to_owned(), status)).or_default() += 1;
    }

    pub(crate) fn count_error(&self, code: &'static str) {
        *lock(&self.errors).entry(code).or_default() += 1;
    }

    pub(crate) fn requests(&self) -> u64 {
        lock(&self.requests).values().sum()
    }

    pub(crate) fn recording(&self) -> Recording {
        lock(&self.recording).clone()
    }

    /// The text that Prometheus reads.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.write_traffic(&mut out);
        self.write_recording(&mut out);
        out
    }

    fn write_traffic(&self, out: &mut String) {
        heading(
            out,
            "overhead_seconds",
            "summary",
            "Time that the recorder added before it handed bytes on.",
        );
        self.request_overhead.write(out, "overhead_seconds", "direction=\"request\"");
        self.response_overhead.write(out, "overhead_seconds", "direction=\"response\"");
        heading(
            out,
            "first_byte_seconds",
            "summary",
            "Time from a request's first byte to its response's first byte.",
        );
        self.first_byte.write(out, "first_byte_seconds", "");
        heading(
            out,
            "requests_total",
            "counter",
            "Requests that ended, by upstream and status (0: no response).",
        );
        for ((upstream, status), count) in lock(&self.requests).iter() {
            line(out, "requests_total", &format!("upstream=\"{upstream}\",status=\"{status}\""), count);
        }
        heading(out, "errors_total", "counter", "Exchanges that did not come to a proper end, by cause.");
        for (code, count) in lock(&self.errors).iter() {
            line(out, "errors_total", &format!("code=\"{code}\""), count);
        }
        heading(out, "bytes_total", "counter", "Bytes of bodies that passed, without transfer coding.");
        line(out, "bytes_total", "direction=\"request\"", self.request_bytes.load(Relaxed));
        line(out, "bytes_total", "direction=\"response\"", self.response_bytes.load(Relaxed));
        for (name, kind, help, value) in [
            ("requests_active", "gauge", "Requests that are under way.", &self.active),
            ("connections_total", "counter", "Connections that clients opened.", &self.connections),
            ("connections_open", "gauge", "Connections of clients that are open.", &self.open_connections),
            ("queue_bytes", "gauge", "Bytes that passed and wait to be recorded.", &self.queue_bytes),
            (
                "backpressure_total",
                "counter",
                "Times a stream waited because the disk could not keep up.",
                &self.backpressure,
            ),
            (
                "dropped_chunks_total",
                "counter",
                "Body chunks that were not recorded (degrade mode).",
                &self.dropped_chunks,
            ),
            (
                "dropped_bytes_total",
                "counter",
                "Bytes of bodies that were not recorded (degrade mode).",
                &self.dropped_bytes,
            ),
        ] {
            heading(out, name, kind, help);
            line(out, name, "", value.load(Relaxed));
        }
    }

    fn write_recording(&self, out: &mut String) {
        let recording = self.recording();
        for (name, kind, help, value) in [
            ("recording", "gauge", "1 if what was last to be written was.", u64::from(recording.is_working)),
            ("records_total", "counter", "Records taken into the trace.", recording.records),
            ("trace_written_bytes_total", "counter", "Bytes written to the trace.", recording.written_bytes),
            ("trace_writes_total", "counter", "Write calls to the trace.", recording.writes),
            ("trace_lost_records_total", "counter", "Records lost to write errors.", recording.lost_records),
            (
                "trace_lost_bytes_total",
                "counter",
                "Bytes of records lost to write errors.",
                recording.lost_bytes,
            ),
            ("trace_last_sequence", "gauge", "The sequence of the last record.", recording.last_sequence),
            (
                "trace_synced_sequence",
                "gauge",
                "The last record that is known to be on the disk.",
                recording.synced_sequence,
            ),
            ("decode_memory_bytes", "gauge", "Memory that decoders of bodies hold.", recording.decode_memory),
        ] {
            heading(out, name, kind, help);
            line(out, name, "", value);
        }
        heading(out, "trace_sync_seconds", "summary", "Time that syncing the trace took.");
        line(out, "trace_sync_seconds_sum", "", Seconds(recording.sync_micros));
        line(out, "trace_sync_seconds_count", "", recording.syncs);
        heading(out, "trace_sync_longest_seconds", "gauge", "The longest sync so far.");
        line(out, "trace_sync_longest_seconds", "", Seconds(recording.longest_sync_micros));
        heading(out, "redactions_total", "counter", "Secrets replaced in what was recorded, by kind.");
        for (kind, count) in &recording.redactions {
            line(out, "redactions_total", &format!("kind=\"{kind}\""), count);
        }
        heading(out, "gaps_total", "counter", "Gap records, by reason.");
        for (reason, count) in &recording.gaps {
            line(out, "gaps_total", &format!("reason=\"{reason}\""), count);
        }
    }
}

/// A lock whose holder cannot have left things half done: counters are whole after each step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn heading(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP blackbird_{name} {help}\n# TYPE blackbird_{name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = if labels.is_empty() {
        writeln!(out, "blackbird_{name} {value}")
    } else {
        writeln!(out, "blackbird_{name}{{{labels}}} {value}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_the_steps() {
        let durations = Durations::default();
        for micros in 1..=100 {
            durations.add(Duration::from_micros(micros));
        }
        assert_eq!((durations.quantile(0.5), durations.quantile(0.95)), (55, 95));
        assert_eq!(Durations::default().quantile(0.5), 0);
    }

    #[test]
    fn the_text_names_each_series_once() {
        let metrics = Metrics::default();
        metrics.count_request("anthropic", 200);
        metrics.count_request("anthropic", 200);
        metrics.count_error("upstream_cut");
        metrics.request_overhead.add(Duration::from_micros(3));
        let text = metrics.text();
        for expected in [
            "blackbird_requests_total{upstream=\"anthropic\",status=\"200\"} 2\n",
            "blackbird_errors_total{code=\"upstream_cut\"} 1\n",
            "blackbird_overhead_seconds{direction=\"request\",quantile=\"0.5\"} 0.000003\n",
            "blackbird_overhead_seconds_count{direction=\"request\"} 1\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
        let mut names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    proptest! {
        #[test]
        fn a_duration_lies_in_its_bucket(micros in 0..1_u64 << 31) {
            let at = bucket(micros);
            prop_assert!(micros <= upper(at));
            prop_assert!(at == 0 || micros > upper(at - 1));
        }
    }
}
