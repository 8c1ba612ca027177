//! The attributes of VHLO.
use super::{Bytes, Dialect, Encoder, MIXED};
use crate::attributes::integer;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Dense, Dim, Fields, Tensor, Type};
use crate::version::Version;
use crate::vhlo::ENUMS;
use hlo::ElementType;

/// The first version whose replica groups may be axes of a mesh.
const MESHES: Version = Version::new(1, 16, 0);
/// The first version with accuracies of results.
const ACCURACY: Version = Version::new(1, 9, 0);

impl Encoder<'_> {
    fn vhlo(&mut self, code: Bytes) -> usize {
        self.tables.attribute(Dialect::Vhlo, code)
    }
    /// Returns the number of an inherent attribute of an op.
    pub(super) fn vhlo_inherent(&mut self, name: &str, value: &Attribute) -> Result<usize> {
        let mut code = Bytes::default();
        match (name, value) {
            ("api_version", Attribute::Integer(version, _)) => {
                let version = u64::try_from(*version).ok().filter(|version| *version <= 4);
                let wrong = || self.unsupported(&self.part("another `api_version` than 0 to 4"));
                let version = version.ok_or_else(wrong)?;
                code.varint(5);
                code.varint(version);
            }
            ("window_reversal", Attribute::Integers(flags)) => {
                let bytes = flags.iter().map(|flag| u8::from(*flag != 0)).collect();
                return self.vhlo_dense(&vector(ElementType::Pred, flags.len(), bytes));
            }
            (_, Attribute::Unit) => return self.vhlo_attribute(&Attribute::Bool(true)),
            (_, value) => return self.vhlo_attribute(value),
        }
        Ok(self.vhlo(code))
    }
    /// Returns the number of an attribute.
    pub(super) fn vhlo_attribute(&mut self, value: &Attribute) -> Result<usize> {
        let mut code = Bytes::default();
        match value {
            Attribute::Bool(value) => {
                code.varint(2);
                code.varint((*value).into());
            }
            Attribute::Integer(value, ty) => {
                let number = self.vhlo_type(ty)?;
                code.varint(9);
                code.size(number);
                self.integer(&mut code, *value, ty)?;
            }
            Attribute::Float(value, ty) => {
                let number = self.vhlo_type(ty)?;
                code.varint(8);
                code.size(number);
                self.float(&mut code, *value, ty)?;
            }
            Attribute::String(text) => {
                code.varint(14);
                code.size(self.tables.string(text));
            }
            Attribute::Array(all) => {
                let all: Result<Vec<_>> = all.iter().map(|one| self.vhlo_attribute(one)).collect();
                code.varint(1);
                code.sizes(&all?);
            }
            Attribute::Dictionary(entries) => {
                code.varint(6);
                code.size(entries.0.len());
                for (name, value) in &entries.0 {
                    let name = Attribute::String(name.as_bytes().to_vec());
                    code.size(self.vhlo_attribute(&name)?);
                    code.size(self.vhlo_attribute(value)?);
                }
            }
            Attribute::Type(ty) => {
                let number = self.vhlo_type(ty)?;
                code.varint(17);
                code.size(number);
            }
            Attribute::Dense(dense) => return self.vhlo_dense(dense),
            Attribute::Integers(values) => {
                let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                return self.vhlo_dense(&vector(ElementType::S64, values.len(), bytes));
            }
            Attribute::Symbol(path) if path.len() == 1 => {
                code.varint(14);
                code.size(self.tables.string(path[0].as_bytes()));
            }
            Attribute::Dialect(name, fields) if name.starts_with("stablehlo.") => {
                let short = name.trim_start_matches("stablehlo.");
                match fields {
                    Fields::Keyword(word) => self.vhlo_enum(&mut code, short, word)?,
                    Fields::Named(fields) => self.vhlo_struct(&mut code, short, fields)?,
                }
            }
            Attribute::Unit
            | Attribute::Strings(_)
            | Attribute::Symbol(_)
            | Attribute::Dialect(..) => {
                let number = self.builtin_attribute(value)?;
                self.require(MIXED, |encoder| encoder.part(&kind(value)))?;
                return Ok(number);
            }
        }
        Ok(self.vhlo(code))
    }
    fn vhlo_dense(&mut self, dense: &Dense) -> Result<usize> {
        let ty = self.vhlo_type(&Type::Tensor(dense.ty.clone()))?;
        let mut code = Bytes::default();
        code.varint(15);
        code.size(ty);
        code.blob(&crate::dense::to_bytes(dense));
        Ok(self.vhlo(code))
    }
    fn vhlo_enum(&mut self, code: &mut Bytes, name: &str, word: &str) -> Result<()> {
        let found = ENUMS.iter().find(|(_, known, _)| *known == name);
        let value = found.and_then(|(number, _, words)| {
            Some((number, words.iter().position(|known| *known == word)?))
        });
        let unknown = || self.unsupported(&self.part(&format!("`#stablehlo<{name} {word}>`")));
        let (number, value) = value.ok_or_else(unknown)?;
        code.varint(*number);
        code.size(value);
        Ok(())
    }
    /// Writes an attribute with fields.
    fn vhlo_struct(&mut self, code: &mut Bytes, name: &str, fields: &Attributes) -> Result<()> {
        let list = |field| match fields.get(field) {
            Some(Attribute::Integers(all)) => all.as_slice(),
            _ => &[],
        };
        let number = |field| match fields.get(field) {
            Some(Attribute::Integer(value, _)) => i64::try_from(*value).unwrap_or(i64::MAX),
            _ => 0,
        };
        match name {
            "output_operand_alias" => {
                code.varint(10);
                code.integers(list("output_tuple_indices"));
                code.signed(number("operand_index"));
                code.integers(list("operand_tuple_indices"));
            }
            "result_accuracy" => {
                self.require(ACCURACY, |encoder| encoder.part("`result_accuracy`"))?;
                code.varint(20);
                for tolerance in ["atol", "rtol"] {
                    let value = match fields.get(tolerance) {
                        Some(Attribute::Float(value, _)) => *value,
                        _ => 0.0,
                    };
                    code.bits(value.to_bits(), 64);
                }
                code.signed(number("ulps"));
                let default = Fields::Keyword("DEFAULT".into());
                let default = Attribute::Dialect("stablehlo.result_accuracy_mode".into(), default);
                code.size(self.vhlo_attribute(fields.get("mode").unwrap_or(&default))?);
            }
            "sub_axis_info" | "axis_ref" | "replica_group_mesh_axes" | "mesh_axis" | "mesh" => {
                let part = format!("`#stablehlo.{name}`");
                self.require(MESHES, |encoder| encoder.part(&part))?;
                self.vhlo_mesh(code, name, fields)?;
            }
            _ => return Err(self.unsupported(&self.part(&format!("`#stablehlo.{name}`")))),
        }
        Ok(())
    }
    /// Writes a part of replica groups that are given as the axes of a mesh.
    fn vhlo_mesh(&mut self, code: &mut Bytes, name: &str, fields: &Attributes) -> Result<()> {
        let signed =
            |field: &str, default: i64| match fields.get(field).unwrap_or(&integer(default)) {
                Attribute::Integer(value, _) => i64::try_from(*value).unwrap_or(i64::MAX),
                _ => default,
            };
        let missing = |field: &str| {
            self.unsupported(&self.part(&format!("`#stablehlo.{name}` without `{field}`")))
        };
        let required = |field: &str| fields.get(field).ok_or_else(|| missing(field));
        match name {
            "sub_axis_info" => {
                code.varint(21);
                code.signed(signed("pre_size", 1));
                code.signed(signed("size", 1));
            }
            "axis_ref" => {
                let (name, part) = (required("name")?, fields.get("sub_axis_info"));
                code.varint(22);
                code.size(self.vhlo_attribute(name)?);
                code.varint(part.is_some().into());
                if let Some(part) = part {
                    code.size(self.vhlo_attribute(part)?);
                }
            }
            "replica_group_mesh_axes" => {
                let (mesh, axes) = (required("mesh")?, required("axes")?);
                code.varint(23);
                code.size(self.vhlo_attribute(mesh)?);
                code.size(self.vhlo_attribute(axes)?);
            }
            "mesh_axis" => {
                let name = required("name")?;
                code.varint(24);
                code.size(self.vhlo_attribute(name)?);
                code.signed(signed("size", 1));
            }
            _ => {
                let (axes, devices) = (required("axes")?, fields.get("device_ids"));
                code.varint(25);
                code.size(self.vhlo_attribute(axes)?);
                let devices = devices.map(|devices| self.vhlo_attribute(devices)).transpose()?;
                code.size_and_flag(devices.unwrap_or(0), devices.is_some());
            }
        }
        Ok(())
    }
}

/// Returns a list in its `dense` form.
pub(super) fn vector(element: ElementType, count: usize, bytes: Vec<u8>) -> Dense {
    let dims = [Dim::Static(count.try_into().unwrap_or(u64::MAX))];
    Dense { ty: Tensor { dims: dims.into(), element: Ok(element) }, bytes, splat: false }
}
/// Returns what an attribute is, for messages.
pub(super) fn kind(value: &Attribute) -> String {
    match value {
        Attribute::Unit => "a unit attribute".to_owned(),
        Attribute::Strings(_) => "a tensor of strings".to_owned(),
        Attribute::Symbol(path) => format!("the symbol `@{}`", path.join("::@")),
        Attribute::Dialect(name, _) => format!("`#{name}`"),
        Attribute::Bool(_)
        | Attribute::Integer(..)
        | Attribute::Float(..)
        | Attribute::String(_)
        | Attribute::Array(_)
        | Attribute::Dictionary(_)
        | Attribute::Type(_)
        | Attribute::Dense(_)
        | Attribute::Integers(_) => "a value".to_owned(),
    }
}
