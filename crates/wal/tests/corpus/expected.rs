//! What a reader must find in a segment, as JSON lines.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use wal::chain::Chain;
use wal::record::Record;
use wal::scan::{Scanner, Step};

/// One line for each record and each damage, and the root at the end.
pub(crate) fn of(segment: &[u8]) -> String {
    let Ok(scanner) = Scanner::new(segment) else { return "{\"unreadable\":true}\n".to_owned() };
    let mut chain = Chain::new(scanner.header_bytes());
    let mut lines = String::new();
    for step in scanner {
        match step {
            Step::Record { offset, end, record } => {
                chain.update(&segment[offset + 4..end]);
                lines.push_str(&record_line(&record));
            }
            Step::Corruption { start, end } => lines.push_str(&damage_line("corruption", start, end)),
            Step::Torn { start, end } => lines.push_str(&damage_line("torn", start, end)),
        }
    }
    writeln!(lines, r#"{{"root":"{}"}}"#, chain.root()).unwrap();
    lines
}

fn record_line(record: &Record<'_>) -> String {
    let Record { version, flags, sequence, monotonic, .. } = record;
    let kind =
        record.known_kind().map_or_else(|| record.kind.to_string(), |kind| format!("\"{}\"", kind.name()));
    let request =
        if record.request.is_zero() { "null".to_owned() } else { format!("\"{}\"", record.request) };
    let (length, hash) = (record.payload.len(), hex(&Sha256::digest(record.payload)));
    format!(
        "{{\"sequence\":{sequence},\"version\":{version},\"type\":{kind},\"flags\":{flags},\"monotonic\":{monotonic},\
         \"request\":{request},\"payload_length\":{length},\"payload_sha256\":\"{hash}\"}}\n"
    )
}

fn damage_line(damage: &str, start: usize, end: usize) -> String {
    format!("{{\"damage\":\"{damage}\",\"start\":{start},\"end\":{end}}}\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
