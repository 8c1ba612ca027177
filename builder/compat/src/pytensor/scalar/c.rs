//! The C expression of each scalar operation.
use super::ScalarOp;
use crate::pytensor::types::{self, upcast};
use builder::{Error, Result};
use hlo::ElementType;
use hlo::elem::Class;

/// Returns the C type of elements.
pub(crate) fn c_type(ty: ElementType) -> Result<&'static str> {
    let types = [
        (ElementType::Pred, "bool"),
        (ElementType::S8, "int8_t"),
        (ElementType::S16, "int16_t"),
        (ElementType::S32, "int32_t"),
        (ElementType::S64, "int64_t"),
        (ElementType::U8, "uint8_t"),
        (ElementType::U16, "uint16_t"),
        (ElementType::U32, "uint32_t"),
        (ElementType::U64, "uint64_t"),
        (ElementType::F32, "float"),
        (ElementType::F64, "double"),
    ];
    let found = types.into_iter().find(|(known, _)| *known == ty);
    found.map(|(_, name)| name).ok_or_else(|| {
        Error::unsupported(format!("there is no C code for {ty}"))
            .with_help("C99 has no such type, or none whose functions agree with HLO's")
    })
}

/// Returns the expression `x` of type `from` as one of type `to`.
fn cast(x: &str, from: ElementType, to: ElementType) -> Result<String> {
    let target = c_type(to)?;
    c_type(from)?;
    Ok(match (from.class(), to.class()) {
        _ if from == to => x.to_owned(),
        (_, Class::Pred) => format!("({x} != 0)"),
        (Class::Float, Class::Signed | Class::Unsigned) => {
            format!("elemwise_to_{}({x})", types::dtype(to).unwrap_or_default())
        }
        _ => format!("({target}){x}"),
    })
}

/// Returns the C expression of the operation on inputs, each an expression that can stand in a
/// product and its type; its value has the type `out`.
pub(crate) fn expression(
    op: ScalarOp,
    inputs: &[(&str, ElementType)],
    out: ElementType,
) -> Result<String> {
    let types: Vec<ElementType> = inputs.iter().map(|(_, ty)| *ty).collect();
    if let Some(operator) = comparison(op) {
        return compare(inputs, upcast(types)?, operator);
    }
    let own = |i: usize| inputs[i].0;
    let truth = |i: usize| cast(own(i), types[i], ElementType::Pred);
    match op {
        ScalarOp::IsNan if types[0].is_float() => return Ok(format!("({0} != {0})", own(0))),
        ScalarOp::IsInf if types[0].is_float() => return Ok(format!("(isinf({}) != 0)", own(0))),
        ScalarOp::IsNan | ScalarOp::IsInf => return Ok("false".to_owned()),
        ScalarOp::Second => return cast(own(1), types[1], out),
        ScalarOp::Switch => {
            let (yes, no) = (cast(own(1), types[1], out)?, cast(own(2), types[2], out)?);
            return Ok(format!("({} ? {yes} : {no})", truth(0)?));
        }
        _ => {}
    }
    let x: Result<Vec<String>> = inputs.iter().map(|&(x, ty)| cast(x, ty, out)).collect();
    let x: Vec<String> = x?.into_iter().map(|x| format!("({x})")).collect();
    common(op, &x).map_or_else(
        || match out.class() {
            Class::Pred => truths(op, &x),
            Class::Signed | Class::Unsigned => integers(op, &x, out),
            Class::Float => floats(op, &x, out),
            Class::Complex => c_type(out).map(|_| String::new()),
        },
        Ok,
    )
}

fn comparison(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::Eq => "==",
        ScalarOp::Neq => "!=",
        ScalarOp::Lt => "<",
        ScalarOp::Le => "<=",
        ScalarOp::Gt => ">",
        ScalarOp::Ge => ">=",
        _ => return None,
    })
}

/// Compares by value: no type holds the 64-bit integers of both kinds, so the negative ones are
/// distinguished first.
fn compare(inputs: &[(&str, ElementType)], common: ElementType, operator: &str) -> Result<String> {
    let [(x, left), (y, right)] = inputs else { return Err(unknown("a comparison")) };
    if common.is_integral() || !(left.is_integral() && right.is_integral()) {
        let (x, y) = (cast(x, *left, common)?, cast(y, *right, common)?);
        return Ok(format!("({x} {operator} {y})"));
    }
    let wide = format!("(uint64_t){x} {operator} (uint64_t){y}");
    Ok(match left.class() {
        Class::Signed => format!("({x} < 0 ? -1 {operator} 0 : {wide})"),
        _ => format!("({y} < 0 ? 0 {operator} -1 : {wide})"),
    })
}

/// Returns what is written alike for every type.
fn common(op: ScalarOp, x: &[String]) -> Option<String> {
    Some(match (op, x) {
        (ScalarOp::Identity | ScalarOp::Cast(_) | ScalarOp::Real | ScalarOp::Conj, [x]) => {
            x.clone()
        }
        (ScalarOp::Imag, [_]) => "0".to_owned(),
        (ScalarOp::Clip, [x, min, max]) => {
            format!("({x} < {min} ? {min} : {x} > {max} ? {max} : {x})")
        }
        _ => return None,
    })
}

fn truths(op: ScalarOp, x: &[String]) -> Result<String> {
    Ok(match (op, x) {
        (ScalarOp::Add, x) => format!("({})", x.join(" || ")),
        (ScalarOp::Mul, x) => format!("({})", x.join(" && ")),
        (ScalarOp::Or | ScalarOp::Maximum, [x, y]) => format!("({x} || {y})"),
        (ScalarOp::And | ScalarOp::Minimum, [x, y]) => format!("({x} && {y})"),
        // By false division gives 0, by true it leaves nothing over.
        (ScalarOp::IntDiv, [x, y]) => format!("({x} && {y})"),
        (ScalarOp::Mod, [_, _]) => "false".to_owned(),
        (ScalarOp::Xor, [x, y]) => format!("({x} != {y})"),
        (ScalarOp::Invert, [x]) => format!("(!{x})"),
        (ScalarOp::Abs | ScalarOp::Sqr, [x]) => x.clone(),
        _ => return Err(unknown(&op.name())),
    })
}

/// Computes in 64 bits without sign, where C wraps around, then cut off.
fn integers(op: ScalarOp, x: &[String], out: ElementType) -> Result<String> {
    let unsigned = out.class() == Class::Unsigned;
    let suffix = if unsigned { "_u" } else { "" };
    let wrapped = |operator: &str| {
        let terms: Vec<String> = x.iter().map(|x| format!("(uint64_t){x}")).collect();
        format!("({})", terms.join(operator))
    };
    let value = match (op, x) {
        (ScalarOp::Add, _) => wrapped(" + "),
        (ScalarOp::Sub, [_, _]) => wrapped(" - "),
        (ScalarOp::Mul, _) => wrapped(" * "),
        (ScalarOp::And, [_, _]) => wrapped(" & "),
        (ScalarOp::Or, [_, _]) => wrapped(" | "),
        (ScalarOp::Xor, [_, _]) => wrapped(" ^ "),
        (ScalarOp::Sqr, [x]) => format!("((uint64_t){x} * (uint64_t){x})"),
        (ScalarOp::Neg, [x]) => format!("(0 - (uint64_t){x})"),
        (ScalarOp::Invert, [x]) => format!("(~(uint64_t){x})"),
        (ScalarOp::Abs, [x]) if unsigned => x.clone(),
        (ScalarOp::Abs, [x]) => format!("({x} < 0 ? 0 - (uint64_t){x} : (uint64_t){x})"),
        (ScalarOp::Sign, [x]) if unsigned => format!("({x} != 0)"),
        (ScalarOp::Sign, [x]) => format!("(({x} > 0) - ({x} < 0))"),
        (ScalarOp::Maximum, [x, y]) => format!("({x} > {y} ? {x} : {y})"),
        (ScalarOp::Minimum, [x, y]) => format!("({x} < {y} ? {x} : {y})"),
        (ScalarOp::IntDiv | ScalarOp::Mod | ScalarOp::Pow, [x, y]) => {
            format!("elemwise_{op}{suffix}({x}, {y})")
        }
        _ => return Err(unknown(&op.name())),
    };
    Ok(format!("({}){value}", c_type(out)?))
}

/// Functions of `math.h`.
#[rustfmt::skip]
const LIBRARY: [&str; 26] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1",
    "floor", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];
/// Functions of `support.h`.
const OWN: [&str; 6] = ["maximum", "minimum", "int_div", "mod", "sigmoid", "softplus"];

fn floats(op: ScalarOp, x: &[String], out: ElementType) -> Result<String> {
    let single = out == ElementType::F32;
    let letter = if single { "f" } else { "" };
    let joined = |operator: &str| format!("({})", x.join(operator));
    let library = |name: &str| format!("{name}{letter}({})", x.join(", "));
    let own =
        || format!("elemwise_{}_{op}({})", types::dtype(out).unwrap_or_default(), x.join(", "));
    // PyTensor's `arccos` is C's `acos`.
    let name = op.name().replacen("arc", "a", 1);
    Ok(match (op, x) {
        (ScalarOp::Add, _) => joined(" + "),
        (ScalarOp::Sub, [_, _]) => joined(" - "),
        (ScalarOp::Mul, _) => joined(" * "),
        (ScalarOp::TrueDiv, [_, _]) => joined(" / "),
        (ScalarOp::Sqr, [x]) => format!("({x} * {x})"),
        (ScalarOp::Neg, [x]) => format!("(-{x})"),
        (ScalarOp::Reciprocal, [x]) => format!("(1 / {x})"),
        (ScalarOp::Sign, [x]) => format!("({x} > 0 ? 1 : {x} < 0 ? -1 : {x} == 0 ? 0 : {x})"),
        (ScalarOp::Abs, [_]) => library("fabs"),
        (ScalarOp::RoundHalfToEven, [_]) => library("rint"),
        (ScalarOp::RoundHalfAwayFromZero, [_]) => library("round"),
        _ if LIBRARY.contains(&name.as_str()) => library(&name),
        _ if OWN.contains(&name.as_str()) => own(),
        _ => return Err(unknown(&op.name())),
    })
}

#[cold]
fn unknown(op: &str) -> Error {
    Error::unsupported(format!("there is no C code for `{op}` of these types"))
}
