//! Attributes: numbers, strings, arrays, dictionaries, symbols, types.
use super::Parser;
use super::cursor::{NumberText, parse_integer, shorten};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Type};
use hlo::{ElementType, Span};
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses an attribute.
    pub(super) fn attribute(&mut self) -> Result<Attribute> {
        self.cursor.down()?;
        let result = self.nested_attribute();
        self.cursor.up();
        result
    }
    fn nested_attribute(&mut self) -> Result<Attribute> {
        match self.cursor.peek() {
            Some(b'"') => self.string_attribute(),
            Some(b'[') => self.items("[", "]", Self::attribute).map(Attribute::Array),
            Some(b'{') => self.dictionary().map(Attribute::Dictionary),
            Some(b'@') => self.symbol().map(Attribute::Symbol),
            Some(b'#') => self.dialect_attribute(),
            Some(b'-' | b'0'..=b'9') => self.number_attribute(),
            _ if self.at_type() => self.ty().map(Attribute::Type),
            _ => self.word_attribute(),
        }
    }
    fn word_attribute(&mut self) -> Result<Attribute> {
        let before = self.cursor;
        let start = self.cursor.start();
        match self.cursor.word("an attribute")? {
            "unit" => Ok(Attribute::Unit),
            "true" => Ok(Attribute::Bool(true)),
            "false" => Ok(Attribute::Bool(false)),
            "array" => self.dense_array(),
            "dense" => self.dense(),
            "affine_map" | "affine_set" | "strided" | "distinct" => {
                self.balanced()?;
                Ok(Attribute::Dialect(
                    "builtin".into(),
                    crate::ir::Fields::Keyword(self.cursor.since(start).into()),
                ))
            }
            "loc" => {
                self.cursor = before;
                self.trailing_location()?;
                Ok(Attribute::Unit)
            }
            word @ ("dense_resource" | "sparse") => {
                let message = format!(
                    "`{word}` attributes are not supported: the elements are not in the text"
                );
                let error = Error::unsupported(message).at(self.cursor.span_from(start));
                Err(error.with_help("print the module with its constants, as `dense<...>`"))
            }
            _ => {
                self.cursor = before;
                Err(self.cursor.expected("an attribute"))
            }
        }
    }
    fn string_attribute(&mut self) -> Result<Attribute> {
        let value = self.cursor.string()?.unwrap_or_default();
        // The type of a string has no meaning here.
        if self.cursor.eat(":") {
            self.ty()?;
        }
        Ok(Attribute::String(value))
    }
    /// Parses a string or fails.
    pub(super) fn string(&mut self, expected: &str) -> Result<Vec<u8>> {
        self.cursor.string()?.ok_or_else(|| self.cursor.expected(expected))
    }
    pub(super) fn number_attribute(&mut self) -> Result<Attribute> {
        let start = self.cursor.start();
        let Some(number) = self.cursor.number() else {
            return Err(self.cursor.expected("a number"));
        };
        let end = self.cursor.offset();
        let ty = if self.cursor.eat(":") { Some(self.ty()?) } else { None };
        typed_number(number, ty, Span::new(start, end))
    }
    /// Parses `@name` or `@name::@nested`.
    pub(super) fn symbol(&mut self) -> Result<Vec<SmolStr>> {
        let mut path = vec![self.symbol_name()?];
        while self.cursor.eat("::") {
            path.push(self.symbol_name()?);
        }
        Ok(path)
    }
    /// Parses `@name` or `@"name"`.
    pub(super) fn symbol_name(&mut self) -> Result<SmolStr> {
        let before = self.cursor;
        if self.cursor.eat("@") && self.cursor.peek_here() == Some(b'"') {
            let name = self.string("a symbol")?;
            return Ok(SmolStr::new(String::from_utf8_lossy(&name)));
        }
        self.cursor = before;
        self.cursor.suffix("@", "a symbol such as `@main`").map(SmolStr::new)
    }
    /// Parses `{name = attribute, name}`.
    pub(super) fn dictionary(&mut self) -> Result<Attributes> {
        let mut names = rustc_hash::FxHashSet::default();
        let entries = self.items("{", "}", |parser| {
            let start = parser.cursor.start();
            let name = parser.attribute_name()?;
            if !names.insert(name.clone()) {
                let code = Code::Duplicate { kind: "attribute", name: name.to_string() };
                return Err(Error::from(code).at(parser.cursor.span_from(start)));
            }
            let value = if parser.cursor.eat("=") { parser.attribute()? } else { Attribute::Unit };
            Ok((name, value))
        })?;
        let mut attributes = Attributes(entries);
        crate::normal::sort(&mut attributes);
        Ok(attributes)
    }
    fn attribute_name(&mut self) -> Result<SmolStr> {
        if let Some(name) = self.cursor.string()? {
            return Ok(SmolStr::new(String::from_utf8_lossy(&name)));
        }
        self.cursor.word("the name of an attribute").map(SmolStr::new)
    }
    /// Parses `{...}`, if it is there.
    pub(super) fn optional_dictionary(&mut self) -> Result<Attributes> {
        if self.cursor.peek() == Some(b'{') { self.dictionary() } else { Ok(Attributes::default()) }
    }

    /// Parses the rest of `array<i64: 1, 2>`.
    fn dense_array(&mut self) -> Result<Attribute> {
        self.cursor.expect("<")?;
        let ty = self.ty()?;
        let float = matches!(&ty, Type::Element(element) if element.is_float());
        if self.cursor.eat(">") {
            return Ok(if float {
                Attribute::Array(Vec::new())
            } else {
                Attribute::Integers(Vec::new())
            });
        }
        self.cursor.expect(":")?;
        if float {
            let numbers = self.items("", ">", |parser| {
                let start = parser.cursor.start();
                let Some(number) = parser.cursor.number() else {
                    return Err(parser.cursor.expected("a number"));
                };
                let span = parser.cursor.span_from(start);
                typed_number(number, Some(ty.clone()), span)
            })?;
            return Ok(Attribute::Array(numbers));
        }
        let integers = self.items("", ">", |parser| {
            if parser.cursor.eat_word("true") {
                return Ok(1);
            }
            if parser.cursor.eat_word("false") {
                return Ok(0);
            }
            parser.cursor.integer("an integer of 64 bits")
        })?;
        Ok(Attribute::Integers(integers))
    }
}

/// Returns a number with its type; `i64` or `f64` where it is not written.
pub(super) fn typed_number(
    number: NumberText<'_>,
    ty: Option<Type>,
    span: Span,
) -> Result<Attribute> {
    let range = |text: &str| {
        let message = format!("`{}` is out of range", shorten(text));
        Error::from(Code::AttributeValue { message }).at(span)
    };
    match number {
        NumberText::Integer(text) => {
            let value = parse_integer(text).ok_or_else(|| range(text))?;
            let ty = ty.unwrap_or(Type::Element(ElementType::S64));
            if ty == Type::Element(ElementType::Pred) {
                return Ok(Attribute::Bool(value != 0));
            }
            let float = match ty {
                Type::Element(element) => element.float_format(),
                _ => None,
            };
            // A float of base 16 is its bits.
            let Some(format) = float else { return Ok(Attribute::Integer(value, ty)) };
            let bits = u64::try_from(value).ok().filter(|_| text.starts_with("0x"));
            bits.map(|bits| Attribute::Float(format.decode(bits), ty)).ok_or_else(|| range(text))
        }
        NumberText::Float(text) => {
            let value: f64 = text.parse().map_err(|_| range(text))?;
            let ty = ty.unwrap_or(Type::Element(ElementType::F64));
            let format = match ty {
                Type::Element(element) => element.float_format(),
                _ => None,
            };
            Ok(Attribute::Float(
                format.map_or(value, |format| format.decode(format.encode(value))),
                ty,
            ))
        }
    }
}
