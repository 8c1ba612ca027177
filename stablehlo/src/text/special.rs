//! Parts of pretty forms with a syntax of their own.
use super::Parser;
use super::parsed_op::ParsedOp;
use super::region::Argument;
use crate::attributes::integer;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, LocationId, Op, Region, Tensor, Type, Value};
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use std::sync::Arc;

/// The ops that `applies` may name.
pub(super) const REDUCERS: [&str; 7] =
    ["add", "and", "maximum", "minimum", "multiply", "or", "xor"];

impl Parser<'_> {
    /// Parses `dense<...> : type`, the result's type as well, or `() <{value = ...}> : () -> type`.
    pub(super) fn constant(&mut self, body: &mut ParsedOp) -> Result<()> {
        if self.cursor.eat("(") {
            self.cursor.expect(")")?;
            if self.cursor.eat("<") {
                body.attributes = self.dictionary()?;
                self.cursor.expect(">")?;
            }
            return self.attributes_and_types(body).map(drop);
        }
        body.attributes = self.optional_dictionary()?;
        let start = self.cursor.start();
        let value = self.attribute()?;
        let Attribute::Dense(dense) = &value else {
            let message = "the value of a constant is `dense<...>` of numbers".to_owned();
            return Err(
                Error::from(Code::AttributeValue { message }).at(self.cursor.span_from(start))
            );
        };
        body.results = vec![Type::Tensor(dense.ty.clone())];
        body.set("value", value);
        Ok(())
    }
    /// Parses `overflow<nsw>` or `fastmath<fast>`, if it is there: promises to a compiler, which
    /// change no value that they allow.
    pub(super) fn flags(&mut self) -> Result<()> {
        if self.cursor.eat_word("overflow") || self.cursor.eat_word("fastmath") {
            self.balanced()?;
        }
        Ok(())
    }
    /// Parses `[%i, %j]`.
    pub(super) fn indices(&mut self, body: &mut ParsedOp) -> Result<()> {
        let indices = self.items("[", "]", Self::operand)?;
        body.operands.extend(indices);
        Ok(())
    }
    /// Parses `slt`, which is a number in the generic form.
    pub(super) fn predicate(&mut self, body: &mut ParsedOp) -> Result<()> {
        const WORDS: [&str; 10] =
            ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        let found = WORDS.iter().zip(0..).find(|(word, _)| self.cursor.eat_word(word));
        let Some((_, number)) = found else {
            return Err(self.cursor.expected("a predicate such as `slt`"));
        };
        body.set("predicate", integer(number));
        Ok(())
    }
    /// Parses `2 : index`, `true`, `1.0 : f32` or `dense<...> : type`.
    pub(super) fn number_constant(&mut self, body: &mut ParsedOp) -> Result<()> {
        body.attributes = self.optional_dictionary()?;
        let start = self.cursor.start();
        let value = self.attribute()?;
        let ty = match &value {
            Attribute::Dense(dense) => Type::Tensor(dense.ty.clone()),
            Attribute::Integer(_, ty) | Attribute::Float(_, ty) => ty.clone(),
            Attribute::Bool(_) => Type::Element(hlo::ElementType::Pred),
            _ => {
                let message = "the value of a constant is a number or `dense<...>`".to_owned();
                let span = self.cursor.span_from(start);
                return Err(Error::from(Code::AttributeValue { message }).at(span));
            }
        };
        body.results = vec![ty];
        body.set("value", value);
        Ok(())
    }
    /// Parses `(%a init: %b), (%c init: %d)` and either `applies op` or a region.
    pub(super) fn reduce(&mut self) -> Result<ParsedOp> {
        let mut inits = Vec::new();
        let mut body = ParsedOp::default();
        loop {
            self.cursor.expect("(")?;
            body.operands.push(self.operand()?);
            self.cursor.expect("init")?;
            self.cursor.expect(":")?;
            inits.push(self.operand()?);
            self.cursor.expect(")")?;
            if !self.cursor.eat(",") {
                break;
            }
        }
        body.operands.extend(inits);
        let reducer =
            if self.cursor.eat_word("applies") { Some(self.reducer_name()?) } else { None };
        for word in ["across", "dimensions", "="] {
            self.cursor.expect(word)?;
        }
        body.set("dimensions", Attribute::Integers(self.cursor.integers("[", "]")?));
        let operands = self.attributes_and_types(&mut body)?;
        body.location = self.trailing_location()?;
        let region = match reducer {
            Some(reducer) => self.reducer_region(&reducer, &operands[0], body.location)?,
            None => self.reducer()?,
        };
        body.regions.push(region);
        Ok(body)
    }
    fn reducer_name(&mut self) -> Result<SmolStr> {
        let start = self.cursor.start();
        let word = match self.cursor.string()? {
            Some(word) => SmolStr::new(String::from_utf8_lossy(&word)),
            None => self.cursor.word("an op such as `stablehlo.add`")?.into(),
        };
        let word = super::pretty::of_mhlo(word);
        let known = word.strip_prefix("stablehlo.").is_some_and(|name| REDUCERS.contains(&name));
        if known {
            return Ok(word);
        }
        let message = format!(
            "`applies` names an elementwise op of two operands that commutes, not `{word}`"
        );
        Err(Error::from(Code::AttributeValue { message }).at(self.cursor.span_from(start)))
    }
    /// Returns the region that `applies op` stands for.
    fn reducer_region(
        &mut self,
        reducer: &SmolStr,
        operand: &Type,
        location: Option<LocationId>,
    ) -> Result<Region> {
        let Type::Tensor(Tensor { element, .. }) = operand else {
            return Err(self.cursor.expected("a tensor as the first operand of `reduce`"));
        };
        let ty = Type::Tensor(Tensor { dims: Arc::default(), element: element.clone() });
        let mut value = || Value { id: self.scopes.add(ty.clone()), ty: ty.clone() };
        let (left, right, result) = (value(), value(), value());
        let op = |name: &SmolStr, operands, results| Op {
            name: name.clone(),
            operands,
            results,
            attributes: Arc::default(),
            regions: Vec::new(),
            location,
            span: None,
        };
        let returned = smallvec![result.id];
        let ops = vec![
            op(reducer, smallvec![left.id, right.id], smallvec![result]),
            op(&SmolStr::new_static("stablehlo.return"), returned, SmallVec::new()),
        ];
        Ok(Region { arguments: vec![left, right], ops })
    }
    /// Parses `reducer(%a: type, %b: type) (%c: type, %d: type) { ... }`: for each input an element
    /// and an accumulator.
    fn reducer(&mut self) -> Result<Region> {
        self.cursor.expect("reducer")?;
        let (mut arguments, mut accumulators) = (Vec::new(), Vec::new());
        while self.cursor.eat("(") {
            arguments.push(self.argument()?);
            self.cursor.expect(",")?;
            accumulators.push(self.argument()?);
            self.cursor.expect(")")?;
        }
        arguments.extend(accumulators);
        self.region(arguments, false)
    }
    /// Parses `(%a = %init) : type attributes {...} cond {...} do {...}`.
    pub(super) fn while_loop(&mut self) -> Result<ParsedOp> {
        let mut body = ParsedOp::default();
        let names = self.items("(", ")", |parser| {
            let start = parser.cursor.start();
            let name = parser.cursor.suffix("%", "an argument such as `%iterArg`")?;
            let span = parser.cursor.span_from(start);
            parser.cursor.expect("=")?;
            body.operands.push(parser.operand()?);
            Ok((name, span))
        })?;
        let start = self.cursor.start();
        if !names.is_empty() {
            self.cursor.expect(":")?;
            body.results = self.types()?;
        }
        self.check_operands(&body.operands, &body.results, self.cursor.span_from(start))?;
        if self.cursor.eat_word("attributes") {
            body.attributes = self.dictionary()?;
        }
        for word in ["cond", "do"] {
            self.cursor.expect(word)?;
            let arguments = names.iter().zip(&body.results);
            let arguments =
                arguments.map(|(&(name, span), ty)| Argument { name, ty: ty.clone(), span });
            let region = self.region(arguments.collect(), false)?;
            body.regions.push(region);
        }
        Ok(body)
    }
    /// Parses `(%a: type) { ... }`.
    pub(super) fn manual_body(&mut self, body: &mut ParsedOp) -> Result<()> {
        let arguments = self.items("(", ")", Self::argument)?;
        body.regions.push(self.region(arguments, false)?);
        Ok(())
    }
    /// Parses `sharding=<...>` or the like, if it is there.
    pub(super) fn optional_sharding(
        &mut self,
        name: &str,
        kind: &str,
        body: &mut ParsedOp,
    ) -> Result<()> {
        if self.cursor.eat_word(name) {
            self.cursor.expect("=")?;
            let value = self.short_or_full(|parser| parser.sharding_parameter(kind))?;
            body.set(name, value);
        }
        Ok(())
    }
    /// Parses `({...}, {...})`, if it is there.
    pub(super) fn composite_regions(&mut self, body: &mut ParsedOp) -> Result<()> {
        if self.cursor.peek() == Some(b'(') {
            body.regions = self.items("(", ")", |parser| parser.region(Vec::new(), false))?;
        }
        Ok(())
    }
    /// Parses `(%a) inits (%b) dimension = 0 attributes {...} {...} : type`.
    pub(super) fn scan(&mut self, body: &mut ParsedOp) -> Result<()> {
        body.operands = self.operand_list()?;
        self.cursor.expect("inits")?;
        let inits = self.operand_list()?;
        let segments = [body.operands.len(), inits.len()];
        body.operands.extend(inits);
        self.cursor.expect("dimension")?;
        self.cursor.expect("=")?;
        body.set("dimension", integer(self.cursor.integer("a dimension")?));
        if self.cursor.eat_word("attributes") {
            body.attributes.0.extend(self.dictionary()?.0);
        }
        body.regions.push(self.region(Vec::new(), false)?);
        self.cursor.expect(":")?;
        self.form_types("function", body)?;
        let segments = segments.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let results = i64::try_from(body.results.len()).unwrap_or(i64::MAX);
        let lists = [
            ("operandSegmentSizes", segments),
            ("resultSegmentSizes", [results - segments[1], segments[1]]),
        ];
        for (name, sizes) in lists {
            body.set(name, Attribute::Integers(sizes.to_vec()));
        }
        Ok(())
    }
    /// Parses `, tolerance = 0.1` and the like, if it is there.
    pub(super) fn tolerance(&mut self, body: &mut ParsedOp) -> Result<()> {
        while self.cursor.eat(",") {
            let name = match self.cursor.word("the name of a tolerance")? {
                "iter" => "iteration",
                name => name,
            };
            self.cursor.expect("=")?;
            // A type does not follow here: the colon belongs to the op.
            self.number_of(name, body)?;
        }
        Ok(())
    }
    /// Parses the operands of a check, the second of which may be a constant, and its tolerances:
    /// `%a, %b, tolerance = 0.1 : type`, as StableHLO writes them, or
    /// `(%a, %b, atol 0.1, rtol 0.1) : type`, as IREE does.
    ///
    /// A check of IREE has the rule of NumPy, and equal values have the same bits there.
    pub(super) fn checked(&mut self, is_constant: bool, body: &mut ParsedOp) -> Result<()> {
        let in_parentheses = self.cursor.eat("(");
        body.operands.push(self.operand()?);
        self.cursor.expect(",")?;
        match is_constant {
            true => {
                let value = self.attribute()?;
                body.set("value", value);
            }
            false => body.operands.push(self.operand()?),
        }
        if !in_parentheses {
            self.tolerance(body)?;
            body.attributes.0.extend(self.optional_dictionary()?.0);
            if is_constant {
                return Ok(());
            }
            self.cursor.expect(":")?;
            return self.form_types("same_operands", body);
        }
        body.set("numpy", Attribute::Unit);
        while self.cursor.eat(",") {
            let name = self.cursor.word("`atol` or `rtol`")?;
            self.number_of(name, body)?;
        }
        self.cursor.expect(")")?;
        body.attributes.0.extend(self.optional_dictionary()?.0);
        self.cursor.expect(":")?;
        self.form_types("same_operands", body)
    }
    /// Parses a number without a type as an attribute of this name.
    fn number_of(&mut self, name: &str, body: &mut ParsedOp) -> Result<()> {
        let start = self.cursor.start();
        let number = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
        let value = super::attribute::typed_number(number, None, self.cursor.span_from(start))?;
        body.set(name, value);
        Ok(())
    }
    /// Parses `: types`, if it is there.
    pub(super) fn returned(&mut self, body: &mut ParsedOp) -> Result<()> {
        if body.operands.is_empty() || !self.cursor.eat(":") {
            return Ok(());
        }
        let start = self.cursor.start();
        let types = self.types()?;
        self.check_operands(&body.operands, &types, self.cursor.span_from(start))
    }
    /// Parses `%a, %b : types` or `()`.
    pub(super) fn barrier(&mut self, body: &mut ParsedOp) -> Result<()> {
        if self.cursor.eat("(") {
            return self.cursor.expect(")");
        }
        loop {
            body.operands.push(self.operand()?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(":")?;
        let start = self.cursor.start();
        body.results = self.types()?;
        self.check_operands(&body.operands, &body.results, self.cursor.span_from(start))
    }
}
