//! `ragged-dot`: a dot whose groups have sizes of their own.
use super::dot::{dot_attrs, result_type};
use super::value::OperandPrecision;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Dims, Error, Result, Shape};

dot_attrs! {
    /// A dot whose groups have sizes of their own. Operands: left, right, sizes of the groups.
    RaggedDot {
        /// The left dimension that is divided into groups.
        pub lhs_ragged_dims: Vec<i64> = "lhs_ragged_dims" or Vec::<i64>::new();
        /// The right dimension that holds one slice a group.
        pub rhs_group_dims: Vec<i64> = "rhs_group_dims" or Vec::<i64>::new();
    } {}
}

/// Which kind of dimension is divided into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaggedMode {
    /// One that is kept: each group of rows has its own slice of the right operand.
    Free,
    /// One that is summed over: each group gives a result of its own.
    Contracting,
    /// A batch dimension: the groups tell how many batches count.
    Batch,
}

impl RaggedDot {
    /// The kind of dimension that is divided into groups.
    pub fn mode(&self) -> RaggedMode {
        let ragged = &self.lhs_ragged_dims;
        if ragged.iter().any(|d| self.lhs_contracting_dims.contains(d)) {
            RaggedMode::Contracting
        } else if ragged.iter().any(|d| self.lhs_batch_dims.contains(d)) {
            RaggedMode::Batch
        } else {
            RaggedMode::Free
        }
    }

    /// The left dimensions for each of whose indices there are groups of their own, where the sizes say so: the batch
    /// dimensions and those of the ragged one's kind, as far as they precede it.
    pub fn prefix(&self, rank: usize) -> Vec<i64> {
        let free = || {
            let bound = self.pairing().left();
            (0i64..).take(rank).filter(|d| !bound.contains(d)).collect()
        };
        let (batch, own): (&[i64], Vec<i64>) = match self.mode() {
            RaggedMode::Free => (&self.lhs_batch_dims, free()),
            RaggedMode::Contracting => (&self.lhs_batch_dims, self.lhs_contracting_dims.clone()),
            RaggedMode::Batch => (&[], self.lhs_batch_dims.clone()),
        };
        let own = own.into_iter().take_while(|d| !self.lhs_ragged_dims.contains(d));
        batch.iter().copied().chain(own).collect()
    }

    /// The dimensions named as ragged and as holding groups are as many as the mode takes.
    fn dims(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let ragged = &self.lhs_ragged_dims;
        check(ragged.len() == 1, "ragged_dot_ragged_dims", || {
            format!("one left dimension is ragged, {} are named", ragged.len())
        })
        .map_err(on("lhs_ragged_dims"))?;
        check(lhs.dim(ragged[0]).is_some(), "ragged_dot_ragged_range", || {
            format!("dimension {} is not one of the {} of {lhs:#}", ragged[0], lhs.rank())
        })
        .map_err(on("lhs_ragged_dims"))?;
        let (groups, wanted) = (&self.rhs_group_dims, usize::from(self.mode() == RaggedMode::Free));
        check(groups.len() == wanted, "ragged_dot_group_dims", || {
            format!("{} right dimensions hold groups, wanted {wanted:#}", groups.len())
        })
        .map_err(on("rhs_group_dims"))?;
        let bound = self.pairing().right();
        let fits = |d: &i64| rhs.dim(*d).is_some() && !bound.contains(d);
        check(groups.iter().all(fits), "ragged_dot_group_range", || {
            format!("dimension {} is not a free one of {rhs:#}", groups[0])
        })
        .map_err(on("rhs_group_dims"))
    }

    /// The number of groups, which the last dimension of the sizes tells.
    fn groups(&self, cx: &Infer<'_>, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<i64> {
        let sizes = cx.array(2)?;
        cx.types(2, crate::ElementType::is_integral, "a whole number")?;
        let prefix: Dims = self.prefix(lhs.rank()).iter().filter_map(|&d| lhs.dim(d)).collect();
        let fits = sizes
            .dims
            .split_last()
            .is_some_and(|(_, outer)| outer.is_empty() || outer == prefix.as_slice());
        check(fits, "ragged_dot_sizes", || {
            let wanted: Vec<String> = prefix.iter().map(i64::to_string).collect();
            let many = if wanted.is_empty() {
                String::new()
            } else {
                format!(" or [{},groups]", wanted.join(","))
            };
            format!("group sizes are {sizes:#}, wanted [groups]{many}")
        })
        .map_err(|e| e.on(Place::Operand(2)))?;
        let groups = sizes.dims.last().copied().unwrap_or(0);
        let held = self.rhs_group_dims.first().map(|&d| rhs.dim(d).unwrap_or(0));
        check(held.is_none_or(|held| held == groups), "ragged_dot_groups", || {
            format!("{rhs:#} holds {} groups, there are {groups} sizes", held.unwrap_or(0))
        })
        .map_err(on("rhs_group_dims"))?;
        Ok(groups)
    }
}

fn on(attribute: &'static str) -> impl Fn(Error) -> Error {
    move |e| e.on(Place::Attribute(attribute))
}

impl ShapeRule for RaggedDot {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let pairing = self.pairing();
        pairing.check(lhs, rhs)?;
        self.dims(lhs, rhs)?;
        let groups = self.groups(cx, lhs, rhs)?;
        let ty = result_type(cx, lhs.ty, rhs.ty);
        let mut result = pairing.result(ty, lhs, rhs, &self.rhs_group_dims);
        if self.mode() == RaggedMode::Contracting {
            let dims: Dims = std::iter::once(groups).chain(result.dims).collect();
            let dynamic = result.dynamic.map(|flags| std::iter::once(false).chain(flags).collect());
            result = ArrayShape { dynamic, ..ArrayShape::new(ty, dims) };
        }
        Ok(result.into())
    }
}
