//! Ranges of arrays that are smaller than their bounds: both ends are arrays of the dynamic sizes.
use super::Stop;
use super::elementwise::{self, is_elementwise};
use super::evaluate::{Evaluator, Leaves, arrays, data_operands};
use super::range::Range;
use super::site::Site;
use hlo::op::Kind;
use hlo::{ArrayShape, Dims, Literal, Op, Shape};

/// Returns whether the instruction reads or returns an array with dynamic dimensions, or a size.
pub(super) fn has_sizes(site: Site<'_>) -> bool {
    if matches!(site.instruction().op, Op::GetDimensionSize(_)) {
        return true;
    }
    // What returns values of its operands as they are, such as a tuple.
    let opcode = site.instruction().opcode();
    let hands_on = match &site.instruction().op {
        Op::CustomCall(op) => interp::is_annotation(&op.custom_call_target.0),
        _ => opcode.carries_values() && opcode.kind() != Kind::Control,
    };
    let operands = 0..site.instruction().operands.len();
    !hands_on
        && (is_dynamic(&site.instruction().shape)
            || operands.map(|i| site.operand(i)).any(is_dynamic))
}

fn is_dynamic(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| leaf.array().is_some_and(|array| array.dynamic.is_some()))
}

/// Returns the legal values where the sizes are known: of elementwise ops, and of ops that move
/// elements.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let ranges = arrays(site, operands)?;
    let op = &site.instruction().op;
    if let Op::GetDimensionSize(get) = op {
        let dimension = get.dimensions.first().and_then(|&d| usize::try_from(d).ok());
        let size = dimension.and_then(|d| ranges[0].lo.sizes().get(d));
        let size = size.and_then(|&size| i32::try_from(size).ok());
        let size = size.ok_or_else(|| site.unsupported("this size"))?;
        return Ok(vec![Range::point(Literal::from_slice(&[], &[size]))]);
    }
    if matches!(op, Op::SetDimensionSize(_)) && is_dynamic(site.operand(0)) {
        // A larger size makes the padding visible.
        return Err(site.unsupported("a size that is set again"));
    }
    if is_elementwise(op) {
        let sizes = sizes(site, &ranges)?;
        let range = elementwise::evaluate(ev, site, &ranges)?;
        // The elements are in the order of the smaller array.
        return Ok(vec![range.map(&|end| resized(end, &sizes))]);
    }
    if data_operands(op).is_some() {
        ev.moved(site, &ranges)
    } else {
        Err(site.unsupported("dynamic shapes"))
    }
}

/// Returns the sizes that all operands of an elementwise op have.
fn sizes(site: Site<'_>, operands: &[&Range]) -> Result<Dims, Stop> {
    let shape: ArrayShape = site.shape()?;
    let mut arrays = operands.iter().filter(|range| range.lo.sizes().len() == shape.rank());
    let first = arrays.next().map_or(shape.dims.as_slice(), |range| range.lo.sizes());
    // Operands of other sizes are broadcast or cut.
    match arrays.all(|range| range.lo.sizes() == first) {
        true => Ok(Dims::from_slice(first)),
        false => Err(site.unsupported("operands of different dynamic sizes")),
    }
}

/// Returns the first elements of an array as one of these sizes.
fn resized(array: &Literal, sizes: &[i64]) -> Literal {
    let Some(shape) = array.array_shape() else { return array.clone() };
    let shape = ArrayShape::new(shape.ty, sizes);
    let mut result = Literal::zeros(shape);
    let length = result.bytes().len();
    result.bytes_mut().copy_from_slice(&array.bytes()[..length]);
    result
}
