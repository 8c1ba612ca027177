//! Comparators that compare keys of each element: sorting by such keys needs no calls.
//!
//! Nearly every comparator is `key(lhs) < key(rhs)`, with a key that is an element itself or a few
//! ops on it. The key is found by comparing the steps: two expressions that are equal except that
//! one reads the left elements where the other reads the right ones. Where first keys are equal, a
//! comparator may compare another key.
use super::{Body, RegisterProgram, ScalarProgram, ScalarStep};
use hlo::op::Binary;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ElementType, Scalar};
use std::collections::HashMap;

/// A key that a comparator compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The register that holds the key.
    pub register: usize,
    /// The relation between the left key and the right key.
    pub direction: Direction,
    /// The order of the comparison.
    pub order: ComparisonType,
    /// Type of the keys.
    pub ty: ElementType,
}

/// The keys of a comparator, the most significant first.
#[derive(Debug, PartialEq)]
pub struct Keys {
    /// The keys, the most significant first.
    pub keys: Vec<Key>,
    /// Whether an element precedes one with the same keys, as with `<=`.
    pub includes_equal: bool,
}

/// A comparison of the registers of two keys.
struct Comparison {
    key: Key,
    registers: (usize, usize),
    includes_equal: bool,
}

impl ScalarProgram {
    /// Returns the keys, if the comparator is a comparison of keys in lexicographic order.
    #[inline]
    pub fn keys(&self) -> Option<Keys> {
        let Body::Steps(program) = &self.body else { return None };
        let &[result] = program.results.as_slice() else { return None };
        program.keys(self.parameters.len(), result)
    }

    /// Returns the key of an element, which `arguments` holds on both sides.
    #[inline]
    pub fn key_of(&self, key: Key, arguments: &[Scalar], scratch: &mut [Scalar]) -> Scalar {
        if let Body::Steps(program) = &self.body {
            scratch[..arguments.len()].copy_from_slice(arguments);
            program.run(arguments.len(), scratch);
        }
        scratch[key.register]
    }
}

impl RegisterProgram {
    fn step(&self, count: usize, register: usize) -> Option<ScalarStep> {
        self.steps.get(register.checked_sub(count)?).copied()
    }

    /// Returns the keys that a register compares.
    fn keys(&self, count: usize, result: usize) -> Option<Keys> {
        let (first, rest) = match self.step(count, result)? {
            ScalarStep::Compare(..) => {
                let Comparison { key, includes_equal, .. } = self.comparison(count, result)?;
                return Some(Keys { keys: vec![key], includes_equal });
            }
            // `first < or first = and rest <`
            ScalarStep::Binary(op, ty, a, b) if op == Binary::Or && ty == ElementType::Pred => {
                let one = |first: usize, rest: usize| {
                    let ScalarStep::Binary(Binary::And, _, a, b) = self.step(count, rest)? else {
                        return None;
                    };
                    let first = self.comparison(count, first)?;
                    let rest = match (self.tests(count, a, &first), self.tests(count, b, &first)) {
                        (Some(Direction::Eq), _) => b,
                        (_, Some(Direction::Eq)) => a,
                        (Some(_) | None, Some(_) | None) => return None,
                    };
                    Some((first, rest))
                };
                one(a, b).or_else(|| one(b, a))?
            }
            // `if first = then rest < else first <`
            ScalarStep::Select(p, a, b) => {
                let one = |first: usize, rest: usize, direction| {
                    let first = self.comparison(count, first)?;
                    (self.tests(count, p, &first)? == direction).then_some((first, rest))
                };
                one(b, a, Direction::Eq).or_else(|| one(a, b, Direction::Ne))?
            }
            ScalarStep::Constant(_)
            | ScalarStep::Unary(..)
            | ScalarStep::Binary(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Convert(..) => return None,
        };
        if first.includes_equal {
            return None;
        }
        let Keys { mut keys, includes_equal } = self.keys(count, rest)?;
        keys.insert(0, first.key);
        Some(Keys { keys, includes_equal })
    }

    /// Returns the direction in which a register compares the keys of a comparison, if it is EQ or
    /// NE.
    fn tests(&self, count: usize, register: usize, of: &Comparison) -> Option<Direction> {
        let ScalarStep::Compare(direction, order, ty, a, b) = self.step(count, register)? else {
            return None;
        };
        let is_same = (a, b) == of.registers || (b, a) == of.registers;
        let is_test = matches!(direction, Direction::Eq | Direction::Ne);
        (is_same && is_test && order == of.key.order && ty == of.key.ty).then_some(direction)
    }

    /// Returns the comparison of a key that a register holds, if it is one that orders.
    fn comparison(&self, count: usize, register: usize) -> Option<Comparison> {
        let ScalarStep::Compare(direction, order, ty, a, b) = self.step(count, register)? else {
            return None;
        };
        let (direction, includes_equal) = match direction {
            Direction::Lt => (Direction::Lt, false),
            Direction::Le => (Direction::Lt, true),
            Direction::Gt => (Direction::Gt, false),
            Direction::Ge => (Direction::Gt, true),
            Direction::Eq | Direction::Ne => return None,
        };
        let (register, direction) = if self.mirrored(count, a, b, &mut HashMap::new()) {
            (a, direction)
        } else if self.mirrored(count, b, a, &mut HashMap::new()) {
            (b, flipped(direction))
        } else {
            return None;
        };
        let key = Key { register, direction, order, ty };
        Some(Comparison { key, registers: (a, b), includes_equal })
    }

    /// Returns whether `b` is `a` with the right elements in place of the left ones. `known` holds
    /// earlier results: steps that are used twice are compared once.
    fn mirrored(
        &self,
        count: usize,
        a: usize,
        b: usize,
        known: &mut HashMap<usize, usize>,
    ) -> bool {
        if a < count || b < count {
            // Parameters 2i and 2i + 1 are the left and the right element of operand i.
            return a < count && b == a + 1 && a.is_multiple_of(2);
        }
        if let Some(&mirror) = known.get(&a) {
            return mirror == b;
        }
        let mut same = |x: usize, y: usize| self.mirrored(count, x, y, known);
        let mirrored = match (self.steps[a - count], self.steps[b - count]) {
            (ScalarStep::Constant(x), ScalarStep::Constant(y)) => same_bits(x, y),
            (ScalarStep::Unary(f, t, x), ScalarStep::Unary(g, u, y)) => {
                f == g && t == u && same(x, y)
            }
            (ScalarStep::Binary(f, t, x1, x2), ScalarStep::Binary(g, u, y1, y2)) => {
                f == g && t == u && same(x1, y1) && same(x2, y2)
            }
            (ScalarStep::Compare(d, o, t, x1, x2), ScalarStep::Compare(e, p, u, y1, y2)) => {
                d == e && o == p && t == u && same(x1, y1) && same(x2, y2)
            }
            (ScalarStep::Select(x1, x2, x3), ScalarStep::Select(y1, y2, y3)) => {
                same(x1, y1) && same(x2, y2) && same(x3, y3)
            }
            (ScalarStep::Clamp(t, x1, x2, x3), ScalarStep::Clamp(u, y1, y2, y3)) => {
                t == u && same(x1, y1) && same(x2, y2) && same(x3, y3)
            }
            (ScalarStep::Convert(f, t, x), ScalarStep::Convert(g, u, y)) => {
                f == g && t == u && same(x, y)
            }
            _ => false,
        };
        if mirrored {
            known.insert(a, b);
        }
        mirrored
    }
}

fn flipped(direction: Direction) -> Direction {
    if direction == Direction::Lt { Direction::Gt } else { Direction::Lt }
}

/// Returns whether two constants have the same bits, so that equal NaN count as equal.
fn same_bits(x: Scalar, y: Scalar) -> bool {
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => x.to_bits() == y.to_bits(),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
            a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits()
        }
        _ => x == y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the keys of the computation with this body, and whether it includes equal ones.
    fn keys(body: &str) -> Option<(Vec<(Direction, ComparisonType)>, bool)> {
        let text = format!(
            "less {{ a = f32[] parameter(0) b = f32[] parameter(1) {body} }} ENTRY e {{ x = f32[3] parameter(0) ROOT s = f32[3] sort(x), dimensions={{0}}, to_apply=less }}"
        );
        let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let (id, _) = module.module().computations.iter().find(|(_, c)| c.name == "less").unwrap();
        let keys = ScalarProgram::compile(module.module(), id, None).unwrap().keys()?;
        let orders = keys.keys.iter().map(|key| (key.direction, key.order));
        Some((orders.collect(), keys.includes_equal))
    }

    #[test]
    fn keys_are_found_where_both_sides_are_alike() {
        use ComparisonType::{Float, TotalOrder};
        let ascending = keys("ROOT r = pred[] compare(a, b), direction=LT");
        assert_eq!(ascending, Some((vec![(Direction::Lt, Float)], false)));
        let swapped = keys("ROOT r = pred[] compare(b, a), direction=LE, type=TOTALORDER");
        assert_eq!(swapped, Some((vec![(Direction::Gt, TotalOrder)], true)));
        let computed = keys(
            "z = f32[] constant(0) p = f32[] add(a, z) q = f32[] add(b, z) ROOT r = pred[] compare(p, q), direction=GT",
        );
        assert_eq!(computed, Some((vec![(Direction::Gt, Float)], false)));
        assert_eq!(keys("p = f32[] negate(a) ROOT r = pred[] compare(p, b), direction=LT"), None);
        assert_eq!(
            keys(
                "p = f32[] add(a, b) q = f32[] add(b, a) ROOT r = pred[] compare(p, q), direction=LT"
            ),
            None
        );
        assert_eq!(keys("ROOT r = pred[] compare(a, b), direction=EQ"), None);
    }

    #[test]
    fn further_keys_are_found() {
        let with = |rest: &str| {
            keys(&format!(
                "m = f32[] abs(a) n = f32[] abs(b) l = pred[] compare(m, n), direction=LT \
                 e = pred[] compare(n, m), direction=EQ u = pred[] compare(n, m), direction=NE \
                 g = pred[] compare(a, b), direction=GE {rest}"
            ))
        };
        let two = Some((
            vec![(Direction::Lt, ComparisonType::Float), (Direction::Gt, ComparisonType::Float)],
            true,
        ));
        for rest in [
            "c = pred[] and(e, g) ROOT r = pred[] or(l, c)",
            "c = pred[] and(g, e) ROOT r = pred[] or(c, l)",
            "ROOT r = pred[] select(e, g, l)",
            "ROOT r = pred[] select(u, l, g)",
        ] {
            assert_eq!(with(rest), two, "{rest}");
        }
        for rest in [
            "c = pred[] and(u, g) ROOT r = pred[] or(l, c)",
            "c = pred[] and(e, l) ROOT r = pred[] or(g, c)",
            "ROOT r = pred[] select(e, l, g)",
            "ROOT r = pred[] and(l, g)",
        ] {
            assert_eq!(with(rest), None, "{rest}");
        }
    }
}
