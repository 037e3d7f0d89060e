//! How rsync writes numbers at each level of `-h`: 0 plain, 1 grouped, 2 in units of 1000, 3 in
//! units of 1024.

use crate::report::grouped;

const UNITS: [char; 5] = ['K', 'M', 'G', 'T', 'P'];

/// Writes a whole number.
pub(super) fn number(value: u64, level: u8) -> String {
    in_units(value as f64, level).unwrap_or_else(|| count(value, level))
}

/// Writes a whole number that never gets a unit.
pub(super) fn count(value: u64, level: u8) -> String {
    match level {
        0 => value.to_string(),
        _ => grouped(value),
    }
}

/// Writes a number with two decimals.
pub(super) fn decimal(value: f64, level: u8) -> String {
    in_units(value, level).unwrap_or_else(|| ratio(value, level))
}

/// Writes a number with two decimals that never gets a unit.
pub(super) fn ratio(value: f64, level: u8) -> String {
    let text = format!("{value:.2}");
    match text.split_once('.') {
        Some((whole, rest)) if level > 0 => {
            format!("{}.{rest}", whole.parse().map_or_else(|_| whole.to_owned(), grouped))
        }
        _ => text,
    }
}

fn in_units(mut value: f64, level: u8) -> Option<String> {
    let step = match level {
        0 | 1 => return None,
        2 => 1000.0,
        _ => 1024.0,
    };
    let mut unit = None;
    let mut larger = UNITS.into_iter();
    while value >= step
        && let Some(next) = larger.next()
    {
        value /= step;
        unit = Some(next);
    }
    unit.map(|unit| format!("{value:.2}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_are_those_of_rsync() {
        let table = [
            (999, ["999", "999", "999", "999"]),
            (1_000, ["1000", "1,000", "1.00K", "1,000"]),
            (1_024, ["1024", "1,024", "1.02K", "1.00K"]),
            (999_995, ["999995", "999,995", "1000.00K", "976.56K"]),
            (1_048_575, ["1048575", "1,048,575", "1.05M", "1024.00K"]),
            (1_234_567_890_123, ["1234567890123", "1,234,567,890,123", "1.23T", "1.12T"]),
        ];
        for (value, expected) in table {
            assert_eq!([0, 1, 2, 3].map(|level| number(value, level)), expected);
        }
        assert_eq!(
            [0, 1, 2, 3].map(|level| decimal(401_832.0, level)),
            ["401832.00", "401,832.00", "401.83K", "392.41K"]
        );
        assert_eq!(ratio(6_497_741_798.5, 3), "6,497,741,798.50");
    }
}
