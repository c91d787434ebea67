//! What a pattern is written in, read sign by sign.
//!
//! Where Python and Rust read the same text differently (`a++`, `[a&&b]`, `\<`, `{,3}`), the text is refused, so that no
//! rule can mean one thing here and another there.

use crate::patterns::{PatternError, lets_high_pass, parse};

/// Refuse what is not part of the language, as far as its signs tell.
pub(crate) fn check_syntax(pattern: &str) -> Result<(), PatternError> {
    Scanner { text: pattern.as_bytes(), at: 0, may_repeat: false }.run(pattern)
}

/// Reads a pattern from left to right and refuses what is not part of the language.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether a quantifier may stand here.
    may_repeat: bool,
}

impl Scanner<'_> {
    fn run(mut self, pattern: &str) -> Result<(), PatternError> {
        while let Some(&byte) = self.text.get(self.at) {
            let start = self.at;
            match byte {
                b'\\' => self.may_repeat = self.escape(false)? != b'b',
                b'[' => {
                    self.class()?;
                    self.may_repeat = true;
                    let class = &pattern[start..self.at];
                    if class.starts_with("[^") && lets_high_pass(&parse(class, false)?) {
                        return Err(PatternError::NegatedHigh { at: start });
                    }
                }
                b'(' => self.open()?,
                b'|' => self.single(false),
                b'*' | b'+' | b'?' | b'{' => self.quantifier()?,
                b'^' | b'$' | b'.' | b']' | b'}' => return Err(self.refuse(1)),
                _ if byte.is_ascii() => self.single(true),
                _ => {
                    return Err(PatternError::Unknown {
                        what: "a character beyond ASCII".to_owned(),
                        at: start,
                    });
                }
            }
        }
        Ok(())
    }

    fn single(&mut self, may_repeat: bool) {
        self.at += 1;
        self.may_repeat = may_repeat;
    }

    fn refuse(&self, length: usize) -> PatternError {
        let part = &self.text[self.at..self.text.len().min(self.at + length)];
        PatternError::Unknown { what: String::from_utf8_lossy(part).into_owned(), at: self.at }
    }

    /// An escape; returns the byte behind the backslash.
    fn escape(&mut self, in_class: bool) -> Result<u8, PatternError> {
        let next = self.text.get(self.at + 1).copied().unwrap_or_default();
        let length = match next {
            b'x' if self.text[self.at + 2..]
                .iter()
                .take(2)
                .filter(|digit| digit.is_ascii_hexdigit())
                .count()
                == 2 =>
            {
                4
            }
            b'b' if !in_class => 2,
            b'd' | b's' | b'w' | b'n' | b'r' | b't' => 2,
            // In Rust these two are the edges of a word.
            b'<' | b'>' => return Err(self.refuse(2)),
            _ if next.is_ascii_punctuation() || next == b' ' => 2,
            _ => return Err(self.refuse(2)),
        };
        self.at += length;
        Ok(next)
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let start = self.at;
        self.at += 1;
        if self.text.get(self.at) == Some(&b'^') {
            self.at += 1;
        }
        let first = self.at;
        loop {
            match self.text.get(self.at..).unwrap_or_default() {
                [] => {
                    self.at = start;
                    return Err(self.refuse(1));
                }
                [b']', ..] if self.at > first => break,
                [b'\\', ..] => {
                    self.escape(true)?;
                }
                // Sets within sets, and operations on them, are Rust's alone.
                [b'[' | b']', ..] => return Err(self.refuse(1)),
                [one, two, ..] if one == two && b"&-~".contains(one) => return Err(self.refuse(2)),
                [byte, ..] if byte.is_ascii() => self.at += 1,
                _ => return Err(self.refuse(4)),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn open(&mut self) -> Result<(), PatternError> {
        let rest = &self.text[self.at..];
        let known = [&b"(?:"[..], b"(?i:", b"(?P<secret>"];
        match known.into_iter().find(|opening| rest.starts_with(opening)) {
            Some(opening) => self.at += opening.len(),
            None => return Err(self.refuse(3)),
        }
        self.may_repeat = false;
        Ok(())
    }

    fn quantifier(&mut self) -> Result<(), PatternError> {
        let rest = &self.text[self.at..];
        let length = match rest[0] {
            b'{' => match braces(rest) {
                Some(length) => length,
                None => return Err(self.refuse(1)),
            },
            _ => 1,
        };
        if !self.may_repeat {
            return Err(self.refuse(length));
        }
        self.at += length;
        if self.text.get(self.at) == Some(&b'?') {
            self.at += 1;
        }
        self.may_repeat = false;
        Ok(())
    }
}

/// The length of `{m}`, `{m,}` or `{m,n}` at the start of `text`.
fn braces(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(|&byte| byte == b'}')?;
    let inner = std::str::from_utf8(&text[1..end]).ok()?;
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && digits(least) && digits(most)).then_some(end + 1)
}
