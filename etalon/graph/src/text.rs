//! Text in pictures: its width, its beginning, and its form in markup.

/// The width of a character of 12 px, on average.
const CHARACTER: f64 = 6.6;

/// Returns the width of a text.
pub(super) fn width(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(f64::MAX, f64::from) * CHARACTER
}

/// Returns the text, or its beginning and an ellipsis.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Returns a shape without comments: a long tuple has the indices of its elements as comments.
pub(super) fn without_comments(shape: &str) -> String {
    let mut parts = shape.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or(part, |(_, after)| after))
}

/// Returns a text for XML. Control characters, which XML does not allow, become blanks.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns bytes in the letters of base64 (RFC 4648).
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| usize::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letter = |at: usize| match at <= three.len() {
            true => char::from(LETTERS[bits >> (18 - 6 * at) & 63]),
            false => '=',
        };
        text.extend((0..4).map(letter));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_safe() {
        assert_eq!(escaped("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot; ");
        assert_eq!(without_comments("(s32[], /*index=5*/u8[2])"), "(s32[], u8[2])");
        assert_eq!(shortened("añbc", 4), "añbc");
        assert_eq!(shortened("añbcd", 4), "añb…");
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar", "\u{7ff}\u{7ff}~~"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy", "37/fv35+"];
        assert_eq!(texts.map(|text| base64(text.as_bytes())), expected);
    }
}
