//! Computations of scalars applied to elements: all elements at once, each scalar a vector.
use super::Stop;
use super::control::any_of;
use super::evaluate::{Evaluator, Leaves, arrays};
use super::range::{Cause, Range};
use super::site::Site;
use hlo::ir::ComputationId;
use hlo::op::value::WindowDim;
use hlo::op::{Reduce, ReduceWindow};
use hlo::{ArrayShape, Dims, IndexSpace, Literal};

/// Returns a scalar repeated.
pub(super) fn repeated(scalar: &Range, lanes: i64) -> Range {
    let count = usize::try_from(lanes).unwrap_or(0);
    picked(scalar, lanes, std::iter::repeat_n(0, count))
}

/// Returns the elements of an array at these positions, as a vector.
#[expect(clippy::needless_pass_by_value, reason = "callers make it")]
pub(super) fn picked(range: &Range, lanes: i64, at: impl Iterator<Item = usize> + Clone) -> Range {
    let end = |literal: &Literal| {
        let Some(shape) = literal.array_shape() else { return literal.clone() };
        let width = shape.ty.storage_bytes();
        let mut vector = Literal::zeros(ArrayShape::new(shape.ty, [lanes].as_slice()));
        let source = literal.bytes();
        for (slot, i) in vector.bytes_mut().chunks_exact_mut(width).zip(at.clone()) {
            // A lane without an element takes any.
            if let Some(element) = source.get(i * width..(i + 1) * width) {
                slot.copy_from_slice(element);
            }
        }
        vector
    };
    range.map(&end)
}

/// Returns the elements in another shape.
pub(super) fn reshaped(range: &Range, shape: &ArrayShape) -> Range {
    let end = |literal: &Literal| match literal.array_shape() {
        Some(old) => {
            let ty = old.ty;
            literal.with_shape(ArrayShape::new(ty, shape.dims.clone()))
        }
        None => literal.clone(),
    };
    range.map(&end)
}

/// Returns slices as the indices of a dimension.
pub(super) fn stacked(shape: &ArrayShape, dim: usize, slices: &[Range]) -> Range {
    let first = slices.first().and_then(Range::shape);
    let Some(shape) = first.map(|first| shape.with_type(first.ty)) else {
        return Range::exact(&Literal::zeros(shape.clone()));
    };
    let width = shape.ty.storage_bytes();
    let (along, rest) = (offsets(&shape, |d| d == dim), offsets(&shape, |d| d != dim));
    let end = |of: &dyn Fn(&Range) -> Literal| {
        let mut result = Literal::zeros(shape.clone());
        for (slice, &first) in slices.iter().zip(&along) {
            let slice = of(slice);
            for (element, &rest) in slice.bytes().chunks_exact(width).zip(&rest) {
                let at = (first + rest) * width;
                result.bytes_mut()[at..at + width].copy_from_slice(element);
            }
        }
        result
    };
    let count = slices.iter().map(|range| range.candidates.len()).max().unwrap_or(0);
    let candidate = |k: usize| {
        let (lo, hi) = (end(&|r| r.candidate(k).lo.clone()), end(&|r| r.candidate(k).hi.clone()));
        Range::new(lo, hi, None)
    };
    let cause = slices.iter().find_map(|range| range.cause.clone());
    let hull = Range::new(end(&|r| r.lo.clone()), end(&|r| r.hi.clone()), cause);
    Range { candidates: (0..count).map(candidate).collect(), ..hull }
}

/// Returns the number of elements of a shape, as a dimension.
pub(super) fn lanes_of(shape: &ArrayShape) -> i64 {
    shape.dims.iter().product()
}

pub(super) fn map<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    computation: ComputationId,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let shape = site.shape()?;
    let lanes = lanes_of(&shape);
    let vector = ArrayShape::new(shape.ty, [lanes].as_slice());
    let arguments = operands.iter().map(|range| vec![reshaped(range, &vector)]).collect();
    let results = ev.call(computation, arguments, Some(lanes))?;
    Ok(results.iter().map(|range| reshaped(range, &shape)).collect())
}

/// The most steps of a fold that are taken one after the other, where their order is open.
const MOST_STEPS: usize = 64;

/// The most elements of a fold: each has its position in memory.
const MOST_ELEMENTS: i64 = 1 << 24;

pub(super) fn check_size(site: Site<'_>, sizes: impl IntoIterator<Item = i64>) -> Result<(), Stop> {
    let elements = sizes.into_iter().fold(1i64, i64::saturating_mul);
    if elements > MOST_ELEMENTS { Err(site.unsupported("its size")) } else { Ok(()) }
}

/// Elements that are combined with a state, one in each step, in all lanes at once.
pub(super) struct Fold<'a> {
    /// A vector for each leaf of the state.
    pub(super) initial: Leaves,
    /// The arrays of the elements of each leaf.
    pub(super) sources: Vec<&'a Range>,
    pub(super) lanes: i64,
    /// The position of the element of each lane, if it takes one in this step.
    pub(super) steps: Vec<Vec<Option<usize>>>,
}

impl<'a> Fold<'a> {
    /// Returns the elements of a reduction in row-major order.
    pub(super) fn reduce(
        site: Site<'_>,
        op: &Reduce,
        operands: &[&'a Range],
    ) -> Result<Self, Stop> {
        let count = operands.len() / 2;
        let shape = operands[0].shape().ok_or_else(|| site.unsupported("a tuple"))?;
        let is_reduced = |d: usize| op.dimensions.iter().any(|&r| usize::try_from(r) == Ok(d));
        let (kept, reduced) = (offsets(shape, |d| !is_reduced(d)), offsets(shape, is_reduced));
        let lanes = i64::try_from(kept.len()).map_err(|_| site.unsupported("its size"))?;
        check_size(site, shape.dims.iter().copied())?;
        let step = |&step: &usize| kept.iter().map(|&at| Some(at + step)).collect();
        Ok(Self {
            initial: operands[count..].iter().map(|initial| repeated(initial, lanes)).collect(),
            sources: operands[..count].to_vec(),
            lanes,
            steps: reduced.iter().map(step).collect(),
        })
    }

    /// Returns the elements of windows in row-major order, padding skipped.
    pub(super) fn reduce_window(
        site: Site<'_>,
        op: &ReduceWindow,
        operands: &[&'a Range],
    ) -> Result<Self, Stop> {
        let count = operands.len() / 2;
        let leaves = site.instruction().shape.leaves();
        let result = leaves.first().and_then(|leaf| leaf.array());
        let (Some(source), Some(result)) = (operands[0].shape(), result) else {
            return Err(site.unsupported("a tuple"));
        };
        let lanes = lanes_of(result);
        let sizes = op.window.dims.iter().map(|dim| dim.size).collect::<Dims>();
        check_size(site, sizes.iter().copied().chain([lanes]))?;
        let positions: Vec<Dims> = result.dims.indices().collect();
        let at = |offset: Dims| {
            let at = |position: &Dims| element_at(&op.window.dims, source, position, &offset);
            positions.iter().map(at).collect()
        };
        Ok(Self {
            initial: operands[count..].iter().map(|initial| repeated(initial, lanes)).collect(),
            sources: operands[..count].to_vec(),
            lanes,
            steps: sizes.indices().map(at).collect(),
        })
    }

    /// Returns the number of elements of each lane.
    pub(super) fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0u32; usize::try_from(self.lanes).unwrap_or(0)];
        for at in &self.steps {
            for (count, at) in counts.iter_mut().zip(at) {
                *count += u32::from(at.is_some());
            }
        }
        counts
    }
    /// Returns the first element of each lane, where there is one, and the initial value elsewhere.
    fn first(&self) -> Leaves {
        let lanes = usize::try_from(self.lanes).unwrap_or(0);
        let first = |lane: usize| self.steps.iter().find_map(|at| at[lane]);
        let first: Vec<Option<usize>> = (0..lanes).map(first).collect();
        let taken = first.iter().map(|at| at.unwrap_or(0));
        let element = |(source, initial): (&&Range, &Range)| {
            let element = picked(source, self.lanes, taken.clone());
            element.where_else(initial, |lane| first[lane].is_some())
        };
        self.sources.iter().zip(&self.initial).map(element).collect()
    }
    /// Returns the fold that begins with its first elements, of a computation that selects one of
    /// several.
    pub(super) fn begun_with_first(self) -> Self {
        Self { initial: self.first(), ..self }
    }
    /// Returns for each lane whether a step without an element would change what it has, as an
    /// initial value in place of the element does: that of one element, or of none.
    pub(super) fn changed_in_holes(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
    ) -> Result<Vec<bool>, Stop> {
        let lanes = usize::try_from(self.lanes).unwrap_or(0);
        let has_hole = |lane: usize| self.steps.iter().any(|at| at[lane].is_none());
        if !(0..lanes).any(has_hole) {
            return Ok(vec![false; lanes]);
        }
        let first = self.first();
        let (after, before) = (
            self.call(ev, computation, &self.initial, &first)?,
            self.call(ev, computation, &first, &self.initial)?,
        );
        let kept = |lane: usize| {
            let both = after.iter().zip(&before).zip(&first);
            both.into_iter().all(|((after, before), x)| {
                x.is_point_at(lane) && x.same_at(after, lane) && x.same_at(before, lane)
            })
        };
        Ok((0..lanes).map(|lane| has_hole(lane) && !kept(lane)).collect())
    }
    /// Returns the result of the computation for two values in each lane.
    fn call(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
        a: &Leaves,
        b: &Leaves,
    ) -> Result<Leaves, Stop> {
        let arguments = a.iter().chain(b).map(|range| vec![range.clone()]).collect();
        ev.call(computation, arguments, Some(self.lanes))
    }

    /// Returns the state after all elements; with `both`, of every order in which a step may take
    /// its two operands.
    pub(super) fn run(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
        both: bool,
    ) -> Result<Leaves, Stop> {
        if both && self.steps.len() > MOST_STEPS && self.steps.iter().flatten().all(Option::is_some)
        {
            return self.run_as_tree(ev, computation);
        }
        let mut state = self.initial.clone();
        for at in &self.steps {
            let next = self.step(ev, computation, &state, at, both)?;
            let taken =
                |(next, old): (&Range, &Range)| next.where_else(old, |lane| at[lane].is_some());
            state = next.iter().zip(&state).map(taken).collect();
        }
        Ok(state)
    }

    /// As [`Self::run`] in every order, of many elements in every lane: those of the first half of the steps are
    /// combined with those of the second half, until one step is left.
    fn run_as_tree(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
    ) -> Result<Leaves, Stop> {
        let all = self.steps.iter().flatten().map(|at| at.unwrap_or(0));
        let lanes = usize::try_from(self.lanes).unwrap_or(0);
        let taken = |leaves: &Leaves, steps: std::ops::Range<usize>| -> Leaves {
            let positions = steps.start * lanes..steps.end * lanes;
            let count = i64::try_from(positions.len()).unwrap_or(0);
            leaves.iter().map(|range| picked(range, count, positions.clone())).collect()
        };
        let mut combined = |a: &Leaves, b: &Leaves| -> Result<Leaves, Stop> {
            let lanes = a.first().map_or(0, |range| range.lo.len());
            let lanes = i64::try_from(lanes).unwrap_or(0);
            let mut call = |a: &Leaves, b: &Leaves| {
                let arguments = a.iter().chain(b).map(|range| vec![range.clone()]).collect();
                ev.call(computation, arguments, Some(lanes))
            };
            Ok(any_of(&[call(a, b)?, call(b, a)?]))
        };
        let mut count = self.steps.len();
        let whole = i64::try_from(count * lanes).unwrap_or(0);
        let mut rest: Leaves =
            self.sources.iter().map(|range| picked(range, whole, all.clone())).collect();
        let mut state = self.initial.clone();
        while count > 0 {
            if count % 2 == 1 {
                state = combined(&state, &taken(&rest, count - 1..count))?;
            }
            let half = count / 2;
            if half > 0 {
                rest = combined(&taken(&rest, 0..half), &taken(&rest, half..2 * half))?;
            }
            count = half;
        }
        Ok(state)
    }

    /// Returns the state after all elements, of a computation that rounds: nothing is known where
    /// there is more than one element, whose order and tree are implementation-defined.
    pub(super) fn run_rounding(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
        cause: &Cause,
    ) -> Result<Leaves, Stop> {
        let counts = self.counts();
        let known = |lane: usize| counts[lane] < 2;
        let single = (0..counts.len()).any(known);
        let state = if single { self.run(ev, computation, false)? } else { self.initial.clone() };
        let open = |range: &Range| match range.shape() {
            Some(shape) if counts.iter().any(|&count| count > 1) => {
                range.where_else(&Range::any(shape), known).because(Some(cause.clone()))
            }
            Some(_) | None => range.clone(),
        };
        Ok(state.iter().map(open).collect())
    }

    /// Returns the result of the computation for a state and the elements of a step; where there is
    /// none, any.
    pub(super) fn step(
        &self,
        ev: &mut Evaluator<'_>,
        computation: ComputationId,
        state: &Leaves,
        at: &[Option<usize>],
        both: bool,
    ) -> Result<Leaves, Stop> {
        let taken = at.iter().map(|at| at.unwrap_or(0));
        let elements = self.sources.iter().map(|range| picked(range, self.lanes, taken.clone()));
        let elements: Leaves = elements.collect();
        let mut results = vec![self.call(ev, computation, state, &elements)?];
        if both {
            results.push(self.call(ev, computation, &elements, state)?);
        }
        Ok(any_of(&results))
    }
}

/// Returns the element of the operand at an offset in the window at a position; `None` in padding
/// and holes.
pub(super) fn element_at(
    window: &[WindowDim],
    source: &ArrayShape,
    position: &[i64],
    offset: &[i64],
) -> Option<usize> {
    let mut at = 0;
    for (d, dim) in window.iter().enumerate() {
        let place = position[d] * dim.stride + offset[d] * dim.rhs_dilation - dim.pad_low;
        let index = place.div_euclid(dim.lhs_dilation);
        let hole = place.rem_euclid(dim.lhs_dilation) != 0;
        if hole || !(0..source.dims[d]).contains(&index) {
            return None;
        }
        at = at * source.dims[d] + index;
    }
    usize::try_from(at).ok()
}

/// Returns the positions of all indices along some dimensions, in row-major order.
pub(super) fn offsets(shape: &ArrayShape, along: impl Fn(usize) -> bool) -> Vec<usize> {
    let strides = shape.dims.strides();
    let along = || (0..shape.rank()).filter(|&d| along(d));
    let sizes: Dims = along().map(|d| shape.dims[d]).collect();
    let strides: Dims = along().map(|d| strides[d]).collect();
    let mut offsets = Vec::new();
    sizes.offsets(0, &strides, |at| offsets.push(usize::try_from(at).unwrap_or(0)));
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ElementType;

    #[test]
    fn offsets_are_in_row_major_order() {
        let shape = ArrayShape::new(ElementType::F32, [2, 3, 2].as_slice());
        assert_eq!(offsets(&shape, |d| d == 1), [0, 2, 4]);
        assert_eq!(offsets(&shape, |d| d != 1), [0, 1, 6, 7]);
        assert_eq!(offsets(&shape, |_| false), [0]);
    }
}
