//! The few parts of a certificate that are read back: when it begins and ends to be valid.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// From when to when a certificate is valid; nothing if these bytes are none.
pub(super) fn validity(certificate: &[u8]) -> Option<(OffsetDateTime, OffsetDateTime)> {
    let (signed, _) = sequence(certificate)?;
    let (mut rest, _) = sequence(signed)?;
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.2;
    }
    // The serial number, the algorithm and the issuer stand before it.
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (times, _) = sequence(rest)?;
    let (begins, rest) = moment(times)?;
    let (ends, _) = moment(rest)?;
    Some((begins, ends))
}

fn sequence(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(data)?;
    (tag == SEQUENCE).then_some((content, rest))
}

/// The first element: its tag, its content, and what stands behind it.
fn element(data: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = data.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

fn moment(data: &[u8]) -> Option<(OffsetDateTime, &[u8])> {
    let (tag, content, rest) = element(data)?;
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let (year, text) = match tag {
        UTC_TIME => {
            let year: i32 = number(text, 0, 2)?.into();
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        GENERALIZED_TIME => {
            (i32::from(number(text, 0, 2)?) * 100 + i32::from(number(text, 2, 2)?), text.get(4..)?)
        }
        _ => return None,
    };
    if text.len() != 10 {
        return None;
    }
    let month = Month::try_from(number(text, 0, 2)?).ok()?;
    let day = Date::from_calendar_date(year, month, number(text, 2, 2)?).ok()?;
    let time = Time::from_hms(number(text, 4, 2)?, number(text, 6, 2)?, number(text, 8, 2)?).ok()?;
    Some((PrimitiveDateTime::new(day, time).assume_utc(), rest))
}

fn number(text: &str, at: usize, digits: usize) -> Option<u8> {
    let text = text.get(at..at + digits)?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn certificate(begins: i64, ends: i64) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::default();
        params.not_before = OffsetDateTime::from_unix_timestamp(begins).expect("in range");
        params.not_after = OffsetDateTime::from_unix_timestamp(ends).expect("in range");
        let key = rcgen::KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("signed").der().to_vec()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_was_written_is_read(begins in 0_i64..4_000_000_000, length in 1_i64..1_000_000_000) {
            let read = validity(&certificate(begins, begins + length));
            let read = read.map(|(begins, ends)| (begins.unix_timestamp(), ends.unix_timestamp()));
            prop_assert_eq!(read, Some((begins, begins + length)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>, cut in 0_usize..300) {
            let _ = validity(&data);
            let mut certificate = certificate(1, 2);
            certificate.truncate(cut);
            let _ = validity(&certificate);
        }
    }
}
