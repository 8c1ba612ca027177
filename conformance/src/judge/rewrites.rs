//! Algebraic rewrites that compilers make everywhere: an instruction has the legal values of both
//! forms.
//!
//! | form | rewritten |
//! |---|---|
//! | `(x * c) * d`, `(x + c) - d` of constants | `x * (c * d)`, `x + (c - d)` |
//! | products and quotients of three and more | in any order, if a factor is a constant or repeated, or two divide |
//! | `x * convert(mask)` | `select(mask, x, 0)` |
//! | `a * b + a * c` | `a * (b + c)` |
//! | `(a / b) / c`, `a / (b / c)` | `a / (b * c)`, `(a * c) / b` |
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
use super::modes::{Modes, largest, smallest_normal};
use super::range::Range;
use super::site::Site;
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::op::{Binary, Op, Unary};
use hlo::{ArrayShape, Class, ElementType};
use std::convert::Infallible;

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
            Binary::Add | Binary::Subtract => vec![
                self.summed(op, x, y),
                (op == Binary::Add).then(|| self.summed(op, y, x)).flatten(),
                self.factored(op, x, y),
            ],
            Binary::Multiply => vec![
                self.reassociated(x, y),
                self.reassociated(y, x),
                self.exponentials(x, y),
                self.masked(x, y),
                self.masked(y, x),
                self.in_any_order(op, x, y),
            ],
            Binary::Divide => {
                let quotients = self.quotients(x, y).into_iter();
                quotients.chain([self.in_any_order(op, x, y)]).collect()
            }
            Binary::Power => vec![self.power(x, y)],
            _ => Vec::new(),
        };
        all.into_iter().flatten().collect()
    }

    /// Returns `a * (b * y)` for `(a * b) * y`, of which `b` and `y` are constants.
    fn reassociated(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        let op = Binary::Multiply;
        let [a, b] = self.pair(x, op).filter(|_| self.is_constant(y))?;
        match (self.is_constant(a), self.is_constant(b)) {
            (_, true) => self.nested(op, a, op, b, y),
            (true, _) => self.nested(op, b, op, a, y),
            (false, false) => None,
        }
    }
    /// Returns `a + (b + y)` for `(a + b) + y`, of which `b` and `y` are constants, also of more
    /// of them, and of those that are subtracted.
    fn summed(&self, op: Binary, mut x: InstructionId, y: InstructionId) -> Option<Range> {
        let mut constants = vec![(y, op == Binary::Subtract)];
        while self.is_constant(constants[constants.len() - 1].0) {
            let sum = self.pair(x, Binary::Add).map(|pair| (pair, false));
            let difference = || Some((self.pair(x, Binary::Subtract)?, true));
            match sum.or_else(difference) {
                Some(([a, b], false)) if self.is_constant(a) => {
                    constants.push((a, false));
                    x = b;
                }
                Some(([a, b], negative)) if self.is_constant(b) => {
                    constants.push((b, negative));
                    x = a;
                }
                _ => break,
            }
        }
        let mut signed = constants.iter().rev().map(|&(id, negative)| {
            let value = self.value(id)?;
            Some(if negative { self.function(Unary::Negate, &value) } else { value })
        });
        let first = signed.next().flatten().filter(|_| constants.len() > 1)?;
        let total = signed.try_fold(first, |sum, x| Some(self.apply(Binary::Add, &sum, &x?)))?;
        Some(self.apply(Binary::Add, &self.value(x)?, &total))
    }
    /// Returns `a * (b + c)` for `a * b + a * c`.
    fn factored(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let ([a, b], [c, d]) = (self.pair(x, Binary::Multiply)?, self.pair(y, Binary::Multiply)?);
        let [factor, one, other] = [[a, b, c, d], [a, b, d, c], [b, a, c, d], [b, a, d, c]]
            .into_iter()
            .find_map(|[f, one, g, other]| (f == g).then_some([f, one, other]))?;
        self.nested(Binary::Multiply, factor, op, one, other)
    }
    /// Returns `select(mask, x, 0)` for `x * convert(mask)`.
    fn masked(&self, mask: InstructionId, x: InstructionId) -> Option<Range> {
        let (zero, mask) = (Interval::point(0.0), self.value(mask).filter(|_| self.is_mask(mask))?);
        let zeros = Range::given(&self.shape, &vec![zero; mask.lo.len()]);
        Some(self.computed(&[&mask, &self.value(x)?], false, |chosen| {
            let mask: Vec<Interval> = chosen[0].intervals().collect();
            chosen[1].where_else(&zeros, |i| mask[i].lo != 0.0)
        }))
    }
    /// Returns whether numbers are 0 or 1 by a decision.
    fn is_mask(&self, id: InstructionId) -> bool {
        let is_bit = |x: Interval| x.is_point() && (x.lo == 0.0 || x.lo == 1.0);
        let value = self.value(id).filter(|_| self.decides(self.site.computation, id));
        value.is_some_and(|x| x.candidates().iter().all(|x| x.intervals().all(is_bit)))
    }
    /// Returns whether an instruction converts or selects by a decision, also in what it calls.
    fn decides(&self, computation: &Computation, id: InstructionId) -> bool {
        let instruction = &computation.instructions[id];
        let called = |id: ComputationId| {
            let callee = &self.ev.module.computations[id];
            self.decides(callee, callee.root)
        };
        match &instruction.op {
            Op::Convert(_) | Op::Select(_) => {
                let shape = &computation.instructions[instruction.operands[0]].shape;
                shape.element_type() == Some(ElementType::Pred)
            }
            Op::Call(call) => called(call.to_apply),
            Op::Fusion(fusion) => called(fusion.calls),
            op if is_moved(op) => self.decides(computation, instruction.operands[0]),
            _ => false,
        }
    }

    /// Returns a product or quotient of three and more factors in any order, where a divisor may be
    /// the product with its rounded reciprocal: of partial products that neither overflow nor
    /// underflow, and else as it is.
    fn in_any_order(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let mut chain = Chain::default();
        chain.take(self, x, false, 1);
        chain.take(self, y, op == Binary::Divide, 1);
        let repeated = |factor: &Factor| {
            let op = &self.site.computation.instructions[factor.id].op;
            matches!(op, Op::Broadcast(_)) || self.is_constant(factor.id)
        };
        let divisors: u32 = chain.factors.iter().map(|factor| u32::from(factor.divides)).sum();
        if chain.steps == 0 || !(divisors > 1 || chain.factors.iter().any(repeated)) {
            return None;
        }
        let values = chain.factors.iter().map(|factor| self.value(factor.id));
        let values: Vec<Range> = values.collect::<Option<_>>()?;
        let values: Vec<&Range> = values.iter().collect();
        let own = self.apply(op, &self.value(x)?, &self.value(y)?);
        let (ty, roundings) = (self.shape.ty, f64::from(chain.steps + 1 + divisors));
        let product = |factors: &mut dyn Iterator<Item = Interval>| -> Option<Interval> {
            let (mut product, mut large, mut small) = (Interval::point(1.0), 1.0, 1.0);
            for (x, factor) in factors.zip(&chain.factors) {
                let x = Modes::inaccurate(ty, x, f64::from(factor.moved));
                let x = if factor.divides { Interval::point(1.0) / x } else { x };
                let (least, most) = (x.lo.abs().min(x.hi.abs()), x.max_abs());
                if !x.is_finite() || least == 0.0 || (x.lo < 0.0) != (x.hi < 0.0) {
                    return None;
                }
                (large, small) = (f64::max(most, 1.0) * large, f64::min(least, 1.0) * small);
                product = product * x;
            }
            let fits = large <= largest(ty) && small >= smallest_normal(ty);
            fits.then(|| Modes::inaccurate(ty, product, roundings))
        };
        let range = for_each_choice(&values, false, |chosen| {
            let chosen: Vec<Vec<Interval>> =
                chosen.iter().map(|x| x.intervals().collect()).collect();
            let at = |i: usize| product(&mut chosen.iter().map(|x| x[i]));
            let products: Vec<Option<Interval>> = (0..own.lo.len()).map(at).collect();
            let sets = products.iter().map(|x| x.unwrap_or(Interval::ANY));
            let stored = sets.map(|x| self.ev.modes.store_all(ty, x, true));
            let other = Range::of_sets(&self.shape, &stored.collect::<Vec<_>>());
            Ok::<_, Infallible>(other.where_else(&own, |i| products[i].is_some()))
        });
        let Ok(range) = range;
        Some(range)
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

/// Returns whether an op moves elements without a choice of them.
fn is_moved(op: &Op) -> bool {
    matches!(op, Op::Broadcast(_) | Op::Copy(_) | Op::Reshape(_) | Op::Transpose(_))
}

/// A factor of products and quotients.
struct Factor {
    id: InstructionId,
    divides: bool,
    /// The products and quotients that it was before it was moved.
    moved: u32,
}

/// Products and quotients of each other.
#[derive(Default)]
struct Chain {
    factors: Vec<Factor>,
    /// Products and quotients before the last one.
    steps: u32,
}

impl Chain {
    /// The most steps in a row.
    const MOST: u32 = 4;

    /// Adds the factors of a value, which may divide.
    fn take(&mut self, form: &Form<'_, '_, '_>, id: InstructionId, divides: bool, depth: u32) {
        let of = |op: Binary| form.pair(id, op).map(|pair| (pair, op == Binary::Divide));
        match of(Binary::Multiply).or_else(|| of(Binary::Divide)) {
            Some(([x, y], second)) if depth < Self::MOST => {
                self.steps += 1;
                self.take(form, x, divides, depth + 1);
                self.take(form, y, divides != second, depth + 1);
            }
            _ => {
                let moved = Self::moved(form, id, depth);
                self.steps += moved;
                self.factors.push(Factor { id, divides, moved });
            }
        }
    }
    /// Returns the number of steps of a value that is moved after them.
    fn moved(form: &Form<'_, '_, '_>, id: InstructionId, depth: u32) -> u32 {
        let instruction = &form.site.computation.instructions[id];
        let step = |&id: &InstructionId| Self::moved(form, id, depth + 1);
        match &instruction.op {
            _ if depth >= Self::MOST => 0,
            Op::Binary(Binary::Multiply | Binary::Divide) => {
                1 + instruction.operands.iter().map(step).sum::<u32>()
            }
            op if is_moved(op) => instruction.operands.first().map_or(0, step),
            _ => 0,
        }
    }
}
