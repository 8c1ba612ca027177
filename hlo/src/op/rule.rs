//! Shape rules: what every rule is given, how a check fails, and the rules of the elementwise families.
use super::{Arity, Binary, ShapeText, Unary};
use crate::diag::{Code, Place};
use crate::ir::{ComputationId, ProgramShape};
use crate::{ArrayShape, ElementType, Error, Opcode, Result, Shape};

/// Knows the parameters and results of the computations an instruction calls.
pub trait Callees {
    /// The shape of computation `id`; `None` while its text has not been read.
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>>;
}

/// What a shape rule is given.
pub(crate) struct Infer<'a> {
    /// Which op, for messages.
    pub(crate) opcode: Opcode,
    /// Shapes of the operands; as many as the table says.
    pub(crate) operands: &'a [&'a Shape],
    /// The shape the text states, if it states one.
    pub(crate) stated: Option<&'a Shape>,
    /// The computations of the module.
    pub(crate) callees: &'a dyn Callees,
}

/// The shape rule of a structured op. Every failed check names its rule, and shows shapes as `{:#}`, without layouts.
pub(crate) trait ShapeRule {
    /// Fills in what attributes left out and operands tell. Called once, when the text has been read.
    fn complete(&mut self, _operands: &[&Shape], _stated: Option<&Shape>) -> Result<()> {
        Ok(())
    }
    /// Whether [`ShapeRule::infer`] checks everything the specification asks for. Where it does not, the stated shape
    /// is taken as it is, and the status page says so.
    const CHECKED: bool = true;
    /// The result's shape. For an op whose shape must be stated, a stated shape that cannot be right is an error.
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape>;
}

impl<T: ShapeRule> ShapeRule for Box<T> {
    const CHECKED: bool = T::CHECKED;
    fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
        T::complete(self, operands, stated)
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        T::infer(self, cx)
    }
}

impl<'a> Infer<'a> {
    /// Operand `i`, which must be an array.
    pub(crate) fn array(&self, i: usize) -> Result<&'a ArrayShape> {
        self.operands[i].array().ok_or_else(|| {
            let message =
                format!("operand {i} of `{}` is {:#}, not an array", self.opcode, self.operands[i]);
            Error::from(Code::Rule { rule: "array_operand", message }).on(Place::Operand(i))
        })
    }
    /// Every operand, each of which must be an array.
    pub(crate) fn arrays(&self) -> Result<Vec<&'a ArrayShape>> {
        (0..self.operands.len()).map(|i| self.array(i)).collect()
    }
    /// The stated shape, of an op that cannot do without.
    pub(crate) fn stated(&self) -> Result<&'a Shape> {
        self.stated.ok_or_else(|| Code::ShapeMissing { op: self.opcode.name().into() }.into())
    }
    /// The stated shape, which must be an array.
    pub(crate) fn stated_array(&self) -> Result<&'a ArrayShape> {
        let stated = self.stated()?;
        stated.array().ok_or_else(|| {
            let message = format!("the result of `{}` is an array, not {stated:#}", self.opcode);
            Error::from(Code::Rule { rule: "array_result", message }).on(Place::Shape)
        })
    }
    /// Fails unless there are `wanted` (in words) operands.
    pub(crate) fn arity(&self, holds: bool, wanted: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let op = self.opcode.name().to_owned();
        Err(Code::Arity { op, wanted: wanted.to_owned(), found: self.operands.len() }.into())
    }
    /// Fails unless operand `i` has one of these types.
    pub(crate) fn types(
        &self,
        i: usize,
        holds: impl Fn(ElementType) -> bool,
        wanted: &str,
    ) -> Result<()> {
        let found = self.array(i)?.ty;
        if holds(found) {
            return Ok(());
        }
        let (op, found) = (self.opcode.name().to_owned(), found.name().to_owned());
        let code = Code::OperandType { op, found, wanted: wanted.to_owned() };
        Err(Error::from(code).on(Place::Operand(i)))
    }
    /// The called computation's shape.
    pub(crate) fn callee(&self, id: ComputationId) -> Result<ProgramShape<'_>> {
        self.callees.program_shape(id).ok_or_else(|| {
            Error::from(Code::ShapeMissing { op: self.opcode.name().into() })
                .with_help("the computation it calls stands later in the text")
        })
    }
}

impl super::Op {
    /// The shape the op gives for operands of these shapes. `stated` is what a text would state, for the ops that cannot
    /// do without it.
    ///
    /// # Errors
    /// `E02xx` and `E03xx`, with the rule that is broken.
    pub fn shape(
        &self,
        operands: &[&Shape],
        stated: Option<&Shape>,
        callees: &dyn Callees,
    ) -> Result<Shape> {
        let opcode = self.opcode();
        if let Arity::Fixed(wanted) = opcode.arity()
            && operands.len() != wanted
        {
            let op = opcode.name().to_owned();
            let wanted = format!("{wanted}");
            return Err(Code::Arity { op, wanted, found: operands.len() }.into());
        }
        self.infer(&Infer { opcode, operands, stated, callees })
    }

    /// Checks an instruction that states this shape: the number of operands, that the elements can be counted, and that
    /// the op gives this shape.
    ///
    /// # Errors
    /// As [`Op::shape`](Self::shape).
    pub fn check_shape(
        &self,
        operands: &[&Shape],
        stated: &Shape,
        callees: &dyn Callees,
    ) -> Result<()> {
        stated.leaves().into_iter().try_for_each(countable)?;
        let inferred = self.shape(operands, Some(stated), callees)?;
        if inferred.compatible(stated) {
            return Ok(());
        }
        let op = self.opcode().name().to_owned();
        let (inferred, stated) = (format!("{inferred:#}"), format!("{stated:#}"));
        let help = match self.opcode().shape_text() {
            ShapeText::Inferred => format!("write `{inferred}`, or leave the shape out"),
            ShapeText::Stated | ShapeText::Forced => format!("write `{inferred}`"),
        };
        let error = Error::from(Code::ResultShape { op, inferred, stated });
        Err(error.on(Place::Shape).with_help(help))
    }

    /// Fills in what attributes left out and operands tell, as reading a text does: a comparison's type, a window's default
    /// strides.
    ///
    /// # Errors
    /// `E02xx` if an attribute that is missing cannot be told.
    pub fn complete_attributes(
        &mut self,
        operands: &[&Shape],
        stated: Option<&Shape>,
    ) -> Result<()> {
        self.complete(operands, stated)
    }
}

/// Sizes and offsets are counted in 64 bits with a sign, bytes too.
fn countable(leaf: &Shape) -> Result<()> {
    let Some(array) = leaf.array() else { return Ok(()) };
    if array.dims.contains(&ArrayShape::UNBOUNDED) {
        let message = format!("{array:#} has a dimension without a bound, which no backend runs");
        let error = Error::from(Code::Rule { rule: "shape_unbounded", message });
        return Err(error.on(Place::Shape).with_help("write a bound: `<=8`"));
    }
    if array.byte_count().is_some_and(|bytes| i64::try_from(bytes).is_ok()) {
        return Ok(());
    }
    let message = format!("{array:#} takes more bytes than 64 bits can count");
    Err(Error::from(Code::Rule { rule: "shape_size", message }).on(Place::Shape))
}

/// Fails with `rule` unless `holds`.
pub(crate) fn check(
    holds: bool,
    rule: &'static str,
    message: impl FnOnce() -> String,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Code::Rule { rule, message: message() }.into()) }
}

/// The result of a one-operand elementwise op: the operand's shape, of the op's result type.
pub(super) fn unary(op: Unary, cx: &Infer<'_>) -> Result<Shape> {
    let types = op.types();
    let operand = cx.array(0)?;
    cx.types(0, |ty| types.contains(ty), &types.to_string())?;
    let ty = op.opcode().result_type(operand.ty).unwrap_or(operand.ty);
    Ok(operand.with_type(ty).into())
}

/// The result of a two-operand elementwise op: both operands have its dimensions.
pub(super) fn binary(op: Binary, cx: &Infer<'_>) -> Result<Shape> {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let types = op.types();
    cx.types(0, |ty| types.contains(ty), &types.to_string())?;
    same_dims(cx, lhs, rhs, 1)?;
    check(lhs.ty == rhs.ty, "binary_same_type", || {
        format!("operands of `{}` are {} and {}", cx.opcode, lhs.ty, rhs.ty)
    })
    .map_err(|e| e.on(Place::Operand(1)))?;
    let ty = op.opcode().result_type(lhs.ty).ok_or_else(|| {
        let (op, found) = (cx.opcode.name().to_owned(), lhs.ty.name().to_owned());
        let code = Code::OperandType { op, found, wanted: "f32, f64".into() };
        Error::from(code).on(Place::Operand(0))
    })?;
    Ok(merge_dynamic(lhs.with_type(ty), rhs).into())
}

/// Fails unless operand `i` has the dimensions of operand 0.
pub(crate) fn same_dims(
    cx: &Infer<'_>,
    first: &ArrayShape,
    other: &ArrayShape,
    i: usize,
) -> Result<()> {
    check(first.dims == other.dims, "elementwise_same_dims", || {
        format!("operands of `{}` are {first:#} and {other:#}, of different dimensions", cx.opcode)
    })
    .map_err(|e| {
        e.on(Place::Operand(i)).with_help("HLO does not broadcast by itself: add a `broadcast`")
    })
}

/// An array whose dimension `d` has the size, and is dynamic, as `dim` says of it.
pub(super) fn with_dims(
    ty: ElementType,
    dims: impl IntoIterator<Item = (i64, bool)>,
) -> ArrayShape {
    let (sizes, flags): (Vec<i64>, Vec<bool>) = dims.into_iter().unzip();
    let dynamic = flags.contains(&true).then(|| flags.into());
    ArrayShape { dynamic, ..ArrayShape::new(ty, sizes.as_slice()) }
}

/// `shape`, with every dimension dynamic that is dynamic in `other`.
pub(crate) fn merge_dynamic(mut shape: ArrayShape, other: &ArrayShape) -> ArrayShape {
    if let Some(flags) = &other.dynamic {
        let mine = shape.dynamic.get_or_insert_with(|| vec![false; flags.len()].into());
        for (mine, &other) in mine.iter_mut().zip(flags) {
            *mine |= other;
        }
    }
    shape
}
