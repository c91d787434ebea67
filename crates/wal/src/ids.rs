//! Ids: ULIDs of 16 bytes that name traces, segments, instances and requests.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use ulid::Ulid;

/// A ULID; zero means "none".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Id(pub u128);

/// How many characters an id has in text.
pub const TEXT_LENGTH: usize = 26;

impl Id {
    /// The id as it stands in a segment: most significant byte first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The id that 16 bytes of a segment spell.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Whether this is no id at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; TEXT_LENGTH];
        formatter.pad(Ulid(self.0).array_to_str(&mut text))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Id({self})")
    }
}

/// A text that is no id.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no id: 26 characters of Crockford's alphabet are, the first of them at most 7")]
pub struct NoId(String);

impl FromStr for Id {
    type Err = NoId;

    fn from_str(text: &str) -> Result<Self, NoId> {
        // 26 characters hold 130 bits: a first one above 7 would be cut silently.
        let fits = text.as_bytes().first().is_some_and(|first| (b'0'..=b'7').contains(first));
        match Ulid::from_string(text) {
            Ok(ulid) if fits => Ok(Self(ulid.0)),
            _ => Err(NoId(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Id;
    use proptest::prelude::*;

    #[test]
    fn text_is_crockford() {
        assert_eq!(Id(0).to_string(), "00000000000000000000000000");
        assert_eq!(Id(u128::MAX).to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_eq!(Id(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF).to_string(), "014D2PF2DBSQQG28T5CY4TQKFF");
    }

    #[test]
    fn bytes_start_with_the_most_significant() {
        assert_eq!(Id(1).to_bytes(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn more_than_128_bits_are_no_id() {
        assert!("8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<Id>().is_err());
        assert!("OZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<Id>().is_err());
    }

    #[test]
    fn what_is_no_id_is_said() {
        let message = "harbour".parse::<Id>().unwrap_err().to_string();
        assert!(message.starts_with("\"harbour\" is no id"), "{message}");
    }

    proptest! {
        #[test]
        fn text_and_bytes_read_back(number: u128) {
            prop_assert_eq!(Id(number).to_string().parse(), Ok(Id(number)));
            prop_assert_eq!(Id::from_bytes(Id(number).to_bytes()), Id(number));
        }

        #[test]
        fn any_text_is_an_id_or_an_error(text: String) {
            if let Ok(id) = text.parse::<Id>() {
                prop_assert_eq!(id.to_string().len(), text.len());
            }
        }
    }
}
