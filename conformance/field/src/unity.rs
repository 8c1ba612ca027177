//! Roots of unity: the numbers on the circle that transforms need, and cosines among literals.
//!
//! One more than each prime is a multiple of 30720 = 2^11 * 15, and -1 is no square, so that pairs
//! are a field with a root of unity of that order.
use crate::element::{Element, approximate};
use crate::pair::Pair;
use crate::rational;
use crate::tower::{LEVELS, PRIMES};
use hlo::ElementType;
use num::index::to_i64;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::LazyLock;

/// The number of roots of unity.
pub(crate) const ORDER: usize = 30_720;

/// The first root, modulo each prime: real and imaginary part. Its power by a quarter of the order
/// is i, and the cosines that are roots of positive numbers, of half and a third of a right angle and
/// halves of them, are the roots of residues: squares.
const FIRST: [[u32; 2]; LEVELS] = [[1_824_582_685, 1_023_123_411], [863_362_022, 375_390_247]];

/// The cosines that literals are recognized as are of the turns k / n, for these n.
const TURNS: [usize; 4] = [512, 384, 320, 480];

/// Returns the root of unity by `k` of `n` parts of a turn; `None` if there are none of this order.
pub(crate) fn root(k: usize, n: usize) -> Option<Pair> {
    if n == 0 || !ORDER.is_multiple_of(n) {
        return None;
    }
    let mut exponent = k % n * (ORDER / n);
    let (mut square, mut power) = (FIRST, [[1, 0]; LEVELS]);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply(power, square);
        }
        square = multiply(square, square);
        exponent >>= 1;
    }
    let (sine, cosine) = (approximate(to_i64(k)) / approximate(to_i64(n)) * TAU).sin_cos();
    let part = |i: usize, real| Element::constant(power.map(|residues| residues[i]), real);
    Some(Pair(part(0, cosine), part(1, sine)))
}

fn multiply(x: [[u32; 2]; LEVELS], y: [[u32; 2]; LEVELS]) -> [[u32; 2]; LEVELS] {
    std::array::from_fn(|level| {
        let prime = i128::from(PRIMES[level]);
        let [a, b, c, d] = [x[level][0], x[level][1], y[level][0], y[level][1]].map(i128::from);
        let reduced = |x: i128| u32::try_from(x.rem_euclid(prime)).expect("a prime has 31 bits");
        [reduced(a * c - b * d), reduced(a * d + b * c)]
    })
}

/// The cosines between 0 and 1, by their bits.
static COSINES: LazyLock<BTreeMap<u64, Element>> = LazyLock::new(|| {
    let of = |n: usize| (1..n.div_ceil(4)).map(move |k| (k, n));
    let pairs = TURNS.into_iter().flat_map(of);
    pairs
        .filter_map(|(k, n)| {
            let cosine = root(k, n)?.0;
            Some((cosine.real.to_bits(), cosine))
        })
        .collect()
});

/// Returns the cosine of a fraction of a turn that a positive literal is.
pub(crate) fn cosine(x: f64, ty: ElementType) -> Option<Element> {
    let near = 2.0 * rational::unit(x, ty);
    if rational::is_narrow(ty) {
        return None;
    }
    let (low, high) = ((x - near).to_bits(), (x + near).to_bits());
    COSINES.range(low..=high).next().map(|(_, element)| *element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Field, Rules};
    use crate::kernels::Number as _;
    use crate::tower;

    #[test]
    fn roots_of_unity_are_on_the_circle() {
        let field = Field::new(0, Rules::default());
        for prime in PRIMES {
            assert_eq!((prime + 1) % u32::try_from(ORDER).unwrap(), 0);
        }
        let quarter = root(1, 4).unwrap();
        assert!(quarter.0.residues == [0; LEVELS] && quarter.1.is(&Element::ONE));
        assert!(root(1, 2).unwrap().0.is(&Element::integer(-1)));
        assert_eq!(root(1, 7), None);
        for n in [3, 5, 8, 512, ORDER] {
            let (first, last) = (root(1, n).unwrap(), root(n - 1, n).unwrap());
            let one = first.product(&field, last);
            assert_eq!((one.0.residues, one.1.residues), ([1; LEVELS], [0; LEVELS]), "{n}");
            assert_eq!(first.0.residues, last.0.residues);
        }
        for n in [8, 12, 16, 32] {
            let cosine = root(1, n).unwrap().0;
            let square = tower::multiply(cosine.residues, cosine.residues);
            assert_eq!(tower::root(square), cosine.residues, "{n}");
        }
        let third = root(1, 3).unwrap().0;
        assert_eq!(third.residues, rational::element((-1, 2)).residues);
    }

    #[test]
    fn cosines_are_recognized() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let found = cosine(f64::from(std::f32::consts::FRAC_1_SQRT_2), ElementType::F32).unwrap();
        assert_eq!(Some(found), cosine(half, ElementType::F64));
        assert_eq!(found, root(1, 8).unwrap().0);
        assert_eq!(cosine(0.7, ElementType::F32), None);
        assert_eq!(cosine(half, ElementType::Bf16), None);
    }
}
