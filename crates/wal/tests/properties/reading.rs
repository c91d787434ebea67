//! Headers and records read back, and no bytes make a reader panic.

use proptest::prelude::*;
use wal::record::Record;
use wal::scan::{Scanner, Step};
use wal::sealed::Sealed;
use wal::segment::{Header, HeaderError};

use crate::drafts::{Owned, header, segment};

proptest! {
    #[test]
    fn a_header_reads_back(header in header(), after: Vec<u8>) {
        let mut bytes = header.encode();
        let length = bytes.len();
        bytes.extend(after);
        prop_assert_eq!(Header::parse(&bytes), Ok((header, length)));
    }

    #[test]
    fn a_header_with_one_flipped_bit_is_refused(header in header(), at: prop::sample::Index) {
        let mut bytes = header.encode();
        let bit = at.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Header::parse(&bytes).is_err());
    }

    #[test]
    fn a_header_that_was_cut_is_too_short(header in header(), at: prop::sample::Index) {
        let bytes = header.encode();
        let have = at.index(bytes.len());
        let refused = Header::parse(&bytes[..have]);
        prop_assert!(matches!(refused, Err(HeaderError::TooShort { have: said, .. }) if said == have), "{refused:?}");
    }

    #[test]
    fn records_read_back(draft in segment(20)) {
        let scanner = Scanner::new(&draft.bytes).unwrap();
        prop_assert_eq!(scanner.header(), &draft.header);
        prop_assert_eq!(scanner.header_bytes(), &draft.bytes[..draft.header_length]);
        let mut at = draft.header_length;
        let mut found = Vec::new();
        for step in scanner {
            let Step::Record { offset, end, record } = step else { panic!("{step:?}") };
            prop_assert_eq!(offset, at);
            at = end;
            found.push(Owned::of(&record));
        }
        prop_assert_eq!(at, draft.bytes.len());
        prop_assert_eq!(found, draft.records);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(Header::parse(&bytes).is_err());
        prop_assert!(Scanner::new(&bytes).is_err());
        prop_assert!(Sealed::parse(&bytes).is_err());
    }

    /// Every byte is told exactly once, whatever it is.
    #[test]
    fn any_bytes_after_a_header_are_accounted_for(
        draft in segment(3),
        bytes in prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..600),
    ) {
        let whole = [draft.bytes.as_slice(), &bytes, &draft.bytes[draft.header_length..]].concat();
        let mut at = draft.header_length;
        for step in Scanner::new(&whole).unwrap() {
            let (start, end) = match step {
                Step::Record { offset, end, record: Record { payload, .. } } => {
                    prop_assert_eq!(end - offset, 44 + payload.len());
                    (offset, end)
                }
                Step::Corruption { start, end } | Step::Torn { start, end } => (start, end),
            };
            prop_assert_eq!(start, at);
            prop_assert!(end > start);
            at = end;
        }
        prop_assert_eq!(at, whole.len());
    }
}
