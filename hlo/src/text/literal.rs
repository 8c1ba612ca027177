//! Parses constants: the text between the parentheses of `constant(...)`.
use super::Cursor;
use super::number::Number;
use super::shape::{at_shape, shape};
use crate::diag::Code;
use crate::diag::quantity;
use crate::elem::{Class, Special};
use crate::literal::{Array, ConstantValue};
use crate::text::grammar::{lift, list};
use crate::{ArrayShape, ElementType, Error, Literal, Result, Scalar, Shape, Span};

/// The most bytes of an array that is written as one number: memory must not depend on a shape
/// alone.
const MOST_ZEROS: usize = 1 << 26;

/// Parses the value of a constant of a stated shape.
pub(crate) fn constant(c: &mut Cursor<'_>, stated: &Shape) -> Result<ConstantValue> {
    // Texts of 2018 repeat the shape.
    let repeats = match stated {
        Shape::Tuple(_) => repeats_tuple(c),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            c.peek() != Some(b'(') && at_shape(c)
        }
    };
    if repeats {
        let start = {
            c.blank();
            c.offset()
        };
        let repeated = shape(c)?;
        if !repeated.compatible(stated) {
            let message =
                format!("the constant has shape {stated:#}, but repeats it as {repeated:#}");
            return Err(Error::from(Code::Literal { message }).at(c.span_from(start)));
        }
    }
    if elided(c) {
        return Ok(ConstantValue::Elided(static_shape(stated)));
    }
    value(c, stated).map(ConstantValue::Literal)
}

/// Returns whether the shape of a tuple, and not its value, comes next.
fn repeats_tuple(c: &Cursor<'_>) -> bool {
    let mut ahead = *c;
    let is_tuple = ahead.eat(b'(');
    // The values of tuples begin alike: the innermost element tells.
    while ahead.eat(b'(') {}
    is_tuple && at_shape(&ahead)
}

/// Parses `{...}`.
fn elided(c: &mut Cursor<'_>) -> bool {
    let mut ahead = *c;
    let found = ahead.eat(b'{') && ahead.eat_token("...") && ahead.eat(b'}');
    if found {
        *c = ahead;
    }
    found
}

/// Parses a value with its shape before it: `f32[2] {1, 2}`, `( s32[] 1, f32[] 2 )`.
pub(crate) fn typed_literal(c: &mut Cursor<'_>) -> Result<Literal> {
    if c.peek() == Some(b'(') {
        c.down()?;
        let elements = c.parse(list('(', lift(typed_literal), ')'))?;
        c.up();
        return Ok(Literal::tuple(elements));
    }
    let stated = shape_before_value(c)?;
    if stated == Shape::Token {
        return Ok(Literal::token());
    }
    value(c, &stated)
}

impl std::str::FromStr for Literal {
    type Err = Error;
    /// Parses what [`Display`](std::fmt::Display) prints; layouts may be omitted.
    fn from_str(text: &str) -> Result<Self> {
        let mut cursor = Cursor::new(text);
        let literal = typed_literal(&mut cursor)?;
        cursor.expect_end("the end of the literal")?;
        Ok(literal)
    }
}
impl std::str::FromStr for Array {
    type Err = Error;
    /// Parses what [`Display`](std::fmt::Display) prints; the layout may be omitted.
    fn from_str(text: &str) -> Result<Self> {
        match text.parse()? {
            Literal::Array(array) => Ok(array),
            Literal::Tuple(_) | Literal::Token => {
                let message = "expected an array, found a tuple or a token".to_owned();
                Err(Error::from(Code::Literal { message }).at(Span::new(0, text.len())))
            }
        }
    }
}

/// Parses a shape before a value: braces are a layout only if the braces of the value follow.
fn shape_before_value(c: &mut Cursor<'_>) -> Result<Shape> {
    let mut ahead = *c;
    if let Ok(stated) = shape(&mut ahead) {
        let scalar = stated.array().is_none_or(|a| a.rank() == 0);
        if scalar || ahead.peek() == Some(b'{') {
            *c = ahead;
            return Ok(stated);
        }
    }
    c.blank();
    let start = c.offset();
    let Some(length) = c.rest().find(']') else { return shape(c) };
    // The same text up to the bracket, so that offsets do not change.
    let mut bare = Cursor::new(&c.text()[..=(start + length)]);
    bare.skip(start);
    let stated = shape(&mut bare)?;
    c.skip(length + 1);
    Ok(stated)
}

/// Returns the shape of a constant: a dynamic dimension gets the size of its bound.
fn static_array(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..shape.clone() }
}
fn static_shape(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(array) => Shape::Array(static_array(array)),
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(static_shape).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

fn value(c: &mut Cursor<'_>, stated: &Shape) -> Result<Literal> {
    match stated {
        Shape::Array(array) => {
            let shape = static_array(array);
            let mut reader = Reader { c, shape: &shape, bytes: Vec::new() };
            reader.array()?;
            let bytes = reader.bytes;
            let literal = Literal::from_bytes(shape.clone(), &bytes);
            literal.ok_or_else(|| wrong(c, format!("{shape:#} has more elements than the text")))
        }
        Shape::Tuple(shapes) => tuple(c, shapes, stated),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(wrong(c, format!("a constant cannot have shape {stated:#}")))
        }
    }
}

fn tuple(c: &mut Cursor<'_>, shapes: &[Shape], stated: &Shape) -> Result<Literal> {
    c.expect(b'(')?;
    c.down()?;
    let mut elements = Vec::with_capacity(shapes.len());
    for (i, shape) in shapes.iter().enumerate() {
        if i > 0 {
            c.expect(b',')?;
        }
        elements.push(value(c, shape)?);
    }
    c.up();
    if !c.eat(b')') {
        return Err(wrong(c, format!("a value of {stated:#} has {} elements", shapes.len())));
    }
    Ok(Literal::tuple(elements))
}

/// Returns the error that the value at the position is malformed.
#[cold]
fn wrong(c: &mut Cursor<'_>, message: String) -> Error {
    c.blank();
    let at = c.offset();
    Error::from(Code::Literal { message }).at(Span::new(at, (at + 1).min(c.text().len())))
}

/// The parser of the elements of one array; memory grows with the text, not with the shape.
struct Reader<'c, 'a> {
    c: &'c mut Cursor<'a>,
    shape: &'c ArrayShape,
    bytes: Vec<u8>,
}

impl Reader<'_, '_> {
    fn array(&mut self) -> Result<()> {
        let dims = &self.shape.dims;
        if dims.is_empty() {
            if self.c.peek() == Some(b'{') {
                return Err(wrong(self.c, "a scalar must be written without braces".to_owned()));
            }
            return self.element();
        }
        if self.c.peek() != Some(b'{') {
            return self.single();
        }
        self.level(0)
    }

    /// Parses a number without braces for a whole array.
    ///
    /// XLA takes it as the first element and fills the others with zeros, while who writes it means
    /// a broadcast. It is accepted where the two are the same: for zeros, and for an array of one
    /// element.
    fn single(&mut self) -> Result<()> {
        let shape = self.shape;
        let braces = wrong(self.c, format!("the elements of {shape:#} must be written in braces"));
        let braces = braces.with_help("use `broadcast` to fill an array with one value");
        let bytes = shape.byte_count().filter(|&bytes| (1..=MOST_ZEROS).contains(&bytes));
        let Some(bytes) = bytes.filter(|_| self.c.peek() != Some(b'(')) else { return Err(braces) };
        self.element()?;
        if self.bytes.len() < bytes && self.bytes.iter().any(|&byte| byte != 0) {
            return Err(braces);
        }
        self.bytes.resize(bytes, 0);
        Ok(())
    }

    /// Parses one level of braces, with as many items as the size of dimension `d`.
    fn level(&mut self, d: usize) -> Result<()> {
        let (expected, innermost) = (self.shape.dims[d], d + 1 == self.shape.dims.len());
        self.c.expect(b'{')?;
        self.c.down()?;
        let mut found = 0;
        loop {
            // XLA treats commas between elements as blanks.
            while self.c.eat(b',') {}
            match self.c.peek() {
                Some(b'}') => break,
                None => return Err(self.c.expected("`}`")),
                Some(_) if found == expected => {
                    let message = format!(
                        "expected {expected} in dimension {d} of {:#}, found one more",
                        self.shape,
                        expected = quantity(expected, "element")
                    );
                    return Err(wrong(self.c, message));
                }
                Some(b'{') if innermost => {
                    let message =
                        format!("braces are nested deeper than the rank of {:#}", self.shape);
                    return Err(wrong(self.c, message));
                }
                Some(_) if innermost => self.element()?,
                Some(b'{') => self.level(d + 1)?,
                Some(_) => {
                    let message = format!(
                        "the elements of {:#} must be written in {} nested braces",
                        self.shape,
                        self.shape.rank()
                    );
                    return Err(wrong(self.c, message));
                }
            }
            found += 1;
        }
        if found != expected {
            let message = format!(
                "expected {expected} in dimension {d} of {:#}, found {found}",
                self.shape,
                expected = quantity(expected, "element")
            );
            return Err(wrong(self.c, message));
        }
        self.c.skip(1);
        self.c.up();
        Ok(())
    }

    fn element(&mut self) -> Result<()> {
        let ty = self.shape.ty;
        if ty.class() != Class::Complex {
            return self.part(ty);
        }
        self.c.expect(b'(')?;
        self.part(ty.component())?;
        self.c.expect(b',')?;
        self.part(ty.component())?;
        self.c.expect(b')')
    }

    /// Parses one number of a type that is not complex.
    fn part(&mut self, ty: ElementType) -> Result<()> {
        self.c.blank();
        let start = self.c.offset();
        let value = match self.c.peek_word() {
            Some(word @ ("true" | "false")) if ty == ElementType::Pred => {
                self.c.skip(word.len());
                u128::from(word == "true")
            }
            Some(word @ ("true" | "false")) => {
                let message = format!("`{word}` is a pred, expected {}", ty.with_article());
                return Err(
                    Error::from(Code::Literal { message }).at(Span::new(start, start + word.len()))
                );
            }
            _ => {
                let number = self.c.number()?;
                let span = self.c.span_from(start);
                code(number, ty)
                    .map_err(|message| Error::from(Code::NumberRange { message }).at(span))?
            }
        };
        let width = ty.storage_bytes();
        let at = self.bytes.len();
        self.bytes.resize(at + width, 0);
        Scalar::set_bits(ty, value, &mut self.bytes[at..]);
        Ok(())
    }
}

/// Returns the bits of a number in a type, or the reason why there are none.
fn code(number: Number, ty: ElementType) -> Result<u128, String> {
    match (ty.class(), number) {
        (Class::Pred, Number::Int { magnitude, .. }) => Ok(u128::from(magnitude != 0)),
        (Class::Signed | Class::Unsigned, Number::Int { negative, magnitude }) => {
            integer(negative, magnitude, ty).ok_or_else(|| {
                let sign = if negative { "-" } else { "" };
                format!("{sign}{magnitude} does not fit in {ty}")
            })
        }
        (Class::Pred | Class::Signed | Class::Unsigned, _) => {
            Err(format!("expected an integer for {}", ty.with_article()))
        }
        (Class::Float | Class::Complex, number) => float(number, ty),
    }
}

fn integer(negative: bool, magnitude: u64, ty: ElementType) -> Option<u128> {
    let value = if negative { 0u64.wrapping_sub(magnitude) } else { magnitude };
    let bits = ty.bits();
    // XLA accepts any 64 bits for both 64-bit types.
    let fits = bits == 64
        || match ty.class() {
            Class::Signed => {
                let most = (1u64 << (bits - 1)) - 1;
                magnitude <= most + u64::from(negative)
            }
            Class::Pred | Class::Unsigned | Class::Float | Class::Complex => {
                magnitude == 0 || (!negative && magnitude >> bits == 0)
            }
        };
    fits.then(|| Scalar::Unsigned(value).to_bits(ty))
}

fn float(number: Number, ty: ElementType) -> Result<u128, String> {
    let format = ty.float_format().expect("the type is a float");
    let finite = matches!(number, Number::Int { .. } | Number::Decimal(_));
    let code = match number {
        // XLA prints -0.0 as `-0`.
        Number::Int { negative: true, magnitude: 0 } => format.encode(-0.0),
        Number::Int { negative, magnitude } => format.encode_integer(negative, magnitude),
        Number::Nan { negative, payload: Some(payload) } => format
            .nan_with_payload(negative, payload)
            .ok_or_else(|| match format.payload_bits() {
                Some(bits) => format!("the payload of a NaN of {ty} has at most {bits} bits"),
                None => format!("a NaN of {ty} has no payload"),
            })?,
        Number::Nan { negative: true, payload: None } if format.special == Special::Finite => 0,
        Number::Decimal(_) | Number::Inf { .. } | Number::Nan { .. } => {
            format.encode(number.to_f64())
        }
    };
    let value = format.decode(code);
    if finite && !value.is_finite() {
        let most = format.max_finite();
        return Err(format!(
            "{} does not fit in {ty}, whose largest value is {most}",
            number.to_f64()
        ));
    }
    Ok(u128::from(code))
}
