//! How does the list of filter rules go to the receiver?
//!
//! Whether it goes at all in a push depends on the options: see docs/protocol/connection.md,
//! "Filter list".

use crate::error::{Error, Result};
use crate::escape::printable_start;
use crate::int::put_u32;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
