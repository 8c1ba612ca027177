//! Pretty forms of ops, by the words of [`crate::ops`].
use super::Parser;
use super::parsed_op::ParsedOp;
use crate::element::type_text;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Fields, Tensor, Type};
use crate::ops;
use hlo::diag::nearest;
use hlo::{ElementType, Span};
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses an op in its pretty form.
    pub(super) fn pretty(&mut self) -> Result<(SmolStr, ParsedOp)> {
        let start = self.cursor.start();
        let word = self.cursor.word("an op")?;
        // Within functions, these stand without the name of their dialect.
        let name = match word {
            "module" => "builtin.module",
            "return" => "func.return",
            "call" => "func.call",
            "func" => "func.func",
            _ => word,
        };
        let name = of_mhlo(SmolStr::new(name));
        let Some(row) = ops::find(&name).filter(|row| row.is_pretty()) else {
            return Err(unknown_form(&name, self.cursor.span_from(start)));
        };
        let mut body = ParsedOp::default();
        for word in row.form.split_ascii_whitespace() {
            self.form_word(word, &mut body)?;
        }
        Ok((name, body))
    }
    fn form_word(&mut self, word: &str, body: &mut ParsedOp) -> Result<()> {
        match word {
            "%" => body.operands.push(self.operand()?),
            "%*" => {
                while self.cursor.peek() == Some(b'%') {
                    body.operands.push(self.operand()?);
                    if !self.cursor.eat(",") {
                        break;
                    }
                }
            }
            "%*," => {
                while self.cursor.peek() == Some(b'%') {
                    body.operands.push(self.operand()?);
                    self.cursor.expect(",")?;
                }
            }
            "{}" => body.attributes.0.extend(self.optional_dictionary()?.0),
            _ => match (word.split_at(1), word.split_once(':')) {
                (("$", _), Some((name, kind))) => {
                    let value = self.form_attribute(kind)?;
                    body.set(&name[1..], value);
                }
                (("~", part), _) => self.form_part(part, body)?,
                (("&", types), _) => self.form_types(types, body)?,
                _ => self.cursor.expect(word)?,
            },
        }
        Ok(())
    }
    fn form_attribute(&mut self, kind: &str) -> Result<Attribute> {
        self.short_or_full(|parser| parser.short_attribute(kind))
    }
    fn short_attribute(&mut self, kind: &str) -> Result<Attribute> {
        let integer =
            |value: i64, element| Attribute::Integer(value.into(), Type::Element(element));
        Ok(match kind {
            "i64" => integer(self.cursor.integer("an integer of 64 bits")?, ElementType::S64),
            "i32" => integer(
                self.cursor.integer::<i32>("an integer of 32 bits")?.into(),
                ElementType::S32,
            ),
            "list" => Attribute::Integers(self.cursor.integers("[", "]")?),
            "string" => Attribute::String(self.string("a string")?),
            "any" => self.attribute()?,
            "name" => Attribute::String(self.symbol_name()?.as_bytes().to_vec()),
            "symbol" => Attribute::Symbol(self.symbol()?),
            "mesh" | "sharding" | "shardings" | "axes" | "axis_list" | "axis_lists"
            | "all_to_all" => self.sharding_parameter(kind)?,
            name => {
                let keyword = self.cursor.word("a keyword such as `EQ` or `DEFAULT`")?;
                Attribute::Dialect(name.into(), Fields::Keyword(keyword.into()))
            }
        })
    }
    fn form_part(&mut self, part: &str, body: &mut ParsedOp) -> Result<()> {
        match part {
            "barrier" => self.barrier(body),
            "body" => self.manual_body(body),
            "checked_constant" => self.checked(true, body),
            "checked_values" => self.checked(false, body),
            "compare_type" => self.compare_type(body),
            "constant" => self.constant(body),
            "convolution" => {
                let fields = self.convolution_dimensions()?;
                body.set("dimension_numbers", Attribute::Dialect("stablehlo.conv".into(), fields));
                Ok(())
            }
            "dot_dimensions" => self.dot_dimensions(body),
            "format" => self.precision_format(body),
            "function" => self.function().map(|parsed| *body = parsed),
            "is_stable" | "lower" => self.optional_flag(part, body),
            "module" => self.module().map(|parsed| *body = parsed),
            "precision" => self.precision(body),
            "reduce" => self.reduce().map(|parsed| *body = parsed),
            "reduction" => {
                if let Some(word) = self.reduction() {
                    let fields = Fields::Keyword(word.into());
                    body.set("reduction_op", Attribute::Dialect("sdy.reduction_op".into(), fields));
                }
                Ok(())
            }
            "regions" => self.composite_regions(body),
            "returned" => self.returned(body),
            "scan" => self.scan(body),
            "flags" => self.flags(),
            "indices" => self.indices(body),
            "number" => self.number_constant(body),
            "predicate" => self.predicate(body),
            "in_shardings" | "out_shardings" => self.optional_sharding(part, "shardings", body),
            "sharding" => self.optional_sharding(part, part, body),
            "slice_ranges" => self.slice_ranges(body),
            "tolerance" => self.tolerance(body),
            "vhlo_function" => self.vhlo_function(body),
            "while" => self.while_loop().map(|parsed| *body = parsed),
            _ => self.window(body),
        }
    }

    /// Parses the types of operands and results.
    pub(super) fn form_types(&mut self, kind: &str, body: &mut ParsedOp) -> Result<()> {
        let start = self.cursor.start();
        let (operands, results) = match kind {
            "function" => self.signature()?,
            "results" => (Vec::new(), self.types()?),
            "operands" => (self.types()?, Vec::new()),
            "arrow" => {
                let operands = self.types()?;
                match operands.as_slice() {
                    // MHLO writes one type for all.
                    [ty] if self.cursor.peek() != Some(b'-') => {
                        (vec![ty.clone(); body.operands.len()], vec![ty.clone()])
                    }
                    _ => {
                        self.cursor.expect("->")?;
                        (operands, self.result_types()?)
                    }
                }
            }
            _ => {
                let mut types = self.types()?;
                let first = types.swap_remove(0);
                match (first, types.pop()) {
                    (Type::Function(operands, results), None) => (operands, results),
                    (first, second) => self.short_types(kind, first, second, body, start)?,
                }
            }
        };
        self.check_operands(&body.operands, &operands, self.cursor.span_from(start))?;
        body.results = results;
        Ok(())
    }
    /// Returns the types that a short form stands for.
    fn short_types(
        &mut self,
        kind: &str,
        first: Type,
        second: Option<Type>,
        body: &ParsedOp,
        start: usize,
    ) -> Result<(Vec<Type>, Vec<Type>)> {
        match (kind, first, second) {
            ("same", ty, None) => Ok((vec![ty.clone(); body.operands.len()], vec![ty])),
            ("to", from, None) => {
                self.cursor.expect("to")?;
                Ok((vec![from], vec![self.ty()?]))
            }
            ("compared", ty, None) => {
                let pred = Type::Element(ElementType::Pred);
                let result = match &ty {
                    Type::Tensor(Tensor { dims, .. }) => {
                        Type::Tensor(Tensor { dims: dims.clone(), element: Ok(ElementType::Pred) })
                    }
                    _ => pred,
                };
                Ok((vec![ty; body.operands.len()], vec![result]))
            }
            ("select", ty, None) => {
                let pred = Type::Element(ElementType::Pred);
                Ok((vec![pred, ty.clone(), ty.clone()], vec![ty]))
            }
            ("dim", ty, None) => Ok((vec![ty, Type::Index], vec![Type::Index])),
            ("extract", Type::Tensor(tensor), None) => {
                let mut operands = vec![Type::Index; body.operands.len()];
                let result = element_type(&tensor);
                operands[0] = Type::Tensor(tensor);
                Ok((operands, vec![result]))
            }
            ("elements", Type::Tensor(tensor), None) => {
                Ok((vec![element_type(&tensor); body.operands.len()], vec![Type::Tensor(tensor)]))
            }
            ("witness", first, second) => Ok((
                std::iter::once(first).chain(second).collect(),
                vec![Type::Other(SmolStr::new_static("!shape.witness"))],
            )),
            ("same_operands", ty, None) => Ok((vec![ty; body.operands.len()], Vec::new())),
            ("select", pred, Some(ty)) => Ok((vec![pred, ty.clone(), ty.clone()], vec![ty])),
            ("tuple", Type::Tuple(types), None) => Ok((types.clone(), vec![Type::Tuple(types)])),
            ("complex", Type::Tensor(Tensor { dims, element: Ok(element) }), None)
                if element.is_complex() =>
            {
                let part =
                    Type::Tensor(Tensor { dims: dims.clone(), element: Ok(element.component()) });
                Ok((
                    vec![part.clone(), part],
                    vec![Type::Tensor(Tensor { dims, element: Ok(element) })],
                ))
            }
            (_, found, _) => {
                let expected = match kind {
                    "select" => "`type, type` or a function type",
                    "tuple" => "the type of a tuple",
                    "complex" => "a tensor of complex numbers or a function type",
                    _ => "one type or a function type",
                };
                let found = format!("`{}`", type_text(&found));
                let code = Code::Syntax { expected: expected.into(), found };
                Err(Error::from(code).at(self.cursor.span_from(start)))
            }
        }
    }
}

/// Returns the type of an element of a tensor.
fn element_type(tensor: &Tensor) -> Type {
    match &tensor.element {
        Ok(element) => Type::Element(*element),
        Err(name) => crate::element::scalar(name),
    }
}
/// Returns the name of an op in StableHLO or CHLO if it is one of MHLO, which has the same ops
/// under another prefix.
pub(super) fn of_mhlo(name: SmolStr) -> SmolStr {
    let Some(op) = name.strip_prefix("mhlo.") else { return name };
    let op = if op == "topk" { "top_k" } else { op };
    let known = ["stablehlo", "chlo"].map(|dialect| SmolStr::new(format!("{dialect}.{op}")));
    known.into_iter().find(|name| ops::find(name).is_some()).unwrap_or(name)
}
#[cold]
fn unknown_form(name: &str, span: Span) -> Error {
    if ops::find(name).is_some() {
        return Error::from(Code::UnknownForm { name: name.to_owned() }).at(span);
    }
    let code = Code::UnknownOp { name: name.to_owned(), at: String::new() };
    let error = Error::from(code).at(span);
    match nearest(name, ops::all().filter(|row| row.is_pretty()).map(|row| row.name)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    }
}
