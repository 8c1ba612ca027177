//! Parses shapes: arrays, tuples, tokens, opaque handles, buffers.
//!
//! A third of a module's text is shapes, so the usual spelling, `f32[2,3]{1,0}` without blanks, is
//! parsed directly from the bytes; anything else starts over with the cursor.
mod layout;

use super::Cursor;
use crate::diag::{Code, nearest};
use crate::layout::Layout;
use crate::text::grammar::{lift, list};
use crate::{ArrayShape, Dims, ElementType, Error, Result, Shape, Span};

/// Returns whether a shape comes next: `(`, `b(`, or a word with `[` after it (no other word has
/// one).
#[inline]
pub(crate) fn at_shape(c: &Cursor<'_>) -> bool {
    let mut ahead = *c;
    match ahead.peek() {
        Some(b'(') => true,
        Some(byte) if byte.is_ascii_alphabetic() => {
            quick_type(ahead.rest().as_bytes()).is_some() || at_other(ahead)
        }
        _ => false,
    }
}

fn at_other(mut ahead: Cursor<'_>) -> bool {
    let word = ahead.eat_word().map(|(word, _)| word);
    match ahead.peek() {
        Some(b'[') => true,
        Some(b'(') => word == Some("b"),
        _ => false,
    }
}

/// Parses a shape.
#[inline]
pub(crate) fn shape(c: &mut Cursor<'_>) -> Result<Shape> {
    let first = c.peek();
    if let Some((mut array, length)) = quick_array(c.rest().as_bytes()) {
        c.skip(length);
        if c.next_byte() == Some(b':') {
            array.layout.tail = layout::after_order(c)?;
        }
        return Ok(Shape::Array(array));
    }
    if first == Some(b'(') { tuple(c) } else { other(c) }
}

fn tuple(c: &mut Cursor<'_>) -> Result<Shape> {
    c.down()?;
    let elements = c.parse(list('(', lift(shape), ')'))?;
    c.up();
    Ok(Shape::Tuple(elements))
}

/// Parses any spelling of a shape that starts with a word.
fn other(c: &mut Cursor<'_>) -> Result<Shape> {
    let before = *c;
    let (word, span) = c.word("a shape")?;
    if word == "b" && c.peek() == Some(b'(') {
        return buffer(c);
    }
    if c.peek() != Some(b'[') {
        if ElementType::from_name(word).is_some() {
            let error = c.expected(&format!("`[` after `{word}`"));
            return Err(error.with_help(format!("write `{word}[]` for a scalar")));
        }
        *c = before;
        return Err(c.expected("a shape"));
    }
    match word {
        "token" => without_dims(c, Shape::Token, span),
        "opaque" => without_dims(c, Shape::Opaque, span),
        _ => {
            let ty = ElementType::from_name(word).ok_or_else(|| unknown_type(word, span))?;
            Ok(Shape::Array(array(c, ty)?))
        }
    }
}

fn array(c: &mut Cursor<'_>, ty: ElementType) -> Result<ArrayShape> {
    let (dims, dynamic) = dims(c)?;
    let layout = layout::after_dims(c, dims.len())?;
    Ok(ArrayShape { ty, dims, dynamic, layout })
}

/// Parses `b(array)`, from the parenthesis on.
fn buffer(c: &mut Cursor<'_>) -> Result<Shape> {
    c.expect(b'(')?;
    c.down()?;
    c.blank();
    let start = c.offset();
    let inner = shape(c)?;
    let span = c.span_from(start);
    c.up();
    c.expect(b')')?;
    match inner {
        Shape::Array(array) => Ok(Shape::Buffer(Box::new(array))),
        Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(bad("a buffer can hold only an array", span)
                .with_help("write a buffer as `b(f32[2,3])`"))
        }
    }
}

/// Parses the `[]` of a shape that has neither dimensions nor a layout.
fn without_dims(c: &mut Cursor<'_>, shape: Shape, word: Span) -> Result<Shape> {
    c.expect(b'[')?;
    let closed = c.eat(b']');
    if closed && !layout::starts(c) {
        return Ok(shape);
    }
    let message = format!("`{shape}` must have neither dimensions nor a layout");
    c.blank();
    Err(bad(message, word.to(Span::new(c.offset(), c.offset() + 1)))
        .with_help(format!("write `{shape}`")))
}

/// Parses `[2,<=3,?]`: sizes, and which of them are dynamic.
fn dims(c: &mut Cursor<'_>) -> Result<(Dims, Option<Box<[bool]>>)> {
    c.expect(b'[')?;
    let (mut dims, mut dynamic) = (Dims::new(), Vec::new());
    if c.eat(b']') {
        return Ok((dims, None));
    }
    loop {
        let (size, is_dynamic) = dim(c)?;
        if is_dynamic {
            dynamic.resize(dims.len(), false);
            dynamic.push(true);
        }
        dims.push(size);
        if !c.eat(b',') {
            break;
        }
    }
    if !c.eat(b']') {
        return Err(c.expected("`,` or `]`"));
    }
    if dynamic.is_empty() {
        return Ok((dims, None));
    }
    dynamic.resize(dims.len(), false);
    Ok((dims, Some(dynamic.into())))
}

fn dim(c: &mut Cursor<'_>) -> Result<(i64, bool)> {
    const HELP: &str = "write a size such as `3`, a bound such as `<=3`, or `?`";
    if c.eat(b'?') {
        return Ok((ArrayShape::UNBOUNDED, true));
    }
    let bounded = c.eat_token("<=");
    let next = c.peek();
    let start = c.offset();
    if !next.is_some_and(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Err(c.expected("the size of a dimension").with_help(HELP));
    }
    let size = c.int()?;
    if size < 0 {
        let span = c.span_from(start);
        let message = format!("`{}` is not the size of a dimension", &c.text()[span.range()]);
        return Err(bad(message, span).with_help(HELP));
    }
    Ok((size, bounded))
}

fn bad(message: impl Into<String>, span: Span) -> Error {
    Error::from(Code::ShapeText { message: message.into() }).at(span)
}

/// Names of the types in other systems.
const FOREIGN_NAMES: [(&str, &str); 11] = [
    ("bool", "pred"),
    ("boolean", "pred"),
    ("i1", "pred"),
    ("short", "s16"),
    ("int", "s32"),
    ("long", "s64"),
    ("byte", "u8"),
    ("half", "f16"),
    ("bfloat16", "bf16"),
    ("float", "f32"),
    ("double", "f64"),
];

/// Returns the type with this name in another system: `float32` is `f32`, `uint16` is `u16`.
fn foreign_type(word: &str) -> Option<&'static str> {
    if let Some((_, name)) = FOREIGN_NAMES.iter().find(|(other, _)| *other == word) {
        return Some(name);
    }
    let starts =
        [("float", "f"), ("complex", "c"), ("uint", "u"), ("ui", "u"), ("int", "s"), ("i", "s")];
    let (bits, letter) = starts.iter().find_map(|(s, l)| Some((word.strip_prefix(s)?, l)))?;
    ElementType::from_name(&format!("{letter}{bits}")).map(ElementType::name)
}

#[cold]
fn unknown_type(word: &str, span: Span) -> Error {
    let error = bad(format!("`{word}` is not an element type"), span);
    if matches!(word, "tuple" | "buffer") {
        return error.with_help("write a tuple as `(shape, ...)`, a buffer as `b(shape)`");
    }
    let names = ElementType::ALL.iter().map(|ty| ty.name());
    let lower = word.to_ascii_lowercase();
    let near = ElementType::from_name(&lower).map(ElementType::name);
    let near = near.or_else(|| foreign_type(&lower));
    match near.or_else(|| nearest(&lower, names.clone())) {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error.with_help(format!("use one of {}", names.collect::<Vec<_>>().join(" "))),
    }
}

/// Returns a common element type, and the length of its name and `[`.
#[inline]
fn quick_type(bytes: &[u8]) -> Option<(ElementType, usize)> {
    Some(match bytes {
        [b'f', b'3', b'2', b'[', ..] => (ElementType::F32, 4),
        [b's', b'3', b'2', b'[', ..] => (ElementType::S32, 4),
        [b'u', b'3', b'2', b'[', ..] => (ElementType::U32, 4),
        [b'f', b'1', b'6', b'[', ..] => (ElementType::F16, 4),
        [b'f', b'6', b'4', b'[', ..] => (ElementType::F64, 4),
        [b's', b'6', b'4', b'[', ..] => (ElementType::S64, 4),
        [b's', b'8', b'[', ..] => (ElementType::S8, 3),
        [b'u', b'8', b'[', ..] => (ElementType::U8, 3),
        [b'b', b'f', b'1', b'6', b'[', ..] => (ElementType::Bf16, 5),
        [b'p', b'r', b'e', b'd', b'[', ..] => (ElementType::Pred, 5),
        [b'c', b'6', b'4', b'[', ..] => (ElementType::C64, 4),
        [b's', b'1', b'6', b'[', ..] => (ElementType::S16, 4),
        [b'u', b'1', b'6', b'[', ..] => (ElementType::U16, 4),
        [b'u', b'6', b'4', b'[', ..] => (ElementType::U64, 4),
        [b's', b'4', b'[', ..] => (ElementType::S4, 3),
        [b'u', b'4', b'[', ..] => (ElementType::U4, 3),
        _ => return None,
    })
}

/// Parses an array in its usual spelling, up to the `:` in its layout if there is one, and returns
/// its length; `None` if anything in it is unusual or wrong.
#[inline]
fn quick_array(bytes: &[u8]) -> Option<(ArrayShape, usize)> {
    let (ty, mut at) = quick_type(bytes)?;
    let mut dims = Dims::new();
    if bytes.get(at) == Some(&b']') {
        at += 1;
    } else {
        at = quick_numbers(bytes, at, &mut dims)?;
        if bytes.get(at) != Some(&b']') {
            return None;
        }
        at += 1;
    }
    let layout = match bytes.get(at) {
        Some(b'{') => {
            let mut minor_to_major = Dims::new();
            at = quick_numbers(bytes, at + 1, &mut minor_to_major)?;
            match bytes.get(at) {
                _ if minor_to_major.len() != dims.len() => return None,
                Some(b'}') => at += 1,
                Some(b':') => {}
                _ => return None,
            }
            Layout { minor_to_major, tail: None }
        }
        Some(b',' | b')') | None => Layout::descending(dims.len()),
        // A layout or a comment may follow after one blank.
        Some(b' ') => match bytes.get(at + 1) {
            Some(b'{' | b'/' | b' ' | b'\t' | b'\r' | b'\n') => return None,
            Some(_) | None => Layout::descending(dims.len()),
        },
        Some(_) => return None,
    };
    Some((ArrayShape { ty, dims, dynamic: None, layout }, at))
}

/// Parses numbers separated by commas; returns the offset after the last.
#[inline]
fn quick_numbers(bytes: &[u8], mut at: usize, numbers: &mut Dims) -> Option<usize> {
    // This many digits cannot overflow.
    const DIGITS: usize = 18;
    loop {
        let start = at;
        let mut number = 0i64;
        while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            at += 1;
        }
        if at == start || at - start > DIGITS {
            return None;
        }
        numbers.push(number);
        if bytes.get(at) != Some(&b',') {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests;
