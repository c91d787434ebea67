//! The corpus that both readers of the format are tested on: made here, and compared with what is in the tree.
//!
//! `BLACKBIRD_WRITE_FIXTURES=1 cargo test -p blackbird-wal --test corpus` writes it anew.

#![expect(clippy::unwrap_used, reason = "a test that panics has done its job")]

mod expected;
mod folder;
mod segments;
mod writing;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wal::sealed::{SealRefused, Sealed, seal};
use wal::synced::Synced;

/// Files by their paths below `fixtures/wal`.
type Files = BTreeMap<String, Vec<u8>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wal")
}

/// The whole corpus but for its README.
fn corpus() -> Files {
    let mut files = Files::new();
    for (name, bytes) in segments::all() {
        files.insert(format!("expected/{name}.jsonl"), expected::of(&bytes).into_bytes());
        if let Some(sealed) = sealed(&bytes) {
            files.insert(format!("{name}.seal"), sealed);
        }
        files.insert(format!("{name}.wal"), bytes);
    }
    let synced = Synced { segment: 3, sequence: 26, offset: 2345 };
    files.insert("synced".to_owned(), synced.encode().to_vec());
    files.insert(
        "expected/synced.jsonl".to_owned(),
        b"{\"segment\":3,\"sequence\":26,\"offset\":2345}\n".to_vec(),
    );
    files.extend(folder::files());
    files
}

/// The seal of a segment, if it may have one.
fn sealed(segment: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match seal(segment, &mut out) {
        Ok(_) => Some(out),
        Err(SealRefused::Write(error)) => panic!("{error}"),
        Err(_) => None,
    }
}

fn files_in_the_tree() -> Files {
    let mut files = Files::new();
    for folder in ["", "chain/", "expected/"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let name = entry.file_name().into_string().unwrap();
                files.insert(format!("{folder}{name}"), fs::read(entry.path()).unwrap());
            }
        }
    }
    files.remove("README.md");
    files
}

fn write(files: &Files) {
    for (name, bytes) in files {
        let path = root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Seals are compared by what they hold, since another release of zstd may spell the same in other bytes.
#[test]
fn the_corpus_is_what_this_crate_writes() {
    let made = corpus();
    if std::env::var_os("BLACKBIRD_WRITE_FIXTURES").is_some() {
        write(&made);
    }
    let found = files_in_the_tree();
    assert_eq!(found.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    for (name, bytes) in &made {
        if name.strip_suffix(".seal").is_some() {
            let segment = Sealed::parse(bytes).unwrap().unseal().unwrap();
            assert!(
                Sealed::parse(&found[name]).unwrap().unseal().unwrap() == segment,
                "{name} holds another segment"
            );
        } else {
            assert!(&found[name] == bytes, "{name} is not what this crate writes");
        }
    }
}

#[test]
fn the_corpus_is_small() {
    assert!(files_in_the_tree().values().map(Vec::len).sum::<usize>() < 200_000);
}

#[test]
fn a_seal_is_unsealed_to_the_segment_beside_it() {
    let files = files_in_the_tree();
    let mut seals = 0;
    for (name, bytes) in &files {
        let Some(stem) = name.strip_suffix(".seal").filter(|stem| !stem.contains('/')) else { continue };
        let sealed = Sealed::parse(bytes).unwrap();
        assert!(sealed.unseal().unwrap() == files[&format!("{stem}.wal")], "{name}");
        let expected = String::from_utf8(files[&format!("expected/{stem}.jsonl")].clone()).unwrap();
        assert!(expected.ends_with(&format!("{{\"root\":\"{}\"}}\n", sealed.root())), "{name}");
        seals += 1;
    }
    assert_eq!(seals, 13);
}

/// Written by hand, so that the generator cannot be wrong in the same way as the scanner.
#[test]
fn the_damage_is_where_it_was_put() {
    let files = corpus();
    let damage = |name: &str| -> Vec<String> {
        let lines = String::from_utf8(files[&format!("expected/{name}.jsonl")].clone()).unwrap();
        lines.lines().filter(|line| line.starts_with("{\"damage\"")).map(str::to_owned).collect()
    };
    let kinds_of_damage = |name: &str| -> Vec<String> {
        damage(name).iter().map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
    };
    for name in [
        "plain",
        "empty",
        "kinds",
        "resent",
        "unknown-type",
        "unknown-version",
        "odd-times",
        "gap",
        "missing",
    ] {
        assert_eq!(damage(name), Vec::<String>::new(), "{name}");
    }
    for name in ["torn", "torn-in-head", "zero-tail", "flipped-last"] {
        assert_eq!(kinds_of_damage(name), ["torn"], "{name}");
    }
    for name in ["flipped", "flipped-length", "cut-out", "repeated", "foreign"] {
        assert_eq!(kinds_of_damage(name), ["corruption"], "{name}");
    }
    assert_eq!(kinds_of_damage("flipped-twice"), ["corruption", "corruption"]);
    for name in ["bad-header", "bad-magic", "short-header", "no-bytes", "other-flags", "other-version"] {
        assert_eq!(files[&format!("expected/{name}.jsonl")], b"{\"unreadable\":true}\n", "{name}");
    }
}
