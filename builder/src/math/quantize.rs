//! Quantized integers packed into words.
use crate::arguments::{first, size};
use crate::{Error, Value};
use half::bf16;
use hlo::ElementType;
use hlo::op::value::Text;

/// The range quantized numbers cover, rounded to `bf16`: XLA's `QuantizedRange`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QuantizedRange {
    /// The value of code 0.
    pub min: bf16,
    /// The value of the largest code.
    pub max: bf16,
}
impl QuantizedRange {
    /// Returns the range from `min` to `max`.
    pub fn new(min: f32, max: f32) -> Self {
        Self { min: bf16::from_f32(min), max: bf16::from_f32(max) }
    }
}

/// A type whose elements are packed into words of 32 bits: `u8` and `u16`.
pub trait PackedElement: Copy + Into<u32> {
    /// The element type.
    const TYPE: ElementType;
}
impl PackedElement for u8 {
    const TYPE: ElementType = ElementType::U8;
}
impl PackedElement for u16 {
    const TYPE: ElementType = ElementType::U16;
}

/// Packs elements into words, the first into the highest bits; a last word that is not full ends
/// with zeros: XLA's `PackToUint32`.
///
/// ```
/// use builder::math::pack_to_uint32;
/// assert_eq!(pack_to_uint32(&[1u8, 2, 3, 4, 5]), [0x0102_0304, 0x0500_0000]);
/// assert_eq!(pack_to_uint32(&[1u16, 2, 3]), [0x0001_0002, 0x0003_0000]);
/// ```
pub fn pack_to_uint32<T: PackedElement>(input: &[T]) -> Vec<u32> {
    let bytes = T::TYPE.storage_bytes();
    let pack = |group: &[T]| {
        let shifts = (0u32..32).step_by(bytes * 8).rev();
        shifts.zip(group).fold(0, |word, (shift, &element)| word | (element.into() << shift))
    };
    input.chunks(4 / bytes).map(pack).collect()
}

/// Options of [`Value::dequantize`].
#[derive(Debug, Clone)]
pub struct Dequantize {
    /// The packed type: `U8` or `U16`.
    pub ty: ElementType,
    /// The range the codes cover.
    pub range: QuantizedRange,
    /// XLA's `mode_string`; only `MIN_COMBINED` is defined.
    pub mode_string: Text,
    /// Returns the result with its dimensions reversed.
    pub transpose_output: bool,
}
impl Default for Dequantize {
    fn default() -> Self {
        Self {
            ty: ElementType::U8,
            range: QuantizedRange::default(),
            mode_string: Text("MIN_COMBINED".into()),
            transpose_output: false,
        }
    }
}

impl Value<'_> {
    /// Returns the `bf16` numbers of the codes packed by [`pack_to_uint32`]: XLA's `Dequantize`.
    ///
    /// `u32[d0,...,dn]` gives `bf16[d0,...,dn * k]`, k codes from each word, those in the highest
    /// bits first; reversed, `bf16[dn * k,...,d0]`, if `transpose_output`. A code c stands for
    /// `c * scale + min` with `scale = (max - min) / largest code`, every step rounded to `bf16`.
    ///
    /// ```
    /// use builder::math::{Dequantize, QuantizedRange, pack_to_uint32};
    /// let b = builder::Builder::new("m");
    /// let packed = b.constant(pack_to_uint32(&[0u8, 85, 170, 255]));
    /// let range = QuantizedRange::new(0.0, 3.0);
    /// let numbers = packed.dequantize(&Dequantize { range, ..Dequantize::default() });
    /// assert_eq!(interp::run(&b.build(numbers)?, &[])?.to_string(), "bf16[4]{0} {0, 1, 2, 3}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `E0801` unless the operand is a `u32` array of at least one dimension, the type `u8` or
    /// `u16`, and the mode `MIN_COMBINED`.
    #[track_caller]
    pub fn dequantize(self, how: &Dequantize) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            if ![ElementType::U8, ElementType::U16].contains(&how.ty) {
                return Err(Error::argument(format!("codes are u8 or u16, not {}", how.ty)));
            }
            let wide = how.ty == ElementType::U16;
            let largest = f32::from(if wide { u16::MAX } else { u8::MAX.into() });
            if shape.ty != ElementType::U32 || shape.rank() == 0 {
                let message = format!("expected an array of packed u32, found {shape:#}");
                return Err(Error::argument(message));
            }
            if how.mode_string.0 != "MIN_COMBINED" {
                let message =
                    format!("the mode is `{}`, expected `MIN_COMBINED`", how.mode_string.0);
                return Err(Error::argument(message));
            }
            let (bits, mut dims) = (i64::from(how.ty.bits()), shape.dims.to_vec());
            let count = 32 / bits;
            dims.push(count);
            let last = size(shape.rank());
            let place = self.builder().iota((ElementType::U32, &dims), last);
            let words = self.broadcast_in_dim(&dims, &first(shape.rank()));
            let codes = words.shift_right_logical(
                (b.constant_r0_with_type(ElementType::U32, count - 1) - place) * bits,
            ) & b.constant_r0_with_type(ElementType::U32, (1i64 << bits) - 1);
            let scale = (how.range.max - how.range.min) / bf16::from_f32(largest);
            let numbers = codes.convert_element_type(ElementType::Bf16) * b.constant(scale)
                + b.constant(how.range.min);
            dims.pop();
            if let Some(inner) = dims.last_mut() {
                *inner *= count;
            }
            let numbers = numbers.reshape(&dims);
            if !how.transpose_output {
                return Ok(numbers);
            }
            let reversed: Vec<i64> = (0..last).rev().collect();
            Ok(numbers.transpose(&reversed))
        })
    }
}
