//! Comparators that compare one key of each element: sorting by such a key needs no calls.
//!
//! Nearly every comparator is `key(lhs) < key(rhs)`, with a key that is an element itself or a few ops on it. The key
//! is found by comparing the steps: two expressions that are equal except that one reads the left elements where the
//! other reads the right ones.
use super::{Body, Program, ScalarProgram, Step};
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ElementType, Scalar};
use std::collections::HashMap;

/// The key comparison of a comparator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    register: usize,
    /// The relation between the left key and the right key.
    pub(crate) direction: Direction,
    /// The order of the comparison.
    pub(crate) order: ComparisonType,
    /// Type of the keys.
    pub(crate) ty: ElementType,
}

impl ScalarProgram {
    /// Returns the key, if the comparator is a less-than or greater-than comparison of keys.
    pub(crate) fn key(&self) -> Option<Key> {
        let Body::Steps(program) = &self.body else { return None };
        let count = self.parameters.len();
        let &[result] = program.results.as_slice() else { return None };
        let Step::Compare(direction, order, ty, a, b) =
            *program.steps.get(result.checked_sub(count)?)?
        else {
            return None;
        };
        if !matches!(direction, Direction::Lt | Direction::Gt) {
            return None;
        }
        let (register, direction) = if program.mirrored(count, a, b, &mut HashMap::new()) {
            (a, direction)
        } else if program.mirrored(count, b, a, &mut HashMap::new()) {
            (b, flipped(direction))
        } else {
            return None;
        };
        Some(Key { register, direction, order, ty })
    }

    /// Returns the key of an element, which `arguments` holds on both sides.
    pub(crate) fn key_of(&self, key: Key, arguments: &[Scalar], scratch: &mut [Scalar]) -> Scalar {
        if let Body::Steps(program) = &self.body {
            scratch[..arguments.len()].copy_from_slice(arguments);
            program.run(arguments.len(), scratch);
        }
        scratch[key.register]
    }
}

impl Program {
    /// Returns whether `b` is `a` with the right elements in place of the left ones. `known` holds earlier results:
    /// steps that are used twice are compared once.
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
            (Step::Constant(x), Step::Constant(y)) => same_bits(x, y),
            (Step::Unary(f, t, x), Step::Unary(g, u, y)) => f == g && t == u && same(x, y),
            (Step::Binary(f, t, x1, x2), Step::Binary(g, u, y1, y2)) => {
                f == g && t == u && same(x1, y1) && same(x2, y2)
            }
            (Step::Compare(d, o, t, x1, x2), Step::Compare(e, p, u, y1, y2)) => {
                d == e && o == p && t == u && same(x1, y1) && same(x2, y2)
            }
            (Step::Select(x1, x2, x3), Step::Select(y1, y2, y3)) => {
                same(x1, y1) && same(x2, y2) && same(x3, y3)
            }
            (Step::Clamp(t, x1, x2, x3), Step::Clamp(u, y1, y2, y3)) => {
                t == u && same(x1, y1) && same(x2, y2) && same(x3, y3)
            }
            (Step::Convert(f, t, x), Step::Convert(g, u, y)) => f == g && t == u && same(x, y),
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

    /// Returns the key of the computation with this body.
    fn key(body: &str) -> Option<(Direction, ComparisonType)> {
        let text = format!(
            "less {{ a = f32[] parameter(0) b = f32[] parameter(1) {body} }} ENTRY e {{ x = f32[3] parameter(0) ROOT s = f32[3] sort(x), dimensions={{0}}, to_apply=less }}"
        );
        let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let (id, _) = module.module().computations.iter().find(|(_, c)| c.name == "less").unwrap();
        let key = ScalarProgram::compile(module.module(), id, false).unwrap().key()?;
        Some((key.direction, key.order))
    }

    #[test]
    fn keys_are_found_where_both_sides_are_alike() {
        use ComparisonType::{Float, TotalOrder};
        let ascending = key("ROOT r = pred[] compare(a, b), direction=LT");
        assert_eq!(ascending, Some((Direction::Lt, Float)));
        let swapped = key("ROOT r = pred[] compare(b, a), direction=LT, type=TOTALORDER");
        assert_eq!(swapped, Some((Direction::Gt, TotalOrder)));
        let computed = key(
            "z = f32[] constant(0) p = f32[] add(a, z) q = f32[] add(b, z) ROOT r = pred[] compare(p, q), direction=GT",
        );
        assert_eq!(computed, Some((Direction::Gt, Float)));
        assert_eq!(key("p = f32[] negate(a) ROOT r = pred[] compare(p, b), direction=LT"), None);
        assert_eq!(
            key(
                "p = f32[] add(a, b) q = f32[] add(b, a) ROOT r = pred[] compare(p, q), direction=LT"
            ),
            None
        );
        assert_eq!(key("ROOT r = pred[] compare(a, b), direction=LE"), None);
    }
}
