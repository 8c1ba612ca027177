//! `Pow`, the only operator whose inputs may differ in type.
use super::broadcast_all;
use super::types::{Types, taken};
use builder::Value;
use hlo::op::Binary;
use hlo::{Class, ElementType};

/// Returns the power: ONNX's `Pow`. The exponent may be of another type than the base, whose type
/// the result has.
///
/// Source: operator `Pow-15`; "Multidirectional Broadcasting". Since version 12 the types may
/// differ. The page does not say what is computed then. Here it is the power of both as they are:
/// two integers of different type in 64 bits, a float and a number of another type in `f64`,
/// converted to the base's type at the end, where an integer is cut off towards zero and kept in
/// its range. Negative powers of an integer by an integer are XLA's: 1 or -1 for the bases 1 and
/// -1, 0 for others.
///
/// # Shape
/// Both inputs broadcast to one shape, see [`multidirectional`](super::multidirectional()).
///
/// # Errors
/// `E0810` for types that it does not take, `E0802` if the shapes do not broadcast, `E0811` if that
/// is known only at run time.
///
/// ```
/// use builder_compat::onnx;
/// let b = builder::Builder::new("m");
/// let r = onnx::pow(b.constant([1i32, 2, 3]), b.constant([4f32, 5.0, 6.0]));
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "s32[3]{0} {1, 32, 729}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn pow<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    x.record(|b| {
        b.owns(x)?;
        b.owns(y)?;
        taken("Pow", ("X", x), Types::Powers)?;
        taken("Pow", ("Y", y), Types::Numeric)?;
        let ty = x.element_type()?;
        let common = computed_in(ty, y.element_type()?);
        let (base, exponent) = match common {
            Some(common) => (x.convert_element_type(common), y.convert_element_type(common)),
            None => (x, y),
        };
        let power = b.emit(Binary::Power, &broadcast_all("Pow", &[base, exponent])?, None)?;
        Ok(if common.is_some() { power.convert_element_type(ty) } else { power })
    })
}

/// Returns the type both are converted to, if they differ.
fn computed_in(base: ElementType, exponent: ElementType) -> Option<ElementType> {
    if base == exponent {
        return None;
    }
    match exponent.class() {
        // Powers wrap at 64 bits as they do at fewer. Large unsigned exponents stay what they are.
        Class::Unsigned if base.is_integral() => Some(ElementType::U64),
        Class::Signed if base.is_integral() => Some(ElementType::S64),
        Class::Pred | Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
            Some(ElementType::F64)
        }
    }
}
