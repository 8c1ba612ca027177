//! Ops, blocks and regions.
use super::sharding::{casts, is_rule, is_sharding_op};
use super::{Bytes, Dialect, Encoder, forms};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Op, Region, Value, ValueId};
use crate::normal::{default_value, is_default};
use crate::ops::{self, OpRow, has};
use crate::version::Version;
use crate::{NESTING_LIMIT, vhlo};
use std::borrow::Cow;

/// The attributes of an op, by their names in VHLO.
type OpAttributes<'p> = Vec<(&'p str, Cow<'p, Attribute>)>;

/// The head of an op: its name, and its attributes.
pub(super) struct Head {
    pub(super) name: usize,
    pub(super) properties: Option<usize>,
    pub(super) dictionary: Option<usize>,
}

/// A version of an op of VHLO.
struct OpVersion {
    number: usize,
    /// The version of StableHLO that introduced it.
    since: Version,
    attributes: &'static str,
}

impl<'p> Encoder<'p> {
    /// Returns the contents of the section of ops.
    pub(super) fn program(&mut self) -> Result<Bytes> {
        let program = self.program;
        if let Some((_, error)) = program.unread.first() {
            return Err(error.clone());
        }
        let head = self.module_head()?;
        let mut body = Bytes::default();
        self.block(&mut body, &[], &program.ops, 0, 0)?;
        let mut ir = Bytes::default();
        ir.size_and_flag(1, false);
        self.op_start(&mut ir, &head, None, 0x10);
        self.isolated(&mut ir, &body);
        Ok(ir)
    }
    /// Writes the name and the attributes of the module, which are `builtin`'s.
    fn module_head(&mut self) -> Result<Head> {
        let program = self.program;
        let name = self.tables.op_name(Dialect::Builtin, "module".to_owned());
        let symbol = program.name.as_ref().map(|name| self.text(name.as_bytes()));
        let (mut inherent, mut entries) = (vec![("sym_name", symbol)], Vec::new());
        let mut visibility = None;
        for (name, value) in &program.attributes.0 {
            let value = self.builtin_attribute(value)?;
            match name.as_str() {
                "sym_visibility" => visibility = Some(value),
                name => entries.push((name, value)),
            }
        }
        inherent.push(("sym_visibility", visibility));
        let properties = (self.format >= 5).then(|| {
            let mut properties = Bytes::default();
            for (_, value) in &inherent {
                properties.size_and_flag(value.unwrap_or(0), value.is_some());
            }
            self.tables.properties(properties)
        });
        if properties.is_none() {
            entries.extend(inherent.into_iter().filter_map(|(name, value)| Some((name, value?))));
        }
        let dictionary = (!entries.is_empty()).then(|| self.dictionary(entries));
        Ok(Head { name, properties, dictionary })
    }
    /// Writes the start of an op with these parts, up to its attributes.
    pub(super) fn op_start(&mut self, ir: &mut Bytes, head: &Head, op: Option<&Op>, parts: u8) {
        let has = |part: Option<usize>, bit: u8| if part.is_some() { bit } else { 0 };
        ir.size(head.name);
        ir.0.push(parts | has(head.dictionary, 0x01) | has(head.properties, 0x40));
        ir.size(self.location(op.and_then(|op| op.location)));
        for number in head.dictionary.into_iter().chain(head.properties) {
            ir.size(number);
        }
    }
    /// Writes the only region of an op that uses no values from outside, in a section of its own so
    /// that a reader can skip it.
    fn isolated(&self, ir: &mut Bytes, region: &Bytes) {
        ir.size_and_flag(1, true);
        match self.format {
            0 | 1 => ir.0.extend_from_slice(&region.0),
            _ => ir.section(4, &region.0),
        }
    }

    /// Writes a region, whose values have numbers from `first` on. A region without ops has no
    /// block.
    fn region(
        &mut self,
        ir: &mut Bytes,
        region: &'p Region,
        first: usize,
        depth: u32,
    ) -> Result<()> {
        if region.ops.is_empty() && region.arguments.is_empty() {
            ir.size(0);
            return Ok(());
        }
        self.block(ir, &region.arguments, &region.ops, first, depth)
    }
    fn block(
        &mut self,
        ir: &mut Bytes,
        arguments: &'p [Value],
        ops: &'p [Op],
        first: usize,
        depth: u32,
    ) -> Result<()> {
        if depth >= NESTING_LIMIT {
            return Err(self.at_op(Code::TooDeep { limit: NESTING_LIMIT }.into()));
        }
        let of_shardy = self.op.is_some_and(is_sharding_op);
        let argument_casts = if of_shardy { arguments.len() } else { 0 };
        let all_casts = argument_casts + ops.iter().map(casts).sum::<usize>();
        let results: usize = ops.iter().map(|op| op.results.len()).sum();
        let values = arguments.len() + results + all_casts;
        ir.size(1);
        ir.size(values);
        ir.size_and_flag(ops.len() + all_casts, !arguments.is_empty());
        let mut number = first;
        if !arguments.is_empty() {
            ir.size(arguments.len());
            for argument in arguments {
                let ty = match of_shardy {
                    true => self.builtin_type(&argument.ty)?,
                    false => self.vhlo_type(&argument.ty)?,
                };
                if self.format >= 4 {
                    ir.size_and_flag(ty, false);
                } else {
                    ir.size(ty);
                    ir.size(self.location(None));
                }
                self.define(argument, number)?;
                number += 1;
            }
            if self.format >= 3 {
                ir.0.push(0);
            }
        }
        for (argument, operand) in arguments.iter().zip(first..).take(argument_casts) {
            self.cast_to_vhlo(ir, argument, operand, &mut number)?;
        }
        for op in ops {
            self.op(ir, op, &mut number, first + values, depth)?;
        }
        Ok(())
    }
    fn define(&mut self, value: &'p Value, number: usize) -> Result<()> {
        let index = self.index(value.id)?;
        self.types[index] = Some(&value.ty);
        self.numbers[index] = number;
        Ok(())
    }
    /// Writes a cast of a value of `builtin`'s type, and defines the value as its result.
    fn cast_to_vhlo(
        &mut self,
        ir: &mut Bytes,
        value: &'p Value,
        operand: usize,
        number: &mut usize,
    ) -> Result<()> {
        let ty = self.vhlo_type(&value.ty)?;
        let result = self.cast(ir, (operand, ty), number);
        self.define(value, result)
    }
    fn index(&self, id: ValueId) -> Result<usize> {
        let index = usize::try_from(id.0).ok().filter(|index| *index < self.types.len());
        index.ok_or_else(|| Error::internal(format!("value {} is not one of the program", id.0)))
    }
    /// Writes an op, whose results have numbers from `number` on; those of its regions begin at
    /// `first`.
    fn op(
        &mut self,
        ir: &mut Bytes,
        op: &'p Op,
        number: &mut usize,
        first: usize,
        depth: u32,
    ) -> Result<()> {
        let outer = self.op.replace(op);
        let of_shardy = is_sharding_op(op);
        let head = self.head(op)?;
        let mut operands = Vec::with_capacity(op.operands.len());
        for operand in &op.operands {
            let index = self.index(*operand)?;
            let undefined = || Error::internal(format!("value {index} is used undefined"));
            let ty = self.types[index].ok_or_else(undefined)?;
            let mut operand = self.numbers[index];
            if of_shardy {
                let ty = self.builtin_type(ty)?;
                operand = self.cast(ir, (operand, ty), number);
            }
            operands.push(operand);
        }
        let types = op.results.iter().map(|result| match of_shardy {
            true => self.builtin_type(&result.ty),
            false => self.vhlo_type(&result.ty),
        });
        let types = types.collect::<Result<Vec<usize>>>()?;
        let has = |is_empty: bool, bit: u8| if is_empty { 0 } else { bit };
        let parts = has(types.is_empty(), 0x02)
            | has(operands.is_empty(), 0x04)
            | has(op.regions.is_empty(), 0x10);
        self.op_start(ir, &head, Some(op), parts);
        for list in [types, operands].iter().filter(|list| !list.is_empty()) {
            ir.sizes(list);
        }
        let results = *number;
        *number += op.results.len();
        if !of_shardy {
            let mut numbered = op.results.iter().zip(results..);
            numbered.try_for_each(|(result, number)| self.define(result, number))?;
        }
        self.regions(ir, op, first, depth)?;
        for (result, operand) in op.results.iter().zip(results..).filter(|_| of_shardy) {
            self.cast_to_vhlo(ir, result, operand, number)?;
        }
        self.op = outer;
        Ok(())
    }
    fn regions(&mut self, ir: &mut Bytes, op: &'p Op, first: usize, depth: u32) -> Result<()> {
        if let [region] = op.regions.as_slice()
            && op.name == "func.func"
        {
            let mut body = Bytes::default();
            self.region(&mut body, region, 0, depth + 1)?;
            self.isolated(ir, &body);
            return Ok(());
        }
        if !op.regions.is_empty() {
            ir.size_and_flag(op.regions.len(), false);
        }
        op.regions.iter().try_for_each(|region| self.region(ir, region, first, depth + 1))
    }

    /// Returns the name and the attributes of an op.
    fn head(&mut self, op: &'p Op) -> Result<Head> {
        // VHLO has one terminator for all regions.
        let row = match op.name.as_str() {
            "func.return" => ops::find("stablehlo.return"),
            name => ops::find(name),
        };
        if let Some(row) = row.filter(|_| is_sharding_op(op)) {
            return self.sharding_head(op, row);
        }
        let row = row.filter(|row| row.versions().next().is_some());
        let row = row.ok_or_else(|| self.unsupported(&format!("`{}`", op.name)))?;
        let mut attributes = vhlo::split(row, &op.attributes);
        attributes.retain(|(name, value)| !is_rule(value) && !is_default(&op.name, name, value));
        let version = self.version(op, row, &attributes)?;
        self.require(version.since, |_| format!("`{}`", op.name))?;
        let (_, name) = row.name.split_once('.').expect("the names of ops have a dialect");
        let name = format!("{name}_v{}", version.number);
        let name = self.tables.op_name(Dialect::Vhlo, name);
        let inherent = self.inherent(op, &attributes, version.attributes)?;
        let mut entries = Vec::new();
        for (name, value) in &attributes {
            if !has(version.attributes, name) {
                entries.push((*name, self.vhlo_attribute(value)?));
            }
        }
        let properties = (self.format >= 5 && !inherent.is_empty()).then(|| {
            let mut properties = Bytes::default();
            for (_, value) in &inherent {
                properties.size(*value);
            }
            self.tables.properties(properties)
        });
        if properties.is_none() {
            entries.extend(inherent);
        }
        let dictionary = (!entries.is_empty()).then(|| self.dictionary(entries));
        Ok(Head { name, properties, dictionary })
    }
    /// Returns the attributes of a version of an op, in the order of their names.
    fn inherent(
        &mut self,
        op: &Op,
        attributes: &OpAttributes<'_>,
        names: &'static str,
    ) -> Result<Vec<(&'static str, usize)>> {
        let find = |name: &str| attributes.iter().find(|(known, _)| *known == name);
        let windows = ["input_spatial_dimensions", "window_dimensions"];
        let rank = windows.iter().find_map(|name| match find(name)?.1.as_ref() {
            Attribute::Integers(dimensions) => Some(dimensions.len()),
            _ => None,
        });
        let mut values = Vec::new();
        for name in names.split_ascii_whitespace() {
            let value = match find(name) {
                Some((_, value)) => Cow::Borrowed(value.as_ref()),
                None => {
                    let value = default_value(&op.name, name, rank.unwrap_or(0));
                    Cow::Owned(value.ok_or_else(|| self.missing(op, name))?)
                }
            };
            values.push((name, self.vhlo_inherent(name, &value)?));
        }
        Ok(values)
    }
    /// Returns the error of an op that lacks an attribute.
    #[cold]
    pub(super) fn missing(&self, op: &Op, attribute: &str) -> Error {
        let message = format!("`{}` has no attribute `{attribute}`", op.name);
        self.at_op(Code::AttributeValue { message }.into())
    }
    /// Returns the version of an op that is written: of those with all of its attributes the newest
    /// that the version of the program has, else the first.
    fn version(
        &mut self,
        op: &Op,
        row: &OpRow,
        attributes: &OpAttributes<'_>,
    ) -> Result<OpVersion> {
        let operands = op.operands.iter().filter_map(|id| self.types[self.index(*id).ok()?]);
        let form = forms::needs(op, &operands.collect::<Vec<_>>());
        self.require(form, |_| format!("this form of `{}`", op.name))?;
        let base = self.base.max(form);
        let inherent: Vec<&str> =
            attributes.iter().map(|(name, _)| *name).filter(|name| row.has(name)).collect();
        let versions = row.versions().zip(1..).map(|((since, attributes), number)| OpVersion {
            number,
            since,
            attributes,
        });
        let mut complete: Vec<OpVersion> = versions
            .filter(|version| inherent.iter().all(|name| has(version.attributes, name)))
            .collect();
        let known = complete.iter().rposition(|version| version.since <= base);
        if complete.is_empty() {
            let message = format!("`{}` with the attributes of several versions", op.name);
            return Err(self.unsupported(&message));
        }
        Ok(complete.swap_remove(known.unwrap_or(0)))
    }
}
