//! How random a word looks, in whole numbers, so that both languages come to the same verdict.

/// Bits of the fraction that [`log2`] works with; enough that no floor below can come out wrong.
const FRACTION: u32 = 56;

/// `floor(65536·c·log2(c))` for each `c` from 0 to `most`.
pub(crate) fn table(most: usize) -> Vec<u64> {
    (0..=most as u64).map(entry).collect()
}

fn entry(count: u64) -> u64 {
    let product = u128::from(count) * u128::from(log2(count.max(1)));
    u64::try_from(product >> (FRACTION - 16)).unwrap_or(u64::MAX)
}

/// The binary logarithm in units of 2⁻⁵⁶, rounded down, by repeated squaring: floating-point logarithms are not the
/// same on every platform.
fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    // The mantissa, from 1 to below 2, with 63 bits behind the point.
    let mut mantissa = u128::from(number) << (63 - whole);
    let mut bits = u64::from(whole);
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 63;
        bits <<= 1;
        if mantissa >> 64 == 1 {
            mantissa >>= 1;
            bits |= 1;
        }
    }
    bits
}

/// Whether the bytes of `word` differ so much that its entropy reaches `bits` thousandths of a bit for each of them.
///
/// `table` reaches at least to the length of the word.
pub(crate) fn reaches(table: &[u64], word: &[u8], bits: u64) -> bool {
    let mut counts = [0_usize; 256];
    for &byte in word {
        counts[usize::from(byte)] += 1;
    }
    let repeated: u64 = counts.iter().map(|&count| table[count]).sum();
    // The sum of the floors is never above the floor for the whole word.
    (table[word.len()] - repeated) * 1000 >= bits * word.len() as u64 * 65536
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for power in 0..=12_u32 {
            let count = 1_u64 << power;
            assert_eq!(entry(count), 65536 * count * u64::from(power));
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(table(7), [0, 0, 131_072, 311_616, 524_288, 760_849, 1_016_448, 1_287_879]);
    }

    /// `tests/blackbox/redaction/test_both_languages.py` asserts the same figure of the table in Python.
    #[test]
    fn the_table_is_the_one_that_python_has() {
        let sum = table(4096).iter().fold(0_u64, |sum, &value| (sum * 31 + value) % 1_000_000_007);
        assert_eq!(sum, 453_070_553);
    }

    #[test]
    fn floating_point_agrees_wherever_it_is_sure() {
        for count in 2..=4096_u32 {
            let real = 65536.0 * f64::from(count) * f64::from(count).log2();
            let exact = f64::from(u32::try_from(entry(u64::from(count))).expect("small"));
            assert!((real - exact) > -1e-3 && (real - exact) < 1.0 + 1e-3, "{count}");
        }
    }

    #[test]
    fn the_threshold_itself_is_reached() {
        let table = table(16);
        assert!(reaches(&table, b"abcdefgh", 3000));
        assert!(!reaches(&table, b"abcdefgh", 3001));
        assert!(reaches(&table, b"aaaaaaaa", 0));
        assert!(!reaches(&table, b"aaaaaaaa", 1));
    }
}
