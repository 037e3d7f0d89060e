//! What does a recorded transfer consist of?

use delta::codec::CompressKind;
use delta::{Head, SeedOrder, StrongSum, SumKind};
use serde_json::Value;

/// A recorded session.
pub(crate) struct Recording {
    pub(crate) protocol: u32,
    pub(crate) sum: SumKind,
    pub(crate) strong: StrongSum,
    pub(crate) compress: Option<CompressKind>,
    pub(crate) options: String,
    pub(crate) files: Vec<RecordedFile>,
}

pub(crate) struct RecordedFile {
    pub(crate) basis: Vec<u8>,
    pub(crate) new: Vec<u8>,
    pub(crate) head: Head,
    /// The block sums as the generator sent them.
    pub(crate) sums: Vec<u8>,
    /// The reply from the first token to the end mark.
    pub(crate) tokens: Vec<u8>,
    pub(crate) tokens_decoded: Vec<String>,
    pub(crate) file_sum: Vec<u8>,
}

pub(crate) const SEED: i32 = 12345;

pub(crate) fn load(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

impl Recording {
    pub(crate) fn open(name: &str) -> Self {
        let json = load(name);
        let protocol = number(&json["protocol"]) as u32;
        let text = |key: &str| json[key].as_str().unwrap().to_owned();
        let (sum, order) = match text("checksum") {
            sum if sum.starts_with("XXH3-128") => (SumKind::Xxh128, SeedOrder::First),
            sum if sum.contains("MD5(data||seed") => (SumKind::Md5, SeedOrder::Last),
            sum if sum.contains("MD5(seed") => (SumKind::Md5, SeedOrder::First),
            _ => (SumKind::Md4Old, SeedOrder::Last),
        };
        let compress = match text("compress").as_str() {
            "zlib" => Some(CompressKind::Zlib),
            "zlibx" => Some(CompressKind::Zlibx),
            "zstd" => Some(CompressKind::Zstd),
            "lz4" => Some(CompressKind::Lz4),
            _ => None,
        };
        let files = json["files"].as_array().unwrap().iter();
        Self {
            protocol,
            sum,
            strong: StrongSum::new(sum, SEED, order),
            compress,
            options: text("options"),
            files: files.map(|file| RecordedFile::read(file, protocol)).collect(),
        }
    }
}

impl RecordedFile {
    fn read(file: &Value, protocol: u32) -> Self {
        let basis = content(&file["basis"], &[]);
        let field = |key: &str| number(&file["sum_head"][key]) as u32;
        let head = Head {
            count: field("count"),
            block_len: field("blength"),
            strong_len: field("s2length"),
            remainder: field("remainder"),
        };
        let before_tokens = match protocol {
            30.. => 1 + 2 + 16,
            29 => 4 + 2 + 16,
            _ => 4 + 16,
        };
        let request = hex(file["generator_to_sender"].as_str().unwrap());
        let reply = hex(file["sender_to_receiver"].as_str().unwrap());
        let file_sum = hex(file["file_sum"].as_str().unwrap());
        let tokens_decoded = file["tokens_decoded"].as_array().unwrap().iter();
        Self {
            new: content(&file["new"], &basis),
            basis,
            head,
            sums: request[before_tokens..].to_vec(),
            tokens: reply[before_tokens..reply.len() - file_sum.len()].to_vec(),
            tokens_decoded: tokens_decoded
                .map(|token| token.as_str().unwrap().to_owned())
                .collect(),
            file_sum,
        }
    }
}

/// Makes content from a recipe.
pub(crate) fn content(recipe: &Value, basis: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for item in recipe.as_array().into_iter().flatten() {
        let field = |key: &str| number(&item[key]) as usize;
        match item["type"].as_str().unwrap() {
            "lcg" => bytes.extend(lcg(field("seed") as u64, field("len"))),
            "basis" => bytes.extend_from_slice(&basis[field("off")..][..field("len")]),
            "text" => bytes.extend_from_slice(item["text"].as_str().unwrap().as_bytes()),
            "repeat" => bytes.extend(hex(item["hex"].as_str().unwrap()).repeat(field("count"))),
            other => panic!("unknown recipe {other}"),
        }
    }
    bytes
}

/// Makes bytes that look random and are the same everywhere.
pub(crate) fn lcg(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = (state * 1_103_515_245 + 12345) % (1 << 31);
            (state >> 16) as u8
        })
        .collect()
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
