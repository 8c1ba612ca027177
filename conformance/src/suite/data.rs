//! The arguments of a case, from words.
use crate::random::Sequence;
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar, Shape};

/// The elements of an argument.
///
/// | word | elements |
/// |---|---|
/// | `special` | zeros, ones, halves, the ends of the range, infinities, NaN; all tuples of them if there are enough elements |
/// | `finite` | those of `special` that are finite |
/// | `subnormal` | the subnormal numbers near zero and near the least normal one, and ordinary numbers |
/// | `order` | numbers whose order is unusual: both NaNs, infinities, zeros |
/// | `every` | all values of the type; all pairs if two parameters have the word and enough elements |
/// | `bits` | random bits |
/// | `integers [LO HI]` | small integers, from -4 to 4 unless stated: sums and products of them are exact |
/// | `random [LO HI]` | numbers from LO to HI, from -1 to 1 unless stated |
/// | `indices LO HI` | integers from LO to HI; in an unsigned type, negative ones are large |
/// | `count [FROM]` | FROM, FROM + 1, ... on all devices |
/// | `zero`, `one`, `ones`, `lowest`, `highest` | the same element everywhere; `ones` has all bits set |
/// | `definite` | Hermitian matrices with positive eigenvalues, of integers |
/// | `triangular` | matrices with ones on the diagonal and small integers elsewhere |
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    Special,
    Finite,
    Subnormal,
    Order,
    Every,
    Bits,
    Integers(i32, i32),
    Random(f64, f64),
    Indices(i64, i64),
    Count(i64),
    Fill(Fill),
    Definite,
    Triangular,
    Literal(Literal),
}

/// The value of all elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Zero,
    One,
    Ones,
    Lowest,
    Highest,
}

impl Word {
    /// Parses a word with its numbers, or a literal.
    ///
    /// # Errors
    /// If it is neither.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split_whitespace();
        let word = parts.next().unwrap_or_default();
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        let numbers = numbers.as_deref();
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "small integers"
        )]
        let whole = |x: f64| x as i64;
        let small = |x: f64| i32::try_from(whole(x)).unwrap_or(i32::MAX);
        Ok(match (word, numbers) {
            ("special", Some([])) => Self::Special,
            ("finite", Some([])) => Self::Finite,
            ("subnormal", Some([])) => Self::Subnormal,
            ("order", Some([])) => Self::Order,
            ("every", Some([])) => Self::Every,
            ("bits", Some([])) => Self::Bits,
            ("integers", Some([])) => Self::Integers(-4, 4),
            ("integers", Some(&[lo, hi])) => Self::Integers(small(lo), small(hi)),
            ("random", Some([])) => Self::Random(-1.0, 1.0),
            ("random", Some(&[lo, hi])) => Self::Random(lo, hi),
            ("indices", Some(&[lo, hi])) => Self::Indices(whole(lo), whole(hi)),
            ("count", Some([])) => Self::Count(0),
            ("count", Some(&[from])) => Self::Count(whole(from)),
            ("zero", Some([])) => Self::Fill(Fill::Zero),
            ("one", Some([])) => Self::Fill(Fill::One),
            ("ones", Some([])) => Self::Fill(Fill::Ones),
            ("lowest", Some([])) => Self::Fill(Fill::Lowest),
            ("highest", Some([])) => Self::Fill(Fill::Highest),
            ("definite", Some([])) => Self::Definite,
            ("triangular", Some([])) => Self::Triangular,
            _ => Self::Literal(text.parse().map_err(|e| format!("`{text}`: {e}"))?),
        })
    }
}

/// The place of a parameter among those with the same word.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParameterPlace {
    pub(super) index: usize,
    pub(super) count: usize,
}

/// Returns a value of a shape.
///
/// # Errors
/// If values of the shape cannot be made, or not by the word.
pub(super) fn value(
    word: &Word,
    shape: &Shape,
    place: ParameterPlace,
    sequence: &mut Sequence,
) -> Result<Literal, String> {
    if let Word::Literal(literal) = word {
        return Ok(literal.clone());
    }
    match shape {
        Shape::Array(shape) => Ok(array(word, shape, place, sequence)),
        Shape::Tuple(shapes) => {
            let elements: Result<_, _> =
                shapes.iter().map(|shape| value(word, shape, place, sequence)).collect();
            Ok(Literal::tuple(elements?))
        }
        Shape::Token => Ok(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => Err(format!("{shape} has no values")),
    }
}

fn array(
    word: &Word,
    shape: &ArrayShape,
    place: ParameterPlace,
    sequence: &mut Sequence,
) -> Literal {
    let mut literal = Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() });
    let (ty, len) = (shape.ty, literal.len());
    let size = |from_last: usize| {
        let size = shape.dims.len().checked_sub(from_last).map_or(1, |i| shape.dims[i]);
        usize::try_from(size).unwrap_or(1).max(1)
    };
    let (columns, rows) = (size(1), size(2));
    let bits: Vec<u128> = match word {
        Word::Special => tuples(&special(ty), len, place, sequence),
        Word::Finite => tuples(&finite(ty), len, place, sequence),
        Word::Subnormal => tuples(&subnormal(ty), len, place, sequence),
        Word::Order => tuples(&ordered(ty), len, place, sequence),
        Word::Every => tuples(&every(ty), len, place, sequence),
        Word::Definite => (0..len).map(|i| definite(ty, i, rows, columns)).collect(),
        Word::Triangular => (0..len).map(|i| triangular(ty, i, rows, columns)).collect(),
        Word::Count(from) => (*from..).take(len).map(|i| integer(ty, i)).collect(),
        Word::Fill(fill) => vec![filled(ty, *fill); len],
        Word::Bits
        | Word::Integers(..)
        | Word::Random(..)
        | Word::Indices(..)
        | Word::Literal(_) => (0..len).map(|_| draw(word, ty, sequence)).collect(),
    };
    for (bits, slot) in
        bits.into_iter().zip(literal.bytes_mut().chunks_exact_mut(ty.storage_bytes()))
    {
        Scalar::set_bits(ty, bits, slot);
    }
    literal
}

/// Returns one random element.
fn draw(word: &Word, ty: ElementType, sequence: &mut Sequence) -> u128 {
    match *word {
        Word::Integers(lo, hi) => {
            let x = sequence.between(lo.into(), hi.into());
            match ty.class() {
                Class::Complex => {
                    let y = sequence.between(lo.into(), hi.into());
                    complex(ty, as_f64(x), as_f64(y))
                }
                Class::Pred | Class::Signed | Class::Unsigned | Class::Float => integer(ty, x),
            }
        }
        Word::Indices(lo, hi) => integer(ty, sequence.between(lo, hi)),
        Word::Random(lo, hi) => {
            let mut real = || lo + (hi - lo) * sequence.unit();
            match ty.class() {
                Class::Pred => u128::from(sequence.bits() >> 63),
                Class::Complex => complex(ty, real(), real()),
                Class::Float => float(ty, real()),
                Class::Signed | Class::Unsigned => {
                    let x = Scalar::Float(real().round()).convert(ElementType::F64, ty);
                    x.to_bits(ty)
                }
            }
        }
        Word::Special
        | Word::Finite
        | Word::Subnormal
        | Word::Order
        | Word::Every
        | Word::Bits
        | Word::Count(_)
        | Word::Fill(_)
        | Word::Definite
        | Word::Triangular
        | Word::Literal(_) => match ty.class() {
            Class::Pred => u128::from(sequence.bits() >> 63),
            Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                u128::from(sequence.bits()) << 64 | u128::from(sequence.bits())
            }
        },
    }
}

fn as_f64(x: i64) -> f64 {
    Scalar::Signed(x).as_f64()
}
fn float(ty: ElementType, x: f64) -> u128 {
    Scalar::Float(x).to_bits(ty)
}
fn complex(ty: ElementType, re: f64, im: f64) -> u128 {
    Scalar::Complex(re, im).to_bits(ty)
}

/// Returns an integer in a type: wrapped, or its absolute value where floats have no sign, and 1
/// for 0 where they have no zero.
fn integer(ty: ElementType, x: i64) -> u128 {
    match ty.class() {
        Class::Pred => u128::from(x & 1 != 0),
        Class::Signed | Class::Unsigned => Scalar::Signed(x).to_bits(ty),
        Class::Complex => complex(ty, as_f64(x), 0.0),
        Class::Float if Scalar::Float(0.0).round_to(ty).as_f64().is_nan() => {
            float(ty, as_f64(x.abs().max(1)))
        }
        Class::Float => float(ty, as_f64(x)),
    }
}

fn filled(ty: ElementType, fill: Fill) -> u128 {
    let range = |x: i64, integer: u128, real: f64| match ty.class() {
        Class::Pred => u128::from(x > 0),
        Class::Signed | Class::Unsigned => integer,
        Class::Float => float(ty, real),
        Class::Complex => complex(ty, real, 0.0),
    };
    let bits = ty.bits().min(64);
    let top = 1u128 << (bits - 1);
    let is_signed = ty.class() == Class::Signed;
    match fill {
        Fill::Zero => integer(ty, 0),
        Fill::One => integer(ty, 1),
        Fill::Ones => integer(ty, -1),
        Fill::Lowest => range(0, if is_signed { top } else { 0 }, f64::NEG_INFINITY),
        Fill::Highest => {
            range(1, if is_signed { top - 1 } else { 2 * (top - 1) + 1 }, f64::INFINITY)
        }
    }
}

/// Returns the elements of one of several parameters: all tuples of the values if they fit, else
/// random ones.
fn tuples(
    values: &[u128],
    len: usize,
    place: ParameterPlace,
    sequence: &mut Sequence,
) -> Vec<u128> {
    let n = values.len();
    let power = |k: usize| u32::try_from(k).ok().and_then(|k| n.checked_pow(k));
    match (power(place.count), power(place.index)) {
        (Some(all), Some(stride)) if all <= len => {
            (0..len).map(|i| values[i / stride % n]).collect()
        }
        _ if place.count == 1 => (0..len).map(|i| values[i % n]).collect(),
        _ => (0..len).map(|_| values[sequence.below(n)]).collect(),
    }
}

/// Removes values that are there already. The order stays.
fn distinct(values: impl IntoIterator<Item = u128>) -> Vec<u128> {
    let mut kept: Vec<u128> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Returns the values, or for complex types all pairs of them.
fn parts(ty: ElementType, reals: &[f64]) -> Vec<u128> {
    if !ty.is_complex() {
        return distinct(reals.iter().map(|&x| float(ty, x)));
    }
    reals.iter().flat_map(|&re| reals.iter().map(move |&im| complex(ty, re, im))).collect()
}

fn special(ty: ElementType) -> Vec<u128> {
    if ty.class() == Class::Pred {
        return vec![0, 1];
    }
    let Some(format) = ty.component().float_format() else {
        let bits = i64::from(ty.bits());
        let top = 1u64.checked_shl(ty.bits() - 1).unwrap_or(0).cast_signed();
        let near = [0, 1, -1, 2, -2, 3, 7, -7, bits - 1, bits, bits + 1];
        let near_top = [-2, -1, 1].map(|x| top.wrapping_add(x));
        let ends = [top, near_top[0], near_top[1], near_top[2], top / 2, 70];
        return distinct(near.into_iter().chain(ends).map(|x| integer(ty, x)));
    };
    let (max, next) = (format.max_finite(), (-f64::from(format.mantissa_bits)).exp2());
    let least = format.decode(1 << format.mantissa_bits);
    let inf = f64::INFINITY;
    let common = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -1.5, max, -max, inf, -inf, f64::NAN];
    let more = [least, -least, 1.0 + next, 1.0 - next / 2.0, 3.0];
    if ty.is_complex() { parts(ty, &common) } else { parts(ty, &[&common[..], &more].concat()) }
}

fn finite(ty: ElementType) -> Vec<u128> {
    let is_finite = |bits: &u128| match Scalar::from_bits(ty, *bits) {
        Scalar::Float(x) => x.is_finite(),
        Scalar::Complex(re, im) => re.is_finite() && im.is_finite(),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => true,
    };
    special(ty).into_iter().filter(is_finite).collect()
}

fn subnormal(ty: ElementType) -> Vec<u128> {
    let Some(format) = ty.component().float_format() else { return special(ty) };
    let normal = 1 << format.mantissa_bits;
    let reals = [1, 2, 3, normal / 2 + 1, normal - 1, normal, normal + 1].map(|c| format.decode(c));
    let signed: Vec<f64> = reals.iter().flat_map(|&x| [x, -x]).collect();
    parts(ty, &[&signed[..], &[0.0, 1.0, -2.0]].concat())
}

fn ordered(ty: ElementType) -> Vec<u128> {
    let Some(format) = ty.component().float_format() else { return special(ty) };
    let (max, nan, inf) = (format.max_finite(), f64::NAN, f64::INFINITY);
    parts(ty, &[3.0, nan, -0.0, 0.0, -inf, 1.0, -nan, inf, -1.0, max, -max, 1.0, -0.0])
}

fn every(ty: ElementType) -> Vec<u128> {
    match ty.class() {
        Class::Pred => vec![0, 1],
        Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
            (0..1 << ty.bits().min(16)).collect()
        }
    }
}

/// Returns the row and the column of an element of a batch of matrices.
fn row_and_column(i: usize, rows: usize, columns: usize) -> (usize, usize) {
    (i / columns % rows, i % columns)
}

/// Returns an element of `L L^H`, where L has ones on the diagonal and small integers below: exact,
/// and so is its factor.
fn definite(ty: ElementType, i: usize, rows: usize, columns: usize) -> u128 {
    let (row, column) = row_and_column(i, rows, columns);
    let (mut re, mut im) = (0.0, 0.0);
    for k in 0..=row.min(column) {
        let ((a, b), (c, d)) = (lower(ty, row, k), lower(ty, column, k));
        re += a * c + b * d;
        im += b * c - a * d;
    }
    if ty.is_complex() { complex(ty, re, im) } else { float(ty, re) }
}

fn triangular(ty: ElementType, i: usize, rows: usize, columns: usize) -> u128 {
    let (row, column) = row_and_column(i, rows, columns);
    let (re, im) = lower(ty, row.max(column), row.min(column));
    if ty.is_complex() { complex(ty, re, im) } else { float(ty, re) }
}

/// Returns an element of a lower triangular matrix.
fn lower(ty: ElementType, row: usize, column: usize) -> (f64, f64) {
    if row == column {
        return (1.0, 0.0);
    }
    let small = |n: usize| [0.0, 1.0, -1.0][n % 3];
    (small(row + 2 * column), if ty.is_complex() { small(row + column) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(word: &str, shape: &str) -> String {
        let word = Word::parse(word).unwrap();
        let shape: Shape = shape.parse().unwrap();
        let place = ParameterPlace { index: 0, count: 1 };
        value(&word, &shape, place, &mut Sequence::new(1)).unwrap().to_string()
    }

    #[test]
    fn words_make_values() {
        assert_eq!(make("count 3", "s8[3]"), "s8[3]{0} {3, 4, 5}");
        assert_eq!(make("lowest", "s4[1]"), "s4[1]{0} {-8}");
        assert_eq!(make("highest", "u64[]"), "u64[] 18446744073709551615");
        assert_eq!(make("highest", "f8e4m3fn[]"), "f8e4m3fn[] nan");
        assert_eq!(make("indices -1 -1", "u8[1]"), "u8[1]{0} {255}");
        assert_eq!(make("every", "s2[4]"), "s2[4]{0} {0, 1, -2, -1}");
        assert_eq!(make("one", "(pred[], c64[])"), "( pred[] true, c64[] (1, 0) )");
        assert_eq!(make("s32[] 7", "s32[]"), "s32[] 7");
        assert_eq!(make("definite", "f32[2,2]"), "f32[2,2]{1,0} { { 1, 1 }, { 1, 2 } }");
        assert!(Word::parse("nothing 1").is_err());
    }

    #[test]
    fn all_pairs_of_special_values_occur() {
        let of = |index, ty| {
            let place = ParameterPlace { index, count: 2 };
            let shape: Shape = format!("{ty}[324]").parse().unwrap();
            value(&Word::Special, &shape, place, &mut Sequence::new(1)).unwrap()
        };
        for ty in ElementType::ALL.iter().filter(|ty| !ty.is_complex()) {
            let (a, b) = (of(0, ty), of(1, ty));
            let pairs = (0..324).map(|i| a.get(i).to_bits(*ty) << 64 | b.get(i).to_bits(*ty));
            let n = special(*ty).len();
            assert!(n <= 18);
            assert_eq!(distinct(pairs).len(), n * n, "{ty}");
        }
    }

    #[test]
    fn every_word_works_for_every_type() {
        let words = "special subnormal order every bits integers random count zero one ones lowest highest definite triangular";
        for ty in ElementType::ALL {
            for word in words.split(' ') {
                make(word, &format!("{ty}[2,3,3]"));
                make(word, &format!("{ty}[]"));
                make(word, &format!("{ty}[0]"));
            }
        }
    }
}
