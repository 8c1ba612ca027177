//! Reductions and gathers over devices.
//!
//! Each takes an array, or a tuple, whose elements it exchanges together and returns as a tuple.
//! [`CollectiveOptions`] defines the groups of devices.
use crate::arguments::size;
use crate::ops::movement::elements;
use crate::{Builder, Error, Result, Value};
use hlo::diag::quantity;
use hlo::ir::ComputationId;
use hlo::layout::Layout;
use hlo::op::value::{Ignored, Reducer, ReplicaGroups};
use hlo::op::{
    AllGather, AllGatherDone, AllGatherStart, AllReduce, AllReduceDone, AllReduceStart,
    PartitionId, ReduceScatter, ReplicaId, Tuple,
};
use hlo::{ElementType, Op, Shape};
use std::collections::BTreeMap;

/// The devices that take part in a collective op.
///
/// The meaning of the ids in the groups follows from the other two: replicas without a channel;
/// with one, partitions, or for reductions and gathers replicas with all their partitions; devices,
/// `replica * partitions + partition`, with a channel and `use_global_device_ids`.
///
/// ```
/// use builder::CollectiveOptions;
/// let pairs = CollectiveOptions { replica_groups: [[0, 1], [2, 3]].into(), ..Default::default() };
/// let rows = CollectiveOptions {
///     replica_groups: "[2,4]<=[8]".parse().map_err(builder::Error::from)?,
///     channel_id: Some(1),
///     use_global_device_ids: true,
///     ..Default::default()
/// };
/// # Ok::<(), builder::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CollectiveOptions {
    /// The groups: lists, an `IotaTiling`, axes of a mesh, or read from a text; none for one group
    /// of all.
    pub replica_groups: ReplicaGroups,
    /// Names the channel, from 1 on.
    pub channel_id: Option<i64>,
    /// The groups hold numbers of devices.
    pub use_global_device_ids: bool,
    /// The layout of the results, which may then not be changed.
    pub layout: Option<Layout>,
}

impl CollectiveOptions {
    /// Fails if the op has no use for something that is set.
    pub(super) fn without(&self, op: &str, device_ids: bool, layout: bool) -> Result<()> {
        let unused =
            match (device_ids && self.use_global_device_ids, layout && self.layout.is_some()) {
                (true, _) => "use_global_device_ids",
                (false, true) => "layout",
                (false, false) => return Ok(()),
            };
        Err(Error::argument(format!("`{op}` has no `{unused}`")).with_help("leave it out"))
    }
}

/// The operands of a collective op.
pub(super) struct Exchanged<'b> {
    pub(super) operands: Vec<Value<'b>>,
    /// The operand and the result are tuples.
    tuple: bool,
}

impl<'b> Exchanged<'b> {
    pub(super) fn of(value: Value<'b>) -> Result<Self> {
        let tuple = value.shape()?.tuple().is_some();
        let operands = if tuple { elements(value)? } else { vec![value] };
        if operands.is_empty() {
            let message = "an empty tuple has nothing to exchange";
            return Err(Error::argument(message));
        }
        Ok(Self { operands, tuple })
    }
    pub(super) fn list(values: &[Value<'b>]) -> Self {
        Self { operands: values.to_vec(), tuple: true }
    }
    /// Returns the op on these operands, whose results have these shapes.
    pub(super) fn emit(
        &self,
        b: &'b Builder,
        op: Op,
        options: &CollectiveOptions,
        results: Vec<Shape>,
    ) -> Result<Value<'b>> {
        let shape = laid_out(one_or_tuple(results), options)?;
        self.wrapped(b, b.emit(op, &self.operands, Some(shape))?)
    }
    /// As [`Exchanged::emit`], of an op whose result is a tuple even if there is one.
    pub(super) fn emit_tuple(
        &self,
        b: &'b Builder,
        op: Op,
        options: &CollectiveOptions,
    ) -> Result<Value<'b>> {
        b.emit(op, &self.operands, Some(laid_out(Shape::Tuple(self.shapes()?), options)?))
    }
    /// Wraps a single result in a tuple if the operand was a tuple.
    pub(super) fn wrapped(&self, b: &'b Builder, result: Value<'b>) -> Result<Value<'b>> {
        let single = self.tuple && self.operands.len() == 1;
        if single { b.emit(Tuple {}, &[result], None) } else { Ok(result) }
    }
    /// Returns the shape of one operand, or of all as a tuple.
    pub(super) fn together(&self) -> Result<Shape> {
        self.shapes().map(one_or_tuple)
    }
    fn shapes(&self) -> Result<Vec<Shape>> {
        self.operands.iter().map(|operand| operand.shape()).collect()
    }
    /// Returns the shapes with another size in one dimension.
    fn resized(&self, dim: i64, size: impl Fn(i64) -> Result<i64>) -> Result<Vec<Shape>> {
        let resized = |operand: &Value<'b>| {
            let mut shape = operand.array()?;
            let at = usize::try_from(operand.axis(dim)?).unwrap_or_default();
            shape.dims[at] = size(shape.dims[at])?;
            Ok(shape.into())
        };
        self.operands.iter().map(resized).collect()
    }
    /// Returns the one element type that a reduction is made for.
    fn element_type(&self) -> Result<ElementType> {
        let mut types = self.operands.iter().map(|operand| operand.element_type());
        let first =
            types.next().ok_or_else(|| Error::argument("there are no operands to reduce"))??;
        for ty in types {
            let ty = ty?;
            if ty != first {
                let message = format!("the operands of one reduction have types {first} and {ty}");
                return Err(Error::argument(message).with_help("reduce each type on its own"));
            }
        }
        Ok(first)
    }
}

fn one_or_tuple(mut shapes: Vec<Shape>) -> Shape {
    if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) }
}

/// Returns the shape with the requested layout.
fn laid_out(shape: Shape, options: &CollectiveOptions) -> Result<Shape> {
    let Some(layout) = &options.layout else { return Ok(shape) };
    match shape {
        Shape::Array(array) if layout.is_permutation(array.rank()) => {
            Ok(Shape::Array(hlo::ArrayShape { layout: layout.clone(), ..array }))
        }
        Shape::Tuple(parts) => {
            let parts = parts.into_iter().map(|part| laid_out(part, options));
            Ok(Shape::Tuple(parts.collect::<Result<_>>()?))
        }
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            let message = format!("the layout {:?} does not fit {shape:#}", layout.minor_to_major);
            Err(Error::argument(message).with_help("it names each dimension once"))
        }
    }
}

/// The attributes that reductions and gathers share.
macro_rules! grouped {
    ($op:ident, $options:expr $(, $field:ident: $value:expr)*) => {
        Op::from($op {
            channel_id: $options.channel_id,
            replica_groups: $options.replica_groups.clone(),
            constrain_layout: $options.layout.is_some(),
            use_global_device_ids: $options.use_global_device_ids,
            $($field: $value,)*
        })
    };
}

fn reduced<'b>(
    b: &'b Builder,
    values: &Exchanged<'b>,
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    options: &CollectiveOptions,
    starts: bool,
) -> Result<Value<'b>> {
    let to_apply = Reducer(Some(b.combiner("reducer", values.element_type()?, combine)?));
    let (mode, barrier) = (Ignored, Ignored);
    let op = match starts {
        false => grouped!(AllReduce, options, mode: mode, barrier: barrier, to_apply: to_apply),
        true => grouped!(AllReduceStart, options, mode: mode, barrier: barrier, to_apply: to_apply),
    };
    values.emit(b, op, options, values.shapes()?)
}

fn gathered<'b>(
    b: &'b Builder,
    values: &Exchanged<'b>,
    dimension: i64,
    shard_count: i64,
    options: &CollectiveOptions,
    starts: bool,
) -> Result<Value<'b>> {
    let results = values.resized(dimension, |size| {
        let grown = size.checked_mul(shard_count).filter(|_| shard_count > 0);
        grown.ok_or_else(|| {
            Error::argument(format!("{shard_count} times {size} is not a valid size"))
        })
    })?;
    let dimensions = vec![axis(values, dimension)?];
    if !starts {
        let op = grouped!(AllGather, options, dimensions: dimensions);
        return values.emit(b, op, options, results);
    }
    let op = grouped!(AllGatherStart, options, dimensions: dimensions);
    let (before, after) = (values.together()?, one_or_tuple(results));
    let stated = Shape::Tuple(vec![before, laid_out(after, options)?]);
    b.emit(op, &values.operands, Some(stated))
}

fn scattered<'b>(
    b: &'b Builder,
    values: &Exchanged<'b>,
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    dimension: i64,
    shard_count: i64,
    options: &CollectiveOptions,
) -> Result<Value<'b>> {
    let results = values.resized(dimension, |size| divided(size, shard_count))?;
    let dimensions = vec![axis(values, dimension)?];
    let to_apply: ComputationId = b.combiner("reducer", values.element_type()?, combine)?;
    let op = grouped!(ReduceScatter, options, dimensions: dimensions, to_apply: to_apply);
    values.emit(b, op, options, results)
}

/// Returns the size of one of `count` equal parts.
pub(super) fn divided(size: i64, count: i64) -> Result<i64> {
    if count > 0 && size % count == 0 {
        return Ok(size / count);
    }
    Err(Error::argument(format!("the size {size} cannot be divided into {count} equal parts")))
}

fn axis(values: &Exchanged<'_>, dimension: i64) -> Result<i64> {
    let first = values.operands.first();
    first.ok_or_else(|| Error::argument("there are no operands to exchange"))?.axis(dimension)
}

impl Value<'_> {
    /// Returns the values of all devices of the group, combined: XLA's `AllReduce` and
    /// `AllReduceWithDeviceList`.
    ///
    /// ```
    /// use builder::{Builder, CollectiveOptions};
    /// let b = Builder::new("m");
    /// b.set_replica_count(2);
    /// let x = b.parameter(0, "f32[4]", "x");
    /// let mean = x.all_reduce(|a, c| a + c, &CollectiveOptions::default()) / 2;
    /// assert!(b.build(mean).is_ok());
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for an empty tuple, or one of several element types.
    #[track_caller]
    pub fn all_reduce(
        self,
        combine: impl FnOnce(Self, Self) -> Self,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|b| reduced(b, &Exchanged::of(self)?, combine, options, false))
    }
    /// Starts [`all_reduce`](Value::all_reduce), which [`all_reduce_done`](Value::all_reduce_done)
    /// ends.
    #[track_caller]
    pub fn all_reduce_start(
        self,
        combine: impl FnOnce(Self, Self) -> Self,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|b| {
            let values = Exchanged { tuple: false, ..Exchanged::of(self)? };
            reduced(b, &values, combine, options, true)
        })
    }
    /// Returns the result of what [`all_reduce_start`](Value::all_reduce_start) started.
    #[track_caller]
    pub fn all_reduce_done(self) -> Self {
        self.record(|b| b.emit(AllReduceDone {}, &[self], None))
    }
    /// Returns the sum over the replicas of a group; of `pred` whether it is true in any: XLA's
    /// `CrossReplicaSum`.
    #[track_caller]
    pub fn cross_replica_sum(self, replica_groups: impl Into<ReplicaGroups>) -> Self {
        self.record(|b| {
            let replica_groups = replica_groups.into();
            let options = CollectiveOptions { replica_groups, ..CollectiveOptions::default() };
            let values = Exchanged::of(self)?;
            let any = values.element_type()? == ElementType::Pred;
            let sum = |x: Self, y: Self| if any { x.or(y) } else { x + y };
            reduced(b, &values, sum, &options, false)
        })
    }
    /// As [`Value::cross_replica_sum`], where replica `i` is in group `replica_group_ids[i]`;
    /// without ids all replicas are in one group: XLA's `CrossReplicaSum` of 2018.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if groups differ in size, or there is not one id for each
    /// replica.
    #[track_caller]
    pub fn cross_replica_sum_by_id(self, replica_group_ids: &[i64]) -> Self {
        self.record(|b| {
            let (found, replicas) =
                (replica_group_ids.len(), b.state.borrow().config.replica_count);
            if found > 0 && size(found) != replicas {
                let message =
                    format!("{found} group ids are given for {}", quantity(replicas, "replica"));
                return Err(Error::argument(message)
                    .with_help("call `set_replica_count` first; give one id for each replica"));
            }
            let mut groups: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
            for (&id, replica) in replica_group_ids.iter().zip(0i64..) {
                groups.entry(id).or_default().push(replica);
            }
            let groups: Vec<Vec<i64>> = groups.into_values().collect();
            if groups.iter().any(|group| group.len() != groups[0].len()) {
                let message = format!("the groups of {replica_group_ids:?} differ in size");
                return Err(Error::argument(message).with_help("give each id equally often"));
            }
            Ok(self.cross_replica_sum(groups))
        })
    }
    /// Returns the values of the devices of the group, concatenated along a dimension: XLA's
    /// `AllGather` and `AllGatherWithDeviceList`. `shard_count` is how many devices a group has.
    #[track_caller]
    pub fn all_gather(self, dimension: i64, shard_count: i64, options: &CollectiveOptions) -> Self {
        self.record(|b| gathered(b, &Exchanged::of(self)?, dimension, shard_count, options, false))
    }
    /// Starts [`all_gather`](Value::all_gather), which [`all_gather_done`](Value::all_gather_done)
    /// ends.
    #[track_caller]
    pub fn all_gather_start(
        self,
        dimension: i64,
        shard_count: i64,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|b| gathered(b, &Exchanged::of(self)?, dimension, shard_count, options, true))
    }
    /// Returns the result of what [`all_gather_start`](Value::all_gather_start) started.
    #[track_caller]
    pub fn all_gather_done(self) -> Self {
        self.record(|b| b.emit(AllGatherDone {}, &[self], None))
    }
    /// Returns this device's part of the combined values of all devices of the group: XLA's
    /// `ReduceScatter` and `ReduceScatterWithDeviceList`. The dimension is cut into `shard_count`
    /// parts, as many as a group has devices.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the dimension cannot be cut so.
    #[track_caller]
    pub fn reduce_scatter(
        self,
        combine: impl FnOnce(Self, Self) -> Self,
        dimension: i64,
        shard_count: i64,
        options: &CollectiveOptions,
    ) -> Self {
        self.record(|b| {
            scattered(b, &Exchanged::of(self)?, combine, dimension, shard_count, options)
        })
    }
}

impl Builder {
    /// As [`Value::all_reduce`], of several arrays of one element type: XLA's `AllReduceTuple` and
    /// `AllReduceTupleWithDeviceList`. Returns a tuple.
    #[track_caller]
    pub fn all_reduce<'b>(
        &'b self,
        operands: &[Value<'b>],
        combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
        options: &CollectiveOptions,
    ) -> Value<'b> {
        self.record(|b| reduced(b, &Exchanged::list(operands), combine, options, false))
    }
    /// As [`Value::all_gather`], of several arrays: XLA's `AllGatherTuple` and
    /// `AllGatherTupleWithDeviceList`. Returns a tuple.
    #[track_caller]
    pub fn all_gather<'b>(
        &'b self,
        operands: &[Value<'b>],
        dimension: i64,
        shard_count: i64,
        options: &CollectiveOptions,
    ) -> Value<'b> {
        let values = Exchanged::list(operands);
        self.record(|b| gathered(b, &values, dimension, shard_count, options, false))
    }
    /// Returns the number of the replica that runs, as `u32[]`: XLA's `ReplicaId`.
    #[track_caller]
    pub fn replica_id(&self) -> Value<'_> {
        self.record(|b| b.emit(ReplicaId {}, &[], None))
    }
    /// Returns the number of the partition that runs, as `u32[]`: XLA's `PartitionId`.
    #[track_caller]
    pub fn partition_id(&self) -> Value<'_> {
        self.record(|b| b.emit(PartitionId {}, &[], None))
    }
}
