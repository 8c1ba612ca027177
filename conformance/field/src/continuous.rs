//! Modules that are equal for all arguments if they are for nearly all.
//!
//! Values that become arguments may have been of a special kind: equal to each other, zero or infinite
//! for many of the former arguments. Where two functions are continuous, that makes no difference:
//! if they agree nearly everywhere, they agree everywhere. Floats show what they make of infinities
//! and NaN, and of zeros that they divide by.
use crate::kernels::is_number;
use crate::rational::unit;
use crate::run::in_floats;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::{Binary, Unary};
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape, Verified};
use interp::RunOptions;
use num::index::count;

/// How often special floats are drawn, for few elements and for many.
const DRAWS: [u32; 2] = [64, 16];
const FEW: usize = 64;

/// The floats that are drawn.
const FLOATS: [f64; 10] =
    [0.0, 0.0, 1.0, -1.0, 0.75, -2.5, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// The roundings by which results of such floats may differ, and a size of those.
const ROUNDINGS: f64 = 64.0;
const SIZE: f64 = 8.0;

/// The choices that draws meet in each combination.
const CHOICES: usize = 2;

/// How a value depends on the parameters of the entry computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Nothing,
    /// Each element is one of a parameter, or a constant.
    Moved,
    Computed,
}

/// Returns whether the results of a module are continuous functions of its arguments, but where an
/// element of an argument itself is zero, negative or infinite; of integers they are polynomials, and
/// predicates only select.
pub(crate) fn is_continuous(module: &Module) -> bool {
    choices(module) <= CHOICES
        && module.computations.iter().all(|(id, computation)| {
            let mut from: Vec<From> = Vec::with_capacity(computation.instructions.len());
            computation.instructions.iter().all(|(_, instruction)| {
                let operand = |id: &InstructionId| {
                    let shape = &computation.instructions[*id].shape;
                    (shape.element_type(), from[id.index()])
                };
                let operands: Vec<_> = instruction.operands.iter().map(operand).collect();
                let is_constant = operands.iter().all(|(_, from)| *from == From::Nothing);
                let is_moved = operands.iter().all(|(_, from)| *from != From::Computed);
                let moves = moves(&instruction.op);
                let is_fit = is_constant && !operands.is_empty()
                    || moves
                    || is_fit(instruction, &operands, is_moved);
                // Of a computation that is called, the arguments may be anything.
                let is_argument = matches!(instruction.op, Op::Parameter(_));
                from.push(match () {
                    () if is_argument && id == module.entry => From::Moved,
                    () if is_argument => From::Computed,
                    () if is_constant => From::Nothing,
                    () if moves && is_moved => From::Moved,
                    () => From::Computed,
                });
                is_fit
            })
        })
}

/// Returns how often a module chooses between two functions of which each is continuous.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other op chooses")]
pub(crate) fn choices(module: &Module) -> usize {
    let all = module.instructions();
    let own = |instruction: &Instruction| match &instruction.op {
        Op::Select(_) | Op::Unary(Unary::Abs) | Op::Binary(Binary::Maximum | Binary::Minimum) => 1,
        Op::Clamp(_) => 2,
        _ => 0,
    };
    all.map(own).sum()
}

/// Returns whether each element of the result of an op is one of an operand, wherever that is.
fn moves(op: &Op) -> bool {
    matches!(
        op,
        Op::Parameter(_)
            | Op::Constant(_)
            | Op::Iota(_)
            | Op::Broadcast(_)
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice(_)
            | Op::Concatenate(_)
            | Op::Reverse(_)
            | Op::Pad(_)
            | Op::Copy(_)
            | Op::Tuple(_)
            | Op::GetTupleElement(_)
            | Op::OptBarrier(_)
    )
}

/// Returns whether an op is continuous where its operands come from there.
#[expect(clippy::wildcard_enum_match_arm, reason = "others than the named ops decide something")]
fn is_fit(
    instruction: &Instruction,
    operands: &[(Option<ElementType>, From)],
    is_moved: bool,
) -> bool {
    let of = operands.first().and_then(|(ty, _)| *ty);
    let is_of_floats = of.is_some_and(is_number);
    let is_of_integers = of.is_some_and(ElementType::is_integral);
    let is_complex = of.is_some_and(ElementType::is_complex);
    let has_numbers = instruction.shape.element_type().is_some_and(is_number);
    let is_known = |i: usize| operands.get(i).is_some_and(|(_, from)| *from != From::Computed);
    match &instruction.op {
        Op::Bitcast(_) => of == instruction.shape.element_type(),
        Op::Select(_) => is_known(0),
        Op::Call(_) | Op::Fusion(_) | Op::Reduce(_) | Op::ReduceWindow(_) => true,
        Op::Clamp(_) => is_of_floats,
        Op::Convert(_) | Op::ReducePrecision(_) => has_numbers && (is_of_floats || is_moved),
        Op::Dot(_) | Op::Convolution(_) | Op::Fft(_) => has_numbers,
        Op::Unary(op) => match op {
            Unary::Negate => is_of_floats || is_of_integers,
            Unary::Abs
            | Unary::Cosh
            | Unary::Cosine
            | Unary::Exponential
            | Unary::ExponentialMinusOne
            | Unary::Imag
            | Unary::Real
            | Unary::Sine
            | Unary::Sinh => is_of_floats,
            Unary::Asinh | Unary::Erf | Unary::Logistic | Unary::Tanh => {
                is_of_floats && !is_complex
            }
            // What happens where an argument is zero or negative is looked at in floats.
            Unary::Cbrt | Unary::Log | Unary::LogPlusOne | Unary::Rsqrt | Unary::Sqrt => {
                is_of_floats && !is_complex && is_moved
            }
            _ => false,
        },
        Op::Binary(op) => match op {
            Binary::Add | Binary::Multiply | Binary::Subtract => is_of_floats || is_of_integers,
            Binary::Complex | Binary::Maximum | Binary::Minimum => is_of_floats,
            Binary::Divide => is_of_floats && is_known(1),
            Binary::Power => is_of_floats && !is_complex && is_moved,
            _ => false,
        },
        _ => false,
    }
}

/// The floats that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Floats {
    /// Between -2 and 2, for two draws.
    Ordinary,
    /// Zeros, infinities and NaN beside others, for many draws.
    Special,
}

/// Returns whether two modules have the same results in floats, but for rounding, on arguments that are
/// drawn; or whether none of them runs.
pub(crate) fn agree_in_floats(
    modules: [&Verified; 2],
    floats: Floats,
    seed: u64,
    limits: &RunOptions,
) -> bool {
    let mut random = fastrand::Rng::with_seed(seed);
    let shapes = modules[0].module().entry().program_shape().parameters;
    let (first, second) = match modules.map(|module| in_floats(module, limits)) {
        [Some(first), Some(second)] => (first, second),
        [None, None] => return floats == Floats::Ordinary,
        [Some(_), None] | [None, Some(_)] => return false,
    };
    let elements: usize = shapes.iter().map(|shape| elements(shape)).sum();
    let draws = match floats {
        Floats::Ordinary => 2,
        Floats::Special if elements <= FEW => DRAWS[0],
        Floats::Special => DRAWS[1],
    };
    (0..draws).all(|draw| {
        let mut draw = Draw { floats, number: draw, random: &mut random };
        let arguments: Vec<Literal> = shapes.iter().map(|shape| draw.argument(shape)).collect();
        let (first, second) = match (first(&arguments), second(&arguments)) {
            (Some(first), Some(second)) => (first, second),
            (None, None) => return floats == Floats::Ordinary,
            (Some(_), None) | (None, Some(_)) => return false,
        };
        first.leaves().into_iter().zip(second.leaves()).all(|(a, b)| {
            let (Some(a), Some(b)) = (a.array(), b.array()) else { return true };
            let ty = a.shape().ty;
            let unit = if is_number(ty) { unit(1.0, ty.component()) } else { 0.0 };
            (0..a.len()).all(|i| are_near(a.get(i), b.get(i), unit))
        })
    })
}

fn elements(shape: &Shape) -> usize {
    shape.leaves().into_iter().filter_map(Shape::array).map(|array| count(&array.dims)).sum()
}

/// A draw of arguments in floats.
struct Draw<'a> {
    floats: Floats,
    number: u32,
    random: &'a mut fastrand::Rng,
}

impl Draw<'_> {
    fn float(&mut self) -> f64 {
        let same = usize::try_from(self.number).ok().and_then(|draw| FLOATS.get(draw));
        match (self.floats, same) {
            (Floats::Ordinary, _) => self.random.f64() * 4.0 - 2.0,
            // First all are the same.
            (Floats::Special, Some(&same)) => same,
            (Floats::Special, None) => FLOATS[self.random.usize(0..FLOATS.len())],
        }
    }
    fn argument(&mut self, shape: &Shape) -> Literal {
        if let Shape::Tuple(parts) = shape {
            return Literal::tuple(parts.iter().map(|part| self.argument(part)).collect());
        }
        let none = || ArrayShape::new(ElementType::Pred, vec![]);
        let shape = shape.array().cloned().unwrap_or_else(none);
        let (ty, mut array) = (shape.ty, Array::zeros(shape));
        for i in 0..array.len() {
            let x = match ty.class() {
                Class::Float => Scalar::Float(self.float()).convert(ElementType::F64, ty),
                Class::Complex => {
                    Scalar::Complex(self.float(), self.float()).convert(ElementType::C128, ty)
                }
                Class::Pred => {
                    Scalar::Pred(self.number == 0 || self.number > 1 && self.random.bool())
                }
                Class::Signed | Class::Unsigned => {
                    Scalar::Signed(self.random.i64(-2..8)).convert(ElementType::S64, ty)
                }
            };
            array.set(i, x);
        }
        Literal::from(array)
    }
}

/// Returns whether both are the same infinity, NaN, or numbers that differ by roundings; other values are
/// equal.
fn are_near(x: Scalar, y: Scalar, unit: f64) -> bool {
    let is_near = |x: f64, y: f64| match x.is_finite() && y.is_finite() {
        true => (x - y).abs() <= ROUNDINGS * unit * x.abs().max(y.abs()).max(SIZE),
        false => x.is_nan() && y.is_nan() || x.total_cmp(&y).is_eq(),
    };
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => is_near(x, y),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => is_near(a, c) && is_near(b, d),
        (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_), _) => x == y,
        (Scalar::Float(_) | Scalar::Complex(..), _) => false,
    }
}
