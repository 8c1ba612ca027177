//! Output types of the scalar operations.
use super::ScalarOp;
use crate::compat::pytensor::types::{self, refused, upcast, upgrade_to_float};
use crate::{Code, Error, Result};
use hlo::ElementType;
use hlo::elem::Class;

/// How the type of the output follows from those of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// What holds all of them.
    Upcast,
    /// The same, where `bool` is refused.
    UpcastNoBool,
    /// The same, where `bool` becomes `int8`.
    UpcastMin8,
    /// The same, where complex numbers are refused.
    UpcastReal,
    /// Floats: integers become `float32` or `float64`.
    Float,
    /// The same, where complex numbers are refused.
    FloatReal,
    /// The input's.
    Same,
    /// The input's, where `bool` is refused.
    SameNoBool,
    /// The input's, where `bool` becomes `int8`.
    SameMin8,
    /// The input's, which is a real float.
    SameFloat,
    /// The input's, where `bool` and complex numbers are refused.
    Sign,
    /// The input's; of complex numbers that of their parts.
    Part,
    /// What holds all of them, which are all `bool` or all integers.
    Bits,
    /// `bool`.
    Truth,
    /// `bool`, where complex numbers are refused.
    Order,
    /// What holds all of them; of discrete ones `floatX`.
    TrueDiv,
    /// What holds the second and the third.
    Switch,
    /// The second's.
    Second,
    /// `complex64` or `complex128`, of real parts.
    Complex,
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
        rule: Rule,
        inputs: &[ElementType],
        float_x: ElementType,
    ) -> Result<ElementType> {
        let first = inputs[0];
        let all = || upcast(inputs.iter().copied());
        let complex = inputs.iter().any(|ty| ty.is_complex());
        let refused_if = |bad: bool| if bad { Err(self.refuses(inputs)) } else { Ok(()) };
        match rule {
            Rule::Upcast => all(),
            Rule::UpcastNoBool => {
                refused_if(all()? == ElementType::Pred)?;
                all()
            }
            Rule::UpcastMin8 => all().map(min8),
            Rule::UpcastReal => {
                refused_if(complex)?;
                all()
            }
            Rule::Float => upgrade_to_float(inputs),
            Rule::FloatReal => {
                refused_if(complex)?;
                upgrade_to_float(inputs)
            }
            Rule::Same => Ok(first),
            Rule::SameNoBool => {
                refused_if(first == ElementType::Pred)?;
                Ok(first)
            }
            Rule::SameMin8 => Ok(min8(first)),
            Rule::SameFloat => {
                refused_if(!first.is_float())?;
                Ok(first)
            }
            Rule::Sign => {
                refused_if(complex || first == ElementType::Pred)?;
                Ok(first)
            }
            Rule::Part => Ok(first.component()),
            Rule::Bits => self.bits(inputs),
            Rule::Truth => Ok(ElementType::Pred),
            Rule::Order => {
                refused_if(complex)?;
                Ok(ElementType::Pred)
            }
            Rule::TrueDiv if inputs.iter().all(|&ty| types::is_discrete(ty)) => Ok(float_x),
            Rule::TrueDiv => all(),
            Rule::Switch => upcast(inputs.iter().skip(1).copied()),
            Rule::Second => Ok(inputs[1]),
            Rule::Complex => {
                refused_if(complex)?;
                let wide = upcast([all()?, ElementType::F16])? == ElementType::F64;
                Ok(if wide { ElementType::C128 } else { ElementType::C64 })
            }
        }
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

fn min8(ty: ElementType) -> ElementType {
    if ty == ElementType::Pred { ElementType::S8 } else { ty }
}
