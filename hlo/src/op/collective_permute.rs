//! `collective-permute`: devices send to devices, as given by pairs. A device that is not a target
//! gets zeros.
//!
//! With `slice_sizes` it takes four operands, `(input, output, input offsets, output offsets)`, and
//! copies only a slice of the input to a slice of the output; the offsets are a tuple of `s32[]` or
//! `u32[]`, one per dimension. Several slices have a tuple of such tuples. Input and output may be
//! tuples of arrays; the offsets are then a tuple of those of each array, and `slice_sizes` has the
//! slices of the first array, then those of the second, ...
use super::groups::{arrays, second};
use super::rules::one_or_tuple;
use super::value::Pairs;
use super::{Communication, GroupMode, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Sends the value of each source to its target.
    pub struct CollectivePermute,
    /// Starts a [`CollectivePermute`]: returns `(operand, result, ...)`, for several operands
    /// `((operands), (results), ...)`.
    pub struct CollectivePermuteStart {
        /// The channel; with one, the ids in the pairs are partitions, else replicas.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// The pairs of sending and receiving devices.
        pub source_target_pairs: Pairs = "source_target_pairs" in source_target_pairs;
        /// Sizes of the slices that are copied.
        pub slice_sizes: Vec<Vec<i64>> = "slice_sizes" in dynamic_slice_sizes or Vec::<Vec<i64>>::new();
    }
}
attrs! {
    /// Ends a [`CollectivePermute`]: returns its result.
    pub struct CollectivePermuteDone {}
}

impl ShapeRule for CollectivePermute {
    fn decoded(&mut self, operands: &[&Shape]) {
        split(&mut self.slice_sizes, operands);
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        pairs(&self.source_target_pairs, cx)?;
        Ok(moved(&self.slice_sizes, cx)?.1)
    }
}
impl ShapeRule for CollectivePermuteStart {
    fn decoded(&mut self, operands: &[&Shape]) {
        split(&mut self.slice_sizes, operands);
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        pairs(&self.source_target_pairs, cx)?;
        let (operand, result) = moved(&self.slice_sizes, cx)?;
        let mut elements = vec![operand, result];
        // The elements after these are for the backend.
        elements.extend(cx.stated()?.tuple().into_iter().flatten().skip(2).cloned());
        Ok(Shape::Tuple(elements))
    }
}
impl ShapeRule for CollectivePermuteDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        second(cx, "collective_permute_done_operand")
    }
}
/// Splits the sizes that a message has one after the other: a list for each slice of the first
/// operand, as long as its rank.
fn split(sizes: &mut Vec<Vec<i64>>, operands: &[&Shape]) {
    let leaves = operands.first().map(|operand| operand.leaves()).unwrap_or_default();
    let ranks: Vec<_> =
        leaves.iter().filter_map(|leaf| leaf.array().map(ArrayShape::rank)).collect();
    let all: Vec<i64> = sizes.drain(..).flatten().collect();
    // Several slices of one array have the same rank; those of several arrays come in the order of
    // the arrays.
    let slices = all.len().checked_div(ranks.iter().sum()).unwrap_or(0);
    let mut rest = all.as_slice();
    for rank in ranks.iter().flat_map(|&rank| std::iter::repeat_n(rank, slices)) {
        let (first, others) = rest.split_at(rank.min(rest.len()));
        sizes.push(first.to_vec());
        rest = others;
    }
    if !rest.is_empty() {
        sizes.push(rest.to_vec());
    }
}

impl Communication for CollectivePermute {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn pairs(&self) -> Option<(GroupMode, &[(i64, i64)])> {
        Some((GroupMode::without_flag(self.channel_id), &self.source_target_pairs.0))
    }
    fn slice_sizes(&self) -> &[Vec<i64>] {
        &self.slice_sizes
    }
}
impl Communication for CollectivePermuteStart {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn pairs(&self) -> Option<(GroupMode, &[(i64, i64)])> {
        Some((GroupMode::without_flag(self.channel_id), &self.source_target_pairs.0))
    }
    fn slice_sizes(&self) -> &[Vec<i64>] {
        &self.slice_sizes
    }
}
impl Communication for CollectivePermuteDone {}

/// Fails unless each device sends at most once and receives at most once; for each slice of an
/// array, if several move.
fn pairs(pairs: &Pairs, cx: &Infer<'_>) -> Result<()> {
    let most = match cx.operands {
        [Shape::Tuple(_), _, Shape::Tuple(offsets), _] => offsets.first().map_or(1, boxes),
        [_, _, offsets, _] => boxes(offsets),
        _ => 1,
    };
    let on = |rule, word, id: fn(&(i64, i64)) -> i64| {
        let mut ids: Vec<_> = pairs.0.iter().map(id).collect();
        ids.sort_unstable();
        let twice = ids.windows(most + 1).find(|ids| ids[0] == ids[most]);
        check(twice.is_none(), rule, || {
            let times = if most == 1 { "twice".into() } else { format!("{} times", most + 1) };
            format!("device {} is listed as a {word} {times}", twice.map_or(0, |ids| ids[0]))
        })
        .map_err(|e| e.on(Place::Attribute("source_target_pairs")))
    };
    on("collective_permute_c2", "source", |pair| pair.0)?;
    on("collective_permute_c3", "target", |pair| pair.1)
}

/// Returns the shapes of the input and of the output.
fn moved(slice_sizes: &[Vec<i64>], cx: &Infer<'_>) -> Result<(Shape, Shape)> {
    if slice_sizes.is_empty() {
        arrays(cx)?;
        let all = one_or_tuple(cx.operands.iter().map(|&o| o.clone()).collect());
        return Ok((all.clone(), all));
    }
    cx.arity(cx.operands.len() == 4, "4 operands with `slice_sizes`")?;
    let [input, output, input_offsets, output_offsets] = cx.operands else {
        unreachable!("the number of operands is checked")
    };
    let (Shape::Tuple(inputs), Shape::Tuple(outputs)) = (input, output) else {
        slices_fit(slice_sizes, [input, output], [Some(input_offsets), Some(output_offsets)])?;
        return Ok(((*input).clone(), (*output).clone()));
    };
    let each = |shape: &Shape| shape.tuple().map(<[Shape]>::to_vec).unwrap_or_default();
    let (from, to) = (each(input_offsets), each(output_offsets));
    let counts: Vec<usize> = from.iter().map(boxes).collect();
    // The arrays share the sizes if there are only those of one.
    let shared = counts.iter().all(|&count| count == slice_sizes.len());
    let paired = inputs.len() == outputs.len() && inputs.len() == counts.len();
    let listed = shared || counts.iter().sum::<usize>() == slice_sizes.len();
    check(paired && listed, "collective_permute_slice_sizes", || {
        let (sizes, inputs, outputs) = (slice_sizes.len(), inputs.len(), outputs.len());
        format!(
            "{} cannot be copied from {} to {outputs}",
            quantity(sizes, "slice"),
            quantity(inputs, "array")
        )
    })
    .map_err(|e| e.on(Place::Attribute("slice_sizes")))?;
    let mut rest = slice_sizes;
    for (i, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        let (own, others) = rest.split_at(counts[i]);
        slices_fit(own, [input, output], [from.get(i), to.get(i)])?;
        rest = if shared { slice_sizes } else { others };
    }
    Ok((cx.operands[0].clone(), cx.operands[1].clone()))
}

/// Returns the number of slices of an array with these offsets.
fn boxes(offsets: &Shape) -> usize {
    match offsets.tuple() {
        Some(all @ [Shape::Tuple(_), ..]) => all.len(),
        Some(_) | None => 1,
    }
}

/// Fails unless slices of these sizes fit in the input and in the output, and each has its offsets.
fn slices_fit(
    slice_sizes: &[Vec<i64>],
    buffers: [&Shape; 2],
    offsets_of: [Option<&Shape>; 2],
) -> Result<()> {
    let [Some(input), Some(output)] = buffers.map(Shape::array) else {
        let [input, output] = buffers;
        return check(false, "collective_permute_in_place_type", || {
            format!("a slice of {input:#} cannot be written to {output:#}")
        });
    };
    check(input.ty == output.ty, "collective_permute_in_place_type", || {
        format!("a slice of {input:#} cannot be written to {output:#}")
    })
    .map_err(|e| e.on(Place::Operand(1)))?;
    for (i, (buffer, given)) in [input, output].into_iter().zip(offsets_of).enumerate() {
        let empty = Shape::Tuple(Vec::new());
        offsets(given.unwrap_or(&empty), buffer.rank(), slice_sizes.len())
            .map_err(|e| e.on(Place::Operand(2 + i)))?;
        for sizes in slice_sizes {
            let in_dims = |(&size, &dim): (&i64, &i64)| (0..=dim).contains(&size);
            let fits = sizes.len() == buffer.rank() && sizes.iter().zip(&buffer.dims).all(in_dims);
            check(fits, "collective_permute_slice_sizes", || {
                format!("a slice of sizes {sizes:?} does not fit in {buffer:#}")
            })
            .map_err(|e| e.on(Place::Attribute("slice_sizes")))?;
        }
    }
    Ok(())
}

/// Fails unless there is an offset for each dimension of each slice.
fn offsets(shape: &Shape, rank: usize, boxes: usize) -> Result<()> {
    let one = |shape: &Shape| {
        let offsets = shape.tuple().unwrap_or_default();
        offsets.len() == rank
            && offsets.iter().all(|offset| {
                [ElementType::S32, ElementType::U32].iter().any(|&ty| offset.is_scalar(ty))
            })
    };
    let several = || shape.tuple().is_some_and(|all| all.len() == boxes && all.iter().all(one));
    check((boxes == 1 && one(shape)) || several(), "collective_permute_offsets", || {
        format!("the offsets are {shape:#}, expected {rank} s32[] or u32[] per slice")
    })
}
