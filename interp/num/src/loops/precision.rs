//! Rounding to a format of fewer bits, on the bits of elements.
use super::byte::table_loop;
use super::{VectorLoop, each};
use hlo::ElementType;

/// Returns the loop of `reduce-precision` of a float.
pub fn reduce_precision_loop(ty: ElementType, exponent: u32, mantissa: u32) -> VectorLoop {
    let format = ty.float_format().filter(|_| ty.bits() > 8);
    let Some(format) = format else {
        return table_loop(ty, ty, move |x| crate::reduce_precision(ty, exponent, mantissa, x));
    };
    let drop = format.mantissa_bits.saturating_sub(mantissa);
    let code = |biased: i32| u64::try_from(biased).unwrap_or(0) << format.mantissa_bits;
    let infinity = format.largest() + 1;
    // Codes from `above` on become infinities, those below `least` zeros.
    let (least, above) = match exponent < format.exponent_bits {
        true => {
            let bias = (1 << (exponent - 1)) - 1;
            (code(format.bias - bias + 1), code(format.bias + bias + 1).min(infinity))
        }
        false => (0, infinity),
    };
    macro_rules! of_bits {
        ($word:ident) => {{
            let narrow = |x: u64| $word::try_from(x).unwrap_or($word::MAX);
            let (least, above, infinity) = (narrow(least), narrow(above), narrow(infinity));
            each(move |[bits]: [$word; 1]| {
                let size = bits & ($word::MAX >> 1);
                let half: $word = 1 << drop >> 1;
                let up = if drop == 0 { 0 } else { half - 1 + (size >> drop & 1) };
                let code = size.wrapping_add(up) >> drop << drop;
                let code = if code >= above { infinity } else { code };
                let code = if code < least { 0 } else { code };
                let is_kept = (size == 0) | (size >= infinity);
                if is_kept { bits } else { code | (bits ^ size) }
            })
        }};
    }
    match ty.bits() {
        16 => of_bits!(u16),
        32 => of_bits!(u32),
        _ => of_bits!(u64),
    }
}
