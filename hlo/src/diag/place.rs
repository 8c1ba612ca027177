//! The part of an instruction an error is about, located in the text when the error is rendered.
//!
//! A span for every operand and attribute would double the size of a module for a message that is
//! almost never printed; the text of the instruction is available when it is.
use super::Span;

/// A part of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// The whole instruction.
    #[default]
    Whole,
    /// The result shape.
    Shape,
    /// The attribute with this name.
    Attribute(&'static str),
    /// The operand with this index.
    Operand(usize),
}

/// Narrows the span of an instruction (from its opcode to its last attribute) to `place`; returns
/// `span` if the part is not found, as with an omitted attribute.
///
/// For [`Place::Shape`] the span is the text between the instruction's name and its opcode.
pub fn locate(text: &str, span: Span, place: &Place) -> Span {
    let Some(body) = text.get(span.range()) else { return span };
    let found = match place {
        Place::Whole => None,
        Place::Shape => shape(body),
        Place::Attribute(name) => attribute(body, name),
        Place::Operand(number) => operand(body, *number),
    };
    let start = span.range().start;
    found.map_or(span, |(a, b)| Span::new(start + a, start + b))
}

/// A part between commas or parentheses, without the blanks and comments around it.
#[derive(Default, Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    is_operand: bool,
}

/// Splits at commas: those between operands, in the first parentheses, and those between
/// attributes. Calls `visit` with each part until it returns true.
fn parts(body: &str, mut visit: impl FnMut(Part) -> bool) {
    let (mut depth, mut opened) = (0usize, false);
    let mut part = Part::default();
    let bytes = body.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let next = i + token(&body[i..]);
        let inside = usize::from(part.is_operand);
        match bytes[i] {
            b'/' if next > i + 1 => {}
            byte if byte.is_ascii_whitespace() => {}
            b',' if depth == inside => {
                if visit(part) {
                    return;
                }
                part = Part { start: next, end: next, ..part };
            }
            b'(' if !opened => {
                (opened, depth) = (true, depth + 1);
                part = Part { start: next, end: next, is_operand: true };
            }
            b')' if part.is_operand && depth == 1 => {
                if visit(part) {
                    return;
                }
                depth = 0;
                part = Part { start: next, end: next, is_operand: false };
            }
            byte => {
                match byte {
                    b'(' | b'{' | b'[' => depth += 1,
                    b')' | b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if part.end == part.start {
                    part.start = i;
                }
                part.end = next;
            }
        }
        i = next;
    }
    visit(part);
}

/// Returns the length of a string, a comment or a character; brackets in the first two are not
/// brackets.
fn token(rest: &str) -> usize {
    let mut chars = rest.chars();
    let first = chars.next().map_or(1, char::len_utf8);
    let closed = |end: Option<usize>, length: usize| end.map_or(rest.len(), |at| at + length);
    match rest.as_bytes() {
        [b'/', b'*', ..] => closed(rest[2..].find("*/"), 4),
        [b'/', b'/', ..] => closed(rest.find('\n'), 0),
        [quote @ (b'"' | b'\''), inner @ ..] => {
            let mut escaped = false;
            let end = inner.iter().position(|byte| {
                let ends = byte == quote && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            });
            closed(end, 2)
        }
        _ => first,
    }
}

fn attribute(body: &str, name: &str) -> Option<(usize, usize)> {
    let mut found = None;
    parts(body, |part| {
        let written = &body[part.start..part.end];
        let named = written.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        if !part.is_operand && named {
            found = Some((part.start, part.end));
        }
        found.is_some()
    });
    found
}

fn operand(body: &str, number: usize) -> Option<(usize, usize)> {
    let (mut seen, mut found) = (0, None);
    parts(body, |part| {
        if part.is_operand && seen == number {
            found = (part.end > part.start).then_some((part.start, part.end));
        }
        seen += 1;
        !part.is_operand || found.is_some()
    });
    found
}

/// Returns the range of the shape in ` = shape `.
fn shape(between: &str) -> Option<(usize, usize)> {
    let (mut i, mut start, mut end) = (0, None, 0);
    while i < between.len() {
        let next = i + token(&between[i..]);
        let first = between.as_bytes()[i];
        let comment = first == b'/' && next > i + 1;
        let sign = start.is_none() && matches!(first, b':' | b'=');
        if !comment && !sign && !first.is_ascii_whitespace() {
            start.get_or_insert(i);
            end = next;
        }
        i = next;
    }
    start.map(|start| (start, end))
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

    #[test]
    fn comments_belong_to_nothing() {
        let text = "add(x /* ( */, /*index=1*/y // )\n), a={1} /* , b={2} */, b=\"\\\",\" // c=3";
        assert_eq!(at(text, &Place::Operand(0)), "x");
        assert_eq!(at(text, &Place::Operand(1)), "y");
        assert_eq!(at(text, &Place::Attribute("a")), "a={1}");
        assert_eq!(at(text, &Place::Attribute("b")), "b=\"\\\",\"");
        assert_eq!(at(text, &Place::Attribute("c")), text);
        assert_eq!(at("f()", &Place::Operand(0)), "f()");
    }

    #[test]
    fn finds_the_shape_before_an_opcode() {
        assert_eq!(at(" = (f32[2]{0}, s32[]) /* b */ ", &Place::Shape), "(f32[2]{0}, s32[])");
        assert_eq!(at(" = ", &Place::Shape), " = ");
    }
}
