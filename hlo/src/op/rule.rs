//! Shape rules: their context, checks, and the rules of the elementwise ops.
use super::{Arity, Binary, ShapeText, Unary};
use crate::diag::quantity;
use crate::diag::{Code, Place};
use crate::ir::{ComputationId, ProgramShape};
use crate::layout::Tile;
use crate::{ArrayShape, ElementType, Error, Opcode, Result, Shape};

/// The program shapes of the computations an instruction calls.
pub trait Callees {
    /// Returns the program shape of computation `id`; `None` if it is not parsed yet.
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>>;
}

/// The context of a shape rule.
pub(crate) struct Infer<'a> {
    /// The opcode, for messages.
    pub(crate) opcode: Opcode,
    /// Shapes of the operands; their number is that of the table.
    pub(crate) operands: &'a [&'a Shape],
    /// The stated shape, if there is one.
    pub(crate) stated: Option<&'a Shape>,
    /// The computations of the module.
    pub(crate) callees: &'a dyn Callees,
}

/// The shape rule of an op. Every failed check names its rule, and prints shapes with `{:#}`,
/// without layouts.
pub(crate) trait ShapeRule {
    /// Completes omitted attributes that follow from the operands. Called once, after parsing.
    fn complete(&mut self, _operands: &[&Shape], _stated: Option<&Shape>) -> Result<()> {
        Ok(())
    }
    /// Completes an op read from a message, which leaves to the operands what the text states.
    fn decoded(&mut self, _operands: &[&Shape]) {}
    /// Whether [`ShapeRule::infer`] checks every constraint of the specification. If not, the
    /// stated shape is accepted, and the status page says so.
    const CHECKED: bool = true;
    /// Returns the result shape. For an op whose shape must be stated, an invalid stated shape is
    /// an error.
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape>;
}

impl<T: ShapeRule> ShapeRule for Box<T> {
    const CHECKED: bool = T::CHECKED;
    fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
        T::complete(self, operands, stated)
    }
    fn decoded(&mut self, operands: &[&Shape]) {
        T::decoded(self, operands);
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        T::infer(self, cx)
    }
}

impl<'a> Infer<'a> {
    /// Returns operand `i`, which must be an array.
    pub(crate) fn array(&self, i: usize) -> Result<&'a ArrayShape> {
        self.operands[i].array().ok_or_else(|| {
            let message = format!(
                "operand {i} of `{}` is {:#}, expected an array",
                self.opcode, self.operands[i]
            );
            Error::from(Code::Rule { rule: "array_operand", message }).on(Place::Operand(i))
        })
    }
    /// Returns all operands, which must be arrays.
    pub(crate) fn arrays(&self) -> Result<Vec<&'a ArrayShape>> {
        (0..self.operands.len()).map(|i| self.array(i)).collect()
    }
    /// Returns the stated shape, which the op requires.
    pub(crate) fn stated(&self) -> Result<&'a Shape> {
        self.stated.ok_or_else(|| Code::ShapeMissing { op: self.opcode.name().into() }.into())
    }
    /// Returns the stated shape, which must be an array.
    pub(crate) fn stated_array(&self) -> Result<&'a ArrayShape> {
        let stated = self.stated()?;
        stated.array().ok_or_else(|| {
            let message = format!(
                "expected the result of `{}` to be an array, found {stated:#}",
                self.opcode
            );
            Error::from(Code::Rule { rule: "array_result", message }).on(Place::Shape)
        })
    }
    /// Fails with `expected`, a number of operands in words, unless `holds`.
    pub(crate) fn arity(&self, holds: bool, expected: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let op = self.opcode.name().to_owned();
        Err(Code::Arity { op, expected: expected.to_owned(), found: self.operands.len() }.into())
    }
    /// Fails unless the type of operand `i` satisfies `holds`.
    pub(crate) fn types(
        &self,
        i: usize,
        holds: impl Fn(ElementType) -> bool,
        expected: &str,
    ) -> Result<()> {
        let found = self.array(i)?.ty;
        if holds(found) {
            return Ok(());
        }
        let (op, found) = (self.opcode.name().to_owned(), found.name().to_owned());
        let code = Code::OperandType { op, found, expected: expected.to_owned() };
        Err(Error::from(code).on(Place::Operand(i)))
    }
    /// Returns the program shape of the called computation.
    pub(crate) fn callee(&self, id: ComputationId) -> Result<ProgramShape<'_>> {
        self.callees.program_shape(id).ok_or_else(|| {
            Error::from(Code::ShapeMissing { op: self.opcode.name().into() }).with_help(
                "write the result shape: the called computation is defined later in the text",
            )
        })
    }
}

impl super::Op {
    /// Returns the result shape for operands of these shapes. `stated` is the stated shape, for ops
    /// that require it.
    ///
    /// # Errors
    /// `E02xx` and `E03xx`, with the broken rule.
    pub fn shape(
        &self,
        operands: &[&Shape],
        stated: Option<&Shape>,
        callees: &dyn Callees,
    ) -> Result<Shape> {
        let opcode = self.opcode();
        if let Arity::Fixed(expected) = opcode.arity()
            && operands.len() != expected
        {
            let op = opcode.name().to_owned();
            let expected = quantity(expected, "operand");
            return Err(Code::Arity { op, expected, found: operands.len() }.into());
        }
        self.infer(&Infer { opcode, operands, stated, callees })
    }

    /// Checks an instruction that states this shape: the number of operands, that the number of
    /// elements does not overflow, and that the op has this result shape.
    ///
    /// # Errors
    /// As [`Op::shape`](Self::shape).
    pub fn check_shape(
        &self,
        operands: &[&Shape],
        stated: &Shape,
        callees: &dyn Callees,
    ) -> Result<()> {
        check_arrays(stated)?;
        let inferred = self.shape(operands, Some(stated), callees)?;
        if inferred.compatible(stated) {
            return Ok(());
        }
        let op = self.opcode().name().to_owned();
        let (inferred, stated) = (format!("{inferred:#}"), format!("{stated:#}"));
        let sums_nothing = matches!(self, Self::Dot(dot) if dot.lhs_contracting_dims.is_empty());
        let help = match self.opcode().shape_text() {
            _ if sums_nothing => {
                "name the dimensions that are summed: `lhs_contracting_dims`, `rhs_contracting_dims`"
                    .to_owned()
            }
            ShapeText::Inferred => format!("write `{inferred}`, or omit the shape"),
            ShapeText::Stated | ShapeText::Forced => format!("write `{inferred}`"),
        };
        let error = Error::from(Code::ResultShape { op, inferred, stated });
        Err(error.on(Place::Shape).with_help(help))
    }

    /// Completes omitted attributes that follow from the operands, as parsing does: the type of a
    /// comparison, the default strides of a window.
    ///
    /// # Errors
    /// `E02xx` if a missing attribute cannot be inferred.
    pub fn complete_attributes(
        &mut self,
        operands: &[&Shape],
        stated: Option<&Shape>,
    ) -> Result<()> {
        self.complete(operands, stated)
    }
}

/// Checks the arrays of a shape: their sizes and layouts.
pub(crate) fn check_arrays(shape: &Shape) -> Result<()> {
    let arrays = shape.leaves().into_iter().filter_map(|leaf| match leaf {
        Shape::Array(array) => Some(array),
        Shape::Buffer(array) => Some(&**array),
        Shape::Tuple(_) | Shape::Token | Shape::Opaque => None,
    });
    arrays.into_iter().try_for_each(|array| countable(array).and_then(|()| laid_out(array)))
}

/// Checks that a layout lists each dimension once, that its tiles have elements, and the bits of an
/// element.
fn laid_out(array: &ArrayShape) -> Result<()> {
    let layout = &array.layout;
    let rule = |holds, rule, message: &str| {
        let message = || format!("{message} in `{array}`");
        check(holds, rule, message).map_err(|e| e.on(Place::Shape))
    };
    let rank = array.rank();
    rule(layout.is_permutation(rank), "layout_permutation", "a dimension is missing or repeated")
        .map_err(|e| e.with_help(format!("list each of the {rank} dimensions once")))?;
    let Some(tail) = &layout.tail else { return Ok(()) };
    let mut sizes = tail.tiles.iter().flat_map(|tile| &tile.0);
    rule(sizes.all(|&n| n > 0 || n == Tile::COMBINE), "layout_tile", "a tile has no elements")?;
    // No type has more bits; a backend may store narrower ones in as many.
    let bits = (0..=128).contains(&tail.element_size_in_bits);
    rule(bits, "layout_element_size", "an element has 0 to 128 bits")?;
    tail.physical_shape.as_ref().map_or(Ok(()), check_arrays)
}

/// Checks that sizes, offsets and bytes fit in signed 64 bits.
fn countable(array: &ArrayShape) -> Result<()> {
    if array.dims.contains(&ArrayShape::UNBOUNDED) {
        let message = format!("{array:#} has an unbounded dimension");
        let error = Error::from(Code::Rule { rule: "shape_unbounded", message });
        return Err(error.on(Place::Shape).with_help("write a bound: `<=8`"));
    }
    if array.byte_count().is_some_and(|bytes| i64::try_from(bytes).is_ok()) {
        return Ok(());
    }
    let message = format!("the size of {array:#} in bytes overflows 64 bits");
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

/// Returns the result of a unary elementwise op: the operand's shape, with the op's result type.
pub(super) fn unary(op: Unary, cx: &Infer<'_>) -> Result<Shape> {
    let types = op.types();
    let operand = cx.array(0)?;
    cx.types(0, |ty| types.contains(ty), &types.to_string())?;
    let ty = op.opcode().result_type(operand.ty).unwrap_or(operand.ty);
    Ok(operand.with_type(ty).into())
}

/// Returns the result of a binary elementwise op, whose operands have the same dimensions.
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
        let code = Code::OperandType { op, found, expected: "f32, f64".into() };
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
        format!(
            "operands of `{}` are {first:#} and {other:#}, with different dimensions",
            cx.opcode
        )
    })
    .map_err(|e| {
        e.on(Place::Operand(i)).with_help("add a `broadcast`: HLO does not broadcast implicitly")
    })
}

/// Returns an array with these dimensions: sizes, and whether each is dynamic.
pub(super) fn with_dims(
    ty: ElementType,
    dims: impl IntoIterator<Item = (i64, bool)>,
) -> ArrayShape {
    let (sizes, flags): (Vec<i64>, Vec<bool>) = dims.into_iter().unzip();
    let dynamic = flags.contains(&true).then(|| flags.into());
    ArrayShape { dynamic, ..ArrayShape::new(ty, sizes.as_slice()) }
}

/// Returns `shape`, with every dimension dynamic that is dynamic in `other`.
pub(crate) fn merge_dynamic(mut shape: ArrayShape, other: &ArrayShape) -> ArrayShape {
    if let Some(flags) = &other.dynamic {
        let mine = shape.dynamic.get_or_insert_with(|| vec![false; flags.len()].into());
        for (mine, &other) in mine.iter_mut().zip(flags) {
            *mine |= other;
        }
    }
    shape
}
