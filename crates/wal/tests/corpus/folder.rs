//! A whole trace of three segments: the first was removed, the second is sealed, the third was being written.

use wal::chain::Root;
use wal::ids::Id;
use wal::record::Kind;
use wal::synced::Synced;

use crate::writing::{Draft, request};
use crate::{Files, expected, sealed};

pub(crate) fn files() -> Files {
    let first = first();
    let second = second(first.root(), first.next_sequence());
    let third = third(&first, second.root(), second.next_sequence());
    let synced =
        Synced { segment: 3, sequence: third.next_sequence() - 1, offset: third.bytes.len() as u64 }.encode();
    Files::from([
        ("chain/00000001.gone".to_owned(), tombstone(&first).into_bytes()),
        ("chain/00000002.seal".to_owned(), sealed(&second.bytes).unwrap()),
        ("expected/chain-00000002.jsonl".to_owned(), expected::of(&second.bytes).into_bytes()),
        ("expected/chain-00000003.jsonl".to_owned(), expected::of(&third.bytes).into_bytes()),
        ("chain/00000003.wal".to_owned(), third.bytes),
        ("chain/synced".to_owned(), synced.to_vec()),
    ])
}

fn first() -> Draft {
    let mut draft = Draft::first();
    let start = r#"{"event":"run.start","session":"harbour","task":"t1","run":"run_01JCX5W00G7000000000000001","policy":"2026.11.3","data":{}}"#;
    draft.add(Kind::HarnessEvent, 0, Id::default(), start);
    draft
        .exchange(request(11), "Where is the harbour?", &["Down", " the", " hill."])
        .checkpoint("rotation", "");
    draft
}

fn second(previous_root: Root, first_sequence: u64) -> Draft {
    let mut draft = Draft::numbered(2, previous_root, first_sequence);
    draft.exchange(request(12), "And the church?", &["Next", " to", " it."]);
    draft.exchange(request(13), "And the mill?", &["There", " is", " none."]).checkpoint("rotation", "");
    draft
}

fn third(removed: &Draft, previous_root: Root, first_sequence: u64) -> Draft {
    let mut draft = Draft::numbered(3, previous_root, first_sequence);
    let segments = format!(r#","segments":[{{"segment":1,"root":"{}"}}]"#, removed.root());
    draft.checkpoint("removed", &segments);
    draft.exchange(request(14), "Thank you.", &["You", " are", " welcome."]).checkpoint("stop", "");
    draft
}

fn tombstone(removed: &Draft) -> String {
    let (header, last_sequence) = (&removed.header, removed.next_sequence() - 1);
    format!(
        "{{\"schema\": \"tombstone/1\", \"segment\": {}, \"id\": \"{}\", \"instance\": \"{}\", \"first_sequence\": {}, \
         \"last_sequence\": {last_sequence}, \"previous_root\": \"{}\", \"root\": \"{}\", \"reason\": \"retention_days\", \
         \"at\": \"2026-11-16T12:00:02Z\", \"bytes\": {}, \"requests\": 1}}\n",
        header.number,
        header.id,
        header.instance,
        header.first_sequence,
        header.previous_root,
        removed.root(),
        removed.bytes.len(),
    )
}
