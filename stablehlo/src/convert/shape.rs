//! The dialects `shape` and `tensor`, as far as they compute sizes: everything is known when it is
//! converted.
use super::emit::literal_constant;
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::ir::InstructionId;
use hlo::{ArrayShape, Dims, ElementType, Literal};

/// Converts an op whose result is a constant.
pub(crate) fn known(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let Some(elements) = scope.shape_elements(op) else {
        let unknown = (0..op.operands.len()).find(|&i| scope.sizes(op, i).is_err());
        return Err(match unknown.map(|i| scope.sizes(op, i)) {
            Some(Err(error)) => error,
            _ => scope.unsupported(op, format!("`{}` of these operands", op.name)),
        });
    };
    define_known(scope, op, elements)
}
/// Makes a constant of these elements, in the range of its type, the result of an op.
pub(super) fn define_known(scope: &mut Scope<'_, '_>, op: &Op, elements: Vec<i64>) -> Result<()> {
    let is_scalar = match op.results.first().map(|result| &result.ty) {
        Some(crate::ir::Type::Tensor(tensor)) => tensor.dims.is_empty(),
        Some(crate::ir::Type::Other(name)) => !name.ends_with("shape"),
        _ => true,
    };
    let ty = match scope.stated(op, 0) {
        Ok(shape) => shape.element_type().unwrap_or(ElementType::S64),
        Err(_) => ElementType::S64,
    };
    let elements: Vec<i64> =
        elements.into_iter().map(|element| super::fold::wrap(ty, element)).collect();
    let id = integers(scope, op, ty, &elements, is_scalar)?;
    let Some(result) = op.results.first() else { return Ok(()) };
    scope.define(result.id, id);
    scope.set_known(result.id, id, elements);
    Ok(())
}

/// Adds a constant of integers.
fn integers(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    ty: ElementType,
    elements: &[i64],
    is_scalar: bool,
) -> Result<InstructionId> {
    let count = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let dims = if is_scalar { Dims::new() } else { Dims::from_slice(&[count]) };
    let shape = ArrayShape::new(ty, dims);
    let width = ty.storage_bytes();
    let bytes: Vec<u8> = elements.iter().flat_map(|n| n.to_le_bytes()[..width].to_vec()).collect();
    let literal = Literal::from_bytes(shape, &bytes);
    let literal =
        literal.ok_or_else(|| scope.malformed(op, "a list of sizes has a wrong length"))?;
    literal_constant(scope, op, literal)
}

/// Converts a condition on shapes to nothing: the ops that rely on it check their shapes
/// themselves.
pub(crate) fn witness(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let id = integers(scope, op, ElementType::S64, &[1], true)?;
    if let Some(result) = op.results.first() {
        scope.define(result.id, id);
    }
    Ok(())
}
/// Converts `shape.assuming`: its region.
pub(crate) fn assuming<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let region = scope.region(op, 0)?;
    let results = scope.inline(op, region, &[])?;
    for (result, id) in op.results.iter().zip(results) {
        scope.define(result.id, id);
    }
    Ok(())
}

impl Scope<'_, '_> {
    /// Returns the elements of an op's result.
    pub(super) fn shape_elements(&self, op: &Op) -> Option<Vec<i64>> {
        let value = |i: usize| op.operands.get(i).and_then(|&value| self.known_elements(value));
        let scalar = |i: usize| value(i).and_then(|elements| elements.first()).copied();
        let all = || (0..op.operands.len()).map(value).collect::<Option<Vec<_>>>();
        let pair = |f: fn(i64, i64) -> Option<i64>| {
            let (a, b) = (value(0)?, value(1)?);
            (a.len() == b.len()).then(|| a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect())?
        };
        let sizes = |i: usize| {
            let array = self.shape(self.known(*op.operands.get(i)?)?).array()?;
            array.dynamic.is_none().then(|| array.dims.to_vec())
        };
        let list = |name: &str| {
            <Vec<i64> as super::attrs::FromAttribute<'_>>::from_attribute(op.attributes.get(name)?)
        };
        let number = |name: &str| {
            <i64 as super::attrs::FromAttribute<'_>>::from_attribute(op.attributes.get(name)?)
        };
        match op.name.as_str() {
            "arith.addi" | "shape.add" => pair(i64::checked_add),
            "arith.subi" => pair(i64::checked_sub),
            "arith.muli" | "shape.mul" => pair(i64::checked_mul),
            "arith.divsi" | "shape.div" => pair(i64::checked_div),
            "arith.remsi" => pair(i64::checked_rem),
            "arith.maxsi" => pair(|a, b| Some(a.max(b))),
            "arith.minsi" => pair(|a, b| Some(a.min(b))),
            "arith.andi" => pair(|a, b| Some(a & b)),
            "arith.ori" => pair(|a, b| Some(a | b)),
            "arith.xori" => pair(|a, b| Some(a ^ b)),
            "arith.cmpi" => pair(match number("predicate")? {
                0 => |a, b| Some(i64::from(a == b)),
                1 => |a, b| Some(i64::from(a != b)),
                2 => |a, b| Some(i64::from(a < b)),
                3 => |a, b| Some(i64::from(a <= b)),
                4 => |a, b| Some(i64::from(a > b)),
                5 => |a, b| Some(i64::from(a >= b)),
                _ => |_, _| None,
            }),
            "arith.select" => {
                let (&[which], on_true, on_false) = (value(0)?, value(1)?, value(2)?) else {
                    return None;
                };
                Some(if which != 0 { on_true } else { on_false }.to_vec())
            }
            "arith.constant" => match op.attributes.get("value")? {
                crate::ir::Attribute::Bool(value) => Some(vec![i64::from(*value)]),
                _ => Some(vec![number("value")?]),
            },
            "shape.const_size" => Some(vec![number("value")?]),
            "shape.const_shape" => list("shape"),
            "shape.shape_of" => sizes(0),
            "shape.num_elements" => {
                value(0)?.iter().try_fold(1i64, |n, &size| n.checked_mul(size)).map(|n| vec![n])
            }
            "shape.get_extent" | "tensor.extract" if op.operands.len() > 1 => {
                value(0)?.get(usize::try_from(scalar(1)?).ok()?).map(|&n| vec![n])
            }
            "tensor.dim" => sizes(0)?.get(usize::try_from(scalar(1)?).ok()?).map(|&n| vec![n]),
            "shape.concat" | "shape.from_extents" | "tensor.from_elements" => Some(all()?.concat()),
            "shape.broadcast" => broadcast(&all()?),
            _ => Some(value(0)?.to_vec()),
        }
    }
}

/// Returns the shape that arrays of these shapes are broadcast to, aligned at their last
/// dimensions.
pub(super) fn broadcast(shapes: &[&[i64]]) -> Option<Vec<i64>> {
    let rank = shapes.iter().map(|shape| shape.len()).max()?;
    let mut result = vec![1; rank];
    for shape in shapes {
        for (size, &other) in result.iter_mut().rev().zip(shape.iter().rev()) {
            match (*size, other) {
                (a, b) if a == b => {}
                (1, b) => *size = b,
                (_, 1) => {}
                (_, _) => return None,
            }
        }
    }
    Some(result)
}
