//! How does the list of filter rules go from the client to the server?
//!
//! Whether it goes at all in a push depends on the options: see docs/protocol/connection.md,
//! "Filter list".

use std::io::Read;

use crate::error::{Error, Result};
use crate::escape::printable_start;
use crate::int::{put_u32, read_u32};
use crate::limits;

/// Appends each rule's text behind its length, and the end of the list.
pub fn put_filter_list(out: &mut Vec<u8>, rules: &[Vec<u8>]) -> Result<()> {
    for rule in rules {
        if rule.is_empty() || rule.len() >= limits::FILTER_RULE {
            let start = printable_start(rule, 40);
            let text = format!("the filter rule \"{start}\" has {} bytes", rule.len());
            return Err(Error::Refused(format!("{text}, at most {} go", limits::FILTER_RULE - 1)));
        }
        put_u32(out, rule.len() as u32);
        out.extend_from_slice(rule);
    }
    put_u32(out, 0);
    Ok(())
}

/// Reads the texts of the rules up to the end of the list.
pub fn read_filter_list<R: Read + ?Sized>(r: &mut R) -> Result<Vec<Vec<u8>>> {
    let mut rules = Vec::new();
    let mut total = 0_usize;
    loop {
        let len = read_u32(r)? as usize;
        if len == 0 {
            return Ok(rules);
        }
        total = total.saturating_add(len);
        if len >= limits::FILTER_RULE
            || total > limits::FILTER_BYTES
            || rules.len() >= limits::FILTER_RULES
        {
            let before = rules.len();
            return Err(Error::Protocol(format!("a filter rule of {len} bytes behind {before}")));
        }
        let mut rule = vec![0; len];
        r.read_exact(&mut rule)?;
        rules.push(rule);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::testing::Trickle;

    #[test]
    fn the_recorded_list_with_one_rule_is_reproduced() {
        let mut out = Vec::new();
        put_filter_list(&mut out, &[b"-p .~tmp~/".to_vec()]).unwrap();
        assert_eq!(out, b"\x0a\0\0\0-p .~tmp~/\0\0\0\0");
    }

    #[test]
    fn a_rule_that_the_receiver_would_refuse_is_refused_here() {
        let too_long = vec![b'x'; limits::FILTER_RULE];
        assert!(put_filter_list(&mut Vec::new(), std::slice::from_ref(&too_long)).is_err());
        assert!(put_filter_list(&mut Vec::new(), &[too_long[1..].to_vec()]).is_ok());
        assert!(put_filter_list(&mut Vec::new(), &[vec![]]).is_err());
    }

    #[test]
    fn a_list_comes_back_at_any_split_and_nothing_behind_it_is_read() {
        let rules =
            vec![b"-p .~tmp~/".to_vec(), vec![b'x'; limits::FILTER_RULE - 1], b"!".to_vec()];
        let mut out = Vec::new();
        put_filter_list(&mut out, &rules).unwrap();
        for end in 0..out.len() {
            let cut = read_filter_list(&mut &out[..end]);
            assert!(matches!(cut, Err(Error::Closed)), "cut at {end}: {cut:?}");
        }
        out.push(7);
        let mut input = Trickle::new(&out, 3);
        assert_eq!(read_filter_list(&mut input).unwrap(), rules);
        let mut rest = Vec::new();
        input.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, [7]);
    }

    #[test]
    fn rules_too_long_or_without_end_are_refused() {
        let long = (limits::FILTER_RULE as u32).to_le_bytes();
        assert!(matches!(read_filter_list(&mut &long[..]), Err(Error::Protocol(_))));
        let endless = read_filter_list(&mut io::repeat(1).take(1 << 30));
        assert!(matches!(endless, Err(Error::Protocol(_))), "a length of 0x01010101");
        let mut one = Vec::new();
        put_filter_list(&mut one, &[b"-".to_vec()]).unwrap();
        let many = one[..5].repeat(limits::FILTER_RULES + 1);
        assert!(matches!(read_filter_list(&mut many.as_slice()), Err(Error::Protocol(_))));
        put_filter_list(&mut one, &[vec![b'x'; limits::FILTER_RULE - 1]]).unwrap();
        let large = one[9..one.len() - 4].repeat(limits::FILTER_BYTES / 5000);
        assert!(matches!(read_filter_list(&mut large.as_slice()), Err(Error::Protocol(_))));
    }
}
