//! Algebraic rewrites that compilers make everywhere: an instruction has the legal values of both
//! forms.
//!
//! | form | rewritten |
//! |---|---|
//! | `(a / b) / c`, `a / (b / c)` | `a / (b * c)`, `(a * c) / b` |
//! | products and quotients of three factors or more, of which one is a constant, repeated, or a divisor | in any order: `x * (c / d)`, `x * (c * s)`, `(a * d) / (b * c)` |
//! | `(x + c) - d` of constants, and longer sums | `x + (c - d)` |
//! | `x * convert(p)` of predicates | `select(p, x, 0)` |
//! | `a * b + a * c` | `a * (b + c)` |
//! | `a / sqrt(b)` | `a * rsqrt(b)` |
//! | `a / exp(b)` | `a * exp(-b)` |
//! | `exp(a) * exp(b)` | `exp(a + b)` |
//! | `power(x, n)` of 2, 3, 0.5, -0.5, -1 | products, roots, quotients |
//! | `log(exp(x))`, `log(power(a, b))` | `x`, `b * log(a)` |
//!
//! Source: XLA's algebraic simplifier.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops are not rewritten")]
use super::elementwise::{for_each_choice, real_binary, real_unary};
use super::evaluate::{Evaluator, Leaves};
use super::interval::Interval;
use super::modes::{largest, smallest_normal};
use super::range::Range;
use super::site::Site;
use hlo::ir::InstructionId;
use hlo::op::{Binary, Op, Unary};
use hlo::{ArrayShape, Class, ElementType};
use std::convert::Infallible;

/// The most factors or terms that one form has.
const MOST_PARTS: usize = 12;

/// An operand of a product or a sum, and whether it divides or is subtracted.
type Part = (InstructionId, bool);

/// The values of the instructions of a computation so far.
pub(super) type Values<'a> = &'a dyn Fn(InstructionId) -> Option<&'a Leaves>;

/// Returns the legal values of an instruction of floats in another form; `None` if there is none.
pub(super) fn rewritten(ev: &Evaluator<'_>, site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let shape = site.shape().ok().filter(|shape| shape.ty.class() == Class::Float)?;
    let form = Form { ev, site, values, shape };
    let [x, rest @ ..] = &*site.instruction().operands else { return None };
    let results = match (&site.instruction().op, rest) {
        (Op::Unary(Unary::Log), []) => form.log(*x),
        (Op::Binary(op), [y]) => form.binary(*op, *x, *y),
        _ => Vec::new(),
    };
    (!results.is_empty()).then(|| Range::any_of(&results))
}

/// An instruction in the computation that it is in.
struct Form<'a, 'e, 'm> {
    ev: &'e Evaluator<'m>,
    site: Site<'e>,
    values: Values<'a>,
    shape: ArrayShape,
}

impl Form<'_, '_, '_> {
    fn value(&self, id: InstructionId) -> Option<Range> {
        match (self.values)(id)?.as_slice() {
            [range] if range.shape().is_some_and(|s| s.dims == self.shape.dims) => {
                Some(range.clone())
            }
            _ => None,
        }
    }
    /// Returns the operands of an instruction, if it is this op of numbers of the same type.
    fn operands(&self, id: InstructionId, op: &Op) -> Option<Vec<InstructionId>> {
        let instruction = &self.site.computation.instructions[id];
        let same = instruction.op == *op && instruction.shape.element_type() == Some(self.shape.ty);
        same.then(|| instruction.operands.to_vec())
    }
    fn pair(&self, id: InstructionId, op: Binary) -> Option<[InstructionId; 2]> {
        self.operands(id, &op.into())?.try_into().ok()
    }
    fn of(&self, id: InstructionId, op: Unary) -> Option<InstructionId> {
        self.operands(id, &op.into())?.first().copied()
    }
    /// Returns whether a value is a constant, perhaps repeated.
    fn is_constant(&self, id: InstructionId) -> bool {
        let instruction = &self.site.computation.instructions[id];
        match &instruction.op {
            Op::Constant(_) => true,
            Op::Broadcast(_) | Op::Convert(_) | Op::Copy(_) | Op::Reshape(_) => {
                self.is_constant(instruction.operands[0])
            }
            _ => false,
        }
    }
    fn apply(&self, op: Binary, x: &Range, y: &Range) -> Range {
        self.computed(&[x, y], false, |operands| {
            real_binary(self.ev, op, &self.shape, operands, false)
        })
    }
    fn function(&self, op: Unary, x: &Range) -> Range {
        self.computed(&[x], false, |operands| real_unary(self.ev, op, &self.shape, operands[0]))
    }
    /// Returns the values of an op that may flush denormals of its operands and of its result.
    fn computed(&self, operands: &[&Range], same: bool, op: impl Fn(&[&Range]) -> Range) -> Range {
        let flushed = |range: &Range| range.flushed(self.shape.ty, self.ev.modes, true);
        let read: Vec<Range> =
            operands.iter().map(|&x| flushed(x).unwrap_or_else(|| x.clone())).collect();
        let read: Vec<&Range> = read.iter().collect();
        let range = for_each_choice(&read, same, |chosen| Ok::<_, Infallible>(op(chosen)));
        let Ok(range) = range;
        flushed(&range).unwrap_or(range)
    }
    /// Returns an op of three values: `outer(x, inner(y, z))`.
    fn nested(
        &self,
        outer: Binary,
        x: InstructionId,
        inner: Binary,
        y: InstructionId,
        z: InstructionId,
    ) -> Option<Range> {
        let [x, y, z] = [self.value(x)?, self.value(y)?, self.value(z)?];
        Some(self.apply(outer, &x, &self.apply(inner, &y, &z)))
    }

    fn log(&self, x: InstructionId) -> Vec<Range> {
        let inverse = self.of(x, Unary::Exponential).and_then(|x| self.value(x));
        let power = self.pair(x, Binary::Power).and_then(|[a, b]| {
            // XLA takes the logarithm of the magnitude.
            let magnitude = self.function(Unary::Abs, &self.value(a)?);
            let log = self.function(Unary::Log, &magnitude);
            Some(self.apply(Binary::Multiply, &self.value(b)?, &log))
        });
        [inverse, power].into_iter().flatten().collect()
    }

    fn binary(&self, op: Binary, x: InstructionId, y: InstructionId) -> Vec<Range> {
        let all = match op {
            Binary::Add | Binary::Subtract => {
                vec![self.sum(op, x, y), self.factored(op, x, y)]
            }
            Binary::Multiply => vec![
                self.reassociated(x, y),
                self.reassociated(y, x),
                self.product(op, x, y),
                self.masked(x, y),
                self.masked(y, x),
                self.exponentials(x, y),
            ],
            Binary::Divide => {
                self.quotients(x, y).into_iter().chain([self.product(op, x, y)]).collect()
            }
            Binary::Power => vec![self.power(x, y)],
            _ => Vec::new(),
        };
        all.into_iter().flatten().collect()
    }

    /// Returns `a * (b * y)` for `(a * b) * y`, of which `b` and `y` are constants: their product may
    /// overflow.
    fn reassociated(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        const OP: Binary = Binary::Multiply;
        let [a, b] = self.pair(x, OP).filter(|_| self.is_constant(y))?;
        match (self.is_constant(a), self.is_constant(b)) {
            (_, true) => self.nested(OP, a, OP, b, y),
            (true, _) => self.nested(OP, b, OP, a, y),
            (false, false) => None,
        }
    }
    /// Adds the parts of an instruction that is built by an op and its inverse, each with whether the
    /// inverse applies to it.
    fn parts(&self, id: InstructionId, ops: [Binary; 2], inverse: bool, parts: &mut Vec<Part>) {
        let both = ops.map(|op| self.pair(id, op));
        match both {
            _ if parts.len() >= MOST_PARTS => parts.push((id, inverse)),
            [Some([a, b]), _] => {
                self.parts(a, ops, inverse, parts);
                self.parts(b, ops, inverse, parts);
            }
            [None, Some([a, b])] => {
                self.parts(a, ops, inverse, parts);
                self.parts(b, ops, !inverse, parts);
            }
            [None, None] => parts.push((id, inverse)),
        }
    }
    fn parts_of(
        &self,
        op: Binary,
        ops: [Binary; 2],
        x: InstructionId,
        y: InstructionId,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        self.parts(x, ops, false, &mut parts);
        self.parts(y, ops, op == ops[1], &mut parts);
        parts
    }
    /// Returns a sum of one number and several constants, which are added to one another first.
    fn sum(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let parts = self.parts_of(op, [Binary::Add, Binary::Subtract], x, y);
        let (constants, others): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|(id, _)| self.is_constant(*id));
        let &[(number, is_negative)] = &*others else { return None };
        if constants.len() < 2 {
            return None;
        }
        let signed = |&(id, is_negative): &Part| {
            let value = self.value(id)?;
            Some(if is_negative { self.function(Unary::Negate, &value) } else { value })
        };
        let constants: Vec<Range> = constants.iter().map(signed).collect::<Option<_>>()?;
        let add = |x: Range, y: &Range| self.apply(Binary::Add, &x, y);
        let forward = constants[1..].iter().fold(constants[0].clone(), add);
        let last = constants.len() - 1;
        let back = constants[..last].iter().rev().fold(constants[last].clone(), add);
        let number = self.value(number)?;
        let op = if is_negative { Binary::Subtract } else { Binary::Add };
        let results = [forward, back].map(|constant| self.apply(op, &constant, &number));
        Some(Range::any_of(&results))
    }
    /// Returns a product of factors and inverses in any order, each step of which rounds. Where a
    /// step may leave the normal numbers it is the product as it is written.
    fn product(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let factors = self.parts_of(op, [Binary::Multiply, Binary::Divide], x, y);
        let is_moved = |&(id, is_inverse): &Part| {
            let op = &self.site.computation.instructions[id].op;
            is_inverse || matches!(op, Op::Broadcast(_)) || self.is_constant(id)
        };
        if factors.len() < 3 || !factors.iter().any(is_moved) {
            return None;
        }
        let format = self.shape.ty.float_format()?;
        let unit = f64::powi(2.0, -1 - i32::try_from(format.mantissa_bits).ok()?);
        let inverses = factors.iter().filter(|(_, is_inverse)| *is_inverse).count();
        let steps = f64::from(u32::try_from(factors.len() - 1 + inverses).ok()?);
        // The ends are computed in f64.
        let slack = steps * unit * (1.0 + steps * unit) + 2.0 * steps * f64::EPSILON;
        let sizes = [4.0 * smallest_normal(self.shape.ty), largest(self.shape.ty) / 4.0];
        let values: Vec<(Vec<Interval>, bool)> = factors
            .iter()
            .map(|&(id, is_inverse)| Some((self.value(id)?.intervals().collect(), is_inverse)))
            .collect::<Option<_>>()?;
        let written = self.apply(op, &self.value(x)?, &self.value(y)?);
        let results = written.intervals().enumerate().map(|(i, written)| {
            let factors = values.iter().map(|(value, is_inverse)| (value[i], *is_inverse));
            any_order(factors, sizes).map_or(written, |ends| {
                let [lo, hi] = ends.map(|x| x.abs() * slack);
                Interval::open(ends[0] - lo, ends[1] + hi)
            })
        });
        let results: Vec<Interval> = results.collect();
        Some(Range::given(&self.shape, &results))
    }
    /// Returns the product with what is 1 where a predicate holds as a selection: 0 elsewhere, in place
    /// of -0 or NaN.
    fn masked(&self, mask: InstructionId, x: InstructionId) -> Option<Range> {
        let (mut computation, mut at) = (self.site.computation, mask);
        loop {
            let instruction = &computation.instructions[at];
            at = match &instruction.op {
                Op::Call(call) => {
                    computation = &self.ev.module.computations[call.to_apply];
                    computation.root
                }
                Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Copy(_) => {
                    instruction.operands[0]
                }
                Op::Convert(_) => {
                    let from = &computation.instructions[instruction.operands[0]].shape;
                    if from.element_type() == Some(ElementType::Pred) {
                        break;
                    }
                    return None;
                }
                _ => return None,
            };
        }
        let (mask, x) = (self.value(mask)?, self.value(x)?);
        let zero = Interval::point(0.0);
        let results = mask.intervals().zip(x.intervals()).map(|(mask, x)| {
            if mask.same(zero) {
                zero
            } else if mask.is_point() {
                x
            } else {
                x.hull(zero)
            }
        });
        Some(Range::given(&self.shape, &results.collect::<Vec<_>>()))
    }
    /// Returns `a * (b + c)` for `a * b + a * c`.
    fn factored(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let ([a, b], [c, d]) = (self.pair(x, Binary::Multiply)?, self.pair(y, Binary::Multiply)?);
        let [factor, one, other] = [[a, b, c, d], [a, b, d, c], [b, a, c, d], [b, a, d, c]]
            .into_iter()
            .find_map(|[f, one, g, other]| (f == g).then_some([f, one, other]))?;
        self.nested(Binary::Multiply, factor, op, one, other)
    }
    fn exponentials(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        let [a, b] = [self.of(x, Unary::Exponential)?, self.of(y, Unary::Exponential)?];
        let sum = self.apply(Binary::Add, &self.value(a)?, &self.value(b)?);
        Some(self.function(Unary::Exponential, &sum))
    }
    fn quotients(&self, x: InstructionId, y: InstructionId) -> Vec<Option<Range>> {
        let times = |f: Unary, of: Option<Range>| {
            Some(self.apply(Binary::Multiply, &self.value(x)?, &self.function(f, &of?)))
        };
        let root = self.of(y, Unary::Sqrt).and_then(|b| self.value(b));
        let exponent = self.of(y, Unary::Exponential).and_then(|b| self.value(b));
        let exponent = exponent.map(|b| self.function(Unary::Negate, &b));
        let outer = self
            .pair(x, Binary::Divide)
            .and_then(|[a, b]| self.nested(Binary::Divide, a, Binary::Multiply, b, y));
        let inner = self.pair(y, Binary::Divide).and_then(|[b, c]| {
            let product = self.apply(Binary::Multiply, &self.value(x)?, &self.value(c)?);
            Some(self.apply(Binary::Divide, &product, &self.value(b)?))
        });
        vec![times(Unary::Rsqrt, root), times(Unary::Exponential, exponent), outer, inner]
    }
    /// Returns the power of the same constant for all elements as a product, root or quotient.
    fn power(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        let (base, exponent) = (self.value(x)?, self.value(y)?);
        let exponents: Vec<Interval> = exponent.intervals().collect();
        let first = *exponents.first()?;
        if !first.is_point() || !exponents.iter().all(|other| other.same(first)) {
            return None;
        }
        let square = || {
            self.computed(&[&base, &base], true, |operands| {
                real_binary(self.ev, Binary::Multiply, &self.shape, operands, true)
            })
        };
        let one = || {
            let ones = vec![Interval::point(1.0); exponents.len()];
            Range::given(&self.shape, &ones)
        };
        if first.lo == 2.0 {
            Some(square())
        } else if first.lo == 3.0 {
            Some(self.apply(Binary::Multiply, &square(), &base))
        } else if first.lo == 0.5 {
            Some(self.function(Unary::Sqrt, &base))
        } else if first.lo == -0.5 {
            Some(self.function(Unary::Rsqrt, &base))
        } else if first.lo == -1.0 {
            Some(self.apply(Binary::Divide, &one(), &base))
        } else {
            None
        }
    }
}

/// Returns the ends of a product of factors and inverses of one sign each; `None` if a product of
/// some of them may lie outside of these sizes.
fn any_order(factors: impl Iterator<Item = (Interval, bool)>, sizes: [f64; 2]) -> Option<[f64; 2]> {
    let (mut small, mut large) = (1.0_f64, 1.0_f64);
    let (mut ends, mut is_negative) = ([1.0_f64; 2], false);
    for (value, is_inverse) in factors {
        let (lo, hi) = match value.hi < 0.0 {
            true => (-value.hi, -value.lo),
            false => (value.lo, value.hi),
        };
        if !(lo > 0.0 && hi.is_finite()) {
            return None;
        }
        is_negative ^= value.hi < 0.0;
        let (lo, hi) = if is_inverse { (1.0 / hi, 1.0 / lo) } else { (lo, hi) };
        (small, large) = (small * lo.min(1.0), large * hi.max(1.0));
        ends = [ends[0] * lo, ends[1] * hi];
    }
    let is_normal = small > sizes[0] && large < sizes[1];
    let ends = if is_negative { [-ends[1], -ends[0]] } else { ends };
    is_normal.then_some(ends)
}
