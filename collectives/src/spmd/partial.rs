//! Partial results: the parts of the devices whose sum is the value of an `unreduced` array.
use super::placement::{groups_along, unsupported};
use crate::Result;
use hlo::ir::{DeviceSharding, NamedAxes, Placement, Reduction, Subgroup};
use hlo::op::value::AxisRef;
use hlo::{ArrayShape, Literal, Scalar};

/// For each term of the sum, the devices that have a part of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Terms(Vec<Vec<usize>>);

impl Terms {
    /// Returns the terms of a sharding; nothing if it has no pending reduction.
    ///
    /// # Errors
    /// `E0507` for a maximum or a minimum, and for elements that have no sum; `E0511` if the axes are not those of the mesh.
    pub(super) fn of(
        sharding: &DeviceSharding,
        array: &ArrayShape,
        devices: usize,
    ) -> Result<Option<Self>> {
        let (reduction, terms) = match &sharding.placement {
            Placement::Unreduced(reduction) => (*reduction, each(devices)),
            Placement::Tiled(tiling) => {
                let data = tiling.dims.len() - tiling.subgroups.len();
                let at = tiling.subgroups.iter().position(|&s| s == Subgroup::Unreduced);
                let Some(at) = at.map(|at| data + at) else { return Ok(None) };
                let size = |n: i64| usize::try_from(n).unwrap_or(0).max(1);
                let inner: usize = tiling.dims[at + 1..].iter().map(|&n| size(n)).product();
                let mut terms = vec![Vec::new(); size(tiling.dims[at])];
                let count = terms.len();
                for (place, id) in tiling.devices.expand().into_iter().enumerate() {
                    terms[place / inner % count].push(usize::try_from(id).unwrap_or(usize::MAX));
                }
                (Reduction::Sum, terms)
            }
            Placement::Named(named) => {
                let all = || named.mesh.axes.iter().map(|axis| AxisRef::new(axis.name.clone()));
                let axes = match named.axes {
                    NamedAxes::Unreduced => all().collect(),
                    NamedAxes::Dims(_) | NamedAxes::Replicated | NamedAxes::Manual => {
                        named.unreduced.clone()
                    }
                };
                let Some(groups) = groups_along(&named.mesh, &axes)? else { return Ok(None) };
                let count = groups.first().map_or(0, Vec::len);
                let term = |k| groups.iter().map(|group| group[k]).collect();
                (named.reduction, (0..count).map(term).collect())
            }
            Placement::Replicated
            | Placement::Manual
            | Placement::Unknown
            | Placement::Maximal(_) => return Ok(None),
        };
        match reduction {
            Reduction::Sum if array.ty != hlo::ElementType::Pred => Ok(Some(Self(terms))),
            Reduction::Sum => Err(unsupported("`unreduced` values of `pred` are not supported")),
            Reduction::Max | Reduction::Min => {
                Err(unsupported("`unreduced` values of a maximum or minimum are not supported"))
            }
        }
    }
    /// Returns the devices that have a part of each term.
    pub(super) fn devices(&self) -> &[Vec<usize>] {
        &self.0
    }
    /// Returns whether a device has a part of the first term. When a value is divided, the other terms are zeros.
    pub(super) fn is_first(&self, device: usize) -> bool {
        self.0.first().is_none_or(|first| first.contains(&device))
    }
}

/// Returns whether devices have terms of a sum in place of parts of a value.
pub(super) fn is_partial(sharding: &DeviceSharding) -> bool {
    match &sharding.placement {
        Placement::Unreduced(_) => true,
        Placement::Tiled(tiling) => tiling.subgroups.contains(&Subgroup::Unreduced),
        Placement::Named(named) => {
            named.axes == NamedAxes::Unreduced || !named.unreduced.is_empty()
        }
        Placement::Replicated | Placement::Manual | Placement::Unknown | Placement::Maximal(_) => {
            false
        }
    }
}
/// Returns whether each device has a term of the size of the value: no axis divides it.
pub(super) fn is_whole(sharding: &DeviceSharding) -> bool {
    match &sharding.placement {
        Placement::Unreduced(_) => true,
        Placement::Named(named) => named.axes == NamedAxes::Unreduced,
        Placement::Replicated
        | Placement::Manual
        | Placement::Unknown
        | Placement::Maximal(_)
        | Placement::Tiled(_) => false,
    }
}
fn each(devices: usize) -> Vec<Vec<usize>> {
    (0..devices).map(|device| vec![device]).collect()
}

/// Returns the sum of arrays of one shape, in their order. Floats are rounded once.
pub(super) fn sum(terms: &[Literal]) -> Option<Literal> {
    let shape = terms.first()?.array_shape()?;
    let (ty, width) = (shape.ty, shape.ty.storage_bytes());
    let mut total = Literal::zeros(ArrayShape::new(ty, shape.dims.clone()));
    for (i, bytes) in total.bytes_mut().chunks_exact_mut(width).enumerate() {
        let all = terms.iter().map(|term| term.get(i)).reduce(add)?;
        all.round_to(ty).write(ty, bytes);
    }
    Some(total)
}

fn add(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Signed(a), Scalar::Signed(b)) => Scalar::Signed(a.wrapping_add(b)),
        (Scalar::Unsigned(a), Scalar::Unsigned(b)) => Scalar::Unsigned(a.wrapping_add(b)),
        (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
        (Scalar::Complex(a, x), Scalar::Complex(b, y)) => Scalar::Complex(a + b, x + y),
        // Terms have one type, which is not `pred`.
        (
            Scalar::Pred(_)
            | Scalar::Signed(_)
            | Scalar::Unsigned(_)
            | Scalar::Float(_)
            | Scalar::Complex(..),
            _,
        ) => a,
    }
}
