//! Element types of operators, by their ONNX names.
use builder::{Code, Error, Result, Value};
use hlo::ElementType;
use hlo::ElementType::{Bf16, F16, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};
use hlo::elem::Class;

/// The types of an input.
#[derive(Debug, Clone, Copy)]
pub(super) enum Types {
    Bool,
    /// Floats of 16 to 64 bits.
    Floats,
    /// Those, and `int32` and `int64`.
    Powers,
    /// Those, and `uint32` and `uint64`.
    HighPrecision,
    /// Those, and integers of 8 and 16 bits.
    Numeric,
    /// Those, and `bool`.
    Comparable,
}

impl Types {
    const ALL: &[ElementType] = &[Bf16, F16, F32, F64, S32, S64, U32, U64, S8, S16, U8, U16, Pred];

    fn list(self) -> &'static [ElementType] {
        match self {
            Self::Bool => &[Pred],
            Self::Floats => &Self::ALL[..4],
            Self::Powers => &Self::ALL[..6],
            Self::HighPrecision => &Self::ALL[..8],
            Self::Numeric => &Self::ALL[..12],
            Self::Comparable => Self::ALL,
        }
    }
}

/// ONNX's names of the types that are no integers.
const NAMES: [(ElementType, &str); 7] = [
    (Pred, "bool"),
    (F16, "float16"),
    (Bf16, "bfloat16"),
    (F32, "float"),
    (F64, "double"),
    (ElementType::C64, "complex64"),
    (ElementType::C128, "complex128"),
];
/// Returns `tensor(float)`. Types that ONNX does not have keep their name.
pub(super) fn tensor(ty: ElementType) -> String {
    let named = NAMES.iter().find(|(named, _)| *named == ty).map(|(_, name)| (*name).to_owned());
    let name = named.unwrap_or_else(|| match ty.class() {
        Class::Signed => format!("int{}", ty.bits()),
        Class::Unsigned => format!("uint{}", ty.bits()),
        Class::Pred | Class::Float | Class::Complex => ty.name().to_owned(),
    });
    format!("tensor({name})")
}

/// Fails unless the operator takes inputs of this type.
pub(super) fn taken(operator: &str, (name, input): (&str, Value<'_>), types: Types) -> Result<()> {
    let ty = input.element_type()?;
    if types.list().contains(&ty) {
        return Ok(());
    }
    let message = format!("{operator}: {name} is {}", tensor(ty));
    let list: Vec<String> = types.list().iter().map(|&ty| tensor(ty)).collect();
    Err(Error::from(Code::Promotion { message })
        .with_help(format!("it may be {}", list.join(", "))))
}

/// Fails unless all inputs have one type, and the operator takes it.
pub(super) fn one_type(operator: &str, inputs: &[(&str, Value<'_>)], types: Types) -> Result<()> {
    let Some(&first) = inputs.first() else { return Ok(()) };
    let b = first.1.builder();
    inputs.iter().try_for_each(|(_, value)| b.owns(*value))?;
    let expected = first.1.element_type()?;
    for &(name, input) in inputs {
        taken(operator, (name, input), types)?;
        let found = input.element_type()?;
        if found != expected {
            let message = format!(
                "{operator}: {} is {}, {name} is {}, and all inputs have one type",
                first.0,
                tensor(expected),
                tensor(found)
            );
            let help = "ONNX has no implicit conversion; cast first: `x.convert_element_type(...)`";
            return Err(Error::from(Code::Promotion { message }).with_help(help));
        }
    }
    Ok(())
}
