//! PyTensor's rules of element types: `upcast` and what its scalar operations make of it.
use builder::{Code, Error, Result};
use hlo::ElementType;
use hlo::elem::Class;

/// Returns PyTensor's name of an element type; nothing for the types it does not have.
pub(crate) fn dtype(ty: ElementType) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == ty).map(|(_, name)| *name)
}
/// Returns the element type of PyTensor's name for it.
pub(crate) fn from_dtype(name: &str) -> Option<ElementType> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
}
pub(crate) const NAMES: [(ElementType, &str); 14] = [
    (ElementType::Pred, "bool"),
    (ElementType::S8, "int8"),
    (ElementType::S16, "int16"),
    (ElementType::S32, "int32"),
    (ElementType::S64, "int64"),
    (ElementType::U8, "uint8"),
    (ElementType::U16, "uint16"),
    (ElementType::U32, "uint32"),
    (ElementType::U64, "uint64"),
    (ElementType::F16, "float16"),
    (ElementType::F32, "float32"),
    (ElementType::F64, "float64"),
    (ElementType::C64, "complex64"),
    (ElementType::C128, "complex128"),
];

/// Types that a rule does not let meet.
#[cold]
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Code::Promotion { message: message.into() }.into()
}

/// Fails for types that PyTensor does not have.
pub(crate) fn check(ty: ElementType) -> Result<()> {
    if dtype(ty).is_some() {
        return Ok(());
    }
    Err(refused(format!("PyTensor has no type for {ty}"))
        .with_help("convert it: its floats are f16, f32 and f64, its integers have 8 to 64 bits"))
}

/// Returns whether it is `bool` or an integer: PyTensor's `discrete_dtypes`.
pub(crate) fn is_discrete(ty: ElementType) -> bool {
    match ty.class() {
        Class::Pred | Class::Signed | Class::Unsigned => true,
        Class::Float | Class::Complex => false,
    }
}

/// Returns the type that holds values of all these types: NumPy's promotion, which is PyTensor's
/// `upcast`.
///
/// # Errors
/// `E0810` for no types and for types PyTensor does not have.
pub(crate) fn upcast(types: impl IntoIterator<Item = ElementType>) -> Result<ElementType> {
    let mut all = types.into_iter();
    let first = all.next().ok_or_else(|| refused("there are no types to upcast"))?;
    check(first)?;
    all.try_fold(first, |so_far, ty| {
        check(ty)?;
        Ok(pair(so_far, ty))
    })
}

fn pair(a: ElementType, b: ElementType) -> ElementType {
    use Class::{Complex, Float, Pred, Signed, Unsigned};
    let wider = |x: ElementType, y: ElementType| if x.bits() >= y.bits() { x } else { y };
    match (a.class(), b.class()) {
        (Pred, _) => b,
        (_, Pred) => a,
        (Signed, Signed) | (Unsigned, Unsigned) | (Float, Float) | (Complex, Complex) => {
            wider(a, b)
        }
        (Signed, Unsigned) => mixed(a, b),
        (Unsigned, Signed) => mixed(b, a),
        (Float, Signed | Unsigned) => wider(a, float_for(b)),
        (Signed | Unsigned, Float) => wider(float_for(a), b),
        (Complex, Float | Signed | Unsigned) => complex(a, b),
        (Float | Signed | Unsigned, Complex) => complex(b, a),
    }
}
/// Returns the least signed type that holds both; no integer type does with 64 bits unsigned.
fn mixed(signed: ElementType, unsigned: ElementType) -> ElementType {
    if signed.bits() > unsigned.bits() {
        return signed;
    }
    match unsigned.bits() {
        8 => ElementType::S16,
        16 => ElementType::S32,
        32 => ElementType::S64,
        _ => ElementType::F64,
    }
}
/// Returns the least float type that holds the integers of a type, as NumPy sees it.
fn float_for(integer: ElementType) -> ElementType {
    match integer.bits() {
        8 => ElementType::F16,
        16 => ElementType::F32,
        _ => ElementType::F64,
    }
}
fn complex(a: ElementType, real: ElementType) -> ElementType {
    let real = if real.is_float() { real } else { float_for(real) };
    if a == ElementType::C128 || real == ElementType::F64 {
        ElementType::C128
    } else {
        ElementType::C64
    }
}

/// Integers of up to 16 bits become `f32`, longer ones `f64`, then `upcast`: PyTensor's
/// `upgrade_to_float`.
pub(crate) fn upgrade_to_float(types: &[ElementType]) -> Result<ElementType> {
    upcast(types.iter().map(|&ty| match ty.class() {
        Class::Pred => ElementType::F32,
        Class::Signed | Class::Unsigned if ty.bits() <= 16 => ElementType::F32,
        Class::Signed | Class::Unsigned => ElementType::F64,
        Class::Float | Class::Complex => ty,
    }))
}

/// Returns the 64-bit integer that a discrete type is summed in.
pub(crate) fn widest_integer(ty: ElementType) -> ElementType {
    match ty.class() {
        Class::Unsigned => ElementType::U64,
        Class::Pred | Class::Signed => ElementType::S64,
        Class::Float | Class::Complex => ty,
    }
}
