//! Computations that may be applied in any grouping of the elements.
use super::{Body, RegisterProgram, ScalarProgram, ScalarStep};
use crate::Arithmetic;
use hlo::op::value::ComparisonType;
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Scalar};

/// Numbers of every order and equality that three numbers may have. Zeros are equal and differ.
const FLOATS: [f64; 5] = [-1.0, -0.0, 0.0, 1.0, f64::NAN];

impl ScalarProgram {
    /// Returns whether a fold of elements in their order may be one of folds of its parts: whether
    /// `f(f(a, b), c)` has the bits of `f(a, f(b, c))`, or in fast arithmetic the value but for
    /// rounding.
    pub fn is_associative(&self, arithmetic: Arithmetic) -> bool {
        let Body::Steps(program) = &self.body else { return false };
        let count = program.results.len();
        let types = &program.types[..2 * count.min(program.types.len() / 2)];
        self.parameters.len() == 2 * count
            && types[..count] == types[count..]
            && self.results == types[..count]
            && ((0..count).all(|k| program.associates(k, count, arithmetic))
                || program.selects(count))
    }
}

impl RegisterProgram {
    /// Returns whether result `k` of `count` is an associative op of its accumulator and element.
    fn associates(&self, k: usize, count: usize, arithmetic: Arithmetic) -> bool {
        let step = self.results[k].checked_sub(2 * count).map(|step| self.steps[step]);
        let Some(ScalarStep::Binary(op, ty, a, b)) = step else { return false };
        let rounds = matches!(op, Binary::Add | Binary::Multiply) && arithmetic == Arithmetic::Fast;
        (a.min(b), a.max(b)) == (k, count + k) && (rounds || op.opcode().associates(ty))
    }

    /// Returns whether the program selects elements by comparisons of accumulators with elements,
    /// as those of the largest element and its index do, and is associative.
    ///
    /// Its results follow from the order of the numbers alone, so numbers of every order stand for
    /// all.
    fn selects(&self, count: usize) -> bool {
        if !(1..=2).contains(&count) || !self.steps.iter().all(|&step| Self::compares(step, count))
        {
            return false;
        }
        let values = |k: usize| representatives(self.types[k]);
        let elements: Vec<[Scalar; 2]> = match count {
            1 => values(0).iter().map(|&x| [x, x]).collect(),
            _ => {
                values(0).iter().flat_map(|&x| values(1).into_iter().map(move |i| [x, i])).collect()
            }
        };
        let is_same = |a: &[Scalar; 2], b: &[Scalar; 2]| {
            (0..count).all(|k| a[k].to_bits(self.types[k]) == b[k].to_bits(self.types[k]))
        };
        let mut registers = self.registers.clone();
        let mut table = Vec::with_capacity(elements.len() * elements.len());
        for a in &elements {
            for b in &elements {
                registers[..count].copy_from_slice(&a[..count]);
                registers[count..2 * count].copy_from_slice(&b[..count]);
                self.run(2 * count, &mut registers);
                let result = [0, count - 1].map(|k| registers[self.results[k]]);
                let Some(found) = elements.iter().position(|x| is_same(x, &result)) else {
                    return false;
                };
                table.push(found);
            }
        }
        let all = 0..elements.len();
        let apply = |a: usize, b: usize| table[a * elements.len() + b];
        all.clone().all(|a| {
            all.clone().all(|b| all.clone().all(|c| apply(apply(a, b), c) == apply(a, apply(b, c))))
        })
    }

    /// Returns whether a step compares an accumulator and its element, or combines such
    /// comparisons.
    fn compares(step: ScalarStep, count: usize) -> bool {
        let are_pair =
            |a: usize, b: usize| a < 2 * count && b < 2 * count && a % count == b % count;
        match step {
            ScalarStep::Compare(_, order, _, a, b) => {
                order != ComparisonType::TotalOrder && are_pair(a, b)
            }
            ScalarStep::Binary(Binary::Maximum | Binary::Minimum, ty, a, b) => {
                ty.class() != Class::Complex && are_pair(a, b)
            }
            ScalarStep::Binary(Binary::And | Binary::Or | Binary::Xor, ty, ..)
            | ScalarStep::Unary(Unary::Not, ty, _) => ty == ElementType::Pred,
            ScalarStep::Select(..) => true,
            ScalarStep::Constant(_)
            | ScalarStep::Unary(..)
            | ScalarStep::Binary(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Convert(..) => false,
        }
    }
}

/// Returns numbers of a type in every order that three numbers may have.
fn representatives(ty: ElementType) -> Vec<Scalar> {
    match ty.class() {
        Class::Pred => vec![Scalar::Pred(false), Scalar::Pred(true)],
        Class::Signed => [0, 1, -1].map(Scalar::Signed).to_vec(),
        Class::Unsigned => [0, 1, 2].map(Scalar::Unsigned).to_vec(),
        Class::Float => FLOATS.map(Scalar::Float).to_vec(),
        Class::Complex => Vec::new(),
    }
}
