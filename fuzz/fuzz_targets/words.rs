//! A mutation of HLO text by words, which keeps far more modules valid than a mutation of bytes.
use libfuzzer_sys::fuzzer_mutate;
use std::ops::Range;

/// Words that few files contain and that are near limits of types, sizes and special values.
const WORDS: [&str; 40] = [
    "0", "1", "-1", "2", "3", "5", "7", "127", "-128", "255", "65536", "2147483647", "4294967295",
    "9223372036854775807", "-9223372036854775808", "nan", "inf", "-inf", "-0", "1e-45", "3.4e38", "1e308", "true", "false",
    "pred", "s4", "u2", "s64", "u64", "bf16", "f16", "f8e4m3fn", "f4e2m1fn", "f64", "c64", "c128", "?", "<=", "{}", "[]",
];

/// Returns the places of the words: runs of letters, digits and dots, and single other characters.
fn words(text: &str) -> Vec<Range<usize>> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace() || *c == '\n') {
        match words.last_mut() {
            Some(last) if in_word && part(c) && last.end == at => last.end = at + c.len_utf8(),
            _ => words.push(at..at + c.len_utf8()),
        }
        in_word = part(c);
    }
    words
}

fn kind(word: &str) -> u8 {
    match word.bytes().next() {
        Some(b'0'..=b'9' | b'-') => 0,
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => 1,
        _ => 2,
    }
}

/// Replaces `at` of the data, where the result fits.
fn splice(data: &mut [u8], size: usize, most: usize, at: Range<usize>, new: &[u8]) -> usize {
    let end = size - at.len() + new.len();
    if end > most || end > data.len() {
        return size;
    }
    let tail = data[at.end..size].to_vec();
    data[at.start..at.start + new.len()].copy_from_slice(new);
    data[at.start + new.len()..end].copy_from_slice(&tail);
    end
}

/// Mutates a text: a word becomes another word of its kind, or a line is copied, dropped or moved.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed.into());
    let Some(text) = std::str::from_utf8(&data[..size]).ok().map(str::to_owned) else {
        return fuzzer_mutate(data, size, most);
    };
    let all = words(&text);
    if all.is_empty() || rng.u8(..10) == 0 {
        return fuzzer_mutate(data, size, most);
    }
    if rng.u8(..5) == 0 {
        let mut lines: Vec<&str> = text.lines().collect();
        let (from, to) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
        match rng.u8(..3) {
            0 => lines.insert(to, lines[from]),
            1 => drop(lines.remove(from)),
            _ => lines.swap(from, to),
        }
        return splice(data, size, most, 0..size, lines.join("\n").as_bytes());
    }
    let at = all[rng.usize(..all.len())].clone();
    let same: Vec<_> = all.iter().filter(|w| kind(&text[(*w).clone()]) == kind(&text[at.clone()])).collect();
    let word = match rng.u8(..3) {
        0 => WORDS[rng.usize(..WORDS.len())],
        _ => &text[same[rng.usize(..same.len())].clone()],
    };
    splice(data, size, most, at, word.as_bytes())
}
