//! Top-k by sorting.
use crate::arguments::size;
use crate::{Error, Result, Value};
use hlo::ElementType;

impl<'b> Value<'b> {
    /// Returns the `k` largest elements of the last dimension and their places, which are of type
    /// `index_type`: XLA's `TopK` of its library of functions.
    ///
    /// `x[.., n]` gives `(x[.., k], index_type[.., k])`, the largest first; of equal elements the
    /// earlier one first. Floats are in total order, so NaN comes before infinity and -0 after 0.
    /// The op `topk` does the same with places of type `s32`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([3i32, 1, 4, 1, 5]);
    /// let (_, places) = x.top_k_as(2, hlo::ElementType::S64);
    /// assert_eq!(interp::run(&b.build(places)?, &[])?.to_string(), "s64[2]{0} {4, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if there are fewer than `k` elements.
    #[track_caller]
    pub fn top_k_as(self, k: i64, index_type: ElementType) -> (Self, Self) {
        self.pair(
            |last| {
                let places = self.builder().iota((index_type, &self.dims()?), last);
                Ok(largest(self, places, k, last))
            },
            k,
        )
    }
    /// As [`Value::top_k_as`], through sorts of `partitions` parts of the last dimension: XLA's
    /// `TopKWithPartitions`.
    ///
    /// The result is the same; a part is merged into the largest so far, so that less is sorted at
    /// once.
    #[track_caller]
    pub fn top_k_with_partitions(
        self,
        k: i64,
        partitions: i64,
        index_type: ElementType,
    ) -> (Self, Self) {
        self.pair(
            |last| {
                if partitions < 1 {
                    return Err(Error::argument(format!("{partitions} partitions are too few")));
                }
                let (b, dims) = (self.builder(), self.dims()?);
                let places = b.iota((index_type, &dims), last);
                let count = dims.last().copied().unwrap_or(0);
                let part = count.saturating_add(partitions - 1) / partitions;
                // Then there is nothing that a part could leave out.
                if k >= part {
                    return Ok(largest(self, places, k, last));
                }
                let mut best: Option<(Value<'b>, Value<'b>)> = None;
                let mut start = 0;
                while start < count {
                    let limit = (start + part).min(count);
                    let mut values = self.slice_in_dim(start, limit, 1, last);
                    let mut indices = places.slice_in_dim(start, limit, 1, last);
                    if let Some((v, i)) = best {
                        values = b.concat_in_dim(&[v, values], last);
                        indices = b.concat_in_dim(&[i, indices], last);
                    }
                    let enough = values.dims()?.last().copied().unwrap_or(0).min(k);
                    best = Some(largest(values, indices, enough, last));
                    start = limit;
                }
                best.ok_or_else(|| Error::argument("there are no elements to sort"))
            },
            k,
        )
    }
    /// Returns two values, of an array that has a last dimension of `k` elements at least.
    #[track_caller]
    fn pair(self, make: impl FnOnce(i64) -> Result<(Self, Self)>, k: i64) -> (Self, Self) {
        let invalid = Value::invalid(self.builder());
        self.builder().record_or((invalid, invalid), |_| {
            let shape = self.array()?;
            let count = shape.dims.last().copied();
            if count.is_none_or(|count| !(0..=count).contains(&k)) {
                let message =
                    format!("{shape:#} has no {k} largest elements in the last dimension");
                return Err(Error::argument(message).with_help("`k` is 0 to the last size"));
            }
            make(size(shape.rank()) - 1)
        })
    }
}

/// Returns the `k` first after sorting.
fn largest<'b>(values: Value<'b>, places: Value<'b>, k: i64, dim: i64) -> (Value<'b>, Value<'b>) {
    let b = values.builder();
    let sorted = b.sort(&[values, places], |p| p[0].gt_total_order(p[1]), dim, true);
    let part = |i| sorted.get_tuple_element(i).slice_in_dim(0, k, 1, dim);
    (part(0), part(1))
}
