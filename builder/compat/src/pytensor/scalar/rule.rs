//! Output types of the scalar operations.
use super::ScalarOp;
use crate::pytensor::types::{self, refused, upcast, upgrade_to_float};
use builder::{Code, Error, Result};
use hlo::ElementType;
use hlo::elem::Class;

/// How the type of the output follows from those of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeRule {
    /// The type that holds all of them.
    Upcast,
    /// Floats: integers become `float32` or `float64`.
    Float,
    /// The first input's.
    Same,
    /// The input's; for complex numbers that of their parts.
    Part,
    /// The type that holds all of them, which are all `bool` or all integers.
    Bits,
    /// `bool`.
    Truth,
    /// The type that holds all of them; `floatX` for discrete ones.
    TrueDiv,
    /// The type that holds the second and the third.
    Switch,
    /// The second's.
    Second,
    /// `complex64` or `complex128`.
    Complex,
}

/// Which inputs an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputDomain {
    Any,
    /// Not `bool` alone.
    NoBool,
    /// All; an output of `bool` becomes `int8`.
    Min8,
    /// No complex numbers.
    Real,
    /// Real floats.
    RealFloat,
    /// Neither `bool` nor complex numbers.
    RealNoBool,
}

impl ScalarOp {
    pub(super) fn cast_type(self, inputs: &[ElementType]) -> Result<ElementType> {
        let Self::Cast(to) = self else { return Err(Code::Invalid {}.into()) };
        types::check(to)?;
        if inputs.iter().any(|ty| ty.is_complex()) && !to.is_complex() {
            return Err(self.refuses(inputs).with_help("take `real`, `imag` or `abs` of it"));
        }
        Ok(to)
    }
    pub(super) fn ruled(
        self,
        (rule, domain): (TypeRule, InputDomain),
        inputs: &[ElementType],
        float_x: ElementType,
    ) -> Result<ElementType> {
        let first = inputs[0];
        let all = || upcast(inputs.iter().copied());
        let complex = inputs.iter().any(|ty| ty.is_complex());
        let refused = match domain {
            InputDomain::Any | InputDomain::Min8 => false,
            InputDomain::NoBool => all()? == ElementType::Pred,
            InputDomain::Real => complex,
            InputDomain::RealFloat => !first.is_float(),
            InputDomain::RealNoBool => complex || first == ElementType::Pred,
        };
        if refused {
            return Err(self.refuses(inputs));
        }
        let output = match rule {
            TypeRule::Upcast => all()?,
            TypeRule::Float => upgrade_to_float(inputs)?,
            TypeRule::Same => first,
            TypeRule::Part => first.component(),
            TypeRule::Bits => self.bits(inputs)?,
            TypeRule::Truth => ElementType::Pred,
            TypeRule::TrueDiv if inputs.iter().all(|&ty| types::is_discrete(ty)) => float_x,
            TypeRule::TrueDiv => all()?,
            TypeRule::Switch => upcast(inputs.iter().skip(1).copied())?,
            TypeRule::Second => inputs[1],
            TypeRule::Complex if upcast([all()?, ElementType::F16])? == ElementType::F64 => {
                ElementType::C128
            }
            TypeRule::Complex => ElementType::C64,
        };
        let short = domain == InputDomain::Min8 && output == ElementType::Pred;
        Ok(if short { ElementType::S8 } else { output })
    }
    fn bits(self, inputs: &[ElementType]) -> Result<ElementType> {
        let of = |class: fn(Class) -> bool| inputs.iter().all(|ty| class(ty.class()));
        let integers = of(|class| matches!(class, Class::Signed | Class::Unsigned));
        let ty = upcast(inputs.iter().copied())?;
        if of(|class| class == Class::Pred) || (integers && ty.is_integral()) {
            return Ok(ty);
        }
        Err(self
            .refuses(inputs)
            .with_help("it takes `bool`s, or integers that one integer type holds"))
    }
    #[cold]
    fn refuses(self, inputs: &[ElementType]) -> Error {
        let names: Vec<&str> = inputs.iter().filter_map(|&ty| types::dtype(ty)).collect();
        refused(format!("`{}` does not take {}", self.name(), names.join(" and ")))
    }
}
