//! How does a client prove that it knows a daemon module's password?
//!
//! The answer is `base64(hash(password, challenge))` without padding
//! (docs/protocol/connection.md, "Authentication").

use md4::Md4;
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// A digest for the answer to a daemon's challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthDigest {
    /// SHA-512.
    Sha512,
    /// SHA-256.
    Sha256,
    /// SHA-1.
    Sha1,
    /// MD5; also what daemons of protocol 30 on without a list of digests use.
    Md5,
    /// MD4.
    Md4,
    /// MD4 over 4 zero bytes and the rest: daemons below protocol 30 without a list of digests.
    Md4Zeros,
}

impl AuthDigest {
    /// The digests that can be named, best first.
    pub const OFFERED: [AuthDigest; 5] = [
        AuthDigest::Sha512,
        AuthDigest::Sha256,
        AuthDigest::Sha1,
        AuthDigest::Md5,
        AuthDigest::Md4,
    ];

    /// Returns the name in a greeting.
    pub const fn name(self) -> &'static str {
        match self {
            AuthDigest::Sha512 => "sha512",
            AuthDigest::Sha256 => "sha256",
            AuthDigest::Sha1 => "sha1",
            AuthDigest::Md5 => "md5",
            AuthDigest::Md4 | AuthDigest::Md4Zeros => "md4",
        }
    }

    /// Finds the digest of a name; upper and lower case are alike.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let is = |digest: &AuthDigest| digest.name().as_bytes().eq_ignore_ascii_case(name);
        Self::OFFERED.into_iter().find(is)
    }

    /// Returns the answer to a challenge, which enters as the text of the daemon's line.
    pub fn response(self, password: &[u8], challenge: &[u8]) -> String {
        let parts = [password, challenge];
        match self {
            AuthDigest::Sha512 => base64(&hash::<Sha512>(&parts)),
            AuthDigest::Sha256 => base64(&hash::<Sha256>(&parts)),
            AuthDigest::Sha1 => base64(&hash::<Sha1>(&parts)),
            AuthDigest::Md5 => base64(&hash::<Md5>(&parts)),
            AuthDigest::Md4 => base64(&hash::<Md4>(&parts)),
            AuthDigest::Md4Zeros => base64(&hash::<Md4>(&[&[0; 4], password, challenge])),
        }
    }
}

/// A user's name and password for a module.
pub struct Credentials {
    /// The name, without blanks and control characters.
    pub user: Vec<u8>,
    /// The password, any bytes.
    pub password: Vec<u8>,
}

fn hash<D: md4::Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut digest = D::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().to_vec()
}

/// The standard alphabet, without `=` at the end.
/// Encodes without padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=group.len() {
            let six = bits >> (18 - 6 * digit) & 0x3f;
            out.push(char::from(ALPHABET[six as usize]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_answers_of_four_releases_are_reproduced() {
        let recorded = [
            (AuthDigest::Md4Zeros, "1Cn02YcBEF+nScT5k1Urkg", "1sIsxvyxW6zpWkBYuAR1tQ"),
            (AuthDigest::Md5, "dbQm8EOgshUh/XnPqDGq2g", "jj5+Tsvy5i5DPAL7xFklGw"),
            (AuthDigest::Md5, "5ryYhuK9CK/Oey8sVTHkSg", "doXXNt1hXccD0+dpyAWQqA"),
            (
                AuthDigest::Sha512,
                "8ISUS9gzjA3Pj9V6Pu/DRo4F4MKh5xRqfGXPfCpObWmDCvcY/xEV/r/FkrbeO91/\
                 4205BTQe54f+VqeH/aFSMw",
                "Qm5McmyH4+ppBtjKOzvlq1qXDqOolipjHInCvqSzAvIb2tckRTP2Tl/uP6AtdflI\
                 GHBgTht8o6vbHnJVQFUEXA",
            ),
            // Answers of rsync 3.5.0 to a daemon that offered this digest alone.
            (AuthDigest::Md4Zeros, "abc", "alX9szSGkPFF0PHICLMjkw"),
            (AuthDigest::Md5, "abc", "xCuToaw7OC6IBxUQKWqWzg"),
        ];
        for (digest, challenge, response) in recorded {
            let answer = digest.response(b"secret", challenge.as_bytes());
            assert_eq!(answer, response, "{digest:?}");
        }
    }

    #[test]
    fn the_answer_has_the_length_of_its_digest() {
        let lengths = AuthDigest::OFFERED.map(|digest| digest.response(b"p", b"c").len());
        assert_eq!(lengths, [86, 43, 27, 22, 22]);
    }

    #[test]
    fn a_digest_is_found_in_upper_and_lower_case() {
        assert_eq!(AuthDigest::parse(b"SHA256"), Some(AuthDigest::Sha256));
        assert_eq!(AuthDigest::parse(b"blake3"), None);
    }

    #[test]
    fn base64_knows_each_remainder() {
        let encoded = [&b""[..], b"f", b"fo", b"foo", b"foob", b"\xff\xff\xfe"].map(base64);
        assert_eq!(encoded, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "///+"]);
    }
}
