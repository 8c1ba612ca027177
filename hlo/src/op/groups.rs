//! The devices of a collective op: the meaning of the ids in its groups, and the sizes of the
//! groups.
use super::{Infer, check};
use crate::diag::quantity;
use crate::diag::{Code, Place};
use crate::ir::ModuleConfig;
use crate::{ArrayShape, Error, Result, Shape};

/// The meaning of the ids in `replica_groups`. A device is a pair of a replica and a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupMode {
    /// Replicas; each partition has separate groups.
    CrossReplica,
    /// Partitions; each replica has separate groups.
    CrossPartition,
    /// Replicas; a group has all partitions of each.
    CrossReplicaAndPartition,
    /// Devices: `replica * num_partitions + partition`.
    FlattenedId,
}

impl GroupMode {
    /// Returns the mode of an op that has the attribute `use_global_device_ids`.
    pub(super) fn with_flag(channel_id: Option<i64>, use_global_device_ids: bool) -> Self {
        match (channel_id, use_global_device_ids) {
            (None, _) => Self::CrossReplica,
            (Some(_), false) => Self::CrossReplicaAndPartition,
            (Some(_), true) => Self::FlattenedId,
        }
    }
    /// Returns the mode of an op that has no such attribute.
    pub(super) fn without_flag(channel_id: Option<i64>) -> Self {
        if channel_id.is_some() { Self::CrossPartition } else { Self::CrossReplica }
    }
    /// Returns the noun for an id.
    pub fn id_noun(self) -> &'static str {
        match self {
            Self::CrossReplica | Self::CrossReplicaAndPartition => "replica",
            Self::CrossPartition => "partition",
            Self::FlattenedId => "device",
        }
    }
    /// Returns the number of ids in a module of this configuration.
    pub fn id_count(self, config: &ModuleConfig) -> i64 {
        match self {
            Self::CrossReplica | Self::CrossReplicaAndPartition => config.replica_count,
            Self::CrossPartition => config.num_partitions,
            Self::FlattenedId => config.replica_count.saturating_mul(config.num_partitions),
        }
    }
    /// Returns the number of devices per id.
    pub fn devices_per_id(self, config: &ModuleConfig) -> i64 {
        match self {
            Self::CrossReplicaAndPartition => config.num_partitions,
            Self::CrossReplica | Self::CrossPartition | Self::FlattenedId => 1,
        }
    }
}

/// Fails if device ids are used without a channel: they would be interpreted as replica ids.
pub(super) fn global_ids(channel_id: Option<i64>, use_global_device_ids: bool) -> Result<()> {
    check(channel_id.is_some() || !use_global_device_ids, "global_ids_need_channel", || {
        "`use_global_device_ids` needs a `channel_id`".to_owned()
    })
    .map_err(|e| e.on(Place::Attribute("use_global_device_ids")))
}

/// Fails unless there is an operand, and each is an array.
pub(super) fn arrays<'a>(cx: &Infer<'a>) -> Result<Vec<&'a ArrayShape>> {
    cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
    cx.arrays()
}

/// Returns the arrays of a result that has one per operand.
pub(super) fn results<'a>(
    cx: &Infer<'a>,
    shape: &'a Shape,
    rule: &'static str,
) -> Result<Vec<&'a ArrayShape>> {
    let count = cx.operands.len();
    let shapes = match shape {
        Shape::Tuple(shapes) if count > 1 => shapes.as_slice(),
        Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            std::slice::from_ref(shape)
        }
    };
    let arrays: Vec<_> = shapes.iter().filter_map(Shape::array).collect();
    check(arrays.len() == count && shapes.len() == count, rule, || {
        format!(
            "expected `{}` of {} to return one array per operand, found {shape:#}",
            cx.opcode,
            quantity(count, "operand")
        )
    })?;
    Ok(arrays)
}

/// Fails unless `big` has the sizes of `small`, but a multiple of its size in dimension `dim`.
pub(super) fn multiple(
    small: &ArrayShape,
    big: &ArrayShape,
    dim: i64,
    rule: &'static str,
) -> Result<()> {
    let same_kind = small.ty == big.ty && small.rank() == big.rank();
    let fits = same_kind
        && (0i64..).zip(small.dims.iter().zip(&big.dims)).all(|(d, (&small, &big))| {
            if d == dim { times(small, big).is_some() } else { small == big }
        });
    check(fits, rule, || {
        format!("{big:#} does not consist of blocks of {small:#} along dimension {dim}")
    })
}

/// Returns the quotient of `big` and `small`, if it is an integer; 1 if both are 0.
fn times(small: i64, big: i64) -> Option<i64> {
    match (small, big) {
        (0, 0) => Some(1),
        (0, _) => None,
        (small, big) => (big % small == 0).then(|| big / small),
    }
}

/// Fails unless the first array of `big` has as many blocks of that of `small` as a group has
/// devices. Sizes that do not divide are reported by the shape rule.
pub(super) fn block_ratio(
    small: Option<&Shape>,
    big: Option<&Shape>,
    dims: &[i64],
    devices: i64,
    label: &'static str,
) -> Result<()> {
    let first = |shape: &Shape| shape.leaves().into_iter().find_map(Shape::array).cloned();
    let dim = dims.first().and_then(|&d| usize::try_from(d).ok());
    let (Some(small), Some(big), Some(dim)) = (small.and_then(first), big.and_then(first), dim)
    else {
        return Ok(());
    };
    let (Some(&found), Some(&whole)) = (small.dims.get(dim), big.dims.get(dim)) else {
        return Ok(());
    };
    let expected = found.checked_mul(devices);
    check(times(found, whole).is_none() || expected == Some(whole), label, || {
        format!(
            "a dimension of size {whole:#} with shards of size {found:#}, but a group has {}",
            quantity(devices, "device")
        )
    })
}

/// Fails unless `dim` is a dimension of every array.
pub(super) fn in_rank(dim: i64, arrays: &[&ArrayShape], rule: &'static str) -> Result<()> {
    for array in arrays {
        let rank = array.rank();
        if usize::try_from(dim).is_ok_and(|d| d < rank) {
            continue;
        }
        let message = format!("dimension {dim} does not exist in {array:#}");
        return Err(Error::from(Code::Rule { rule, message }).on(Place::Attribute("dimensions")));
    }
    Ok(())
}

/// Returns element 1 of the result of a `-start`, a tuple of at least two.
pub(super) fn second(cx: &Infer<'_>, rule: &'static str) -> Result<Shape> {
    let second = cx.operands[0].tuple().and_then(|elements| elements.get(1));
    check(second.is_some(), rule, || {
        format!(
            "expected the operand of `{}` to be the tuple of its start, found {:#}",
            cx.opcode, cx.operands[0]
        )
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    Ok(second.expect("checked above").clone())
}
