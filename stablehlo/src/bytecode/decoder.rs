//! Attributes and types, decoded where they are used.
use super::container::{Container, EncodedValue};
use super::reader::Reader;
use super::{builtin, sharding, vhlo_attributes, vhlo_types};
use crate::NESTING_LIMIT;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Fields, Location, LocationId, Type};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// A decoded value with its size: the number of parts, and of bytes in constants.
type Decoded<T> = Option<(T, usize)>;

/// Decodes attributes and types, each once.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    pub(super) container: Container<'a>,
    attributes: Vec<Decoded<Attribute>>,
    types: Vec<Decoded<Type>>,
    locations: FxHashMap<usize, Option<LocationId>>,
    pub(super) places: Vec<Location>,
    depth: u32,
    /// The sizes of values that may still be decoded or copied: values that contain a value several
    /// times may stand for much more than the file has.
    budget: usize,
}

/// Constants from this size on are decoded at each use instead of kept.
const LARGE: usize = 1 << 10;

impl<'a> Decoder<'a> {
    pub(super) fn new(container: Container<'a>, bytes: usize) -> Self {
        const FACTOR: usize = 64;
        const LEAST: usize = 1 << 20;
        Self {
            attributes: vec![None; container.attributes.len()],
            types: vec![None; container.types.len()],
            locations: FxHashMap::default(),
            container,
            places: Vec::new(),
            depth: 0,
            budget: bytes.saturating_mul(FACTOR).max(LEAST),
        }
    }
    fn spend(&mut self, size: usize) -> Result<()> {
        let left = self.budget.checked_sub(size);
        self.budget = left.ok_or_else(|| {
            Error::unsupported("attributes and types that stand for much more than the file has")
        })?;
        Ok(())
    }
    /// Runs `decode` a level deeper.
    fn nested<T>(&mut self, decode: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING_LIMIT {
            return Err(Code::TooDeep { limit: NESTING_LIMIT }.into());
        }
        self.depth += 1;
        let value = decode(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Reads a type.
    pub(crate) fn ty(&mut self, reader: &mut Reader<'_>) -> Result<Type> {
        let index = reader.size()?;
        self.ty_at(index, reader)
    }
    /// Returns the type of an index that was read.
    pub(super) fn ty_at(&mut self, index: usize, reader: &Reader<'_>) -> Result<Type> {
        if let Some(Some((ty, size))) = self.types.get(index) {
            let (ty, size) = (ty.clone(), *size);
            return self.spend(size).map(|()| ty);
        }
        let entry = self.container.types.get(index).cloned();
        let entry = entry.ok_or_else(|| reader.error(format!("there is no type {index}")))?;
        let ty = self.nested(|decoder| decoder.decode_type(entry))?;
        let size = type_extent(&ty).check()?.size;
        self.types[index] = Some((ty.clone(), size));
        self.spend(size).map(|()| ty)
    }
    fn decode_type(&mut self, entry: EncodedValue<'_>) -> Result<Type> {
        let EncodedValue { dialect, encoded, mut reader } = entry;
        if !encoded {
            let text = text_of(&mut reader)?;
            return crate::text::read_type(text).map_err(|error| of_text(text, &error, &reader));
        }
        let dialect = self.container.dialects[dialect].clone();
        let ty = match dialect.as_str() {
            "vhlo" => vhlo_types::read(self, &mut reader)?,
            "builtin" => builtin::ty(self, &mut reader)?,
            // Ops of Shardy keep the token of StableHLO.
            "stablehlo" if reader.varint()? == 0 => Type::Token,
            _ => return Err(unknown_dialect("types", &dialect)),
        };
        reader.end().map(|()| ty)
    }
    /// Reads a list of types.
    pub(crate) fn types(&mut self, reader: &mut Reader<'_>) -> Result<Vec<Type>> {
        reader.list(|reader| self.ty(reader))
    }

    /// Reads an attribute.
    pub(crate) fn attribute(&mut self, reader: &mut Reader<'_>) -> Result<Attribute> {
        let index = reader.size()?;
        self.attribute_at(index, reader)
    }
    /// Reads an attribute that may be absent.
    pub(crate) fn optional_attribute(
        &mut self,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Attribute>> {
        let (index, present) = reader.size_and_flag()?;
        if present { self.attribute_at(index, reader).map(Some) } else { Ok(None) }
    }
    /// Returns the attribute of an index that was read.
    pub(super) fn attribute_at(&mut self, index: usize, reader: &Reader<'_>) -> Result<Attribute> {
        if let Some(Some((attribute, size))) = self.attributes.get(index) {
            let (attribute, size) = (attribute.clone(), *size);
            return self.spend(size).map(|()| attribute);
        }
        let entry = self.entry(index, reader)?;
        let attribute = self.nested(|decoder| decoder.decode_attribute(entry))?;
        let size = attribute_extent(&attribute).check()?.size;
        self.spend(size)?;
        if size < LARGE {
            self.attributes[index] = Some((attribute.clone(), size));
        }
        Ok(attribute)
    }
    fn entry(&self, index: usize, reader: &Reader<'_>) -> Result<EncodedValue<'a>> {
        let entry = self.container.attributes.get(index).cloned();
        entry.ok_or_else(|| reader.error(format!("there is no attribute {index}")))
    }
    fn decode_attribute(&mut self, entry: EncodedValue<'_>) -> Result<Attribute> {
        let EncodedValue { dialect, encoded, mut reader } = entry;
        if !encoded {
            let text = text_of(&mut reader)?;
            return crate::text::read_attribute(text)
                .map_err(|error| of_text(text, &error, &reader));
        }
        let dialect = self.container.dialects[dialect].clone();
        let attribute = match dialect.as_str() {
            "vhlo" => vhlo_attributes::read(self, &mut reader)?,
            "builtin" => builtin::attribute(self, &mut reader)?,
            "sdy" => sharding::read(self, &mut reader)?,
            _ => return Err(unknown_dialect("attributes", &dialect)),
        };
        reader.end().map(|()| attribute)
    }
    /// Reads a list of attributes.
    pub(crate) fn attributes(&mut self, reader: &mut Reader<'_>) -> Result<Vec<Attribute>> {
        reader.list(|reader| self.attribute(reader))
    }
    /// Reads a dictionary.
    pub(crate) fn dictionary(&mut self, reader: &mut Reader<'_>) -> Result<Attributes> {
        let entries = reader.list(|reader| Ok((self.name(reader)?, self.attribute(reader)?)))?;
        let mut attributes = Attributes(entries);
        crate::normal::sort(&mut attributes);
        Ok(attributes)
    }
    /// Reads an attribute that is a string, as a name.
    pub(crate) fn name(&mut self, reader: &mut Reader<'_>) -> Result<SmolStr> {
        match self.attribute(reader)? {
            Attribute::String(text) => Ok(SmolStr::new(String::from_utf8_lossy(&text))),
            _ => Err(reader.error("a name is not a string")),
        }
    }
    /// Reads a string.
    pub(crate) fn string(&self, reader: &mut Reader<'_>) -> Result<&'a [u8]> {
        let index = reader.size()?;
        self.container.string(index, reader)
    }

    /// Returns the location of an index that was read.
    pub(super) fn location_at(
        &mut self,
        index: usize,
        reader: &Reader<'_>,
    ) -> Result<Option<LocationId>> {
        if let Some(known) = self.locations.get(&index) {
            return Ok(*known);
        }
        // Callers of callers: the frames next to the op are known without them.
        if self.depth >= NESTING_LIMIT {
            return Ok(None);
        }
        let mut entry = self.entry(index, reader)?;
        let builtin = self.container.dialects[entry.dialect] == "builtin";
        let location = match entry.encoded && builtin {
            true => self.nested(|decoder| builtin::location(decoder, &mut entry.reader))?,
            // The text of a location, which no writer is known to use.
            false => None,
        };
        let id = location.map(|location| {
            self.places.push(location);
            LocationId(u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX))
        });
        self.locations.insert(index, id);
        Ok(id)
    }
    /// Reads a location.
    pub(super) fn location(&mut self, reader: &mut Reader<'_>) -> Result<Option<LocationId>> {
        let index = reader.size()?;
        self.location_at(index, reader)
    }
}

fn text_of<'a>(reader: &mut Reader<'a>) -> Result<&'a str> {
    let bytes = reader.until_zero()?;
    std::str::from_utf8(bytes)
        .map_err(|_| reader.error("the text of an attribute or type is not valid UTF-8"))
}
/// Returns the error of a part of a file that is text; a place in it would be taken for one in the
/// file.
#[cold]
fn of_text(text: &str, error: &Error, reader: &Reader<'_>) -> Error {
    reader.error(format!("`{text}`: {}", error.code()))
}
#[cold]
fn unknown_dialect(kind: &str, dialect: &str) -> Error {
    let error = Error::unsupported(format!(
        "bytecode with {kind} of the dialect `{dialect}` is not supported"
    ));
    error.with_help(
        "serialize the program as a portable artifact, which has `vhlo` and `builtin` alone",
    )
}

/// The size of a value, the number of its parts and of the bytes of constants, and how deep it is
/// nested.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    size: usize,
    depth: u32,
}

impl Extent {
    fn of(parts: impl Iterator<Item = Self>, size: usize) -> Self {
        let start = Self { size: size + 1, depth: 0 };
        let all = parts.fold(start, |all, part| Self {
            size: all.size.saturating_add(part.size),
            depth: all.depth.max(part.depth),
        });
        Self { depth: all.depth + 1, ..all }
    }
    /// Values are built of others that were decoded before, so the depth of the decoder does not
    /// limit theirs.
    fn check(self) -> Result<Self> {
        if self.depth <= NESTING_LIMIT {
            return Ok(self);
        }
        Err(Code::TooDeep { limit: NESTING_LIMIT }.into())
    }
}
fn type_extent(ty: &Type) -> Extent {
    match ty {
        Type::Tuple(types) => Extent::of(types.iter().map(type_extent), 0),
        Type::Function(operands, results) => {
            Extent::of(operands.iter().chain(results).map(type_extent), 0)
        }
        Type::Other(text) => Extent::of(std::iter::empty(), text.len()),
        Type::Tensor(_) | Type::Element(_) | Type::Index | Type::Token => {
            Extent::of(std::iter::empty(), 0)
        }
    }
}
fn attribute_extent(attribute: &Attribute) -> Extent {
    let leaf = |size| Extent::of(std::iter::empty(), size);
    let named =
        |all: &Attributes| Extent::of(all.0.iter().map(|(_, value)| attribute_extent(value)), 0);
    match attribute {
        Attribute::Array(all) => Extent::of(all.iter().map(attribute_extent), 0),
        Attribute::Dictionary(all) | Attribute::Dialect(_, Fields::Named(all)) => named(all),
        Attribute::Type(ty) => Extent::of(std::iter::once(type_extent(ty)), 0),
        Attribute::Dense(dense) => leaf(dense.bytes.len()),
        Attribute::Strings(all) => leaf(all.iter().map(|text| 1 + text.len()).sum()),
        Attribute::Integers(all) => leaf(all.len()),
        Attribute::String(text) => leaf(text.len()),
        Attribute::Dialect(_, Fields::Keyword(_))
        | Attribute::Unit
        | Attribute::Bool(_)
        | Attribute::Integer(..)
        | Attribute::Float(..)
        | Attribute::Symbol(_) => leaf(0),
    }
}
