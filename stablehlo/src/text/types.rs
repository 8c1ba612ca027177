//! Types: `tensor<2x?xf32>`, `tuple<...>`, functions, tokens.
use super::Parser;
use crate::element;
use crate::element::set_bounds;
use crate::error::{Code, Error, Result};
use crate::ir::{Dim, Tensor, Type};
use crate::quantized::Quantized;
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.cursor.down()?;
        let result = self.nested_type();
        self.cursor.up();
        result
    }
    fn nested_type(&mut self) -> Result<Type> {
        match self.cursor.peek() {
            Some(b'(') => self.function_type(),
            Some(b'!') => self.dialect_type(),
            _ => {
                let start = self.cursor.start();
                let before = self.cursor;
                let word = self.cursor.word("a type")?;
                self.named_type(word, start).unwrap_or_else(|| {
                    self.cursor = before;
                    Err(self.cursor.expected("a type"))
                })
            }
        }
    }
    /// Parses what follows the first word of a type; none if it is not one.
    fn named_type(&mut self, word: &str, start: usize) -> Option<Result<Type>> {
        Some(match word {
            "tensor" => self.tensor(),
            "tuple" => self.type_list("<", ">").map(Type::Tuple),
            "complex" => self.complex(),
            "memref" | "vector" => {
                self.balanced().map(|()| Type::Other(self.cursor.since(start).into()))
            }
            _ if element::is_scalar(word) => Ok(element::scalar(word)),
            _ => return None,
        })
    }
    /// Returns whether a type comes next.
    pub(super) fn at_type(&mut self) -> bool {
        let mut ahead = self.cursor;
        match ahead.peek() {
            Some(b'(' | b'!') => true,
            _ => ahead.identifier().is_some_and(|word| {
                matches!(word, "tensor" | "tuple" | "complex" | "memref" | "vector")
                    || element::is_scalar(word)
            }),
        }
    }
    /// Parses types between brackets.
    pub(super) fn type_list(&mut self, open: &str, close: &str) -> Result<Vec<Type>> {
        self.items(open, close, Self::ty)
    }
    /// Parses `type, type, ...`.
    pub(super) fn types(&mut self) -> Result<Vec<Type>> {
        let mut types = vec![self.ty()?];
        while self.cursor.eat(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }
    /// Parses the results of a function: a type, or several in parentheses.
    pub(super) fn result_types(&mut self) -> Result<Vec<Type>> {
        if self.cursor.peek() == Some(b'(') {
            let before = self.cursor;
            let types = self.type_list("(", ")")?;
            // A single result may be a function.
            if !self.cursor.eat("->") {
                return Ok(types);
            }
            self.cursor = before;
        }
        Ok(vec![self.ty()?])
    }
    /// Parses `(types) -> types`.
    pub(super) fn signature(&mut self) -> Result<(Vec<Type>, Vec<Type>)> {
        let operands = self.type_list("(", ")")?;
        self.cursor.expect("->")?;
        Ok((operands, self.result_types()?))
    }
    fn function_type(&mut self) -> Result<Type> {
        self.signature().map(|(operands, results)| Type::Function(operands, results))
    }
    pub(super) fn complex(&mut self) -> Result<Type> {
        self.cursor.expect("<")?;
        let part = self.ty()?;
        self.cursor.expect(">")?;
        Ok(element::complex(&part))
    }
    fn dialect_type(&mut self) -> Result<Type> {
        let start = self.cursor.start();
        let name = self.cursor.suffix("!", "a type")?;
        if name == "stablehlo.token" || name == "mhlo.token" {
            return Ok(Type::Token);
        }
        if let Some(name) = name.strip_prefix("vhlo.") {
            return self.vhlo_type(name, start);
        }
        let body = self.cursor.peek_here() == Some(b'<');
        if !name.contains('.') && !body {
            return self.type_alias(name, self.cursor.span_from(start));
        }
        if body {
            self.balanced()?;
        }
        Ok(match self.cursor.since(start) {
            "!stablehlo<token>" => Type::Token,
            text => Type::Other(match Quantized::parse(text) {
                Some(quantized) => quantized.to_string().into(),
                None => SmolStr::new(text),
            }),
        })
    }

    pub(super) fn tensor(&mut self) -> Result<Type> {
        let start = self.cursor.start();
        self.cursor.expect("<")?;
        if self.cursor.eat("*") {
            self.cursor.jump(start);
            self.balanced()?;
            return Ok(Type::Other(SmolStr::new(format!("tensor{}", self.cursor.since(start)))));
        }
        let mut dims = Vec::new();
        while let Some(dim) = self.dim()? {
            dims.push(dim);
        }
        let element = self.ty()?;
        if self.cursor.eat(",") {
            self.encoding(&mut dims)?;
        }
        self.cursor.expect(">")?;
        let element = element::tensor_element(&element);
        Ok(Type::Tensor(Tensor { dims: dims.into(), element }))
    }
    /// Parses `2x` or `?x`, if there is one.
    fn dim(&mut self) -> Result<Option<Dim>> {
        let start = self.cursor.start();
        let dim = if self.cursor.eat("?") {
            Dim::Dynamic(None)
        } else if let Some(digits) = self.cursor.digits() {
            let size = digits.parse().ok().filter(|size: &u64| i64::try_from(*size).is_ok());
            Dim::Static(size.ok_or_else(|| {
                let message = format!("a size of `{digits}` does not fit in 63 bits");
                Error::from(Code::AttributeValue { message }).at(self.cursor.span_from(start))
            })?)
        } else {
            return Ok(None);
        };
        // The `x` and the word after it are one word to the lexer.
        if self.cursor.peek() != Some(b'x') {
            return Err(self.cursor.expected("`x`"));
        }
        self.cursor.jump(self.cursor.offset() + 1);
        Ok(Some(dim))
    }
    /// Parses `#stablehlo.bounds<?, 4>` and puts the bounds on the dimensions.
    fn encoding(&mut self, dims: &mut [Dim]) -> Result<()> {
        let start = self.cursor.start();
        let bounds = if self.cursor.eat("#stablehlo.bounds<") || self.cursor.eat("#mhlo.bounds<") {
            self.bounds(">")?
        } else if self.cursor.eat("#stablehlo.type_extensions<bounds")
            || self.cursor.eat("#mhlo.type_extensions<bounds")
            || self.cursor.eat("#vhlo.type_extensions_v1<bounds")
        {
            self.cursor.expect("=")?;
            self.cursor.expect("[")?;
            let bounds = self.bounds("]")?;
            self.cursor.expect(">")?;
            bounds
        } else {
            return self.encoding_alias(dims, start);
        };
        let span = self.cursor.span_from(start);
        if set_bounds(dims, &bounds) {
            return Ok(());
        }
        let message = format!(
            "{} bounds for {} dimensions, of which those with a size have none",
            bounds.len(),
            dims.len()
        );
        Err(Error::from(Code::AttributeValue { message }).at(span))
    }
    /// Follows an alias of bounds; any other encoding, such as that of a sparse tensor, has no
    /// meaning in HLO.
    fn encoding_alias(&mut self, dims: &mut [Dim], start: usize) -> Result<()> {
        if self.cursor.peek() == Some(b'#') {
            let name = self.cursor.suffix("#", "an attribute")?;
            if let Some(at) = self.aliases.attribute(name) {
                let after = self.cursor;
                self.cursor.down()?;
                self.cursor.jump(at);
                self.encoding(dims)?;
                self.cursor = after;
                return Ok(());
            }
            if self.cursor.peek_here() == Some(b'<') {
                self.balanced()?;
            }
        }
        let message =
            format!("tensors with the encoding `{}` are not supported", self.cursor.since(start));
        Err(Error::unsupported(message).at(self.cursor.span_from(start)))
    }
    fn bounds(&mut self, close: &str) -> Result<Vec<Option<u64>>> {
        let mut bounds = Vec::new();
        while !self.cursor.eat(close) {
            if !bounds.is_empty() {
                self.cursor.expect(",")?;
            }
            let unknown = self.cursor.eat("?");
            bounds.push(if unknown { None } else { Some(self.cursor.integer("a bound")?) });
        }
        Ok(bounds)
    }
}
