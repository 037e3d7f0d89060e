//! What number does the text behind an option stand for?

use crate::option_table::Rejection;

/// The smallest limit of bandwidth, in bytes a second.
const LEAST_BANDWIDTH: u64 = 512;

/// Reads a size as rsync does: `1.5G`, `10MB`, `4KiB`, `800K-1`.
///
/// `K M G T P` and `KiB …` count in 1024, `KB …` in 1000, `B` or nothing in bytes.
///
/// # Errors
///
/// Says why the text is no size, to be read behind it.
pub fn size(text: &[u8]) -> Result<u64, String> {
    size_in(text, 1)
}

/// Reads a bandwidth as rsync does: a size a second, in KiB where no unit is named.
///
/// The result is in KiB a second, rounded; 0 is no limit.
///
/// # Errors
///
/// Says why the text is no bandwidth, to be read behind it.
pub fn bandwidth_kib(text: &[u8]) -> Result<u32, String> {
    let bytes = size_in(text, 1024)?;
    if bytes > 0 && bytes < LEAST_BANDWIDTH {
        return Err(format!("is too small (min: {LEAST_BANDWIDTH} or 0 for unlimited)"));
    }
    let kib = bytes.checked_add(512).ok_or_else(too_large)? / 1024;
    u32::try_from(kib).ok().filter(|kib| i32::try_from(*kib).is_ok()).ok_or_else(too_large)
}

/// Reads a whole number as rsync does: decimal, `0x` hexadecimal, leading 0 octal; nothing is 0.
pub(crate) fn number(text: &[u8]) -> Result<i32, Rejection> {
    let invalid = Rejection::Number("invalid numeric value");
    let Ok(text) = std::str::from_utf8(text).map(str::trim_start) else {
        return Err(invalid);
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(rest) => (16, rest),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None if text.is_empty() => (10, "0"),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(invalid);
    }
    let out_of_range = Rejection::Number("number too large or too small");
    let Ok(magnitude) = i64::from_str_radix(digits, radix) else {
        return Err(out_of_range);
    };
    i32::try_from(if negative { -magnitude } else { magnitude }).map_err(|_| out_of_range)
}

fn too_large() -> String {
    "is too large".to_string()
}

/// Reads a size whose bare numbers count in `default_unit`.
fn size_in(text: &[u8], default_unit: u64) -> Result<u64, String> {
    let invalid = || "is invalid".to_string();
    let text = std::str::from_utf8(text).map_err(|_| invalid())?;
    // rsync reads such a number as a huge one.
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(too_large());
    }
    let whole_len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(whole_len);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let (unit, nudge) = match rest.len().checked_sub(2).and_then(|at| rest.split_at_checked(at)) {
        Some((unit, "+1")) => (unit, 1),
        Some((unit, "-1")) => (unit, -1),
        _ => (rest, 0),
    };
    let unit = unit_bytes(unit, default_unit).ok_or_else(invalid)?;
    let bytes = scaled(whole, fraction, unit).ok_or_else(too_large)?;
    let bytes = bytes.checked_add_signed(nudge).ok_or_else(invalid)?;
    // The far side reads it as a signed number.
    if bytes >= i64::MAX as u64 { Err(too_large()) } else { Ok(bytes) }
}

/// Returns what one of a unit is in bytes.
fn unit_bytes(unit: &str, default_unit: u64) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let Some(letter) = unit.chars().next() else {
        return Some(default_unit);
    };
    let power = "bkmgtp".find(letter)? as u32;
    match &unit[1..] {
        "" | "ib" if power > 0 => Some(1024u64.pow(power)),
        "b" if power > 0 => Some(1000u64.pow(power)),
        "" => Some(1),
        _ => None,
    }
}

/// Multiplies `whole.fraction` by a unit, rounded down.
fn scaled(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Nine digits tell single bytes of a gigabyte apart.
    let digits = &fraction[..fraction.len().min(9)];
    let numerator: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let part = numerator * u128::from(unit) / 10u128.pow(digits.len() as u32);
    whole.checked_mul(unit)?.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_rsync_reads() {
        let cases: [(&str, Option<u64>); 18] = [
            ("10M", Some(10_485_760)),
            ("5k", Some(5120)),
            ("1.5g-1", Some(1_610_612_735)),
            ("1kb+1", Some(1001)),
            ("10.KB", Some(10_000)),
            ("10KiB", Some(10_240)),
            ("0", Some(0)),
            ("7b", Some(7)),
            (".5K", Some(512)),
            ("0-1", None),
            ("10 M", None),
            ("10x", None),
            ("10bb", None),
            ("-1", None),
            ("", None),
            (".", None),
            ("9223372036854775807", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(size(text.as_bytes()).ok(), expected, "{text}");
        }
    }

    #[test]
    fn bandwidths_are_those_that_rsync_reads() {
        let cases = [
            ("500", Some(500)),
            ("1.5m", Some(1536)),
            ("500.5", Some(501)),
            ("1000000b", Some(977)),
            ("10MB", Some(9766)),
            ("1g", Some(1_048_576)),
            ("0", Some(0)),
            ("300b", None),
            ("9999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(bandwidth_kib(text.as_bytes()).ok(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_those_that_rsync_reads() {
        let cases = [
            ("60", Some(60)),
            ("-5", Some(-5)),
            ("+5", Some(5)),
            (" 5", Some(5)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("-2147483648", Some(i32::MIN)),
            ("5x", None),
            ("08", None),
            ("--5", None),
            ("", Some(0)),
            ("99999999999", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text.as_bytes()).ok(), expected, "{text}");
        }
    }
}
