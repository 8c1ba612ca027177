//! `uniform_quantize` and `uniform_dequantize`, with the quantized type as an attribute.
//!
//! The specification subtracts the zero point from the integer in the storage type, where it may
//! overflow; here it is the number that the type defines, `(i - zero_point) * scale`.
use super::emit::{broadcast_to, convert_to, literal_constant};
use super::quantized::TYPE;
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use crate::quantized::Quantized;
use hlo::ir::InstructionId;
use hlo::op::{Binary, Clamp, Unary};
use hlo::{ArrayShape, Dims, ElementType, Literal};

/// The parameters of a `uniform_quantize` or `uniform_dequantize` that is converted.
struct Parameters {
    quantized: Quantized,
    /// The type of the numbers.
    number: ElementType,
}

impl Parameters {
    fn of(scope: &Scope<'_, '_>, op: &Op) -> Result<Self> {
        let text: Option<String> = scope.optional(op, TYPE)?;
        let Some(quantized) = text.and_then(|text| Quantized::parse(&text)) else {
            let message = format!("`{}` needs a quantized type", op.name);
            return Err(scope.malformed(op, message));
        };
        let number = quantized.number(op)?;
        Ok(Self { quantized, number })
    }
    /// Adds an array of this shape with a parameter for each element.
    fn array(
        &self,
        scope: &mut Scope<'_, '_>,
        op: &Op,
        shape: &ArrayShape,
        of: impl Fn((f64, i64)) -> f64,
    ) -> Result<InstructionId> {
        let scales = &self.quantized.scales;
        let Some(axis) = self.quantized.axis else { return scope.full(op, shape, of(scales[0])) };
        let encode =
            |value| hlo::Scalar::Float(value).convert(ElementType::F64, shape.ty).to_bits(shape.ty);
        let width = shape.ty.storage_bytes();
        let bytes: Vec<u8> = scales
            .iter()
            .flat_map(|&scale| encode(of(scale)).to_le_bytes().into_iter().take(width))
            .collect();
        let count = i64::try_from(scales.len()).unwrap_or(i64::MAX);
        let row = ArrayShape::new(shape.ty, Dims::from_slice(&[count]));
        let literal = Literal::from_bytes(row, &bytes).expect("the bytes of each scale");
        let row = literal_constant(scope, op, literal)?;
        broadcast_to(scope, op, row, &[i64::try_from(axis).unwrap_or(i64::MAX)], shape)
    }
}

/// Converts `stablehlo.uniform_dequantize`: `(i - zero_point) * scale`, the difference without
/// overflow.
pub(crate) fn dequantize(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let parameters = Parameters::of(scope, op)?;
    let wide = if parameters.quantized.width > 16 { ElementType::S64 } else { ElementType::S32 };
    let shape = scope.array(op, x)?;
    let mut x = convert_to(scope, op, x, wide)?;
    if parameters.quantized.scales.iter().any(|(_, zero)| *zero != 0) {
        let zeros =
            parameters.array(scope, op, &shape.with_type(wide), |(_, zero)| as_f64(zero))?;
        x = scope.emit(op, Binary::Subtract, &[x, zeros])?;
    }
    let x = convert_to(scope, op, x, parameters.number)?;
    let shape = shape.with_type(parameters.number);
    let scales = parameters.array(scope, op, &shape, |(scale, _)| scale)?;
    let id = scope.emit(op, Binary::Multiply, &[x, scales])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.uniform_quantize`: `x / scale + zero_point`, clamped to the range of the
/// integers, rounded to the nearest one.
pub(crate) fn quantize(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let parameters = Parameters::of(scope, op)?;
    let shape = scope.array(op, x)?;
    if shape.ty != parameters.number {
        let message = format!(
            "`{}` of {} to a type that stands for {}",
            op.name, shape.ty, parameters.number
        );
        return Err(scope.malformed(op, message));
    }
    let scales = parameters.array(scope, op, &shape, |(scale, _)| scale)?;
    let mut x = scope.emit(op, Binary::Divide, &[x, scales])?;
    if parameters.quantized.scales.iter().any(|(_, zero)| *zero != 0) {
        let zeros = parameters.array(scope, op, &shape, |(_, zero)| as_f64(zero))?;
        x = scope.emit(op, Binary::Add, &[x, zeros])?;
    }
    let (least, greatest) = parameters.quantized.range;
    let scalar = ArrayShape::new(shape.ty, Dims::new());
    let bounds = [least, greatest].map(|bound| scope.full(op, &scalar, as_f64(bound)));
    let [least, greatest] = bounds;
    let x = scope.emit(op, Clamp {}, &[least?, x, greatest?])?;
    let x = scope.emit(op, Unary::RoundNearestEven, &[x])?;
    let storage = parameters.quantized.storage().unwrap_or(ElementType::S8);
    let id = convert_to(scope, op, x, storage)?;
    scope.bind(op, id)
}
/// Returns an integer of at most 32 bits as a float.
fn as_f64(value: i64) -> f64 {
    i32::try_from(value).map_or_else(|_| u32::try_from(value).map_or(0.0, f64::from), f64::from)
}
