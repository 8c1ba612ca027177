//! Mutated messages: `decode` and `open` return a module or an error, within memory that is
//! proportional to the message.
//!
//! The messages are those of the modules in `tests`, and of the folder `ETALON_CORPUS` if it is
//! set; `ETALON_SECONDS` is the length of the campaign.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]
use hlo::Module;
use hlo::ir::ParseOptions;
use hlo::proto::{decode, encode, open};
use hlo::text::Style;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A generator of random numbers: the same mutations in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end.max(1)
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "hlo" || e == "txt") {
            found.push(path);
        }
    }
}

/// The messages of the modules that are small enough for many mutations.
fn seeds() -> Vec<Vec<u8>> {
    const LARGEST: usize = 1 << 17;
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs"), &mut paths);
    if let Some(corpus) = std::env::var_os("ETALON_CORPUS") {
        files(Path::new(&corpus), &mut paths);
    }
    let message = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).ok().filter(|text| text.len() <= LARGEST)?;
        encode(&Module::parse(&text).ok()?).ok()
    };
    paths.iter().filter_map(message).collect()
}

/// Changes some bytes, or copies, removes or repeats a range: lengths, tags and nesting change with
/// them. Most changes keep the length, so that the messages around still end where they should.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(64)).min(bytes.len());
        match random.below(24) {
            _ if bytes.is_empty() => return,
            0..7 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            7..12 => bytes[at] ^= 1 << random.below(8),
            12..16 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            16..20 => {
                let from = random.below(other.len());
                let length = (end - at).min(other.len() - from);
                bytes[at..at + length].copy_from_slice(&other[from..from + length]);
            }
            20 => drop(bytes.drain(at..end)),
            21 => {
                let part = bytes[at..end].repeat(1 + random.below(40));
                bytes.splice(at..at, part);
            }
            22 => {
                let from = random.below(other.len());
                let to = (from + 1 + random.below(64)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            // A large number: a length, a dimension, an id.
            _ => drop(bytes.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])),
        }
    }
}

/// Returns the most memory that this process has used; `None` where the system does not tell.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

#[test]
fn mutated_messages_are_modules_or_errors() {
    let seconds = std::env::var("ETALON_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let (start, mut random) = (Instant::now(), Random(0x9e37_79b9_7f4a_7c15));
    let seeds = seeds();
    let (mut tried, mut decoded, mut slowest) = (0u64, 0u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        let other = &seeds[random.below(seeds.len())];
        mutate(&mut bytes, other, &mut random);
        let begin = Instant::now();
        let _ = open(&bytes);
        match decode(&bytes) {
            Ok(module) => {
                decoded += 1;
                let text = module.print(Style::Full);
                let again = Module::parse_with(&text, ParseOptions { lenient: true });
                let again = again.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
                assert_eq!(again.module.print(Style::Full), text);
                let _ = encode(&module);
                let _ = module.verify();
            }
            Err(error) => assert!(error.code().number().starts_with('E'), "{error}"),
        }
        tried += 1;
        slowest = slowest.max(begin.elapsed());
    }
    let peak = peak_bytes();
    eprintln!("{tried} messages, {decoded} decoded, slowest {slowest:?}, peak {peak:?} bytes");
    assert!(decoded > 0 && decoded < tried);
    assert!(peak.is_none_or(|peak| peak < 1 << 30), "{peak:?}");
}
