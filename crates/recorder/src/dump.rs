//! A segment or seal as lines of JSON, for people and for comparing readers.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use wal::chain::Chain;
use wal::record::{Kind, Record};
use wal::scan::{Scanner, Step};
use wal::sealed::Sealed;

/// What of a record the chain leaves out.
const CRC_BYTES: usize = 4;

/// Why a file cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0} is no segment that can be read: {1}")]
    Segment(String, String),
}

/// Write every record of a file, its damage and its root.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), DumpError> {
    let name = path.display().to_string();
    let failed = |error| DumpError::Io(name.clone(), error);
    let unreadable = |error: &dyn std::fmt::Display| DumpError::Segment(name.clone(), error.to_string());
    let mut bytes = std::fs::read(path).map_err(failed)?;
    if bytes.starts_with(&wal::sealed::MAGIC) {
        let sealed = Sealed::parse(&bytes).map_err(|error| unreadable(&error))?;
        bytes = sealed.unseal().map_err(|error| unreadable(&error))?;
    }
    let scanner = Scanner::new(&bytes).map_err(|error| unreadable(&error))?;
    let mut chain = Chain::new(scanner.header_bytes());
    for step in scanner {
        let line = match step {
            Step::Record { record, offset, end } => {
                chain.update(&bytes[offset + CRC_BYTES..end]);
                show(&record)
            }
            Step::Corruption { start, end } => json!({"damage": "corruption", "start": start, "end": end}),
            Step::Torn { start, end } => json!({"damage": "torn", "start": start, "end": end}),
        };
        writeln!(out, "{line}").map_err(failed)?;
    }
    writeln!(out, "{}", json!({"root": chain.root().to_string()})).map_err(failed)
}

fn show(record: &Record) -> Value {
    let kind = Kind::from_code(record.kind);
    let mut line = json!({
        "sequence": record.sequence,
        "type": kind.map_or_else(|| json!(record.kind), |kind| json!(kind.name())),
        "flags": record.flags,
        "monotonic": record.monotonic,
        "request": if record.request.is_zero() { Value::Null } else { json!(record.request.to_string()) },
        "payload_length": record.payload.len(),
    });
    let bodies = [Kind::RequestBody, Kind::ResponseBody, Kind::WsFrame, Kind::NativeLine];
    let payload = match kind {
        Some(kind) if !bodies.contains(&kind) => {
            serde_json::from_slice(record.payload).unwrap_or(Value::Null)
        }
        _ => Value::Null,
    };
    if payload.is_null() {
        line["payload_crc32"] = json!(wal::checksum::of([record.payload]));
    } else {
        line["payload"] = payload;
    }
    line
}
