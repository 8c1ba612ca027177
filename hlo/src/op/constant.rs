//! `constant`: a value written in the text.
use super::value::Positional;
use super::{AttrReader, AttrWriter, Attrs, Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::literal::ConstantValue;
use crate::proto::{ProtoField, is_elided, message::Instruction, shape_of};
use crate::{Result, Shape};

/// A value written in the text.
///
/// `f32[2,2] constant({{1, 2}, {3, 4}})`: braces are nested as deep as the rank. Dumps elide the
/// elements of large arrays: `{...}` is parsed and printed, but cannot be executed (`E0403`).
///
/// # Shape
///
/// The stated one, which is needed to parse the elements (`E0111`, `E0112`); a dynamic dimension
/// gets the size in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The value, if it is known.
    pub value: Box<ConstantValue>,
}

impl Attrs for Constant {
    const NAMES: &'static [&'static str] = &[];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        attrs.none()?;
        match attrs.positional.take() {
            Some(Positional::Constant(value)) => Ok(Self { value }),
            Some(Positional::Parameter(_)) | None => Err(attrs.missing("literal")),
        }
    }
    fn print(&self, _: &mut AttrWriter<'_>) {}
    fn each_callee(&self, _: &mut dyn FnMut(ComputationId)) {}
    fn each_callee_mut(&mut self, _: &mut dyn FnMut(&mut ComputationId)) {}
    fn encode(&self, proto: &mut Instruction) -> Result<()> {
        match &*self.value {
            ConstantValue::Literal(literal) => {
                ProtoField::encode(&Some(literal.clone()), &mut proto.literal)
            }
            ConstantValue::Elided(_) => Ok(()),
        }
    }
    fn decode(proto: &mut Instruction) -> Result<Self> {
        // Dumps of large modules omit the elements.
        proto.literal.take_if(|literal| is_elided(literal));
        let value = match ProtoField::decode(&mut proto.literal, None)? {
            Some(literal) => ConstantValue::Literal(literal),
            None => ConstantValue::Elided(shape_of(proto)?),
        };
        Ok(Self { value: Box::new(value) })
    }
}

impl ShapeRule for Constant {
    fn infer(&self, _: &Infer<'_>) -> Result<Shape> {
        // The parser has given the literal this shape.
        Ok(self.value.shape())
    }
}
