//! How are integers and short strings written?
//!
//! See docs/protocol/connection.md, "Integers". All fixed-size integers are little-endian.

use std::io::Read;

use crate::error::{Error, Result};
use crate::limits;

/// Reads one byte.
pub fn read_u8<R: Read + ?Sized>(r: &mut R) -> Result<u8> {
    Ok(read_array::<1, R>(r)?[0])
}

/// Reads a 16-bit unsigned integer.
pub fn read_u16<R: Read + ?Sized>(r: &mut R) -> Result<u16> {
    Ok(u16::from_le_bytes(read_array(r)?))
}

/// Reads a 32-bit signed integer.
pub fn read_i32<R: Read + ?Sized>(r: &mut R) -> Result<i32> {
    Ok(i32::from_le_bytes(read_array(r)?))
}

/// Reads a 32-bit unsigned integer.
pub fn read_u32<R: Read + ?Sized>(r: &mut R) -> Result<u32> {
    Ok(u32::from_le_bytes(read_array(r)?))
}

/// Reads a 64-bit integer in the form used below protocol 30: 4 bytes, or a mark and 8 bytes.
pub fn read_longint<R: Read + ?Sized>(r: &mut R) -> Result<i64> {
    match read_i32(r)? {
        -1 => Ok(i64::from_le_bytes(read_array(r)?)),
        short if short < 0 => Err(Error::Malformed(format!("longint {short}"))),
        short => Ok(i64::from(short)),
    }
}

/// Reads a 32-bit integer of 1 to 5 bytes.
pub fn read_varint<R: Read + ?Sized>(r: &mut R) -> Result<i32> {
    let first = read_u8(r)?;
    let extra = first.leading_ones() as usize;
    if extra > 4 {
        return Err(Error::Malformed(format!("varint begins with {first:#04x}")));
    }
    let mut bytes = [0; 4];
    r.read_exact(&mut bytes[..extra])?;
    if let Some(top) = bytes.get_mut(extra) {
        *top = first & (0x7f >> extra);
    }
    Ok(i32::from_le_bytes(bytes))
}

/// Reads a 64-bit integer of at least `min` (3 or 4) bytes.
pub fn read_varlong<R: Read + ?Sized>(r: &mut R, min: usize) -> Result<i64> {
    let first = read_u8(r)?;
    let extra = (first.leading_ones() as usize).min(6);
    let following = min.saturating_sub(1) + extra;
    if following > 8 {
        return Err(Error::Malformed(format!("varlong begins with {first:#04x}")));
    }
    let mut bytes = [0; 8];
    r.read_exact(&mut bytes[..following])?;
    if let Some(top) = bytes.get_mut(following) {
        *top = first & (0x7f >> extra);
    }
    Ok(i64::from_le_bytes(bytes))
}

/// Reads a 64-bit integer in the form of the protocol: a varlong, or a longint below 30.
pub fn read_varlong30<R: Read + ?Sized>(r: &mut R, protocol: u32, min: usize) -> Result<i64> {
    if protocol < 30 { read_longint(r) } else { read_varlong(r, min) }
}

/// Reads a 32-bit integer in the form of the protocol: a varint, or 4 bytes below 30.
pub fn read_varint30<R: Read + ?Sized>(r: &mut R, protocol: u32) -> Result<i32> {
    if protocol < 30 { read_i32(r) } else { read_varint(r) }
}

/// Reads a length-prefixed string of at most `limit` bytes.
pub fn read_vstring<R: Read + ?Sized>(r: &mut R, limit: usize) -> Result<Vec<u8>> {
    let first = read_u8(r)?;
    let len = match first {
        0..0x80 => usize::from(first),
        _ => usize::from(first & 0x7f) << 8 | usize::from(read_u8(r)?),
    };
    if len > limit {
        return Err(Error::Malformed(format!("string of {len} bytes, at most {limit} allowed")));
    }
    let mut text = vec![0; len];
    r.read_exact(&mut text)?;
    Ok(text)
}

/// Appends a 16-bit unsigned integer.
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a 32-bit signed integer.
pub fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a 32-bit unsigned integer.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a 64-bit integer in the form used below protocol 30.
pub fn put_longint(out: &mut Vec<u8>, value: i64) {
    match u32::try_from(value) {
        Ok(short) if short <= i32::MAX as u32 => put_u32(out, short),
        _ => {
            put_i32(out, -1);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends a 32-bit integer in the fewest bytes.
pub fn put_varint(out: &mut Vec<u8>, value: i32) {
    let bytes = value.to_le_bytes();
    let extra = match value as u32 {
        0..0x80 => return out.push(bytes[0]),
        0x80..0x4000 => 1,
        0x4000..0x20_0000 => 2,
        0x20_0000..0x1000_0000 => 3,
        _ => 4,
    };
    let top = bytes.get(extra).copied().unwrap_or(0);
    out.push(leading_ones(extra) | top);
    out.extend_from_slice(&bytes[..extra]);
}

/// Appends a 64-bit integer of at least `min` (3 or 4) bytes.
pub fn put_varlong(out: &mut Vec<u8>, value: i64, min: usize) {
    let bytes = value.to_le_bytes();
    let significant = 8 - value.leading_zeros() as usize / 8;
    let len = significant.max(min);
    let top = bytes[len - 1];
    let extra = len - min;
    if top >> (7 - extra) == 0 {
        out.push(leading_ones(extra) | top);
        out.extend_from_slice(&bytes[..len - 1]);
    } else {
        out.push(leading_ones(extra + 1));
        out.extend_from_slice(&bytes[..len]);
    }
}

/// Appends a 32-bit integer in the form of the protocol: a varint, or 4 bytes below 30.
pub fn put_varint30(out: &mut Vec<u8>, protocol: u32, value: i32) {
    if protocol < 30 { put_i32(out, value) } else { put_varint(out, value) }
}

/// Appends a 64-bit integer in the form of the protocol: a varlong, or a longint below 30.
pub fn put_varlong30(out: &mut Vec<u8>, protocol: u32, value: i64, min: usize) {
    if protocol < 30 { put_longint(out, value) } else { put_varlong(out, value, min) }
}

/// Appends a length-prefixed string; one beyond [`limits::VSTRING`] is refused.
pub fn put_vstring(out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    let len = text.len();
    if len > limits::VSTRING {
        return Err(Error::Refused(format!("a string of {len} bytes does not fit the protocol")));
    }
    // The one place where the protocol is big-endian: the length of a long string.
    if len >= 0x80 {
        out.push(0x80 | (len >> 8) as u8);
    }
    out.push((len & 0xff) as u8);
    out.extend_from_slice(text);
    Ok(())
}

fn read_array<const N: usize, R: Read + ?Sized>(r: &mut R) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    r.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A byte whose upper `count` bits are set.
fn leading_ones(count: usize) -> u8 {
    (0xff00_u16 >> count) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::hex;

    fn varint(value: i32) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, value);
        out
    }

    fn varlong(value: i64, min: usize) -> Vec<u8> {
        let mut out = Vec::new();
        put_varlong(&mut out, value, min);
        out
    }

    #[test]
    fn varints_have_the_bytes_of_the_table() {
        let table = [
            (0, "00"),
            (1, "01"),
            (127, "7f"),
            (128, "80 80"),
            (255, "80 ff"),
            (256, "81 00"),
            (511, "81 ff"),
            (16_383, "bf ff"),
            (16_384, "c0 00 40"),
            (65_535, "c0 ff ff"),
            (65_536, "c1 00 00"),
            (2_097_151, "df ff ff"),
            (2_097_152, "e0 00 00 20"),
            (16_777_215, "e0 ff ff ff"),
            (16_777_216, "e1 00 00 00"),
            (268_435_455, "ef ff ff ff"),
            (268_435_456, "f0 00 00 00 10"),
            (i32::MAX, "f0 ff ff ff 7f"),
            (-1, "f0 ff ff ff ff"),
            (i32::MIN, "f0 00 00 00 80"),
        ];
        for (value, bytes) in table {
            let bytes = hex(bytes);
            assert_eq!(varint(value), bytes, "{value}");
            assert_eq!(read_varint(&mut bytes.as_slice()).unwrap(), value);
        }
    }

    #[test]
    fn varlongs_have_the_bytes_of_the_table() {
        let table = [
            (0, "00 00 00", "00 00 00 00"),
            (1, "00 01 00", "00 01 00 00"),
            (8_388_607, "7f ff ff", "00 ff ff 7f"),
            (8_388_608, "80 00 00 80", "00 00 00 80"),
            (16_777_215, "80 ff ff ff", "00 ff ff ff"),
            (16_777_216, "81 00 00 00", "01 00 00 00"),
            (1_700_000_000, "c0 00 f1 53 65", "65 00 f1 53"),
            (2_147_483_647, "c0 ff ff ff 7f", "7f ff ff ff"),
            (2_147_483_648, "c0 00 00 00 80", "80 00 00 00 80"),
            (4_294_967_296, "c1 00 00 00 00", "81 00 00 00 00"),
            (1 << 40, "e1 00 00 00 00 00", "c1 00 00 00 00 00"),
            ((1 << 47) - 1, "f0 ff ff ff ff ff 7f", "e0 ff ff ff ff ff 7f"),
            (1 << 62, "fc 00 00 00 00 00 00 00 40", "f8 00 00 00 00 00 00 00 40"),
            (-1, "fc ff ff ff ff ff ff ff ff", "f8 ff ff ff ff ff ff ff ff"),
        ];
        for (value, three, four) in table {
            for (min, bytes) in [(3, hex(three)), (4, hex(four))] {
                assert_eq!(varlong(value, min), bytes, "{value} in at least {min} bytes");
                assert_eq!(read_varlong(&mut bytes.as_slice(), min).unwrap(), value);
            }
        }
    }

    #[test]
    fn longints_and_strings_have_their_recorded_forms() {
        let table = [
            (0x7fff_ffff, "ff ff ff 7f"),
            (2_147_483_648, "ff ff ff ff 00 00 00 80 00 00 00 00"),
            (-1, "ff ff ff ff ff ff ff ff ff ff ff ff"),
        ];
        for (value, bytes) in table {
            let mut out = Vec::new();
            put_longint(&mut out, value);
            assert_eq!(out, hex(bytes), "{value}");
            assert_eq!(read_longint(&mut out.as_slice()).unwrap(), value);
        }
        let heads = [(5, "05"), (127, "7f"), (128, "80 80"), (255, "80 ff"), (300, "81 2c")];
        for (len, head) in heads {
            let text = vec![b'x'; len];
            let mut out = Vec::new();
            put_vstring(&mut out, &text).unwrap();
            assert_eq!(out, [hex(head), text.clone()].concat());
            assert_eq!(read_vstring(&mut out.as_slice(), len).unwrap(), text);
            assert!(read_vstring(&mut out.as_slice(), len - 1).is_err(), "beyond the limit");
        }
        assert!(put_vstring(&mut Vec::new(), &vec![0; limits::VSTRING + 1]).is_err());
    }

    #[test]
    fn forms_that_do_not_exist_are_refused() {
        assert!(read_varint(&mut &[0xf8, 0, 0, 0, 0, 0][..]).is_err());
        assert!(read_varlong(&mut &[0xfc; 12][..], 4).is_err());
        assert!(read_longint(&mut &[0xfe, 0xff, 0xff, 0xff][..]).is_err());
    }

    #[test]
    fn a_number_cut_anywhere_is_an_error() {
        for bytes in [varint(-1), varlong(-1, 3), varlong(1 << 40, 4)] {
            for end in 0..bytes.len() {
                let (is_int, mut input) = (bytes[0] == 0xf0, &bytes[..end]);
                let result = match is_int {
                    true => read_varint(&mut input).map(i64::from),
                    false => read_varlong(&mut input, if bytes[0] == 0xfc { 3 } else { 4 }),
                };
                assert!(matches!(result, Err(Error::Closed)), "{bytes:x?} cut at {end}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_number_comes_back(int: i32, shift in 0..64_u32, long: i64, min in 3..=4_usize) {
            let int = int >> (shift % 32);
            prop_assert_eq!(read_varint(&mut varint(int).as_slice()).unwrap(), int);
            let long = long >> shift;
            let bytes = varlong(long, min);
            prop_assert_eq!(read_varlong(&mut bytes.as_slice(), min).unwrap(), long);
            for protocol in [29, 30] {
                let mut out = Vec::new();
                put_varlong30(&mut out, protocol, long, min);
                let back = read_varlong30(&mut out.as_slice(), protocol, min);
                prop_assert_eq!(back.unwrap(), long);
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let _ = read_varint(&mut bytes.as_slice());
            let _ = read_varlong(&mut bytes.as_slice(), 3);
            let _ = read_varlong(&mut bytes.as_slice(), 4);
            let _ = read_longint(&mut bytes.as_slice());
            let _ = read_vstring(&mut bytes.as_slice(), 255);
        }
    }
}
