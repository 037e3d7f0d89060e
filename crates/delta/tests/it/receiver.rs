//! How does a receiver put a file together?

use delta::Head;
use delta::codec::{CHUNK_MAX, CHUNK_OUT, Decompressor};

use super::sender::Step;

/// A compressed token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Chunk(Vec<u8>),
    Block(u32),
    End,
}

pub(crate) fn block_of<'a>(basis: &'a [u8], head: &Head, block: u32) -> &'a [u8] {
    let len = head.block_len as usize;
    let rest = &basis[block as usize * len..];
    &rest[..len.min(rest.len())]
}

/// Applies steps beside the basis.
pub(crate) fn apply(steps: &[Step], basis: &[u8], head: &Head) -> Vec<u8> {
    let mut new = Vec::new();
    for step in steps {
        match step {
            Step::Literal(bytes) => new.extend_from_slice(bytes),
            Step::Match(block) => new.extend_from_slice(block_of(basis, head, *block)),
        }
    }
    new
}

/// Applies steps onto the basis itself, front to back.
pub(crate) fn apply_in_place(steps: &[Step], basis: &[u8], head: &Head) -> Vec<u8> {
    let mut file = basis.to_vec();
    let mut pos = 0;
    for step in steps {
        let bytes = match step {
            Step::Literal(bytes) => bytes.clone(),
            Step::Match(block) => {
                block_of(&file[..file.len().max(basis.len())], head, *block).to_vec()
            }
        };
        if file.len() < pos + bytes.len() {
            file.resize(pos + bytes.len(), 0);
        }
        file[pos..pos + bytes.len()].copy_from_slice(&bytes);
        pos += bytes.len();
    }
    file.truncate(pos);
    file
}

/// Takes uncompressed tokens apart; literals stay as they were cut.
pub(crate) fn plain_tokens(mut tokens: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        match i32::from_le_bytes(take(&mut tokens)) {
            0 => break,
            len @ 1.. => {
                let (literal, rest) = tokens.split_at(len as usize);
                steps.push(Step::Literal(literal.to_vec()));
                tokens = rest;
            }
            block => steps.push(Step::Match(-(block + 1) as u32)),
        }
    }
    assert!(tokens.is_empty());
    steps
}

/// Takes compressed tokens apart.
pub(crate) fn compressed_tokens(mut tokens: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut last = 0u32;
    loop {
        let [first] = take(&mut tokens);
        let low = u32::from(first & 0x3f);
        let (block, run) = match first {
            0x00 => break,
            0x20 => (u32::from_le_bytes(take(&mut tokens)), false),
            0x21 => (u32::from_le_bytes(take(&mut tokens)), true),
            0x40..=0x7f => {
                let [second] = take(&mut tokens);
                let len = (low as usize) << 8 | usize::from(second);
                items.push(Item::Chunk(tokens[..len].to_vec()));
                tokens = &tokens[len..];
                continue;
            }
            0x80..=0xbf => (last + low, false),
            0xc0.. => (last + low, true),
            _ => panic!("token {first:#x}"),
        };
        let extra = match run {
            true => u32::from(u16::from_le_bytes(take(&mut tokens))),
            false => 0,
        };
        items.extend((block..=block + extra).map(Item::Block));
        last = block + extra;
    }
    assert!(tokens.is_empty());
    items.push(Item::End);
    items
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (head, rest) = bytes.split_at(N);
    *bytes = rest;
    head.try_into().unwrap()
}

/// Receives one file.
pub(crate) fn receive(
    decompressor: &mut Decompressor,
    protocol: u32,
    items: &[Item],
    basis: &[u8],
    head: &Head,
) -> delta::Result<Vec<u8>> {
    let mut new = Vec::new();
    decompressor.start_file();
    for item in items {
        if let Item::Chunk(chunk) = item {
            assert!((1..=CHUNK_MAX).contains(&chunk.len()));
            decompressor.chunk(chunk, &mut keep(&mut new))?;
            continue;
        }
        decompressor.end_run(&mut keep(&mut new))?;
        if let Item::Block(block) = item {
            let data = block_of(basis, head, *block);
            decompressor.matched(data, protocol);
            new.extend_from_slice(data);
        }
    }
    Ok(new)
}

fn keep(new: &mut Vec<u8>) -> impl FnMut(&[u8]) -> delta::Result<()> {
    |piece| {
        assert!((1..=CHUNK_OUT).contains(&piece.len()));
        new.extend_from_slice(piece);
        Ok(())
    }
}
