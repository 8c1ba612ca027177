//! Ops: their results, operands, and the generic form.
use super::Parser;
use super::parsed_op::{ParsedOp, ParsedOperand};
use super::scope::NamedValues;
use crate::element::type_text;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Op, Type, Value, ValueId};
use hlo::Span;
use hlo::diag::quantity;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

/// A name for results: `%a`, `%a:2`.
type ResultName<'a> = (&'a str, u32, Span);

impl<'a> Parser<'a> {
    /// Parses an op.
    pub(super) fn op(&mut self) -> Result<Op> {
        let start = self.cursor.start();
        let names = self.result_names()?;
        let name_start = self.cursor.start();
        self.cursor.down()?;
        let (name, body) = match self.cursor.peek() {
            Some(b'"') => self.generic()?,
            _ => self.pretty()?,
        };
        self.cursor.up();
        let span = self.cursor.span_from(name_start);
        let trailing = self.trailing_location()?;
        let ParsedOp { operands, mut attributes, mut regions, results, location, unread } = body;
        let names_span = Span::new(start, name_start);
        let results = self.define_results(&names, results, names_span)?;
        let operands = operands.iter().map(|operand| operand.id).collect();
        let location = trailing.or(location);
        crate::normal::sort(&mut attributes);
        check_duplicates(&attributes, span)?;
        let name = match name.strip_prefix("vhlo.") {
            Some(name) => super::vhlo::convert(name, &mut attributes, span)?,
            None => name,
        };
        if name == "func.func" {
            regions.iter_mut().for_each(super::vhlo::name_return);
        }
        if let (Some(error), Some(Attribute::String(name))) = (unread, attributes.get("sym_name")) {
            self.unread.push((SmolStr::new(String::from_utf8_lossy(name)), error));
        }
        crate::normal::normalize(&name, &mut attributes);
        Ok(Op {
            name,
            operands,
            results,
            attributes: Arc::new(attributes),
            regions,
            location,
            span: Some(span),
        })
    }
    fn result_names(&mut self) -> Result<Vec<ResultName<'a>>> {
        let mut names = Vec::new();
        if self.cursor.peek() != Some(b'%') {
            return Ok(names);
        }
        loop {
            let start = self.cursor.start();
            let name = self.cursor.suffix("%", "a value such as `%0`")?;
            let count =
                if self.cursor.eat(":") { self.cursor.integer("a number of results")? } else { 1 };
            names.push((name, count, self.cursor.span_from(start)));
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("=")?;
        Ok(names)
    }
    fn define_results(
        &mut self,
        names: &[ResultName<'a>],
        types: Vec<Type>,
        span: Span,
    ) -> Result<SmallVec<[Value; 1]>> {
        let named: u64 = names.iter().map(|(_, count, _)| u64::from(*count)).sum();
        if !names.is_empty() && u64::try_from(types.len()) != Ok(named) {
            let message =
                format!("{named} for {} results", types.len(), named = quantity(named, "name"));
            return Err(Error::from(Code::TypeMismatch { message }).at(span));
        }
        let results: SmallVec<[Value; 1]> =
            types.into_iter().map(|ty| Value { id: self.scopes.add(ty.clone()), ty }).collect();
        let mut rest = results.as_slice();
        for (name, count, span) in names {
            let (these, after) =
                rest.split_at(usize::try_from(*count).unwrap_or(0).min(rest.len()));
            rest = after;
            if let Some(first) = these.first() {
                self.define(name, NamedValues { first: first.id, count: *count }, *span)?;
            }
        }
        Ok(results)
    }
    /// Makes values visible under a name that must be new.
    pub(super) fn define(&mut self, name: &'a str, values: NamedValues, span: Span) -> Result<()> {
        if self.scopes.define(name, values) {
            return Ok(());
        }
        Err(Error::from(Code::Duplicate { kind: "value", name: format!("%{name}") }).at(span))
    }

    /// Parses `"dialect.op"(operands) <{...}> ({region}, ...) {...} : (types) -> types`.
    fn generic(&mut self) -> Result<(SmolStr, ParsedOp)> {
        let name = self.string("the name of an op")?;
        let name = super::pretty::of_mhlo(SmolStr::new(String::from_utf8_lossy(&name)));
        let mut body = ParsedOp { operands: self.operand_list()?, ..ParsedOp::default() };
        if self.cursor.peek() == Some(b'[') {
            let message =
                "ops with successors are not supported: a region of StableHLO has one block";
            let start = self.cursor.start();
            return Err(Error::unsupported(message).at(Span::new(start, start + 1)));
        }
        if self.cursor.eat("<") {
            body.attributes = self.dictionary()?;
            self.cursor.expect(">")?;
        }
        if self.cursor.peek() == Some(b'(') {
            let regions = self.items("(", ")", |parser| match name.as_str() {
                "func.func" | "vhlo.func_v1" => parser.function_body(Vec::new(), &mut body),
                name => parser.region(Vec::new(), name == "builtin.module"),
            })?;
            body.regions = regions;
        }
        self.attributes_and_types(&mut body)?;
        Ok((name, body))
    }
    /// Parses `{name = value}`, which may be missing, `:` and the types of operands and results;
    /// returns those of operands.
    pub(super) fn attributes_and_types(&mut self, body: &mut ParsedOp) -> Result<Vec<Type>> {
        body.attributes.0.extend(self.optional_dictionary()?.0);
        self.cursor.expect(":")?;
        let start = self.cursor.start();
        let (operands, results) = self.signature()?;
        self.check_operands(&body.operands, &operands, self.cursor.span_from(start))?;
        body.results = results;
        Ok(operands)
    }
    /// Parses `(%a, %b)`.
    pub(super) fn operand_list(&mut self) -> Result<Vec<ParsedOperand>> {
        self.items("(", ")", Self::operand)
    }
    /// Parses `%a` or `%a#1`.
    pub(super) fn operand(&mut self) -> Result<ParsedOperand> {
        let start = self.cursor.start();
        let name = self.cursor.suffix("%", "an operand such as `%0`")?;
        let index: u32 =
            if self.cursor.eat("#") { self.cursor.integer("the number of a result")? } else { 0 };
        let span = self.cursor.span_from(start);
        let Some(values) = self.scopes.get(name) else { return Err(self.undefined(name, span)) };
        if index >= values.count {
            let code = Code::Undefined { kind: "value", name: format!("%{name}#{index}") };
            return Err(Error::from(code)
                .at(span)
                .with_help(format!("`%{name}` has {} values", values.count)));
        }
        Ok(ParsedOperand { id: ValueId(values.first.0 + index), span })
    }
    /// Checks the types that are written for operands; `span` is that of the types.
    pub(super) fn check_operands(
        &self,
        operands: &[ParsedOperand],
        types: &[Type],
        span: Span,
    ) -> Result<()> {
        if operands.len() != types.len() {
            let message = format!("{} types for {} operands", types.len(), operands.len());
            return Err(Error::from(Code::TypeMismatch { message }).at(span));
        }
        for (operand, ty) in operands.iter().zip(types) {
            let defined = self.scopes.ty(operand.id);
            if !defined.is_some_and(|defined| same_type(defined, ty)) {
                let name = &self.cursor.text()[operand.span.range()];
                let defined = defined.map(type_text).unwrap_or_default();
                let message = format!("`{name}` has type `{defined}`, not `{}`", type_text(ty));
                return Err(Error::from(Code::TypeMismatch { message })
                    .at(operand.span)
                    .label(span, "the types written here"));
            }
        }
        Ok(())
    }
}

/// Types that Etalon does not read may be written in several ways.
fn same_type(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Other(_), Type::Other(_)) => true,
        (Type::Tensor(a), Type::Tensor(b)) if a.element.is_err() => {
            a.dims == b.dims && b.element.is_err()
        }
        _ => a == b,
    }
}
/// Checks that sorted attributes have different names.
fn check_duplicates(attributes: &Attributes, span: Span) -> Result<()> {
    match attributes.0.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let code = Code::Duplicate { kind: "attribute", name: pair[0].0.to_string() };
            Err(Error::from(code).at(span))
        }
        None => Ok(()),
    }
}
