//! Messages without the middle of words and texts that are too long to read.
use std::borrow::Cow;

/// The most bytes of a word that is shown whole, and that typos are looked for in.
pub(super) const WORD: usize = 64;
/// The number of characters shown at the start and at the end of a longer word.
const HEAD: usize = 40;
const TAIL: usize = 12;
/// The most characters of a message.
const MESSAGE: usize = 10_000;

/// Returns the message with long words and a long end elided.
pub(super) fn elide(message: String) -> String {
    if message.len() <= WORD {
        return message;
    }
    let parts =
        message.split_inclusive(|c: char| c.is_whitespace() || "`'\"/,()[]{}<>".contains(c));
    let short: String = parts.map(word).collect();
    match short.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}... ({} characters)", &short[..end], message.chars().count()),
        None => short,
    }
}

fn word(word: &str) -> Cow<'_, str> {
    // A separator at the end is not counted.
    if word.len() <= WORD + 1 || word.chars().count() <= WORD + 1 {
        return word.into();
    }
    let head = word.char_indices().nth(HEAD).map_or(word.len(), |(at, _)| at);
    let tail = word.char_indices().nth_back(TAIL).map_or(0, |(at, _)| at);
    format!("{}...{}", &word[..head], &word[tail..]).into()
}

#[cfg(test)]
mod tests {
    use super::elide;

    #[test]
    fn long_words_and_messages_are_cut() {
        let same = format!("`{}` is not /{}/{}", "a".repeat(64), "b".repeat(60), "c".repeat(60));
        assert_eq!(elide(same.clone()), same);
        let long = format!("`{}z.1` is not defined", "\u{e9}".repeat(5_000_000));
        let shown = format!("`{}...{}z.1` is not defined", "\u{e9}".repeat(40), "\u{e9}".repeat(9));
        assert_eq!(elide(long), shown);
        let shown = elide("1,".repeat(100_000));
        assert!(shown.len() < 10_100 && shown.ends_with("1,... (200000 characters)"), "{shown}");
    }
}
