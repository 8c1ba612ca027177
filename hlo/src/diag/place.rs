//! Which part of an instruction an error is about, found again in the text when the error is shown.
//!
//! Keeping a span for every operand and attribute would double the size of a module for the sake of a message that is
//! almost never printed; the text around the instruction is there when it is.
use super::Span;

/// A part of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// All of it.
    #[default]
    Whole,
    /// The attribute of this name.
    Attribute(&'static str),
    /// The operand of this number.
    Operand(usize),
}

/// Narrows the span of an instruction (from its opcode to its last attribute) to `place`; gives `span` back where the
/// part is not found, as with an attribute that was left out.
pub fn locate(text: &str, span: Span, place: &Place) -> Span {
    let Some(body) = text.get(span.range()) else { return span };
    let found = match place {
        Place::Whole => None,
        Place::Attribute(name) => attribute(body, name),
        Place::Operand(number) => operand(body, *number),
    };
    let start = span.range().start;
    found.map_or(span, |(a, b)| Span::new(start + a, start + b))
}

/// Splits at commas: those between operands, in the first parentheses, and those between attributes. Calls `part` with
/// the bounds of each and whether it is an operand.
fn parts(body: &str, mut part: impl FnMut(usize, usize, bool) -> bool) {
    let (mut depth, mut start, mut quote) = (0usize, 0, None);
    let (mut opened, mut operands) = (false, false);
    let bytes = body.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let byte = bytes[i];
        match (quote, byte) {
            (Some(_), b'\\') => i += 1,
            (Some(q), _) if q == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'{' | b'[') => {
                depth += 1;
                if !opened && byte == b'(' {
                    (opened, operands, start) = (true, true, i + 1);
                }
            }
            (None, b')' | b'}' | b']') => {
                if operands && depth == 1 {
                    operands = false;
                    if part(start, i, true) {
                        return;
                    }
                }
                depth = depth.saturating_sub(1);
            }
            (None, b',') if depth == usize::from(operands) => {
                if part(start, i, operands) {
                    return;
                }
                start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    part(start.min(body.len()), body.len(), false);
}

fn trimmed(body: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let inner = body.get(start..end)?;
    let lead = inner.len() - inner.trim_start().len();
    let kept = inner.trim().len();
    (kept > 0).then_some((start + lead, start + lead + kept))
}

fn attribute(body: &str, name: &str) -> Option<(usize, usize)> {
    let mut found = None;
    parts(body, |start, end, is_operand| {
        let Some((a, b)) = trimmed(body, start, end) else { return false };
        let named = body[a..b].strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        if !is_operand && named {
            found = Some((a, b));
        }
        found.is_some()
    });
    found
}

fn operand(body: &str, number: usize) -> Option<(usize, usize)> {
    let (mut seen, mut found) = (0, None);
    parts(body, |start, end, is_operand| {
        if is_operand {
            if seen == number {
                found = trimmed(body, start, end);
            }
            seen += 1;
        }
        !is_operand || found.is_some()
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(text: &'a str, place: &Place) -> &'a str {
        &text[locate(text, Span::new(0, text.len()), place).range()]
    }

    #[test]
    fn finds_attributes_and_operands() {
        let text =
            "slice(f32[4]{0} %x, y), slice={[0:1], [3:5]}, metadata={op_name=\"a, slice=b\"}";
        assert_eq!(at(text, &Place::Attribute("slice")), "slice={[0:1], [3:5]}");
        assert_eq!(at(text, &Place::Operand(0)), "f32[4]{0} %x");
        assert_eq!(at(text, &Place::Operand(1)), "y");
        assert_eq!(at(text, &Place::Operand(2)), text);
        assert_eq!(at(text, &Place::Attribute("strides")), text);
    }
}
