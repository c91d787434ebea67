//! What the writer itself states in the trace: checkpoints, and pins that are said again.

use serde_json::{Value, json};
use wal::chain::Root;

use crate::clock::Anchor;

/// Why a checkpoint is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Enough was written since the last.
    Interval,
    /// The segment is full or old.
    Rotation,
    /// The recorder stops.
    Stop,
    /// The wall clock was set.
    Clock,
    /// Segments are about to be removed.
    Removed(Vec<(u64, Root)>),
}

impl Occasion {
    const fn name(&self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Rotation => "rotation",
            Self::Stop => "stop",
            Self::Clock => "clock",
            Self::Removed(_) => "removed",
        }
    }
}

/// The payload of a `checkpoint`.
pub(crate) fn checkpoint(occasion: &Occasion, sequence: u64, root: Root, anchor: Anchor) -> Vec<u8> {
    let mut value = json!({
        "reason": occasion.name(),
        "sequence": sequence,
        "root": root.to_string(),
        "wall": anchor.wall,
        "monotonic": anchor.monotonic,
    });
    if let Occasion::Removed(segments) = occasion {
        let named =
            segments.iter().map(|(number, root)| json!({"segment": number, "root": root.to_string()}));
        value["segments"] = Value::Array(named.collect());
    }
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Occasion, checkpoint};
    use crate::clock::Anchor;
    use serde_json::{Value, json};
    use wal::chain::Root;

    #[test]
    fn a_checkpoint_has_the_keys_of_the_page() {
        let anchor = Anchor { wall: 1_794_830_400_000_000_000, monotonic: 123_456_789_000 };
        let read = |occasion: &Occasion| -> Value {
            serde_json::from_slice(&checkpoint(occasion, 911, Root([1; 32]), anchor)).unwrap()
        };
        let root = "01".repeat(32);
        let expected = json!({
            "reason": "interval", "sequence": 911, "root": root,
            "wall": 1_794_830_400_000_000_000_i64, "monotonic": 123_456_789_000_u64,
        });
        assert_eq!(read(&Occasion::Interval), expected);
        let removed = read(&Occasion::Removed(vec![(12, Root([1; 32]))]));
        assert_eq!(removed["reason"], "removed");
        assert_eq!(removed["segments"], json!([{"segment": 12, "root": root}]));
        assert_eq!(read(&Occasion::Stop)["reason"], "stop");
        assert_eq!(read(&Occasion::Rotation)["reason"], "rotation");
        assert_eq!(read(&Occasion::Clock)["reason"], "clock");
    }
}
