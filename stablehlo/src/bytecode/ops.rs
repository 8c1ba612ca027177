//! Ops, blocks and regions.
use super::decoder::Decoder;
use super::reader::Reader;
use crate::error::{Code, Error, Result};
use crate::ir::{Attributes, Op, Program, Region, Value, ValueId};
use crate::ops::{self, OpRow};
use crate::{NESTING_LIMIT, normal, vhlo};
use hlo::diag::quantity;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

/// The properties that the ops of a name share.
#[derive(Debug, Clone)]
struct OpKind {
    full: SmolStr,
    /// The op of StableHLO that an op of VHLO stands for.
    vhlo: Option<&'static OpRow>,
    /// The inherent attributes, which properties have one after another; none if they are one
    /// dictionary.
    inherent: Option<&'static str>,
}

/// The values that an op can use: those of its region and, unless it is isolated, of those around
/// it. The numbers of a region begin after all of those around it, also after values that are
/// defined later.
#[derive(Debug, Default)]
struct VisibleValues {
    values: Vec<Option<ValueId>>,
    /// The number of the next value of the innermost region.
    next: usize,
}

impl VisibleValues {
    /// Defines the next value of the region.
    fn define(&mut self, id: ValueId, reader: &Reader<'_>) -> Result<()> {
        let slot = self.values.get_mut(self.next);
        let slot = slot.ok_or_else(|| reader.error("a region has more values than it states"))?;
        *slot = Some(id);
        self.next += 1;
        Ok(())
    }
}

const CAST: &str = "builtin.unrealized_conversion_cast";

#[derive(Debug)]
struct OpReader<'a> {
    decoder: Decoder<'a>,
    names: Vec<Option<OpKind>>,
    /// The attributes of ops by what the file has of them: the name of the op, the dictionary, the
    /// properties.
    attributes: FxHashMap<[Option<usize>; 3], Arc<Attributes>>,
    /// The attributes of ops that have none.
    none: Arc<Attributes>,
    values: u32,
    depth: u32,
}

/// Reads the program of a file.
pub(super) fn read(decoder: Decoder<'_>) -> Result<Program> {
    let names = vec![None; decoder.container.op_names.len()];
    let mut ir = decoder.container.ir.clone();
    let mut ops = OpReader {
        decoder,
        names,
        attributes: FxHashMap::default(),
        none: Arc::default(),
        values: 0,
        depth: 0,
    };
    let (count, arguments) = ir.size_and_flag()?;
    let mut region = Region::default();
    ops.block(&mut ir, (count, arguments), &mut VisibleValues::default(), &mut region, false)?;
    ir.end()?;
    let program =
        Program { values: ops.values, locations: ops.decoder.places, ..Program::default() };
    let mut top = region.ops;
    if top.len() == 1 && top[0].name == "builtin.module" {
        return Ok(Program::from_module(top.swap_remove(0), program));
    }
    Ok(Program { ops: top, ..program })
}

impl OpReader<'_> {
    fn region(
        &mut self,
        reader: &mut Reader<'_>,
        scope: &mut VisibleValues,
        in_function: bool,
    ) -> Result<Region> {
        if self.depth >= NESTING_LIMIT {
            return Err(Code::TooDeep { limit: NESTING_LIMIT }.into());
        }
        let mut region = Region::default();
        match reader.size()? {
            0 => return Ok(region),
            1 => {}
            _ => return Err(Error::unsupported("regions of several blocks are not supported")),
        }
        self.depth += 1;
        let (base, next) = (scope.values.len(), scope.next);
        let count = reader.count()?;
        scope.values.resize(base + count, None);
        scope.next = base;
        let block = reader.size_and_flag()?;
        self.block(reader, block, scope, &mut region, in_function)?;
        if scope.next != scope.values.len() {
            let found = scope.next - base;
            return Err(
                reader.error(format!("a region has {}, not {count}", quantity(found, "value")))
            );
        }
        scope.values.truncate(base);
        scope.next = next;
        self.depth -= 1;
        Ok(region)
    }
    /// Reads a block with this number of ops, and with arguments or without.
    fn block(
        &mut self,
        reader: &mut Reader<'_>,
        (count, arguments): (usize, bool),
        scope: &mut VisibleValues,
        region: &mut Region,
        in_function: bool,
    ) -> Result<()> {
        let version = self.decoder.container.version;
        if arguments {
            for _ in 0..reader.count()? {
                let (ty, located) =
                    if version >= 4 { reader.size_and_flag()? } else { (reader.size()?, true) };
                if located {
                    reader.size()?;
                }
                let ty = self.decoder.ty_at(ty, reader)?;
                let id = self.new_value(reader)?;
                scope.define(id, reader)?;
                region.arguments.push(Value { id, ty });
            }
            if version >= 3 && reader.byte()? != 0 {
                skip_use_orders(reader, region.arguments.len())?;
            }
        }
        region.ops.reserve(reader.check_count(count)?.min(1 << 16));
        for _ in 0..count {
            region.ops.extend(self.op(reader, scope, in_function)?);
        }
        Ok(())
    }
    fn new_value(&mut self, reader: &Reader<'_>) -> Result<ValueId> {
        let id = ValueId(self.values);
        self.values = self.values.checked_add(1).ok_or_else(|| reader.error("too many values"))?;
        Ok(id)
    }
    fn name(&mut self, index: usize, reader: &Reader<'_>) -> Result<OpKind> {
        if let Some(Some(name)) = self.names.get(index) {
            return Ok(name.clone());
        }
        let container = &self.decoder.container;
        let op = container.op_names.get(index);
        let op = op.ok_or_else(|| reader.error(format!("there is no op name {index}")))?;
        let dialect = &container.dialects[op.dialect];
        let (full, vhlo, inherent) = if dialect == "vhlo" {
            let Some((row, attributes)) = ops::of_vhlo(&op.name) else {
                let message = format!(
                    "op `{}` of VHLO is unknown: the program is newer than Etalon",
                    op.name
                );
                return Err(Code::Version { message }.into());
            };
            (SmolStr::new_static(row.name), Some(row), Some(attributes))
        } else {
            let full = SmolStr::new(format!("{dialect}.{}", op.name));
            let inherent = ops::own_attributes(&full);
            (full, None, inherent)
        };
        let inherent = inherent.filter(|_| op.known);
        if op.known && inherent.is_none() {
            let error =
                Error::unsupported(format!("bytecode with the op `{full}` is not supported"));
            return Err(error.with_help(
                "serialize the program as a portable artifact, in which it is an op of `vhlo`",
            ));
        }
        let name = OpKind { full, vhlo, inherent };
        self.names[index] = Some(name.clone());
        Ok(name)
    }
    /// Reads an op; none for a cast between a type of VHLO and the same type of `builtin`, whose
    /// results are its operands.
    fn op(
        &mut self,
        reader: &mut Reader<'_>,
        scope: &mut VisibleValues,
        in_function: bool,
    ) -> Result<Option<Op>> {
        let index = reader.size()?;
        let mut name = self.name(index, reader)?;
        if name.full == "stablehlo.return" && in_function {
            name.full = SmolStr::new_static("func.return");
        }
        let parts = reader.byte()?;
        let has = |part: u8| parts & part != 0;
        let location = self.decoder.location(reader)?;
        let dictionary = if has(0x01) { Some(reader.size()?) } else { None };
        let properties = if has(0x40) { Some(reader.size()?) } else { None };
        let attributes =
            self.op_attributes([Some(index), dictionary, properties], &name, reader)?;
        let mut results = if has(0x02) { self.results(reader)? } else { SmallVec::new() };
        let operands = if has(0x04) { operands(reader, scope)? } else { SmallVec::new() };
        if has(0x08) {
            return Err(Error::unsupported("ops with successors are not supported"));
        }
        let cast = name.full == CAST;
        if cast && operands.len() != results.len() {
            return Err(Error::unsupported(format!(
                "`{CAST}` of several values to one is not supported"
            )));
        }
        for (index, result) in results.iter_mut().enumerate() {
            result.id = if cast { operands[index] } else { self.new_value(reader)? };
            scope.define(result.id, reader)?;
        }
        if has(0x20) {
            skip_use_orders(reader, results.len())?;
        }
        if cast {
            return Ok(None);
        }
        let regions = if has(0x10) { self.regions(reader, scope, &name)? } else { Vec::new() };
        let name = name.full;
        Ok(Some(Op { name, operands, results, attributes, regions, location, span: None }))
    }
    /// Reads the types of results.
    fn results(&mut self, reader: &mut Reader<'_>) -> Result<SmallVec<[Value; 1]>> {
        reader.short_list(|reader| Ok(Value { id: ValueId(0), ty: self.decoder.ty(reader)? }))
    }
    /// Returns the attributes of an op in their normal form; few ops have attributes that no other
    /// has.
    fn op_attributes(
        &mut self,
        key: [Option<usize>; 3],
        name: &OpKind,
        reader: &Reader<'_>,
    ) -> Result<Arc<Attributes>> {
        let [_, dictionary, properties] = key;
        if dictionary.or(properties).is_none() {
            return Ok(Arc::clone(&self.none));
        }
        if let Some(known) = self.attributes.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut attributes = match dictionary {
            Some(index) => self.attribute_dictionary(index, reader)?,
            None => Attributes::default(),
        };
        if let Some(index) = properties {
            attributes.0.extend(self.properties(index, reader, name)?.0);
        }
        if let Some(row) = name.vhlo {
            vhlo::convert(row, &mut attributes, &|message| reader.error(message))?;
        }
        normal::normalize(&name.full, &mut attributes);
        let attributes = Arc::new(attributes);
        self.attributes.insert(key, Arc::clone(&attributes));
        Ok(attributes)
    }
    fn attribute_dictionary(&mut self, index: usize, reader: &Reader<'_>) -> Result<Attributes> {
        match self.decoder.attribute_at(index, reader)? {
            crate::ir::Attribute::Dictionary(attributes) => Ok(attributes),
            _ => Err(reader.error("the attributes of an op are not a dictionary")),
        }
    }
    fn properties(
        &mut self,
        index: usize,
        reader: &Reader<'_>,
        name: &OpKind,
    ) -> Result<Attributes> {
        let found = self.decoder.container.properties.get(index).cloned();
        let mut properties =
            found.ok_or_else(|| reader.error(format!("there are no properties {index}")))?;
        let Some(inherent) = name.inherent else {
            let index = properties.size()?;
            return self.attribute_dictionary(index, &properties);
        };
        let mut attributes = Attributes::default();
        for attribute in inherent.split_ascii_whitespace() {
            let (attribute, value) = match attribute.strip_prefix('?') {
                Some(attribute) => (attribute, self.decoder.optional_attribute(&mut properties)?),
                None => (attribute, Some(self.decoder.attribute(&mut properties)?)),
            };
            attributes.0.extend(value.map(|value| (SmolStr::new_static(attribute), value)));
        }
        properties.end().map(|()| attributes)
    }
    fn regions(
        &mut self,
        reader: &mut Reader<'_>,
        scope: &mut VisibleValues,
        name: &OpKind,
    ) -> Result<Vec<Region>> {
        let (count, isolated) = reader.size_and_flag()?;
        let in_function = name.full == "func.func";
        let count = reader.check_count(count)?;
        if !isolated {
            return (0..count).map(|_| self.region(reader, scope, in_function)).collect();
        }
        let version = self.decoder.container.version;
        let mut isolated = |reader: &mut Reader<'_>| -> Result<Vec<Region>> {
            (0..count)
                .map(|_| self.region(reader, &mut VisibleValues::default(), in_function))
                .collect()
        };
        if version < 2 {
            return isolated(reader);
        }
        // Isolated regions are in a section, so that a reader can skip them.
        let (id, mut section) = reader.section()?;
        if id != 4 {
            return Err(section.error("isolated regions are not in a section of their own"));
        }
        let regions = isolated(&mut section)?;
        section.end().map(|()| regions)
    }
}

fn operands(reader: &mut Reader<'_>, scope: &VisibleValues) -> Result<SmallVec<[ValueId; 4]>> {
    reader.short_list(|reader| {
        let index = reader.size()?;
        let value = scope.values.get(index).copied().flatten();
        value.ok_or_else(|| reader.error(format!("value {index} is used before it is defined")))
    })
}
/// Skips the order of the uses of values, which has no meaning for a program.
fn skip_use_orders(reader: &mut Reader<'_>, values: usize) -> Result<()> {
    let count = if values > 1 { reader.count()? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            reader.size()?;
        }
        let (uses, _) = reader.size_and_flag()?;
        for _ in 0..reader.check_count(uses)? {
            reader.size()?;
        }
    }
    Ok(())
}
