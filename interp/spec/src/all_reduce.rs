//! `all-reduce`: the arrays of all members of a group, folded element by element; each member gets
//! the result
//!
//! `result[i] = fold of x_m[i] for the members m in group order`, from the first member's element
//! on
//!
//! - Group order is the order of the ids in `replica_groups`. The value of a group of one member is
//!   that of the member: nothing is added to it, and -0 stays -0.
//! - Without a reducer, as in texts of 2017, the elements are added; of `pred` that is `or`.
//! - A sum of real floats is exact and rounded once: see [`fold`](super::fold). Hardware guarantees
//!   no order: where one is given, the fold takes the members in it and rounds each step, as
//!   hardware does.
//! - Several operands are folded independently.
//!
//! Source: StableHLO, `all_reduce`.
use super::fold::{Fold, Types};
use super::{Computations, Operand, Results, build, try_build};
use hlo::ir::ComputationId;
use hlo::op::{AllReduce, Binary};
use hlo::{Literal, Scalar};
use num::Result;
use num::accumulator::ExactSum;

/// Returns the reducer; the other attributes determine the groups. `all-reduce-start` has the same
/// ones.
pub fn reducer(op: &AllReduce) -> Option<ComputationId> {
    let AllReduce {
        channel_id: _,
        replica_groups: _,
        constrain_layout: _, // Layouts do not affect the result.
        use_global_device_ids: _,
        mode: _,
        barrier: _,
        to_apply,
    } = op;
    to_apply.0
}

/// `rounds_each_step` is set if the members are in a given order, as on hardware.
pub fn all_reduce(
    to_apply: Option<ComputationId>,
    members: &[Operand<'_>],
    rounds_each_step: bool,
    call: Computations<'_>,
) -> Result<Literal> {
    let (first, others) = members.split_first().expect("a group has members");
    let ty = first.shape.ty;
    let Some(computation) = to_apply else {
        return Ok(build(first.shape, |index| {
            let elements = others.iter().map(|member| member.at(index));
            if ty.is_float() && !rounds_each_step {
                let mut sum = ExactSum::new(first.at(index).as_f64());
                elements.for_each(|element| sum.add(element.as_f64()));
                return Scalar::Float(sum.rounded(ty));
            }
            elements.fold(first.at(index), |sum, x| num::binary(Binary::Add, ty, sum, x))
        }));
    };
    let types = || Types::from_elem(ty, 1);
    let fold = Fold::new(call, computation, types(), types(), types())?;
    let fold = if rounds_each_step { fold.rounding_each_step() } else { fold };
    try_build(first.shape, |index| {
        let elements = others.iter().map(|member| Results::from_elem(member.at(index), 1));
        Ok(fold.of(&[first.at(index)], elements)?[0])
    })
}
