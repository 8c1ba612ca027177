//! Approximate top-k: the best elements of each window, then the best of those.
use crate::ops::movement::elements;
use crate::ops::reduce::scalars;
use crate::{Builder, Computation, Error, Result, Value};
use hlo::op::value::Text;
use hlo::op::{CustomCall, Reduce, Sort};
use hlo::{ArrayShape, Dims, Shape};

/// Options of [`Builder::approx_top_k`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ApproxTopK {
    /// The number of elements to find.
    pub top_k: i64,
    /// The dimension they are searched along; may be counted from the end.
    pub reduction_dim: i64,
    /// The part of the true top-k that is expected among the result, above 0 and up to 1.
    pub recall_target: f32,
    /// Whether the elements that are left are sorted and cut to `top_k`.
    pub aggregate_to_topk: bool,
    /// The size the recall is judged by, if the operand is a part of something larger.
    pub reduction_input_size_override: Option<i64>,
}
impl Default for ApproxTopK {
    fn default() -> Self {
        Self {
            top_k: 1,
            reduction_dim: -1,
            recall_target: 0.9,
            aggregate_to_topk: true,
            reduction_input_size_override: None,
        }
    }
}

/// Elements that are looked at together: in arrays of one dimension, and in others.
const CHUNK: i64 = 1024;
const LANES: i64 = 128;

/// Returns how many elements an approximate top-k leaves of `input_size`, and the logarithm to base
/// 2 of how much it shortens the dimension: XLA's `ApproxTopKReductionOutputSize`. The logarithm is
/// -1 if `aggregate_to_topk`, which leaves `top_k`.
///
/// Of n elements in m windows the best k are expected to stand in different windows with
/// `((m-1)/m)^(k-1)`, which is to be the recall: `m = (1-k) / ln(recall)`. The size is a multiple
/// of 1024 for `rank` 1 and of 128 for others.
///
/// ```
/// use builder::math::approx_top_k_reduction_output_size;
/// let (size, log2) = approx_top_k_reduction_output_size(100_000, 2, 10, 0.95, false, None)?;
/// assert_eq!((size, log2), (256, 9));
/// # Ok::<(), builder::Error>(())
/// ```
///
/// # Errors
/// `E0801` if the recall is not above 0 and at most 1, a size or `top_k` is not positive, or the
/// override is smaller than the input.
pub fn approx_top_k_reduction_output_size(
    input_size: i64,
    rank: usize,
    top_k: i64,
    recall_target: f32,
    aggregate_to_topk: bool,
    input_size_override: Option<i64>,
) -> Result<(i64, i64)> {
    if top_k < 1 || input_size < 0 {
        let message = format!("`top_k` is {top_k}, of {input_size} elements");
        return Err(Error::argument(message));
    }
    if !(recall_target > 0.0 && recall_target <= 1.0) {
        let message = format!("the recall is {recall_target}, expected above 0 and at most 1");
        return Err(Error::argument(message));
    }
    if aggregate_to_topk {
        return Ok((top_k, -1));
    }
    let tiling = if rank == 1 { CHUNK } else { LANES };
    if input_size <= tiling {
        return Ok((input_size, 0));
    }
    let logical = input_size_override.unwrap_or(input_size);
    if logical < input_size {
        let message = format!("reduction_input_size_override is {logical}, the size {input_size}");
        return Err(Error::argument(message).with_help("it is the size of the whole"));
    }
    if top_k == 1 {
        return Ok((tiling, log2_ceil(ceil_div(logical, tiling))));
    }
    if recall_target >= 1.0 {
        return Ok((input_size, 0));
    }
    let windows = windows(top_k, recall_target).max(tiling).min(input_size);
    let log2 = log2_floor(logical / windows).min(log2_ceil(input_size / tiling));
    if log2 == 0 {
        return Ok((input_size, 0));
    }
    Ok((ceil_div(ceil_div(input_size, tiling), 1 << log2) * tiling, log2))
}

/// `(1 - k) / ln(recall)`, cut off; more than any size if it is.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "k is far below 2^53, and the cast of a float saturates"
)]
fn windows(top_k: i64, recall: f32) -> i64 {
    ((1.0 - top_k as f64) / f64::from(recall).ln()) as i64
}
fn ceil_div(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}
fn log2_floor(x: i64) -> i64 {
    x.checked_ilog2().map_or(0, i64::from)
}
fn log2_ceil(x: i64) -> i64 {
    log2_floor(x) + i64::from(x.count_ones() > 1)
}

impl Builder {
    /// Returns the best elements along a dimension, with a chance to miss some: XLA's `ApproxTopK`.
    ///
    /// `operands` are searched together, the first one usually values and the second their places;
    /// `init_values` are scalars that lose against everything. `comparator` takes a left and a
    /// right scalar of each operand and says whether the left one stands first. Returns a tuple of
    /// arrays. Dimensions above 128 elements (1024 in arrays of one dimension) become a custom call
    /// `PartialReduce`, which only TPUs have; [`Builder::approx_top_k_fallback`] runs everywhere.
    ///
    /// # Errors
    /// `E0801` for operands of different sizes or too few, and whatever
    /// [`approx_top_k_reduction_output_size`] refuses.
    #[track_caller]
    pub fn approx_top_k<'b>(
        &'b self,
        operands: &[Value<'b>],
        init_values: &[Value<'b>],
        comparator: Computation<'b>,
        options: ApproxTopK,
    ) -> Value<'b> {
        self.record(|b| {
            let search = Search::new(b, operands, init_values, comparator, options)?;
            let (size, log2) = search.output_size(false)?;
            if log2 == 0 {
                return search.finish(b, operands);
            }
            let shapes = operands.iter().map(|operand| {
                let shape = operand.array()?;
                Ok(Shape::from(search.resized(&shape, size)))
            });
            let shape = Shape::Tuple(shapes.collect::<Result<Vec<Shape>>>()?);
            let inputs = [operands, init_values].concat();
            let partial = search.partial_reduce(b, &inputs, shape, log2)?;
            if !options.aggregate_to_topk {
                return Ok(partial);
            }
            search.finish(b, &elements(partial)?)
        })
    }
    /// Returns the best elements along a dimension, by sorting all: XLA's `ApproxTopKFallback`. It
    /// misses none; the sizes are those of [`Builder::approx_top_k`].
    ///
    /// ```
    /// use builder::math::ApproxTopK;
    /// use hlo::ElementType::{F32, S32};
    /// let b = builder::Builder::new("m");
    /// let (x, places) = (b.constant([3.0f32, 9.0, 1.0, 7.0]), b.constant([0i32, 1, 2, 3]));
    /// let inits = [b.min_value(F32), b.constant(-1i32)];
    /// let best = b.create_scalar_gt_computation(&[F32, S32]);
    /// let options = ApproxTopK { top_k: 2, ..ApproxTopK::default() };
    /// let result = interp::run(&b.build(b.approx_top_k_fallback(&[x, places], &inits, best, options))?, &[])?;
    /// assert_eq!(result.to_string(), "( f32[2]{0} {9, 7}, s32[2]{0} {1, 3} )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::approx_top_k`].
    #[track_caller]
    pub fn approx_top_k_fallback<'b>(
        &'b self,
        operands: &[Value<'b>],
        init_values: &[Value<'b>],
        comparator: Computation<'b>,
        options: ApproxTopK,
    ) -> Value<'b> {
        self.record(|b| {
            let search = Search::new(b, operands, init_values, comparator, options)?;
            let (size, _) = search.output_size(options.aggregate_to_topk)?;
            search.best(b, operands, size)
        })
    }
}

/// A search that was checked.
struct Search<'b, 'a> {
    options: ApproxTopK,
    init_values: &'a [Value<'b>],
    comparator: hlo::ir::ComputationId,
    axis: i64,
    size: i64,
    rank: usize,
}

impl<'b, 'a> Search<'b, 'a> {
    fn new(
        b: &'b Builder,
        operands: &[Value<'b>],
        init_values: &'a [Value<'b>],
        comparator: Computation<'b>,
        options: ApproxTopK,
    ) -> Result<Self> {
        let Some(first) = operands.first() else {
            return Err(Error::argument("there are no operands to search"));
        };
        if operands.len() != init_values.len() {
            let message = format!("{} operands, {} init values", operands.len(), init_values.len());
            return Err(Error::argument(message).with_help("each operand has one"));
        }
        let (shape, axis) = (first.array()?, first.axis(options.reduction_dim)?);
        for operand in operands {
            let other = operand.array()?;
            if other.dims != shape.dims {
                let message = format!("the operands have shapes {shape:#} and {other:#}");
                return Err(Error::argument(message).with_help("give them the same sizes"));
            }
        }
        let size = shape.dim(axis).unwrap_or(0);
        if options.top_k > size {
            let message = format!("`top_k` is {}, of {size} elements", options.top_k);
            return Err(Error::argument(message));
        }
        let comparator = comparator.id_in(b)?;
        Ok(Self { options, init_values, comparator, axis, size, rank: shape.rank() })
    }
    fn output_size(&self, aggregate_to_topk: bool) -> Result<(i64, i64)> {
        let ApproxTopK { top_k, recall_target, reduction_input_size_override, .. } = self.options;
        approx_top_k_reduction_output_size(
            self.size,
            self.rank,
            top_k,
            recall_target,
            aggregate_to_topk,
            reduction_input_size_override,
        )
    }
    /// Returns the shape with another size along the axis.
    fn resized(&self, shape: &ArrayShape, size: i64) -> ArrayShape {
        let dims = shape.dims.iter().zip(0i64..);
        let dims = dims.map(|(&d, i)| if i == self.axis { size } else { d });
        ArrayShape::new(shape.ty, dims.collect::<Dims>())
    }
    /// Returns the custom call that leaves one element of each window.
    fn partial_reduce(
        &self,
        b: &'b Builder,
        inputs: &[Value<'b>],
        shape: Shape,
        log2: i64,
    ) -> Result<Value<'b>> {
        let call = CustomCall {
            called_computations: vec![self.comparator],
            ..CustomCall::new(Text("PartialReduce".into()))
        };
        let config = format!(
            "{{\"log2_reduction\": {log2}, \"reduction_dim\": {}, \"to_apply_type\": \"comparator\", \
             \"top_k\": {}, \"recall_target\": {:.6}}}",
            self.axis, self.options.top_k, self.options.recall_target,
        );
        b.emit_configured(call, inputs, shape, &config)
    }
    fn finish(&self, b: &'b Builder, operands: &[Value<'b>]) -> Result<Value<'b>> {
        match self.options.aggregate_to_topk {
            true => self.best(b, operands, self.options.top_k),
            false => b.emit(hlo::op::Tuple {}, operands, None),
        }
    }
    /// Returns the best `count` elements: by a reduction if it is one, else by a sort.
    fn best(&self, b: &'b Builder, operands: &[Value<'b>], count: i64) -> Result<Value<'b>> {
        if count == 1 {
            return self.single(b, operands);
        }
        let sort = Sort {
            dimensions: Some(vec![self.axis]),
            to_apply: Some(self.comparator),
            is_stable: false,
        };
        let sorted = b.emit(sort, operands, None)?;
        let parts: Vec<Value<'b>> = match operands.len() {
            1 => vec![sorted],
            _ => elements(sorted)?,
        };
        let cut: Result<Vec<Value<'b>>> = parts
            .iter()
            .map(|part| {
                let shape = part.array()?;
                let starts = vec![0; shape.rank()];
                let limits = self.resized(&shape, count).dims;
                Ok(part.slice(&starts, &limits, &vec![1; starts.len()]))
            })
            .collect();
        Ok(b.tuple(&cut?))
    }
    fn single(&self, b: &'b Builder, operands: &[Value<'b>]) -> Result<Value<'b>> {
        let scalars = scalars(operands)?;
        let compare = Computation::from_id(b, self.comparator);
        let to_apply = b.trace("ReductionFn", &[scalars.clone(), scalars].concat(), |p| {
            let (lhs, rhs) = p.split_at(p.len() / 2);
            let arguments: Vec<Value<'b>> =
                lhs.iter().zip(rhs).flat_map(|(&l, &r)| [l, r]).collect();
            let first = b.call(compare, &arguments);
            let kept: Vec<Value<'b>> =
                lhs.iter().zip(rhs).map(|(&l, &r)| first.select(l, r)).collect();
            if let [only] = kept[..] { only } else { b.tuple(&kept) }
        })?;
        let inputs = [operands, self.init_values].concat();
        let best = b.emit(Reduce { dimensions: vec![self.axis], to_apply }, &inputs, None)?;
        let parts: Result<Vec<Value<'b>>> = (0i64..)
            .zip(operands)
            .map(|(i, operand)| {
                let part = if operands.len() == 1 { best } else { best.get_tuple_element(i) };
                Ok(part.reshape(&self.resized(&operand.array()?, 1).dims))
            })
            .collect();
        Ok(b.tuple(&parts?))
    }
}
