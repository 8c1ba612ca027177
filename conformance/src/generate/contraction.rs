//! `dot` and its variants, `convolution`.
use super::data::Domain;
use super::generator::Generator;
use super::generator::list;
use super::scope::Scope;
use hlo::{ArrayShape, Class, ElementType};

/// The dimensions of one operand of a dot: sizes, and where the batch and the contracting ones are.
struct Side {
    dims: Vec<i64>,
    batch: Vec<usize>,
    contracting: Vec<usize>,
    free: Vec<i64>,
}

impl Generator {
    /// Returns the type that sums of products of this type are rounded to.
    pub(super) fn sum_type(&mut self, ty: ElementType) -> ElementType {
        match ty.class() {
            Class::Float if ty.bits() < 32 && self.rng.bool() => ElementType::F32,
            Class::Signed if ty.bits() < 32 && self.rng.bool() => ElementType::S32,
            Class::Pred | Class::Signed | Class::Unsigned | Class::Float | Class::Complex => ty,
        }
    }
    fn sizes(&mut self, count: usize, most: i64) -> Vec<i64> {
        (0..count).map(|_| self.size().min(most)).collect()
    }
    /// Returns the operand with these sizes, in a random order.
    fn side(&mut self, batch: &[i64], contracting: &[i64], free: &[i64]) -> Side {
        let all = [batch, contracting, free].concat();
        let order = self.order(all.len());
        let place = |i: usize| order.iter().position(|&at| at == i).unwrap_or(0);
        let dims = order.iter().map(|&at| all[at]).collect();
        let (b, c) = (batch.len(), contracting.len());
        let mut places: Vec<(usize, i64)> =
            (b + c..all.len()).map(|i| (place(i), all[i])).collect();
        places.sort_unstable();
        Side {
            dims,
            batch: (0..b).map(place).collect(),
            contracting: (b..b + c).map(place).collect(),
            free: places.into_iter().map(|(_, size)| size).collect(),
        }
    }
    pub(super) fn dot(&mut self, scope: &mut Scope) -> Option<()> {
        let ty = self.ty(|ty| ty != ElementType::Pred)?;
        let (batches, contracted) = (self.pick(3) / 2, self.pick(3));
        let most = self.config.max_size.clamp(4, 300);
        let (batch, contracting) = (self.sizes(batches, 3), self.sizes(contracted, most));
        let (m, n) = (self.pick(2), self.pick(2));
        let (left, right) = (self.sizes(m, most.min(30)), self.sizes(n, most.min(30)));
        scope.execute_each(&[&batch, &contracting, &left, &right]);
        let lhs = self.side(&batch, &contracting, &left);
        let rhs = self.side(&batch, &contracting, &right);
        let (a, b) =
            (self.array_of(scope, ty, &lhs.dims).name, self.array_of(scope, ty, &rhs.dims).name);
        let result = [batch, lhs.free, rhs.free].concat();
        let text = format!(
            "dot({a}, {b}), lhs_batch_dims={}, lhs_contracting_dims={}, rhs_batch_dims={}, rhs_contracting_dims={}",
            list(lhs.batch),
            list(lhs.contracting),
            list(rhs.batch),
            list(rhs.contracting)
        );
        let to = self.sum_type(ty);
        self.push(scope, ArrayShape::new(to, result.as_slice()), &text);
        Some(())
    }
    /// Rows in groups, or groups of terms.
    pub(super) fn ragged_dot(&mut self, scope: &mut Scope) -> Option<()> {
        // XLA partitions it with Shardy only.
        (self.config.partitions == 1 || !self.config.portable).then_some(())?;
        let ty = self.ty(|ty| ty != ElementType::Pred)?;
        let [m, k, n, groups] = [(); 4].map(|()| self.rng.i64(1..=6));
        let sizes_type = [ElementType::S32, ElementType::S64, ElementType::U8][self.pick(3)];
        let is_contracting = self.chance(3);
        let lhs = self.array_of(scope, ty, &[m, k]).name;
        let rows = if is_contracting { vec![k, n] } else { vec![groups, k, n] };
        let rhs = self.array_of(scope, ty, &rows).name;
        let total = if is_contracting { k } else { m };
        let domain = Domain::Sizes(total / groups);
        let sizes = self.leaf(scope, &ArrayShape::new(sizes_type, [groups].as_slice()), &domain);
        let (attributes, result): (_, &[i64]) = match is_contracting {
            true => ("rhs_contracting_dims={0}, lhs_ragged_dims={1}", &[groups, m, n]),
            false => ("rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", &[m, n]),
        };
        let text =
            format!("ragged-dot({lhs}, {rhs}, {sizes}), lhs_contracting_dims={{1}}, {attributes}");
        self.push(scope, ArrayShape::new(ty, result), &text);
        Some(())
    }
    pub(super) fn scaled_dot(&mut self, scope: &mut Scope) -> Option<()> {
        let [lhs, rhs] = [(); 2].map(|()| self.ty(ElementType::is_float));
        // XLA takes one scale of bf16 for a bf16 operand for none, whatever its value.
        let scale = |ty: ElementType| ty.is_float() && ty != ElementType::Bf16;
        let [left, right] = [(); 2].map(|()| self.ty(scale));
        let (m, n) = (self.rng.i64(1..=4), self.rng.i64(1..=4));
        let (blocks, size) = (self.rng.i64(1..=3), self.rng.i64(1..=3));
        let a = self.array_of(scope, lhs?, &[m, blocks * size]).name;
        let b = self.array_of(scope, rhs?, &[blocks * size, n]).name;
        let scales = self.array_of(scope, left?, &[m, blocks]).name;
        let others = self.array_of(scope, right?, &[blocks, 1]).name;
        let text = format!(
            "scaled-dot({a}, {b}, {scales}, {others}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        );
        self.push(scope, ArrayShape::new(ElementType::F32, [m, n].as_slice()), &text);
        Some(())
    }
    pub(super) fn convolution(&mut self, scope: &mut Scope) -> Option<()> {
        let ty = self.ty(|ty| ty != ElementType::Pred)?;
        let spatial = self.pick(self.config.max_rank.min(4));
        let bases: Vec<i64> = (0..spatial).map(|_| self.size().min(8)).collect();
        let window = self.windows(&bases, true, true);
        let (groups, kind) = (self.rng.i64(1..=3), self.pick(4));
        let (features, batches) = match kind {
            0 => (groups, 1),
            1 => (1, groups),
            _ => (1, 1),
        };
        let [i, o, b] = [(); 3].map(|()| self.rng.i64(1..=3));
        let lhs = [&[b * batches, i * features][..], &bases].concat();
        let rhs = [&[i, o * groups][..], &window.sizes()].concat();
        let result = [&[b, o * groups][..], &window.positions()].concat();
        scope.execute_each(&[&result, &window.sizes(), &[i]]);
        let (lhs_labels, lhs) = self.labeled("bf", &lhs);
        let (rhs_labels, rhs) = self.labeled("io", &rhs);
        let (labels, result) = self.labeled("bf", &result);
        let (x, k) = (self.array_of(scope, ty, &lhs).name, self.array_of(scope, ty, &rhs).name);
        let text = format!(
            "convolution({x}, {k}){window}, dim_labels={lhs_labels}_{rhs_labels}->{labels}, feature_group_count={features}, batch_group_count={batches}"
        );
        let to = self.sum_type(ty);
        self.push(scope, ArrayShape::new(to, result.as_slice()), &text);
        Some(())
    }
    /// Returns dimensions in a random order, with a label for each: two letters, then numbers.
    fn labeled(&mut self, letters: &str, dims: &[i64]) -> (String, Vec<i64>) {
        let all: Vec<char> = letters.chars().chain('0'..='9').collect();
        let order = self.order(dims.len());
        (order.iter().map(|&at| all[at]).collect(), order.iter().map(|&at| dims[at]).collect())
    }
}
