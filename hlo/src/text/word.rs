//! Words, the tokens that names are, and how an error shows one.

pub(super) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
/// Returns whether a word continues with this byte; `-` and `.` belong to words.
pub(super) fn is_word(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0u8;
        loop {
            #[expect(clippy::as_conversions, reason = "`From` cannot be called in a constant")]
            let at = byte as usize;
            table[at] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
            if byte == u8::MAX {
                break table;
            }
            byte += 1;
        }
    };
    TABLE[usize::from(byte)]
}

/// Returns whether the text is a word, as names are.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(is_word_start) && text.bytes().all(is_word)
}

/// Returns `text`, or its beginning if it is long.
pub(super) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
