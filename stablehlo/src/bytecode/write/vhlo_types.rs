//! The types of VHLO.
use super::super::vhlo_types::SCALARS;
use super::{Bytes, Dialect, Encoder};
use crate::element::{self, type_text};
use crate::error::Result;
use crate::ir::{Dim, Tensor, Type};
use crate::quantized::Quantized;
use crate::version::Version;
use hlo::ElementType;

impl Encoder<'_> {
    /// Returns the number of a type of VHLO.
    pub(super) fn vhlo_type(&mut self, ty: &Type) -> Result<usize> {
        let mut code = Bytes::default();
        match ty {
            Type::Tensor(tensor) => {
                let encoding = bounds(tensor).map(|bounds| {
                    let mut extensions = Bytes::default();
                    extensions.varint(18);
                    extensions.integers(&bounds);
                    self.tables.attribute(Dialect::Vhlo, extensions)
                });
                match encoding {
                    Some(encoding) => {
                        code.varint(21);
                        code.size(encoding);
                    }
                    None => code.varint(20),
                }
                self.vhlo_tensor(&mut code, tensor)?;
            }
            Type::Element(element) => return self.vhlo_element(*element),
            Type::Index => return self.vhlo_scalar("index"),
            Type::Token => code.varint(22),
            Type::Tuple(types) => {
                code.varint(23);
                code.sizes(&self.vhlo_types(types)?);
            }
            Type::Function(operands, results) => {
                code.varint(8);
                code.sizes(&self.vhlo_types(operands)?);
                code.sizes(&self.vhlo_types(results)?);
            }
            Type::Other(text) => return self.vhlo_other(text),
        }
        Ok(self.tables.ty(Dialect::Vhlo, code))
    }
    fn vhlo_types(&mut self, types: &[Type]) -> Result<Vec<usize>> {
        types.iter().map(|ty| self.vhlo_type(ty)).collect()
    }
    /// Writes the sizes and the element type of a tensor.
    fn vhlo_tensor(&mut self, code: &mut Bytes, tensor: &Tensor) -> Result<()> {
        code.integers(&sizes(tensor));
        let element = match &tensor.element {
            Ok(element) => self.vhlo_element(*element)?,
            Err(other) => self.vhlo_other(other)?,
        };
        code.size(element);
        Ok(())
    }
    fn vhlo_element(&mut self, element: ElementType) -> Result<usize> {
        if !element.is_complex() {
            return self.vhlo_scalar(element::name(element));
        }
        let part = self.vhlo_element(element.component())?;
        let mut code = Bytes::default();
        code.varint(1);
        code.size(part);
        Ok(self.tables.ty(Dialect::Vhlo, code))
    }
    /// Returns the number of a type without parts.
    fn vhlo_scalar(&mut self, name: &str) -> Result<usize> {
        let Some((number, _, since)) = SCALARS.iter().find(|(_, known, _)| *known == name) else {
            return Err(self.unsupported(&self.part(&format!("type `{name}`"))));
        };
        self.require_type(*since, name)?;
        let mut code = Bytes::default();
        code.varint(*number);
        Ok(self.tables.ty(Dialect::Vhlo, code))
    }
    fn require_type(&mut self, since: Version, name: &str) -> Result<()> {
        self.require(since, |encoder| encoder.part(&format!("type `{name}`")))
    }
    /// Returns the number of a type that is known by its text alone.
    fn vhlo_other(&mut self, text: &str) -> Result<usize> {
        let read = |text: &str| crate::text::read_type(text).ok();
        let within = |open: &str| text.strip_prefix(open)?.strip_suffix('>');
        let mut code = Bytes::default();
        if let Some(element) = unranked_element(text) {
            code.varint(25);
            code.size(self.vhlo_type(&element)?);
        } else if let Some(buffer) = within("memref<")
            && let Some(Type::Tensor(tensor)) = read(&format!("tensor<{buffer}>"))
        {
            self.require_type(Version::new(1, 13, 0), text)?;
            code.varint(41);
            self.vhlo_tensor(&mut code, &tensor)?;
        } else if let Some(results) = within("!stablehlo.future<")
            && let Some(Type::Tuple(types)) = read(&format!("tuple<{results}>"))
        {
            self.require_type(Version::new(1, 15, 0), text)?;
            code.varint(42);
            code.sizes(&self.vhlo_types(&types)?);
        } else if let Some(quantized) = Quantized::parse(text) {
            self.quantized(&mut code, &quantized)?;
        } else {
            return self.vhlo_scalar(text);
        }
        Ok(self.tables.ty(Dialect::Vhlo, code))
    }
    fn quantized(&mut self, code: &mut Bytes, quantized: &Quantized) -> Result<()> {
        let Quantized { signed, width, range, expressed, axis, scales } = quantized;
        let storage = self.vhlo_scalar(&format!("i{width}"))?;
        let expressed = self.vhlo_type(expressed)?;
        if axis.is_some() {
            self.require_type(Version::new(0, 18, 0), &quantized.to_string())?;
        }
        code.varint(if axis.is_some() { 30 } else { 24 });
        code.varint((*signed).into());
        code.size(storage);
        code.size(expressed);
        let bits = |code: &mut Bytes, (scale, _): &(f64, i64)| code.bits(scale.to_bits(), 64);
        if let Some(axis) = axis {
            code.varint(*axis);
        } else {
            for scale in scales {
                bits(code, scale);
                code.signed(scale.1);
            }
        }
        code.signed(range.0);
        code.signed(range.1);
        if axis.is_some() {
            code.size(scales.len());
            for scale in scales {
                bits(code, scale);
            }
            code.integers(&scales.iter().map(|(_, zero)| *zero).collect::<Vec<_>>());
        }
        Ok(())
    }
    /// Returns the text of a type with the op, for messages.
    #[cold]
    pub(super) fn type_part(&self, ty: &Type) -> String {
        self.part(&format!("type `{}`", type_text(ty)))
    }
}

/// Returns the type of the elements of a tensor of unknown rank.
pub(super) fn unranked_element(text: &str) -> Option<Type> {
    let element = text.strip_prefix("tensor<*x")?.strip_suffix('>')?;
    crate::text::read_type(element).ok()
}
/// Returns the sizes of a tensor; [`i64::MIN`] for those that are not known.
pub(super) fn sizes(tensor: &Tensor) -> Vec<i64> {
    let size = |dim: &Dim| match dim {
        Dim::Static(size) => i64::try_from(*size).unwrap_or(i64::MAX),
        Dim::Dynamic(_) => i64::MIN,
    };
    tensor.dims.iter().map(size).collect()
}
/// Returns the bounds of a tensor, if it has some; [`i64::MIN`] for dimensions without.
pub(super) fn bounds(tensor: &Tensor) -> Option<Vec<i64>> {
    let bound = |dim: &Dim| match dim {
        Dim::Dynamic(Some(bound)) => i64::try_from(*bound).unwrap_or(i64::MAX),
        Dim::Dynamic(None) | Dim::Static(_) => i64::MIN,
    };
    let bounds: Vec<i64> = tensor.dims.iter().map(bound).collect();
    bounds.iter().any(|bound| *bound != i64::MIN).then_some(bounds)
}
