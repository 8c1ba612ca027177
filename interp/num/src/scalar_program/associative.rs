//! Computations that may be applied in any grouping of the elements.
use super::{Body, RegisterProgram, ScalarProgram, ScalarStep};
use crate::Arithmetic;
use hlo::op::value::ComparisonType;
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Scalar};

/// Numbers of every order and equality that three numbers may have. Zeros are equal and differ.
const FLOATS: [f64; 5] = [-1.0, -0.0, 0.0, 1.0, f64::NAN];

/// The choice of the largest or of the smallest number with the least index of those that equal it.
/// NaN is chosen before numbers, the first one with its index.
#[derive(Debug, Clone, Copy)]
pub struct Extreme {
    /// Whether it is the largest.
    pub is_largest: bool,
    /// Which of equal numbers it is: the first or the last one.
    pub keeps_first: bool,
}

impl Extreme {
    /// Returns what is chosen.
    fn of(self, a: [Scalar; 2], b: [Scalar; 2]) -> [Scalar; 2] {
        let [x, y] = [a[0], b[0]].map(number);
        let is_above = |x: f64, y: f64| if self.is_largest { x > y } else { x < y };
        if x.is_nan() || is_above(x, y) {
            return a;
        }
        if y.is_nan() || is_above(y, x) {
            return b;
        }
        let least = if number(a[1]) < number(b[1]) { a[1] } else { b[1] };
        [if self.keeps_first { a[0] } else { b[0] }, least]
    }
}
/// Returns a representative as a number.
fn number(x: Scalar) -> f64 {
    if let Scalar::Pred(x) = x { f64::from(u8::from(x)) } else { x.as_f64() }
}

impl ScalarProgram {
    /// Returns which extreme the computation chooses of two numbers with their indices, if it does.
    pub fn extreme(&self) -> Option<Extreme> {
        let Body::Steps(program) = &self.body else { return None };
        let fits = self.parameters.len() == 4
            && program.types[..2] == program.types[2..4]
            && self.results == program.types[..2]
            && program.steps.iter().all(|&step| RegisterProgram::compares(step, 2));
        fits.then_some(())?;
        let elements = program.elements(2);
        let mut registers = program.registers.clone();
        let mut chosen = |a: [Scalar; 2], b: [Scalar; 2]| {
            registers[..4].copy_from_slice(&[a[0], a[1], b[0], b[1]]);
            program.run(4, &mut registers);
            [0, 1].map(|k| registers[program.results[k]].to_bits(program.types[k]))
        };
        let mut is = |extreme: &Extreme| {
            elements.iter().all(|&a| {
                elements.iter().all(|&b| {
                    let expected = extreme.of(a, b);
                    chosen(a, b) == [0, 1].map(|k| expected[k].to_bits(program.types[k]))
                })
            })
        };
        let all = [(true, true), (true, false), (false, true), (false, false)];
        let all = all.map(|(is_largest, keeps_first)| Extreme { is_largest, keeps_first });
        all.into_iter().find(|extreme| !elements.is_empty() && is(extreme))
    }
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
        let elements = self.elements(count);
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

    /// Returns elements of one or two operands in every order that three may have.
    fn elements(&self, count: usize) -> Vec<[Scalar; 2]> {
        let values = |k: usize| representatives(self.types[k]);
        match count {
            1 => values(0).iter().map(|&x| [x, x]).collect(),
            _ => {
                values(0).iter().flat_map(|&x| values(1).into_iter().map(move |i| [x, i])).collect()
            }
        }
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
