//! `dense<...> : tensor<...>`: elements, splats, strings, bytes of base 16.
use super::Parser;
use super::cursor::{NumberText, parse_integer, shorten};
use crate::dense;
use crate::element::type_text;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Dense, Dim, Tensor, Type};
use hlo::{Class, ElementType, Span};

/// Numbers as the text has them, before their type is known.
#[derive(Debug, Default)]
struct Elements<'a> {
    /// The words: two for a complex number.
    words: Vec<(ElementText<'a>, u32)>,
    /// The sizes that the nesting shows; none for a single element.
    shape: Option<Vec<u64>>,
    complex: bool,
}
#[derive(Debug, Clone, Copy)]
enum ElementText<'a> {
    Bool(bool),
    Number(NumberText<'a>),
}

fn literal(message: String, span: Span) -> Error {
    Error::from(Code::Literal { message }).at(span)
}

impl<'a> Parser<'a> {
    /// Parses the rest of `dense<...> : type`.
    pub(super) fn dense(&mut self) -> Result<Attribute> {
        self.cursor.expect("<")?;
        let start = self.cursor.start();
        if self.at_string_elements() {
            return self.dense_strings(start);
        }
        let mut elements = Elements::default();
        if self.cursor.peek() == Some(b'>') {
            elements.shape = Some(vec![0]);
        } else {
            let mut shape = Vec::new();
            let nested = self.cursor.peek() == Some(b'[');
            self.elements(&mut elements, &mut shape, 0)?;
            elements.shape = nested.then_some(shape);
        }
        let span = self.cursor.span_from(start);
        self.cursor.expect(">")?;
        let ty = self.dense_type()?;
        encode(&elements, ty, span).map(Attribute::Dense)
    }
    fn dense_type(&mut self) -> Result<Tensor> {
        self.cursor.expect(":")?;
        let start = self.cursor.start();
        match self.ty()? {
            Type::Tensor(tensor) => Ok(tensor),
            _ => {
                let message = "the type of `dense` elements is a `tensor`".to_owned();
                Err(Error::from(Code::AttributeValue { message }).at(self.cursor.span_from(start)))
            }
        }
    }
    fn at_string_elements(&mut self) -> bool {
        let mut ahead = self.cursor;
        while ahead.eat("[") {}
        ahead.peek() == Some(b'"')
    }
    /// Parses strings, or the bytes of numbers: `"0x3F80"`.
    fn dense_strings(&mut self, start: usize) -> Result<Attribute> {
        let nested = self.cursor.peek() == Some(b'[');
        let mut strings = Vec::new();
        self.string_elements(&mut strings)?;
        let span = self.cursor.span_from(start);
        self.cursor.expect(">")?;
        let ty = self.dense_type()?;
        if nested || dense::element_bytes(&ty).is_none() {
            return Ok(Attribute::Strings(strings));
        }
        let expected = || {
            literal("expected `\"0x`, the bytes of the elements in base 16, and `\"`".into(), span)
        };
        let digits = strings[0].strip_prefix(b"0x").ok_or_else(expected)?;
        let bytes = from_hex(digits).ok_or_else(expected)?;
        let found = bytes.len();
        let text = type_text(&Type::Tensor(ty.clone()));
        let value = dense::from_bytes(ty, &bytes);
        let message =
            || format!("{found} bytes are not the elements of `{text}`, and not one of them");
        value.map(Attribute::Dense).ok_or_else(|| literal(message(), span))
    }
    fn string_elements(&mut self, strings: &mut Vec<Vec<u8>>) -> Result<()> {
        if self.cursor.peek() == Some(b'[') {
            self.cursor.down()?;
            self.items("[", "]", |parser| parser.string_elements(strings))?;
            self.cursor.up();
            return Ok(());
        }
        strings.push(self.string("a string")?);
        Ok(())
    }
    /// Parses an element, or a list of elements at this depth; `shape` gets the sizes of the first
    /// list of each depth.
    fn elements(
        &mut self,
        elements: &mut Elements<'a>,
        shape: &mut Vec<u64>,
        depth: usize,
    ) -> Result<()> {
        let start = self.cursor.start();
        match self.cursor.peek() {
            Some(b'[') => {
                self.cursor.down()?;
                let first = shape.len() == depth;
                if first {
                    shape.push(0);
                }
                let size = self
                    .items("[", "]", |parser| parser.elements(elements, shape, depth + 1))?
                    .len();
                let size = u64::try_from(size).unwrap_or(u64::MAX);
                if first {
                    shape[depth] = size;
                }
                self.cursor.up();
                if shape[depth] == size {
                    return Ok(());
                }
                let message = format!("a list of {size} elements beside one of {}", shape[depth]);
                Err(literal(message, self.cursor.span_from(start)))
            }
            Some(b'(') => {
                elements.complex = true;
                self.cursor.expect("(")?;
                self.element(elements)?;
                self.cursor.expect(",")?;
                self.element(elements)?;
                self.cursor.expect(")")
            }
            _ => self.element(elements),
        }
        .and_then(|()| {
            let leaf =
                matches!(self.cursor.text().as_bytes().get(start), Some(byte) if *byte != b'[');
            if leaf && shape.len() != depth {
                return Err(literal(
                    "an element beside a list".into(),
                    self.cursor.span_from(start),
                ));
            }
            Ok(())
        })
    }
    fn element(&mut self, elements: &mut Elements<'a>) -> Result<()> {
        let start = self.cursor.start();
        let word = if self.cursor.eat_word("true") {
            ElementText::Bool(true)
        } else if self.cursor.eat_word("false") {
            ElementText::Bool(false)
        } else {
            let number = self.cursor.number();
            ElementText::Number(number.ok_or_else(|| self.cursor.expected("an element"))?)
        };
        elements.words.push((word, u32::try_from(start).unwrap_or(u32::MAX)));
        Ok(())
    }
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

/// Returns the value of the elements in this type.
fn encode(elements: &Elements<'_>, ty: Tensor, span: Span) -> Result<Dense> {
    let text = || type_text(&Type::Tensor(ty.clone()));
    let unsupported =
        || Error::unsupported(format!("constants of type `{}` are not supported", text())).at(span);
    let size = dense::element_bytes(&ty).ok_or_else(unsupported)?;
    let count = dense::count(&ty).ok_or_else(|| {
        literal(format!("`{}` is not a type of static sizes that can be counted", text()), span)
    })?;
    if let Some(shape) = &elements.shape {
        let fits = ty.dims.len() == shape.len()
            && ty.dims.iter().zip(shape).all(|(dim, size)| *dim == Dim::Static(*size));
        // Nested lists show no sizes below one of 0, and neither does `dense<>`.
        let empty = elements.words.is_empty() && count == 0;
        if !fits && !empty {
            return Err(literal(
                format!("the elements are {shape:?}, but the type is `{}`", text()),
                span,
            ));
        }
    }
    let complex = matches!(ty.element, Ok(element) if element.is_complex());
    let expected = if complex { "pairs such as `(1.0, 2.0)`" } else { "numbers, not pairs," };
    if elements.complex != complex && !elements.words.is_empty() {
        return Err(literal(format!("the elements of `{}` are {expected} here", text()), span));
    }
    let mut bytes = Vec::with_capacity(elements.words.len() * size);
    for (word, at) in &elements.words {
        encode_word(*word, &ty, &mut bytes).ok_or_else(|| {
            let word = match word {
                ElementText::Bool(value) => value.to_string(),
                ElementText::Number(NumberText::Integer(text) | NumberText::Float(text)) => {
                    shorten(text)
                }
            };
            let start = usize::try_from(*at).unwrap_or(0);
            let span = Span::new(start, start + word.trim_end_matches("...").len());
            literal(format!("`{word}` is not an element of `{}`", text()), span)
        })?;
    }
    if count == 0 {
        bytes.clear();
    }
    let splat = elements.shape.is_none() && count > 1;
    Ok(if splat { Dense { ty, bytes, splat } } else { dense::splat_if_equal(ty, bytes, size) })
}
/// Appends the bytes of an element, or of a part of a complex one; none if it is not of this type.
fn encode_word(word: ElementText<'_>, ty: &Tensor, bytes: &mut Vec<u8>) -> Option<()> {
    let Ok(element) = ty.element.as_ref().map(|element| element.component()) else {
        let ElementText::Number(NumberText::Integer(text)) = word else { return None };
        bytes.extend(i64::try_from(parse_integer(text)?).ok()?.to_le_bytes());
        return Some(());
    };
    let bits = match (word, element.class()) {
        (ElementText::Bool(value), Class::Pred) => u64::from(value),
        (ElementText::Number(NumberText::Integer(text)), Class::Pred) => {
            u64::try_from(parse_integer(text)?.abs()).ok().filter(|&value| value <= 1)?
        }
        (ElementText::Number(NumberText::Integer(text)), Class::Signed | Class::Unsigned) => {
            integer_bits(text, element)?
        }
        (ElementText::Number(number), Class::Float) => float_bits(number, element)?,
        _ => return None,
    };
    bytes.extend(bits.to_le_bytes().get(..element.storage_bytes())?);
    Some(())
}
/// Returns the bits of an integer. MLIR's integers have no sign: either range is accepted, as it is
/// by MLIR.
fn integer_bits(text: &str, element: ElementType) -> Option<u64> {
    let value = parse_integer(text)?;
    let bits = element.bits();
    let signed = element.class() == Class::Signed;
    let (least, limit) = (-(1i128 << (bits - 1)), 1i128 << bits);
    if value < least || value >= limit || (value < 0 && !signed) {
        return None;
    }
    // Types of fewer than 8 bits are stored sign-extended in a byte, as in a literal.
    let value = if signed && value >= limit / 2 { value - limit } else { value };
    u64::try_from(value & i128::from(u64::MAX)).ok()
}
fn float_bits(number: NumberText<'_>, element: ElementType) -> Option<u64> {
    let format = element.float_format()?;
    match number {
        NumberText::Integer(text) if text.starts_with("0x") => {
            let bits = u64::try_from(parse_integer(text)?).ok()?;
            (element.bits() == 64 || bits >> element.bits() == 0).then_some(bits)
        }
        NumberText::Float(text) => Some(format.encode(text.parse().ok()?)),
        // MLIR takes no integers without a point for floats.
        NumberText::Integer(_) => None,
    }
}
