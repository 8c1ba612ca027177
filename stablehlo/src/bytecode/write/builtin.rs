//! The attributes, types and locations of the dialect `builtin`.
use super::super::builtin::SCALARS;
use super::vhlo_attributes::kind;
use super::vhlo_types::{bounds, sizes, unranked_element};
use super::{Bytes, Dialect, Encoder};
use crate::element;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Location, LocationId, Type};
use crate::{NESTING_LIMIT, dense};
use hlo::{Class, ElementType};

impl Encoder<'_> {
    fn builtin(&mut self, code: Bytes) -> usize {
        self.tables.attribute(Dialect::Builtin, code)
    }
    /// Returns the number of a string.
    pub(super) fn text(&mut self, text: &[u8]) -> usize {
        let mut code = Bytes::default();
        code.varint(2);
        code.size(self.tables.string(text));
        self.builtin(code)
    }
    /// Returns the number of a dictionary of attributes that have numbers.
    pub(super) fn dictionary(&mut self, mut entries: Vec<(&str, usize)>) -> usize {
        entries.sort_by_key(|(name, _)| *name);
        let mut code = Bytes::default();
        code.varint(1);
        code.size(entries.len());
        for (name, value) in entries {
            code.size(self.text(name.as_bytes()));
            code.size(value);
        }
        self.builtin(code)
    }
    /// Returns the number of a dictionary.
    pub(super) fn builtin_dictionary(&mut self, entries: &Attributes) -> Result<usize> {
        let numbered = entries
            .0
            .iter()
            .map(|(name, value)| Ok((name.as_str(), self.builtin_attribute(value)?)));
        let numbered = numbered.collect::<Result<Vec<_>>>()?;
        Ok(self.dictionary(numbered))
    }
    /// Returns the number of an attribute.
    pub(super) fn builtin_attribute(&mut self, value: &Attribute) -> Result<usize> {
        let mut code = Bytes::default();
        match value {
            Attribute::Unit => code.varint(7),
            Attribute::Bool(value) => {
                let ty = self.builtin_type(&Type::Element(ElementType::Pred))?;
                code.varint(8);
                code.size(ty);
                code.bits((*value).into(), 1);
            }
            Attribute::Integer(value, ty) => {
                let number = self.builtin_type(ty)?;
                code.varint(8);
                code.size(number);
                self.integer(&mut code, *value, ty)?;
            }
            Attribute::Float(value, ty) => {
                let number = self.builtin_type(ty)?;
                code.varint(9);
                code.size(number);
                self.float(&mut code, *value, ty)?;
            }
            Attribute::String(text) => return Ok(self.text(text)),
            Attribute::Array(all) => {
                let all: Result<Vec<_>> =
                    all.iter().map(|one| self.builtin_attribute(one)).collect();
                code.varint(0);
                code.sizes(&all?);
            }
            Attribute::Dictionary(entries) => return self.builtin_dictionary(entries),
            Attribute::Type(ty) => {
                let number = self.builtin_type(ty)?;
                code.varint(6);
                code.size(number);
            }
            Attribute::Dense(value) => {
                let ty = self.builtin_type(&Type::Tensor(value.ty.clone()))?;
                code.varint(18);
                code.size(ty);
                code.blob(&dense::to_bytes(value));
            }
            Attribute::Integers(values) => {
                let ty = self.builtin_type(&Type::Element(ElementType::S64))?;
                code.varint(17);
                code.size(ty);
                code.size(values.len());
                code.blob(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>());
            }
            Attribute::Symbol(path) => {
                let symbol = |encoder: &mut Self, name: &str, code: &mut Bytes, kind| {
                    code.varint(kind);
                    code.size(encoder.text(name.as_bytes()));
                };
                let Some((root, nested)) = path.split_first() else {
                    return Err(self.unsupported(&self.part("an empty symbol")));
                };
                if nested.is_empty() {
                    symbol(self, root, &mut code, 4);
                    return Ok(self.builtin(code));
                }
                symbol(self, root, &mut code, 5);
                let nested: Vec<usize> = nested
                    .iter()
                    .map(|name| {
                        let mut code = Bytes::default();
                        symbol(self, name, &mut code, 4);
                        self.builtin(code)
                    })
                    .collect();
                code.sizes(&nested);
            }
            Attribute::Dialect(name, _) if name.starts_with("sdy.") => {
                return self.sharding_attribute(value);
            }
            Attribute::Strings(_) | Attribute::Dialect(..) => {
                return Err(self.unsupported(&self.part(&kind(value))));
            }
        }
        Ok(self.builtin(code))
    }
    /// Writes the bits of an integer of this type.
    pub(super) fn integer(&mut self, code: &mut Bytes, value: i128, ty: &Type) -> Result<()> {
        let width = match ty {
            Type::Element(element) if element.float_format().is_none() && !element.is_complex() => {
                element.bits()
            }
            Type::Index => 64,
            _ => return Err(self.unsupported(&self.type_part(ty))),
        };
        let bits = value.cast_unsigned() & (u128::MAX >> (128 - width));
        code.bits(u64::try_from(bits).expect("integers have at most 64 bits"), width);
        Ok(())
    }
    /// Writes the bits of a number of this type.
    pub(super) fn float(&mut self, code: &mut Bytes, value: f64, ty: &Type) -> Result<()> {
        let (bits, width) = match ty {
            Type::Element(ElementType::F64) => (value.to_bits(), 64),
            Type::Element(element) => match element.float_format() {
                Some(format) => (format.encode(value), element.bits()),
                None => return Err(self.unsupported(&self.type_part(ty))),
            },
            _ => return Err(self.unsupported(&self.type_part(ty))),
        };
        code.bits(bits, width);
        Ok(())
    }

    /// Returns the number of a type.
    pub(super) fn builtin_type(&mut self, ty: &Type) -> Result<usize> {
        let mut code = Bytes::default();
        match ty {
            Type::Element(element) if element.is_complex() => {
                let part = self.builtin_type(&Type::Element(element.component()))?;
                code.varint(9);
                code.size(part);
            }
            Type::Element(element) if element.is_float() => {
                return self.builtin_scalar(element::name(*element));
            }
            Type::Element(element) => {
                code.varint(0);
                code.varint(integer_code(*element));
            }
            Type::Index => return self.builtin_scalar("index"),
            Type::Token => {
                code.varint(0);
                return Ok(self.tables.ty(Dialect::Stablehlo, code));
            }
            Type::Tuple(types) => {
                let types: Result<Vec<_>> = types.iter().map(|ty| self.builtin_type(ty)).collect();
                code.varint(15);
                code.sizes(&types?);
            }
            Type::Tensor(tensor) if bounds(tensor).is_none() => {
                let element = match &tensor.element {
                    Ok(element) => Type::Element(*element),
                    Err(name) => element::scalar(name),
                };
                let element = self.builtin_type(&element)?;
                code.varint(13);
                code.integers(&sizes(tensor));
                code.size(element);
            }
            Type::Other(text) => match unranked_element(text) {
                Some(element) => {
                    let element = self.builtin_type(&element)?;
                    code.varint(18);
                    code.size(element);
                }
                None => return self.builtin_scalar(text),
            },
            Type::Tensor(_) | Type::Function(..) => {
                return Err(self.unsupported(&self.type_part(ty)));
            }
        }
        Ok(self.tables.ty(Dialect::Builtin, code))
    }

    /// Returns the number of a type without parts.
    fn builtin_scalar(&mut self, name: &str) -> Result<usize> {
        let known = SCALARS.iter().find(|(_, known)| *known == name);
        let unknown = || self.unsupported(&self.part(&format!("type `{name}`")));
        let mut code = Bytes::default();
        code.varint(known.ok_or_else(unknown)?.0);
        Ok(self.tables.ty(Dialect::Builtin, code))
    }

    /// Returns the number of a location.
    pub(super) fn location(&mut self, id: Option<LocationId>) -> usize {
        self.nested_location(id, 0)
    }
    fn nested_location(&mut self, id: Option<LocationId>, depth: u32) -> usize {
        let index = id.and_then(|id| usize::try_from(id.0).ok());
        if let Some(Some(known)) = index.and_then(|index| self.locations.get(index)) {
            return *known;
        }
        let program = self.program;
        let place = index.and_then(|index| program.locations.get(index));
        let mut code = Bytes::default();
        match place.filter(|_| depth < NESTING_LIMIT) {
            None => code.varint(15),
            Some(Location::File { file, line, column }) => {
                code.varint(11);
                code.size(self.text(file.as_bytes()));
                code.varint((*line).into());
                code.varint((*column).into());
            }
            Some(Location::Name(name, place)) => {
                let name = self.text(name.as_bytes());
                let place = self.nested_location(*place, depth + 1);
                code.varint(14);
                code.size(name);
                code.size(place);
            }
            Some(Location::Call(callee, caller)) => {
                code.varint(10);
                for place in [callee, caller] {
                    code.size(self.nested_location(Some(*place), depth + 1));
                }
            }
            Some(Location::Fused(parts)) => {
                let part = |part: &LocationId| self.nested_location(Some(*part), depth + 1);
                let parts: Vec<usize> = parts.iter().map(part).collect();
                code.varint(12);
                code.sizes(&parts);
            }
        }
        let number = self.builtin(code);
        if let Some(known) = index.and_then(|index| self.locations.get_mut(index)) {
            *known = Some(number);
        }
        number
    }
}

/// Returns the number of an integer's width and sign.
fn integer_code(element: ElementType) -> u64 {
    let width = u64::from(element.bits());
    match element.class() {
        Class::Unsigned => width << 2 | 2,
        Class::Pred => 1 << 2,
        Class::Signed | Class::Float | Class::Complex => width << 2,
    }
}
