//! `bitcast` and `bitcast-convert`: the bytes of an array as another one.
//!
//! A `bitcast` has the bytes in memory, whose order the layouts tell: the array is transposed to
//! the order of its memory, reshaped, and transposed from the order of the result's.
use super::exporter::{At, Draft, Exporter, Leaves, array};
use super::structured::{one, shape_of};
use crate::attributes::{keyword, list};
use crate::error::Result;
use crate::ir::ValueId;
use builder::Value;
use hlo::{ArrayShape, ElementType, Literal, Scalar};

impl Exporter<'_> {
    pub(super) fn bitcast(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let Some(from) = at.shape(0).array() else {
            return Ok(at.leaves(0).clone());
        };
        let to = at.result()?;
        for shape in [from, to] {
            let is_tiled = shape.layout.tail.as_ref().is_some_and(|tail| !tail.tiles.is_empty());
            at.refuse(is_tiled, "of a tiled layout")?;
            at.refuse(shape.dynamic.is_some(), "of a dynamic size")?;
            let is_packed = shape.ty.bits() < 8 && shape.ty != ElementType::Pred;
            at.refuse(is_packed, "of elements of less than a byte")?;
        }
        let (order, order_to) = (memory_order(from), memory_order(to));
        let mut x = self.transposed(at.operand(0)?, &order)?;
        let in_memory = shape_of(to.ty, order_to.iter().map(|&dim| to.dims[index(dim)]));
        x = self.with_bits_of(at, x, &in_memory)?;
        let mut back = vec![0; order_to.len()];
        for (&dim, i) in order_to.iter().zip(0..) {
            back[index(dim)] = i;
        }
        self.transposed(x, &back).map(one)
    }
    pub(super) fn bitcast_convert(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let (from, to) = (at.array(0)?, at.result()?);
        let special =
            from.ty != to.ty && (from.ty == ElementType::Pred || to.ty == ElementType::Pred);
        let (narrow, wide) = if from.ty.bits() < to.ty.bits() { (from, to) } else { (to, from) };
        let added = usize::from(narrow.ty.bits() != wide.ty.bits());
        if !special && narrow.rank() == wide.rank() + added {
            return self.plain(at, []);
        }
        at.refuse(from.dynamic.is_some(), "of a dynamic size")?;
        self.with_bits_of(at, at.operand(0)?, to).map(one)
    }

    fn transposed(&mut self, x: ValueId, order: &[i64]) -> Result<ValueId> {
        if order.iter().zip(0..).all(|(dim, i)| *dim == i) {
            return Ok(x);
        }
        let shape = array(self.shape(x))?;
        let shape = shape_of(shape.ty, order.iter().map(|&dim| shape.dims[index(dim)]));
        let draft = Draft::new("stablehlo.transpose", [x]).set("permutation", list(order));
        self.emit_one(draft, shape)
    }
    fn reshaped(&mut self, x: ValueId, to: ArrayShape) -> Result<ValueId> {
        if array(self.shape(x))?.dims == to.dims {
            return Ok(x);
        }
        self.emit_one(Draft::new("stablehlo.reshape", [x]), to)
    }
    /// Returns the array of another shape with the same bytes.
    fn with_bits_of(&mut self, at: At<'_, '_>, x: ValueId, to: &ArrayShape) -> Result<ValueId> {
        let from = array(self.shape(x))?.clone();
        let size = |shape: &ArrayShape| shape.byte_count();
        at.refuse(size(&from) != size(to), "between different sizes")?;
        let mut x = x;
        // Complex numbers are pairs in memory, but have no other bits to StableHLO.
        if from.ty.is_complex() && !to.ty.is_complex() {
            x = self.expansion(&one(x), |x| pairs(x[0]))?[0];
        } else if to.ty.is_complex() && !from.ty.is_complex() {
            let count = i64::try_from(to.element_count().unwrap_or(0)).unwrap_or(0);
            let parts = self.with_bits_of(at, x, &shape_of(to.ty.component(), [count, 2]))?;
            let whole = self.expansion(&one(parts), |x| of_pairs(x[0]))?[0];
            return self.reshaped(whole, to.clone());
        }
        if from.ty == ElementType::Pred && to.ty != ElementType::Pred {
            // A boolean is a byte, but a bit to StableHLO.
            x = self
                .emit_one(Draft::new("stablehlo.convert", [x]), from.with_type(ElementType::U8))?;
        }
        let to_pred = to.ty == ElementType::Pred && from.ty != ElementType::Pred;
        let ty = if to_pred { ElementType::U8 } else { to.ty };
        let from = array(self.shape(x))?.clone();
        let (bits, new_bits) = (from.ty.bits(), ty.bits());
        let count = i64::try_from(from.element_count().unwrap_or(0)).unwrap_or(0);
        if bits != new_bits {
            let factor = i64::from(bits.max(new_bits) / bits.min(new_bits));
            let (given, found) = match bits > new_bits {
                true => (vec![count], vec![count, factor]),
                false => (vec![count / factor, factor], vec![count / factor]),
            };
            x = self.reshaped(x, shape_of(from.ty, given))?;
            let draft = Draft::new("stablehlo.bitcast_convert", [x]);
            x = self.emit_one(draft, shape_of(ty, found))?;
        } else if from.ty != ty {
            let draft = Draft::new("stablehlo.bitcast_convert", [x]);
            x = self.emit_one(draft, from.with_type(ty))?;
        }
        x = self.reshaped(x, to.with_type(ty))?;
        if to_pred {
            let zero = Literal::scalar(ElementType::U8, Scalar::Unsigned(0));
            let zero = self.constant(&zero)?[0];
            let draft = Draft::new("stablehlo.broadcast_in_dim", [zero])
                .set("broadcast_dimensions", list([]));
            let zeros = self.emit_one(draft, to.with_type(ty))?;
            let draft = Draft::new("stablehlo.compare", [x, zeros])
                .set("comparison_direction", keyword("stablehlo.comparison_direction", "NE"));
            x = self.emit_one(draft, to.clone())?;
        }
        Ok(x)
    }
}

/// Returns the parts of complex numbers, beside each other.
fn pairs(x: Value<'_>) -> Value<'_> {
    let count = x.array().ok().and_then(|shape| shape.element_count()).unwrap_or(0);
    let rows = i64::try_from(count).unwrap_or(0);
    let columns = [x.real(), x.imag()].map(|part| part.reshape(&[rows, 1]));
    x.builder().concat_in_dim(&columns, 1)
}
/// Returns the complex numbers with these parts.
fn of_pairs(x: Value<'_>) -> Value<'_> {
    let rows = x.dims().ok().and_then(|dims| dims.first().copied()).unwrap_or(0);
    let [re, im] = [0, 1].map(|i| x.slice_in_dim(i, i + 1, 1, 1).reshape(&[rows]));
    re.complex(im)
}
/// Returns the dimensions from the slowest in memory to the fastest.
fn memory_order(shape: &ArrayShape) -> Vec<i64> {
    let order: Vec<i64> = shape.layout.minor_to_major.iter().rev().copied().collect();
    match order.len() == shape.rank() {
        true => order,
        false => (0..).take(shape.rank()).collect(),
    }
}
fn index(dim: i64) -> usize {
    usize::try_from(dim).expect("the dimensions of a layout")
}
