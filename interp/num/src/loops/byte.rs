//! Loops over the types of at most a byte that are none of the processor: by tables of their
//! elements.
use super::select::Word;
use super::{VectorLoop, each};
use hlo::elem::{FloatFormat, Special};
use hlo::{ElementType, Scalar};
use std::sync::{LazyLock, OnceLock};

/// The elements of a byte.
const CODES: usize = 256;
/// A table of pairs of elements of so many bits is as large as one of bytes.
pub(super) const FEW_BITS: u32 = 4;

fn element(ty: ElementType, code: usize) -> Scalar {
    Scalar::read(ty, &code.to_le_bytes()[..1])
}
/// Returns the numbers that bytes stand for.
pub(super) fn decoded(ty: ElementType) -> &'static [f64; CODES] {
    const COUNT: usize = ElementType::ALL.len();
    static ALL: [OnceLock<[f64; CODES]>; COUNT] = [const { OnceLock::new() }; COUNT];
    let number = ElementType::ALL.iter().position(|&other| other == ty).unwrap_or(0);
    ALL[number].get_or_init(|| std::array::from_fn(|code| element(ty, code).as_f64()))
}

/// Returns the loop of a function of the elements of a type of a byte.
pub(super) fn table_loop(
    from: ElementType,
    to: ElementType,
    function: impl Fn(Scalar) -> Scalar + Send + Sync + 'static,
) -> VectorLoop {
    let result = move |code| function(element(from, code));
    if from == ElementType::Pred {
        return match to.storage_bytes() {
            1 => chosen(to, result, u8::wrapping_neg),
            2 => chosen(to, result, u16::wrapping_neg),
            4 => chosen(to, result, u32::wrapping_neg),
            8 => chosen(to, result, u64::wrapping_neg),
            _ => chosen(to, result, u128::wrapping_neg),
        };
    }
    match to.storage_bytes() {
        1 => looked_up::<1, 1>(to, result),
        2 => looked_up::<1, 2>(to, result),
        4 => looked_up::<1, 4>(to, result),
        8 => looked_up::<1, 8>(to, result),
        _ => looked_up::<1, 16>(to, result),
    }
}
/// Returns the loop of a function of truth values, of which there are two.
fn chosen<T: Word + Send + Sync>(
    ty: ElementType,
    result: impl Fn(usize) -> Scalar + Send + Sync + 'static,
    negate: impl Fn(T) -> T + Copy + Send + Sync + 'static,
) -> VectorLoop {
    let [no, yes] = [0, 1].map(|code| {
        let mut value = T::zeroed();
        result(code).write(ty, &mut bytemuck::bytes_of_mut(&mut value)[..ty.storage_bytes()]);
        value
    });
    // The compiler does not vectorize `if`: it selects an address to load from.
    each(move |[is]: [u8; 1]| no ^ ((no ^ yes) & negate(T::from(is != 0))))
}
/// Returns the loop of a function of two elements of a type of at most [`FEW_BITS`].
pub(super) fn pair_loop(
    ty: ElementType,
    function: impl Fn(Scalar, Scalar) -> Scalar + Send + Sync + 'static,
) -> VectorLoop {
    looked_up::<2, 1>(ty, move |code| {
        function(element(ty, code & FEW_CODES), element(ty, code >> FEW_BITS))
    })
}
/// The codes of elements of [`FEW_BITS`].
const FEW_CODES: usize = (1 << FEW_BITS) - 1;

/// Returns the loop of a function of a byte, or of the low bits of two of them.
fn looked_up<const N: usize, const WIDTH: usize>(
    ty: ElementType,
    result: impl Fn(usize) -> Scalar + Send + Sync + 'static,
) -> VectorLoop {
    let table = LazyLock::new(move || {
        let mut table = [[0; WIDTH]; CODES];
        for (code, slot) in table.iter_mut().enumerate() {
            result(code).write(ty, slot);
        }
        table
    });
    VectorLoop::new(move |operands, result| {
        let table: &[[u8; WIDTH]; CODES] = &table;
        let slots = result.as_chunks_mut().0.iter_mut();
        match *operands {
            [a, b] if N == 2 => {
                for (slot, (a, b)) in slots.zip(a.iter().zip(b)) {
                    let code = (usize::from(*a) & FEW_CODES) | usize::from(*b) << FEW_BITS;
                    *slot = table[code % CODES];
                }
            }
            _ => {
                for (slot, &code) in slots.zip(operands[0]) {
                    *slot = table[usize::from(code)];
                }
            }
        }
    })
}

/// The format of a float of a byte, for an encoding without branches.
#[derive(Clone, Copy)]
pub(super) struct Encoder {
    /// The bits of an f64 that a mantissa drops.
    dropped: u32,
    /// The difference of the biases, as a code.
    rebias: u64,
    smallest_normal: f64,
    /// A number beside which the last bit of an f64 is the smallest number.
    beside: f64,
    largest: u64,
    /// The code of numbers that are too large.
    above: u64,
    nan: u64,
    /// The bits of a NaN that an f64 has too.
    payload: u64,
    sign: u64,
    /// The sign of a zero.
    zero_sign: u64,
}

impl Encoder {
    /// Returns the encoder of a format with a sign.
    pub(super) fn of(format: FloatFormat) -> Self {
        let FloatFormat { mantissa_bits, bias, special, .. } = format;
        let sign = format.encode(-1.0) ^ format.encode(1.0);
        let payload = if special == Special::Ieee { (1 << mantissa_bits) - 1 } else { 0 };
        let power = |exponent: i32| 2.0_f64.powi(exponent);
        let (least, mantissa) = (1 - bias, i32::try_from(mantissa_bits).unwrap_or(0));
        Self {
            dropped: 52 - mantissa_bits,
            rebias: u64::try_from(1023 - bias).unwrap_or(0) << mantissa_bits,
            smallest_normal: power(least),
            beside: power(least - mantissa + 52),
            largest: format.largest(),
            above: format.encode(f64::INFINITY),
            nan: format.encode(f64::NAN),
            payload,
            sign,
            zero_sign: if special == Special::Fnuz { 0 } else { sign },
        }
    }
    /// Returns the code nearest to `x`, ties to even.
    #[inline(always)]
    pub(super) fn encode(self, x: f64) -> u8 {
        let (bits, size) = (x.to_bits(), x.abs().to_bits());
        let half = (1 << (self.dropped - 1)) - 1;
        let normal = (size + half + (size >> self.dropped & 1)) >> self.dropped;
        let small = (x.abs() + self.beside).to_bits().wrapping_sub(self.beside.to_bits());
        let is_small = x.abs() < self.smallest_normal;
        let code = if is_small { small } else { normal.wrapping_sub(self.rebias) };
        let code = if code > self.largest { self.above } else { code };
        let code = if x.is_nan() { self.nan | (size >> self.dropped & self.payload) } else { code };
        let sign = if code == 0 { self.zero_sign } else { self.sign };
        low_byte(code | if bits >> 63 == 0 { 0 } else { sign })
    }
}
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "drops the high bits")]
pub(super) fn low_byte(code: u64) -> u8 {
    code as u8
}
