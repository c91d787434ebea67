//! The chain: SHA-256 roots by which each segment vouches for the one before.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

/// The root of a segment: what its header and its intact records say, in 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Root(pub [u8; 32]);

impl fmt::Display for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Root({self})")
    }
}

/// A text that is no root.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no root: 64 hexadecimal digits are")]
pub struct NoRoot(String);

impl FromStr for Root {
    type Err = NoRoot;

    fn from_str(text: &str) -> Result<Self, NoRoot> {
        let refusal = || NoRoot(text.to_owned());
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(refusal());
        }
        let mut root = [0; 32];
        for (byte, pair) in root.iter_mut().zip(digits.chunks_exact(2)) {
            let high = hex_digit(pair[0]).ok_or_else(refusal)?;
            let low = hex_digit(pair[1]).ok_or_else(refusal)?;
            *byte = high << 4 | low;
        }
        Ok(Self(root))
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The root of a segment in the making.
#[derive(Clone)]
pub struct Chain(Sha256);

impl Chain {
    /// The chain of a segment that holds nothing but these bytes of its header.
    #[must_use]
    pub fn new(header: &[u8]) -> Self {
        Self(Sha256::new_with_prefix(header))
    }

    /// Take a record in: its bytes from offset 4 on, in any pieces.
    pub fn update(&mut self, record_after_crc: &[u8]) {
        self.0.update(record_after_crc);
    }

    /// The root of all that was taken so far.
    #[must_use]
    pub fn root(&self) -> Root {
        Root(self.0.clone().finalize().into())
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Chain({})", self.root())
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Root};
    use proptest::prelude::*;

    /// The SHA-256 of `abc` as FIPS 180-2 prints it.
    #[test]
    fn published_value() {
        let mut chain = Chain::new(b"a");
        chain.update(b"b");
        chain.update(b"c");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(chain.root().to_string(), text);
        assert_eq!(text.parse(), Ok(chain.root()));
        assert_eq!(text.to_uppercase().parse(), Ok(chain.root()));
    }

    #[test]
    fn asking_for_the_root_does_not_end_the_chain() {
        let mut asked = Chain::new(b"header");
        let mut silent = asked.clone();
        let _ = asked.root();
        asked.update(b"record");
        silent.update(b"record");
        assert_eq!(asked.root(), silent.root());
    }

    proptest! {
        #[test]
        fn text_reads_back(bytes: [u8; 32]) {
            prop_assert_eq!(Root(bytes).to_string().parse(), Ok(Root(bytes)));
        }

        #[test]
        fn any_text_is_a_root_or_an_error(text in "[0-9a-fgé]{0,70}") {
            prop_assert_eq!(text.parse::<Root>().is_ok(), text.len() == 64 && !text.contains(['g', 'é']));
        }
    }
}
