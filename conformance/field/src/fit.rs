//! How two modules fit: their signatures, the devices they run on, and whether one is a part of the
//! other.
use crate::rational::has_few_bits;
use collectives::RunError;
use hlo::ir::CommonAttrs;
use hlo::literal::ConstantValue;
use hlo::op::{Binary, Kind, Unary};
use hlo::{ElementType, Literal, Module, Op, Scalar, Shape};
use interp::DeviceGrid;
use num::index::count;
use std::collections::BTreeSet;

/// Why two modules cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Parameters or results have other shapes.
    #[error("the modules have different {what}: {first} and {second}")]
    Signature {
        /// `parameters` or `results`.
        what: &'static str,
        /// Those of the first module.
        first: String,
        /// Those of the second module.
        second: String,
    },
    /// A module cannot run over the field.
    #[error("the {} module cannot run over the field: {error}", if *module == 0 { "first" } else { "second" })]
    Run {
        /// 0 for the first module, 1 for the second.
        module: usize,
        /// The error of the run.
        error: RunError,
    },
    /// The second module is no partition of the first.
    #[error("the modules do not fit: {0}")]
    Partition(collectives::Error),
}

/// Returns whether a parameter has elements of some types.
pub(crate) fn has(module: &Module, is: impl Fn(ElementType) -> bool) -> bool {
    let parameters = module.entry().program_shape().parameters;
    let leaves = parameters.iter().flat_map(|shape| shape.leaves());
    leaves.filter_map(Shape::element_type).any(is)
}

/// Returns the number of floats among the arguments of a module.
pub(crate) fn floats(module: &Module) -> u64 {
    let parameters = module.entry().program_shape().parameters;
    let leaves = parameters.iter().flat_map(|shape| shape.leaves());
    let arrays = leaves.filter_map(Shape::array).filter(|array| array.ty.is_float());
    let sizes = arrays.map(|array| u64::try_from(count(&array.dims)).unwrap_or(u64::MAX));
    sizes.fold(0, u64::saturating_add)
}

/// Returns whether a module has a function that knows squares.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops take no root")]
pub(crate) fn has_roots(module: &Module) -> bool {
    let mut all = module.instructions();
    let is_root = |op: &Op| match op {
        Op::Unary(op) => {
            matches!(op, Unary::Cbrt | Unary::Log | Unary::LogPlusOne | Unary::Rsqrt | Unary::Sqrt)
        }
        Op::Binary(op) => *op == Binary::Power,
        Op::BatchNormGrad(_)
        | Op::BatchNormInference(_)
        | Op::BatchNormTraining(_)
        | Op::Cholesky(_)
        | Op::CustomCall(_) => true,
        _ => false,
    };
    all.any(|instruction| is_root(&instruction.op)) || has_complex(module)
}

/// Returns whether a module decides something by numbers.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops decide nothing")]
pub(crate) fn has_decisions(module: &Module) -> bool {
    let mut all = module.instructions();
    all.any(|instruction| match &instruction.op {
        Op::Unary(op) => *op == Unary::Sign,
        Op::Binary(op) => {
            matches!(op, Binary::Maximum | Binary::Minimum | Binary::Remainder | Binary::Divide)
        }
        Op::Clamp(_) | Op::Compare(_) | Op::Conditional(_) | Op::Sort(_) | Op::TopK(_) => true,
        _ => false,
    })
}

/// Returns whether numbers of a module pass through complex ones.
pub(crate) fn has_complex(module: &Module) -> bool {
    has_values(module, |shape| shape.element_type().is_some_and(ElementType::is_complex))
}

/// Returns whether integers of a module become floats.
pub(crate) fn has_conversions(module: &Module) -> bool {
    let mut all = module.computations.iter();
    all.any(|(_, of)| {
        of.instructions.iter().any(|(_, instruction)| {
            let from = instruction.operands.first();
            let from = from.and_then(|&id| of.instructions[id].shape.element_type());
            let to = instruction.shape.element_type();
            let is_float = |ty: Option<ElementType>| ty.is_some_and(ElementType::is_float);
            matches!(instruction.op, Op::Convert(_)) && is_float(to) && !is_float(from)
        })
    })
}

/// Returns the numbers of the constants of a module, of each array the first ones.
pub(crate) fn literals(module: &Module, most: usize) -> impl Iterator<Item = Scalar> {
    let all = module.instructions();
    all.flat_map(move |instruction| {
        let value = if let Op::Constant(op) = &instruction.op { Some(&*op.value) } else { None };
        let array = match value {
            Some(ConstantValue::Literal(Literal::Array(array))) => Some(array),
            Some(ConstantValue::Literal(_) | ConstantValue::Elided(_)) | None => None,
        };
        array
            .into_iter()
            .flat_map(move |array| (0..array.len().min(most)).map(move |i| array.get(i)))
    })
}

/// Returns whether one of two modules has a rounded literal that the other has not: a compiler may have
/// folded it.
pub(crate) fn have_other_literals(modules: [&Module; 2]) -> bool {
    let [first, second] = modules.map(|module| {
        let parts = literals(module, 1024).flat_map(|x| match x {
            Scalar::Float(x) => [x, 0.0],
            Scalar::Complex(re, im) => [re, im],
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => [0.0; 2],
        });
        parts.filter(|x| !has_few_bits(*x)).map(f64::to_bits).collect::<BTreeSet<u64>>()
    });
    first != second
}

/// Returns whether an instruction of a module has such an array as its value.
pub(crate) fn has_values(module: &Module, is: impl Fn(&Shape) -> bool) -> bool {
    let mut all = module.instructions();
    all.any(|instruction| instruction.shape.leaves().into_iter().any(&is))
}

/// Returns whether the second module is what each device runs of the first. If all devices have the
/// whole arrays, the shapes do not tell, but that the first one is for one device or states
/// shardings, and exchanges nothing.
pub(crate) fn is_partition(modules: [&Module; 2]) -> bool {
    let is_program = |module: &Module| {
        let mut all = module.instructions();
        let is_sharded = |common: &CommonAttrs| common.sharding.is_some();
        DeviceGrid::of(&module.config).len() == 1
            || all.any(|instruction| instruction.common.as_deref().is_some_and(is_sharded))
    };
    let of_devices = modules.map(is_of_device);
    modules[1].config.num_partitions > 1
        && (same_signature(modules).is_err()
            || (of_devices == [false, true] && is_program(modules[0])))
}

/// Returns whether a module exchanges values, or depends on the number of the device.
pub(crate) fn is_of_device(module: &Module) -> bool {
    let mut all = module.instructions();
    all.any(|instruction| {
        let kind = instruction.opcode().kind();
        matches!(kind, Kind::Collective | Kind::Transfer | Kind::Device)
    })
}

/// Returns the number of devices that two modules of one signature need: several if they exchange
/// values, or depend on the number of the device; `None` if one runs on more than the other.
pub(crate) fn devices(modules: [&Module; 2]) -> Option<usize> {
    let of = modules.map(|module| DeviceGrid::of(&module.config).len());
    match modules.into_iter().any(is_of_device) {
        true if of[0] != of[1] => None,
        true => Some(of[0]),
        false => Some(1),
    }
}

pub(crate) fn same_signature(modules: [&Module; 2]) -> Result<(), Failure> {
    let [a, b] = modules.map(|module| module.entry().program_shape());
    let written = |shapes: &[&Shape]| {
        let all: Vec<String> = shapes.iter().map(|shape| format!("{shape:#}")).collect();
        format!("({})", all.join(", "))
    };
    let [first, second] = [&a, &b].map(|shape| written(&shape.parameters));
    if first != second {
        return Err(Failure::Signature { what: "parameters", first, second });
    }
    let [first, second] = modules.map(|module| format!("{:#}", module.entry().result_shape()));
    match first == second {
        true => Ok(()),
        false => Err(Failure::Signature { what: "results", first, second }),
    }
}
