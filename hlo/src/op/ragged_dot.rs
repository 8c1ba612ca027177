//! `ragged-dot`: a dot over groups of different sizes.
use super::dot::{dot_attrs, result_type};
use super::value::OperandPrecision;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Dims, Error, Result, Shape};

dot_attrs! {
    /// A dot over groups of different sizes. Operands: left, right, sizes of the groups.
    RaggedDot in ragged_dot_dimension_numbers.dot_dimension_numbers {
        /// The ragged dimension of the left operand, which is divided into groups.
        pub lhs_ragged_dims: Vec<i64> = "lhs_ragged_dims" in ragged_dot_dimension_numbers.lhs_ragged_dimensions or Vec::<i64>::new();
        /// The group dimension of the right operand, which has one slice per group.
        pub rhs_group_dims: Vec<i64> = "rhs_group_dims" in ragged_dot_dimension_numbers.rhs_group_dimensions or Vec::<i64>::new();
    } {}
}

/// The kind of dimension that is divided into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaggedMode {
    /// A free dimension: each group of rows has its own slice of the right operand.
    Free,
    /// A contracting dimension: each group has its own result.
    Contracting,
    /// A batch dimension: the group sizes are the numbers of valid batches.
    Batch,
}

impl RaggedDot {
    /// Returns the kind of dimension that is divided into groups.
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

    /// Returns the left dimensions whose indices can have different group sizes: the batch
    /// dimensions and those of the same kind as the ragged one, as far as they precede it.
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

    /// Checks that there are as many ragged and group dimensions as the mode needs.
    fn dims(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let ragged = &self.lhs_ragged_dims;
        check(ragged.len() == 1, "ragged_dot_ragged_dims", || {
            format!("expected one ragged dimension of the left operand, found {}", ragged.len())
        })
        .map_err(on("lhs_ragged_dims"))?;
        check(lhs.dim(ragged[0]).is_some(), "ragged_dot_ragged_range", || {
            format!("dimension {} does not exist in {lhs:#}", ragged[0])
        })
        .map_err(on("lhs_ragged_dims"))?;
        let groups = &self.rhs_group_dims;
        let (expected, number) =
            if self.mode() == RaggedMode::Free { (1, "one") } else { (0, "no") };
        check(groups.len() == expected, "ragged_dot_group_dims", || {
            format!(
                "expected {number} group dimension of the right operand, found {}",
                groups.len()
            )
        })
        .map_err(on("rhs_group_dims"))?;
        let bound = self.pairing().right();
        let fits = |d: &i64| rhs.dim(*d).is_some() && !bound.contains(d);
        check(groups.iter().all(fits), "ragged_dot_group_range", || {
            format!("dimension {} of {rhs:#} is a batch or contracting dimension", groups[0])
        })
        .map_err(on("rhs_group_dims"))
    }

    /// Returns the number of groups: the last dimension of the group sizes.
    fn groups(&self, cx: &Infer<'_>, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<i64> {
        let sizes = cx.array(2)?;
        cx.types(2, crate::ElementType::is_integral, "signed, unsigned")?;
        let prefix: Dims = self.prefix(lhs.rank()).iter().filter_map(|&d| lhs.dim(d)).collect();
        let fits = sizes
            .dims
            .split_last()
            .is_some_and(|(_, outer)| outer.is_empty() || outer == prefix.as_slice());
        check(fits, "ragged_dot_sizes", || {
            let expected: Vec<String> = prefix.iter().map(i64::to_string).collect();
            let many = if expected.is_empty() {
                String::new()
            } else {
                format!(" or [{},groups]", expected.join(","))
            };
            format!("the group sizes are {sizes:#}, expected [groups]{many}")
        })
        .map_err(|e| e.on(Place::Operand(2)))?;
        let groups = sizes.dims.last().copied().unwrap_or(0);
        let held = self.rhs_group_dims.first().map(|&d| rhs.dim(d).unwrap_or(0));
        check(held.is_none_or(|held| held == groups), "ragged_dot_groups", || {
            format!(
                "{rhs:#} holds {} groups, but there are {groups} group sizes",
                held.unwrap_or(0)
            )
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
