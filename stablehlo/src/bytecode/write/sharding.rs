//! The ops and attributes of Shardy, which stand among those of VHLO as they are.
use super::ops::Head;
use super::vhlo_attributes::kind;
use super::{Bytes, Dialect, Encoder, MIXED};
use crate::attributes::REDUCTIONS;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Fields, Op};
use crate::ops::OpRow;

/// Returns whether an op is one of Shardy. Its values have types of `builtin`.
pub(super) fn is_sharding_op(op: &Op) -> bool {
    op.name.starts_with("sdy.")
}
/// Returns the number of casts around an op: of operands to types of `builtin`, and of results to
/// those of VHLO.
pub(super) fn casts(op: &Op) -> usize {
    if is_sharding_op(op) { op.operands.len() + op.results.len() } else { 0 }
}
/// Returns whether an attribute is a rule, of which the readers keep nothing: it says how shardings
/// propagate, and the op means the same without it.
pub(super) fn is_rule(value: &Attribute) -> bool {
    matches!(value, Attribute::Dialect(name, _) if name == "sdy.op_sharding_rule")
}

impl<'p> Encoder<'p> {
    /// Writes a cast of a value, and returns the number of its result.
    pub(super) fn cast(
        &mut self,
        ir: &mut Bytes,
        (operand, ty): (usize, usize),
        number: &mut usize,
    ) -> usize {
        const RESULTS_AND_OPERANDS: u8 = 0x02 | 0x04;
        let name = "unrealized_conversion_cast".to_owned();
        let name = self.tables.op_name(Dialect::Builtin, name);
        let head = Head { name, properties: None, dictionary: None };
        let op = self.op;
        self.op_start(ir, &head, op, RESULTS_AND_OPERANDS);
        ir.sizes(&[ty]);
        ir.sizes(&[operand]);
        *number += 1;
        *number - 1
    }
    /// Returns the name and the attributes of an op of Shardy.
    pub(super) fn sharding_head(&mut self, op: &'p Op, row: &OpRow) -> Result<Head> {
        self.require(MIXED, |_| format!("`{}`", op.name))?;
        let name = self.tables.op_name(Dialect::Sdy, op.name["sdy.".len()..].to_owned());
        let (mut inherent, mut entries) = (Vec::new(), Vec::new());
        for (name, value) in op.attributes.0.iter().filter(|(_, value)| !is_rule(value)) {
            entries.push((name.as_str(), self.sharding_parameter(row, name, value)?));
        }
        let mut properties = Bytes::default();
        for name in row.own().unwrap_or("").split_ascii_whitespace() {
            let (name, is_optional) = match name.strip_prefix('?') {
                Some(name) => (name, true),
                None => (name, false),
            };
            let index = entries.iter().position(|(known, _)| *known == name);
            let value = index.map(|index| entries.swap_remove(index));
            match value {
                _ if is_optional => {
                    properties.size_and_flag(value.map_or(0, |(_, value)| value), value.is_some());
                }
                Some((_, value)) => properties.size(value),
                None => return Err(self.missing(op, name)),
            }
            inherent.extend(value);
        }
        let has_properties = self.format >= 5 && !properties.0.is_empty();
        let properties = has_properties.then(|| self.tables.properties(properties));
        if properties.is_none() {
            entries.extend(inherent);
        }
        let dictionary = (!entries.is_empty()).then(|| self.dictionary(entries));
        Ok(Head { name, properties, dictionary })
    }
    /// Returns the number of an attribute of an op; the form of the op says which lists are of axes.
    fn sharding_parameter(&mut self, row: &OpRow, name: &str, value: &Attribute) -> Result<usize> {
        let mut words =
            row.form.split(' ').filter_map(|word| word.strip_prefix('$')?.split_once(':'));
        let form = words.find(|(known, _)| *known == name).map(|(_, form)| form);
        let Attribute::Array(all) = value else { return self.builtin_attribute(value) };
        match form {
            Some("axis_list") => self.axis_list(all),
            Some("axis_lists") => self.sharding_list(12, all, |encoder, one| match one {
                Attribute::Array(axes) => encoder.axis_list(axes),
                one => encoder.builtin_attribute(one),
            }),
            Some("all_to_all") => self.sharding_list(14, all, Self::all_to_all_parameter),
            _ => self.builtin_attribute(value),
        }
    }
    fn sharding_list(
        &mut self,
        number: u64,
        all: &[Attribute],
        one: impl Fn(&mut Self, &Attribute) -> Result<usize>,
    ) -> Result<usize> {
        let all: Result<Vec<_>> = all.iter().map(|attribute| one(self, attribute)).collect();
        let mut code = Bytes::default();
        code.varint(number);
        code.sizes(&all?);
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    fn axis_list(&mut self, axes: &[Attribute]) -> Result<usize> {
        self.sharding_list(11, axes, Self::axis)
    }
    fn all_to_all_parameter(&mut self, value: &Attribute) -> Result<usize> {
        let Attribute::Array(parts) = value else { return self.builtin_attribute(value) };
        let [Attribute::Array(axes), Attribute::Integers(dims)] = parts.as_slice() else {
            return self.builtin_attribute(value);
        };
        let mut code = Bytes::default();
        code.varint(13);
        self.axes(&mut code, axes)?;
        for dim in dims {
            code.signed(*dim);
        }
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    fn axes(&mut self, code: &mut Bytes, axes: &[Attribute]) -> Result<()> {
        let axes: Result<Vec<_>> = axes.iter().map(|axis| self.axis(axis)).collect();
        code.sizes(&axes?);
        Ok(())
    }
    /// Returns the number of an axis, or of the part of one.
    fn axis(&mut self, value: &Attribute) -> Result<usize> {
        let Attribute::Dictionary(fields) = value else { return self.builtin_attribute(value) };
        let part = fields.get("pre_size").is_some().then(|| {
            let mut code = Bytes::default();
            code.varint(3);
            code.signed(integer(fields, "pre_size"));
            code.signed(integer(fields, "size"));
            self.tables.attribute(Dialect::Sdy, code)
        });
        let mut code = Bytes::default();
        code.varint(4);
        code.size(self.tables.string(string(fields, "name")));
        code.size_and_flag(part.unwrap_or(0), part.is_some());
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    fn dimension(&mut self, value: &Attribute) -> Result<usize> {
        let Attribute::Dictionary(fields) = value else { return self.builtin_attribute(value) };
        let mut code = Bytes::default();
        code.varint(5);
        self.axes(&mut code, array(fields, "axes"))?;
        code.0.push(u8::from(fields.get("closed") == Some(&Attribute::Bool(true))));
        let priority = usize::try_from(integer(fields, "priority")).unwrap_or(0);
        code.size_and_flag(priority, fields.get("priority").is_some());
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    /// Returns the number of an attribute of Shardy.
    pub(super) fn sharding_attribute(&mut self, value: &Attribute) -> Result<usize> {
        self.require(MIXED, |encoder| encoder.part(&kind(value)))?;
        let Attribute::Dialect(name, Fields::Named(fields)) = value else {
            return Err(self.unsupported(&self.part(&kind(value))));
        };
        let mut code = Bytes::default();
        match name.as_str() {
            "sdy.manual_axes" => {
                return self.sharding_list(0, array(fields, "axes"), Self::builtin_attribute);
            }
            "sdy.mesh" => {
                let axes = array(fields, "axes").iter().map(|axis| self.mesh_axis(axis));
                let axes: Vec<usize> = axes.collect::<Result<_>>()?;
                code.varint(2);
                code.sizes(&axes);
                code.integers(match fields.get("device_ids") {
                    Some(Attribute::Integers(devices)) => devices,
                    _ => &[],
                });
            }
            "sdy.sharding" => self.sharding(&mut code, fields)?,
            "sdy.sharding_per_value" => {
                let shardings = array(fields, "shardings");
                let number = if shardings.iter().any(is_unreduced) { 16 } else { 7 };
                return self.sharding_list(number, shardings, Self::builtin_attribute);
            }
            _ => return Err(self.unsupported(&self.part(&kind(value)))),
        }
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    fn mesh_axis(&mut self, value: &Attribute) -> Result<usize> {
        let Attribute::Dictionary(fields) = value else { return self.builtin_attribute(value) };
        let mut code = Bytes::default();
        code.varint(1);
        code.size(self.tables.string(string(fields, "name")));
        code.signed(integer(fields, "size"));
        Ok(self.tables.attribute(Dialect::Sdy, code))
    }
    fn sharding(&mut self, code: &mut Bytes, fields: &Attributes) -> Result<()> {
        let none = Attribute::Symbol(Vec::new());
        let mesh = self.builtin_attribute(fields.get("mesh").unwrap_or(&none))?;
        let dimensions = array(fields, "dimensions").iter().map(|one| self.dimension(one));
        let dimensions: Vec<usize> = dimensions.collect::<Result<_>>()?;
        let unreduced = array(fields, "unreduced");
        let reduction = REDUCTIONS
            .iter()
            .zip(0..)
            .find(|(name, _)| name.as_bytes() == string(fields, "reduction"));
        let (number, reduction) = match (unreduced, reduction) {
            ([], _) => (6, None),
            (_, None) => (15, None),
            (_, Some((_, reduction))) => (17, Some(reduction)),
        };
        code.varint(number);
        code.size(mesh);
        code.sizes(&dimensions);
        self.axes(code, array(fields, "replicated"))?;
        if number != 6 {
            self.axes(code, unreduced)?;
        }
        if let Some(reduction) = reduction {
            code.signed(reduction);
        }
        Ok(())
    }
}

fn is_unreduced(sharding: &Attribute) -> bool {
    match sharding {
        Attribute::Dialect(_, Fields::Named(fields)) => !array(fields, "unreduced").is_empty(),
        _ => false,
    }
}
fn array<'f>(fields: &'f Attributes, name: &str) -> &'f [Attribute] {
    match fields.get(name) {
        Some(Attribute::Array(all)) => all,
        _ => &[],
    }
}
fn string<'f>(fields: &'f Attributes, name: &str) -> &'f [u8] {
    match fields.get(name) {
        Some(Attribute::String(text)) => text,
        _ => &[],
    }
}
fn integer(fields: &Attributes, name: &str) -> i64 {
    match fields.get(name) {
        Some(Attribute::Integer(value, _)) => i64::try_from(*value).unwrap_or(i64::MAX),
        _ => 0,
    }
}
