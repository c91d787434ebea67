//! Tombstones: what is left of a segment that was removed on purpose.

use std::path::Path;

use serde::{Deserialize, Serialize};
use wal::chain::Root;

use crate::disk::Disk;
use crate::folder::Form;

const SCHEMA: &str = "tombstone/1";

/// Why a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its last record is older than the days that were asked for.
    RetentionDays,
    /// The trace is larger than was asked for, and it is the oldest.
    MaxSize,
    /// Somebody asked for it by hand.
    Clean,
}

impl Reason {
    /// Its name in a tombstone.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetentionDays => "retention_days",
            Self::MaxSize => "max_size",
            Self::Clean => "clean",
        }
    }
}

/// One line of JSON in a `.gone` file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    pub(crate) schema: String,
    pub(crate) segment: u64,
    pub(crate) id: String,
    pub(crate) instance: String,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) previous_root: String,
    pub(crate) root: String,
    pub(crate) reason: Reason,
    pub(crate) at: String,
    pub(crate) bytes: u64,
    pub(crate) requests: u64,
}

impl Tombstone {
    /// The name of the format, which every tombstone has.
    pub(crate) fn schema() -> String {
        SCHEMA.to_owned()
    }

    /// The file's content.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("a tombstone has only numbers and texts");
        line.push(b'\n');
        line
    }

    /// The tombstone of a segment; nothing if it is none that can be read.
    pub(crate) fn read(disk: &dyn Disk, folder: &Path, number: u64) -> std::io::Result<Option<Self>> {
        let bytes = disk.read(&Form::Gone.path(folder, number), Some(1 << 20))?;
        Ok(Self::parse(&bytes).filter(|found| found.segment == number))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|found| found.schema == SCHEMA)
    }

    /// The root of the segment that is gone.
    pub(crate) fn root(&self) -> Option<Root> {
        self.root.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Reason, Tombstone};

    #[test]
    fn the_line_is_that_of_the_page() {
        let tombstone = Tombstone {
            schema: Tombstone::schema(),
            segment: 12,
            id: "01JD".to_owned(),
            instance: "01JE".to_owned(),
            first_sequence: 88,
            last_sequence: 912,
            previous_root: "aa".to_owned(),
            root: "bb".to_owned(),
            reason: Reason::RetentionDays,
            at: "2026-11-16T12:00:00Z".to_owned(),
            bytes: 134_217_728,
            requests: 41,
        };
        let line = concat!(
            r#"{"schema":"tombstone/1","segment":12,"id":"01JD","instance":"01JE","first_sequence":88,"#,
            r#""last_sequence":912,"previous_root":"aa","root":"bb","reason":"retention_days","#,
            r#""at":"2026-11-16T12:00:00Z","bytes":134217728,"requests":41}"#,
            "\n",
        );
        assert_eq!(String::from_utf8(tombstone.encode()).unwrap(), line);
        assert_eq!(Tombstone::parse(line.as_bytes()), Some(tombstone));
        assert_eq!(Tombstone::parse(line.replace("tombstone/1", "tombstone/2").as_bytes()), None);
        assert_eq!(Tombstone::parse(b"{"), None);
    }

    #[test]
    fn reasons_have_the_names_of_the_page() {
        for reason in [Reason::RetentionDays, Reason::MaxSize, Reason::Clean] {
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("{:?}", reason.name()));
        }
    }
}
