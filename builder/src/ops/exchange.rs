//! Exchanges between devices: all-to-all, broadcast, permutation.
use super::collectives::{CollectiveOptions, Exchanged, divided};
use crate::arguments::size;
use crate::{Builder, Error, Result, Value};
use hlo::op::value::{Ignored, Pairs, SliceRange, SliceRanges};
use hlo::op::{
    AllToAll, CollectiveBroadcast, CollectivePermute, CollectivePermuteDone,
    CollectivePermuteStart, Concatenate, RaggedAllToAll, Reshape, Slice, Transpose,
};
use hlo::{ArrayShape, Dims, Op, Shape};

/// The operands of [`Builder::ragged_all_to_all`], by name: XLA's builder and HLO have them in
/// different orders.
///
/// Offsets and sizes count rows, along dimension 0; each list has an entry for each device of the
/// group, or a row of entries.
#[derive(Debug, Clone, Copy)]
pub struct RaggedExchange<'b> {
    /// The rows to be sent.
    pub input: Value<'b>,
    /// For each receiver, the offset of its rows in `input`.
    pub input_offsets: Value<'b>,
    /// For each receiver, the number of rows sent to it.
    pub send_sizes: Value<'b>,
    /// The array that received rows are written to; other rows keep their values.
    pub output: Value<'b>,
    /// For each receiver, the offset of the rows in *its* output.
    pub output_offsets: Value<'b>,
    /// For each sender, the number of rows received from it.
    pub recv_sizes: Value<'b>,
}

fn all_to_all(options: &CollectiveOptions, dimensions: Vec<i64>) -> Op {
    Op::from(AllToAll {
        channel_id: options.channel_id,
        replica_groups: options.replica_groups.clone(),
        dimensions,
        constrain_layout: options.layout.is_some(),
    })
}

/// The exchange of parts of one array, and its result's shape.
struct ArrayParts {
    operand: ArrayShape,
    split: usize,
    concat: usize,
    count: i64,
    /// The size of one part along `split`.
    block: i64,
}

impl ArrayParts {
    fn new(value: Value<'_>, split: i64, concat: i64, count: i64) -> Result<Self> {
        let operand = value.array()?;
        let at = |dim| value.axis(dim).map(|dim| usize::try_from(dim).unwrap_or_default());
        let (split, concat) = (at(split)?, at(concat)?);
        let block = divided(operand.dims[split], count)?;
        Ok(Self { operand, split, concat, count, block })
    }
    fn result(&self) -> Result<Dims> {
        let mut dims = self.operand.dims.clone();
        dims[self.split] = self.block;
        let grown = dims[self.concat].checked_mul(self.count);
        dims[self.concat] = grown.ok_or_else(|| {
            Error::argument(format!(
                "{} times {} is not a valid size",
                self.count, dims[self.concat]
            ))
        })?;
        Ok(dims)
    }
    /// Emits `all-to-all` of the array, whose parts come back in place; then each is moved to where
    /// it belongs.
    fn as_array<'b>(&self, value: Value<'b>, options: &CollectiveOptions) -> Result<Value<'b>> {
        let b = value.builder();
        let mut options = options.clone();
        if options.replica_groups.is_empty() {
            options.replica_groups = vec![(0..self.count).collect::<Vec<i64>>()].into();
        }
        let split = size(self.split);
        let exchanged = b.emit(all_to_all(&options, vec![split]), &[value], None)?;
        if self.split == self.concat {
            return Ok(exchanged);
        }
        let reshape = |value: Value<'b>, dims: Dims| {
            let shape = ArrayShape::new(self.operand.ty, dims);
            b.emit(Reshape { inferred_dimension: -1 }, &[value], Some(shape.into()))
        };
        let mut parts = self.operand.dims.clone();
        parts[self.split] = self.block;
        parts.insert(self.split, self.count);
        let exchanged = reshape(exchanged, parts)?;
        // The number of the part goes right before the dimension that grows.
        let mut dimensions = Vec::with_capacity(self.operand.rank() + 1);
        for (dim, place) in (0i64..).zip(0..self.operand.rank()) {
            if place == self.concat {
                dimensions.push(split);
            }
            dimensions.push(if place >= self.split { dim + 1 } else { dim });
        }
        let moved = b.emit(Transpose { dimensions }, &[exchanged], None)?;
        reshape(moved, self.result()?)
    }
    /// Exchanges the parts as separate arrays, which may have a layout.
    fn as_tuple<'b>(&self, value: Value<'b>, options: &CollectiveOptions) -> Result<Value<'b>> {
        let b = value.builder();
        let slice = |i: i64| {
            let whole = |&limit: &i64| SliceRange { start: 0, limit, stride: 1 };
            let mut ranges: Vec<_> = self.operand.dims.iter().map(whole).collect();
            ranges[self.split].start = i * self.block;
            ranges[self.split].limit = (i + 1) * self.block;
            b.emit(Slice { ranges: SliceRanges(ranges) }, &[value], None)
        };
        let parts: Result<Vec<_>> = (0..self.count).map(slice).collect();
        let values = Exchanged::list(&parts?);
        let exchanged = tuple_form(b, &values, options)?;
        let parts = super::movement::elements(exchanged)?;
        let dimensions = vec![size(self.concat)];
        let result = ArrayShape::new(self.operand.ty, self.result()?);
        b.emit(Concatenate { dimensions }, &parts, Some(result.into()))
    }
}

fn tuple_form<'b>(
    b: &'b Builder,
    values: &Exchanged<'b>,
    options: &CollectiveOptions,
) -> Result<Value<'b>> {
    options.without("all-to-all", true, false)?;
    values.emit_tuple(b, all_to_all(options, Vec::new()), options)
}

fn permuted<'b>(
    b: &'b Builder,
    values: &Exchanged<'b>,
    pairs: &[(i64, i64)],
    channel_id: Option<i64>,
    starts: bool,
) -> Result<Value<'b>> {
    let pairs = Pairs(pairs.to_vec());
    if !starts {
        let op = CollectivePermute { channel_id, ..CollectivePermute::new(pairs) };
        return values.wrapped(b, b.emit(op, &values.operands, None)?);
    }
    let op = CollectivePermuteStart { channel_id, ..CollectivePermuteStart::new(pairs) };
    let shape = values.together()?;
    b.emit(op, &values.operands, Some(Shape::Tuple(vec![shape.clone(), shape])))
}

impl Value<'_> {
    /// Splits the array into `split_count` parts, sends the i-th to device i of the group, and
    /// concatenates the received parts along `concat_dimension`: XLA's `AllToAll` and
    /// `AllToAllWithDeviceList`.
    ///
    /// Without groups the first `split_count` devices are meant. With a layout the parts are
    /// exchanged as arrays of their own, as by [`all_to_all_tuple`](Value::all_to_all_tuple).
    ///
    /// ```
    /// use builder::{Builder, CollectiveOptions};
    /// let b = Builder::new("m");
    /// b.set_replica_count(2);
    /// let x = b.parameter(0, "f32[4,3]", "x");
    /// assert_eq!(x.all_to_all(0, 1, 2, &CollectiveOptions::default()).dims()?, [2, 6]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the dimension cannot be cut so.
    #[track_caller]
    pub fn all_to_all(
        self,
        split_dimension: i64,
        concat_dimension: i64,
        split_count: i64,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|_| {
            options.without("all-to-all", true, false)?;
            let parts = ArrayParts::new(self, split_dimension, concat_dimension, split_count)?;
            match options.layout {
                Some(_) => parts.as_tuple(self, options),
                None => parts.as_array(self, options),
            }
        })
    }
    /// As [`all_to_all`](Value::all_to_all), by slices, an exchange of tuples, and a concatenation:
    /// XLA's `AllToAllTuple` of one array.
    #[track_caller]
    pub fn all_to_all_tuple(
        self,
        split_dimension: i64,
        concat_dimension: i64,
        split_count: i64,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|_| {
            ArrayParts::new(self, split_dimension, concat_dimension, split_count)?
                .as_tuple(self, options)
        })
    }
    /// Returns the value of the first device of the group: XLA's `CollectiveBroadcast` and
    /// `CollectiveBroadcastWithDeviceList`. Devices in no group have zeros.
    #[track_caller]
    pub fn collective_broadcast(self, options: &CollectiveOptions) -> Self {
        self.record(|b| sent_to_all(b, &[self], false, options))
    }
    /// Returns the value of the device whose target this one is: XLA's `CollectivePermute`. `pairs`
    /// are sources and targets; a device that is no target receives zeros. The numbers are
    /// replicas, with a channel partitions.
    #[track_caller]
    pub fn collective_permute(self, pairs: &[(i64, i64)], channel_id: Option<i64>) -> Self {
        self.record(|b| permuted(b, &Exchanged::of(self)?, pairs, channel_id, false))
    }
    /// Starts [`collective_permute`](Value::collective_permute), which
    /// [`collective_permute_done`](Value::collective_permute_done) ends. Returns
    /// `(operand, result)`.
    #[track_caller]
    pub fn collective_permute_start(self, pairs: &[(i64, i64)], channel_id: Option<i64>) -> Self {
        self.record(|b| permuted(b, &Exchanged::of(self)?, pairs, channel_id, true))
    }
    /// Returns the result of what [`collective_permute_start`](Value::collective_permute_start)
    /// started.
    #[track_caller]
    pub fn collective_permute_done(self) -> Self {
        self.record(|b| b.emit(CollectivePermuteDone {}, &[self], None))
    }
}

fn sent_to_all<'b>(
    b: &'b Builder,
    operands: &[Value<'b>],
    has_dynamic_root: bool,
    options: &CollectiveOptions,
) -> Result<Value<'b>> {
    options.without("collective-broadcast", true, true)?;
    let op = CollectiveBroadcast {
        channel_id: options.channel_id,
        replica_groups: options.replica_groups.clone(),
        has_dynamic_root,
    };
    b.emit(op, operands, None)
}

impl Builder {
    /// Sends the i-th value to device i of the group; the j-th element of the result came from
    /// device j: XLA's `AllToAllTuple` and `AllToAllTupleWithDeviceList`. There are as many values
    /// as a group has devices, of one shape.
    #[track_caller]
    pub fn all_to_all<'b>(
        &'b self,
        operands: &[Value<'b>],
        options: &CollectiveOptions,
    ) -> Value<'b> {
        self.record(|b| tuple_form(b, &Exchanged::list(operands), options))
    }
    /// As [`Value::collective_broadcast`], of several arrays. With `has_dynamic_root` the last
    /// operand, `s32[n]`, says for each of the `n` before it which device of the group sends, by
    /// its position. Returns a tuple, unless there is one array.
    #[track_caller]
    pub fn collective_broadcast<'b>(
        &'b self,
        operands: &[Value<'b>],
        has_dynamic_root: bool,
        options: &CollectiveOptions,
    ) -> Value<'b> {
        self.record(|b| sent_to_all(b, operands, has_dynamic_root, options))
    }
    /// As [`Value::collective_permute`], of several values: XLA's `MultiCollectivePermute`. Returns
    /// a tuple.
    #[track_caller]
    pub fn collective_permute<'b>(
        &'b self,
        operands: &[Value<'b>],
        pairs: &[(i64, i64)],
        channel_id: Option<i64>,
    ) -> Value<'b> {
        self.record(|b| permuted(b, &Exchanged::list(operands), pairs, channel_id, false))
    }
    /// Starts [`collective_permute`](Builder::collective_permute) of several values, which
    /// [`Value::collective_permute_done`] ends.
    #[track_caller]
    pub fn collective_permute_start<'b>(
        &'b self,
        operands: &[Value<'b>],
        pairs: &[(i64, i64)],
        channel_id: Option<i64>,
    ) -> Value<'b> {
        self.record(|b| permuted(b, &Exchanged::list(operands), pairs, channel_id, true))
    }
    /// Sends a number of rows from every device to every other that depends on the data: XLA's
    /// `RaggedAllToAll` and `RaggedAllToAllWithDeviceList`.
    ///
    /// ```
    /// use builder::{Builder, CollectiveOptions, RaggedExchange};
    /// let b = Builder::new("m");
    /// let list = |n: i32| b.constant([n]);
    /// let exchange = RaggedExchange {
    ///     input: b.constant([1f32, 2.0, 3.0]),
    ///     input_offsets: list(1),
    ///     send_sizes: list(2),
    ///     output: b.constant([0f32, 0.0, 0.0, 9.0]),
    ///     output_offsets: list(0),
    ///     recv_sizes: list(2),
    /// };
    /// let result = interp::run(&b.build(b.ragged_all_to_all(exchange, &CollectiveOptions::default()))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[4]{0} {2, 3, 0, 9}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn ragged_all_to_all<'b>(
        &'b self,
        exchange: RaggedExchange<'b>,
        options: &CollectiveOptions,
    ) -> Value<'b> {
        self.record(|b| {
            options.without("ragged-all-to-all", true, true)?;
            let op = RaggedAllToAll {
                channel_id: options.channel_id,
                replica_groups: options.replica_groups.clone(),
                dimensions: Ignored,
            };
            let RaggedExchange { input, input_offsets, send_sizes, .. } = exchange;
            let RaggedExchange { output, output_offsets, recv_sizes, .. } = exchange;
            let operands = [input, output, input_offsets, send_sizes, output_offsets, recv_sizes];
            b.emit(op, &operands, None)
        })
    }
}
