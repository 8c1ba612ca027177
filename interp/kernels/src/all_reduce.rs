//! Whole arrays folded into one, element by element: `result[i] = (..((x0[i] . x1[i]) . x2[i]) ..)`
//!
//! This is what collective ops do with the arrays of a group's members. A float sum is accumulated
//! wide and rounded once, or rounded after each member where that is what is asked for.
use hlo::ir::ComputationId;
use hlo::op::Binary;
use hlo::{Array, ArrayShape, Class, Scalar};
use num::accumulator::ExactSum;
use num::array::build;
use num::{Result, Scope};

fn shape(literal: &Array) -> &ArrayShape {
    literal.shape()
}

/// Returns the arrays folded by a computation of two scalars, from the first array on.
pub fn folded(
    scope: &dyn Scope,
    reducer: ComputationId,
    members: &[&Array],
    wide: bool,
) -> Result<Array> {
    let applied = scope.scalar_program(reducer)?;
    let shape = shape(members[0]);
    if wide && applied.as_binary() == Some(Binary::Add) && shape.ty.is_float() {
        return Ok(sums(members));
    }
    scope.spend(u64::try_from(members.len() * members[0].len()).unwrap_or(u64::MAX))?;
    let (ty, carried) = (shape.ty, applied.results()[0]);
    let element = applied.parameters().get(1).copied().unwrap_or(ty);
    let mut scratch = applied.scratch();
    let mut result = Ok(());
    let mut out = [Scalar::zero(carried)];
    let value = build(shape, |i| {
        out[0] = members[0].get(i).convert(ty, carried);
        for member in &members[1..] {
            if result.is_ok() {
                let arguments = [out[0], member.get(i).convert(ty, element)];
                result = applied.call(scope, &arguments, &mut scratch, &mut out);
            }
        }
        out[0].convert(carried, ty)
    });
    result.map(|()| value)
}

/// Returns the arrays added; of `pred` their disjunction.
pub fn summed(members: &[&Array], wide: bool) -> Array {
    let shape = shape(members[0]);
    if wide && shape.ty.is_float() {
        return sums(members);
    }
    build(shape, |i| {
        let first = members[0].get(i);
        members[1..].iter().fold(first, |a, b| num::binary(Binary::Add, shape.ty, a, b.get(i)))
    })
}

fn sums(members: &[&Array]) -> Array {
    let shape = shape(members[0]);
    debug_assert_eq!(shape.ty.class(), Class::Float);
    build(shape, |i| {
        let mut sum = ExactSum::new(members[0].get(i).as_f64());
        members[1..].iter().for_each(|member| sum.add(member.get(i).as_f64()));
        Scalar::Float(sum.rounded(shape.ty))
    })
}
