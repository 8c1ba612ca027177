//! `parameter`: a parameter of the computation.
use super::value::Positional;
use super::{AttrReader, AttrWriter, Attrs, Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::proto::message::Instruction;
use crate::{Result, Shape};

/// A parameter of the computation: `parameter(0)` is the first.
///
/// # Shape
///
/// The stated one, of any kind. The numbers of a computation's parameters start at 0 and have no
/// gaps (`E0203`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its number.
    pub number: i64,
}

impl Attrs for Parameter {
    const NAMES: &'static [&'static str] = &[];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        attrs.none()?;
        match attrs.positional.take() {
            Some(Positional::Parameter(number)) => Ok(Self { number }),
            Some(Positional::Constant(_)) | None => Err(attrs.missing("number")),
        }
    }
    fn print(&self, _: &mut AttrWriter<'_>) {}
    fn each_callee(&self, _: &mut dyn FnMut(ComputationId)) {}
    fn each_callee_mut(&mut self, _: &mut dyn FnMut(&mut ComputationId)) {}
    fn encode(&self, proto: &mut Instruction) -> Result<()> {
        proto.parameter_number = self.number;
        Ok(())
    }
    fn decode(proto: &mut Instruction) -> Result<Self> {
        Ok(Self { number: std::mem::take(&mut proto.parameter_number) })
    }
}

impl ShapeRule for Parameter {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
