//! A module over the field: arrays of floats become arrays of elements, and each instruction that
//! computes with floats a call. Movement, control flow, integers and devices stay as they are.
use crate::arithmetic::Field;
use crate::constants::Constants;
use crate::kernels::{Stated, constant, held_shape, is_float, is_number};
use crate::unknown::name_of;
use crate::watch::{Watch, watches};
use hlo::ir::rewrite::ModuleRewriter;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::value::{Direction, Text};
use hlo::op::{Binary, Constant, CustomCall, Kind, TopK};
use hlo::{ArrayShape, ElementType, Literal, Module, Op, Shape, Verified};
use interp::is_annotation;
use std::sync::Arc;

/// The most elements of an array.
const LARGEST: i64 = 1 << 26;

/// A module over the field.
pub(crate) struct Lifted {
    pub(crate) module: Arc<Verified>,
    /// The instructions that became calls, by the number in the target of the call.
    pub(crate) calls: Vec<Stated>,
    /// Integers that are noted, by the number in the target of the call.
    pub(crate) watches: Vec<(usize, Watch)>,
}

/// The first number of a call that notes integers.
const WATCHES: usize = 1 << 20;

/// Why nothing is known of two modules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Open {
    /// The module with an instruction that has no meaning over the field: 0 for the first, 1 for
    /// the second.
    pub module: Option<usize>,
    /// `computation/instruction`; empty for the whole module.
    pub instruction: String,
    /// Why.
    pub reason: String,
    /// What could help.
    pub kind: OpenKind,
}

/// What could help where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenKind {
    /// Nothing that is known.
    #[default]
    Other,
    /// The text does not have the value of a constant.
    Elided,
    /// Residues differ, and neither the numbers nor floats show that the functions do.
    LacksLaw,
    /// Residues agree with constants of few digits that are not rounded, and floats do not.
    FewDigits,
}

/// What becomes of an instruction.
enum Part {
    Kept,
    Call(Option<Binary>),
    Open(&'static str),
}

/// Returns the target of a call.
pub(crate) fn target(number: usize) -> String {
    format!("field.{number}")
}

/// Returns a module over the field, which notes the integers that decide something if it is to be
/// watched.
pub(crate) fn lift(module: &Module, field: &Field, is_watched: bool) -> Result<Lifted, Open> {
    let mut rewriter = ModuleRewriter::new(module);
    let (mut calls, mut watched) = (Vec::new(), Vec::new());
    let constants = Constants::of(module, field.rules());
    for (id, computation) in module.computations.iter() {
        for (at, instruction) in computation.instructions.iter() {
            let open = |reason: &str| Open {
                instruction: computation.path(at),
                reason: reason.to_owned(),
                ..Open::default()
            };
            let edited = rewriter.computation_mut(id).instruction_mut(at);
            edited.shape = held_shape(&instruction.shape);
            if let Some(value) = constants.rounded((id, at)) {
                *edited = constant_of(field, value, edited);
                continue;
            }
            if let Op::Constant(op) = &instruction.op {
                let ConstantValue::Literal(value) = &*op.value else {
                    let reason = "the text does not have the value of the constant";
                    return Err(Open { kind: OpenKind::Elided, ..open(reason) });
                };
                *edited = constant_of(field, value, edited);
                continue;
            }
            let as_op = top_k(module, instruction);
            let op = as_op.as_ref().unwrap_or(&instruction.op);
            match part(module, computation, instruction, op) {
                Part::Kept if matches!(op, Op::Conditional(_)) => {
                    let shape = shape_of(computation, instruction.operands[0]);
                    pass_through(&mut rewriter, (id, at), instruction, (0, &[]), calls.len());
                    calls.push(Stated {
                        op: op.clone(),
                        operands: vec![shape.clone()],
                        shape,
                        folds: None,
                        name: String::new(),
                    });
                }
                Part::Kept => {
                    let all =
                        if is_watched { watches(computation, instruction) } else { Vec::new() };
                    for watch in all {
                        let number = WATCHES + watched.len();
                        let operand = (watch.operand, &*watch.others);
                        pass_through(&mut rewriter, (id, at), instruction, operand, number);
                        watched.push((number, watch));
                    }
                }
                Part::Open(reason) => return Err(open(reason)),
                Part::Call(folds) => {
                    edited.op = Op::from(CustomCall::new(Text(target(calls.len()).into())));
                    let operands = instruction.operands.iter();
                    calls.push(Stated {
                        op: op.clone(),
                        operands: operands.map(|&o| shape_of(computation, o)).collect(),
                        shape: instruction.shape.clone(),
                        folds,
                        name: name_of(computation, instruction),
                    });
                }
            }
        }
    }
    let whole = |reason| Open { reason, ..Open::default() };
    let mut lifted = rewriter.finish().map_err(|error| whole(error.to_string()))?;
    // Parameters and results are as many as before.
    let (free, stated) = (&mut lifted.config, &module.config);
    free.allow_spmd_sharding_propagation_to_parameters
        .clone_from(&stated.allow_spmd_sharding_propagation_to_parameters);
    free.allow_spmd_sharding_propagation_to_output
        .clone_from(&stated.allow_spmd_sharding_propagation_to_output);
    let module = lifted.verify().map_err(|errors| whole(errors.0[0].to_string()))?;
    Ok(Lifted { module: Arc::new(module), calls, watches: watched })
}

/// Adds a call that returns an operand of an instruction as it is, and takes others besides.
fn pass_through(
    rewriter: &mut ModuleRewriter,
    (id, at): (ComputationId, InstructionId),
    instruction: &Instruction,
    (operand, others): (usize, &[InstructionId]),
    number: usize,
) {
    let index = instruction.operands[operand];
    let edited = rewriter.computation_mut(id);
    let call = Instruction {
        op: Op::from(CustomCall::new(Text(target(number).into()))),
        operands: [index].into_iter().chain(others.iter().copied()).collect(),
        shape: edited.instruction_mut(index).shape.clone(),
        common: None,
    };
    let call = edited.add(at, call);
    edited.instruction_mut(at).operands[operand] = call;
}

/// Returns the op that a call of `TopK` is: XLA makes the call of a sort.
fn top_k(module: &Module, instruction: &Instruction) -> Option<Op> {
    let Op::CustomCall(call) = &instruction.op else { return None };
    if call.custom_call_target.0 != "TopK" {
        return None;
    }
    let is_largest = |&id: &ComputationId| {
        let computation = &module.computations[id];
        let Op::Compare(compare) = &computation.instructions[computation.root].op else {
            return None;
        };
        match compare.direction {
            Direction::Gt => Some(true),
            Direction::Lt => Some(false),
            Direction::Eq | Direction::Ne | Direction::Ge | Direction::Le => None,
        }
    };
    let mut called = call.called_computations.iter().chain(&call.to_apply);
    let largest = called.next().map_or(Some(true), is_largest)?;
    let k = *instruction.shape.leaves().first()?.array()?.dims.last()?;
    Some(Op::from(TopK { k, largest, is_stable: true }))
}

fn shape_of(computation: &Computation, id: InstructionId) -> Shape {
    computation.instructions[id].shape.clone()
}

/// Returns a constant over the field, in place of an instruction.
fn constant_of(field: &Field, value: &Literal, edited: &Instruction) -> Instruction {
    let value = lifted_literal(field, value);
    let op = Constant { value: Box::new(ConstantValue::Literal(value)) };
    Instruction { op: Op::from(op), operands: [].into_iter().collect(), ..edited.clone() }
}

/// Returns a value with literals of floats as elements.
pub(crate) fn lifted_literal(field: &Field, value: &Literal) -> Literal {
    match value {
        Literal::Array(array) if is_number(array.shape().ty) => {
            Literal::from(constant(field, array))
        }
        Literal::Tuple(_) => {
            let parts = value.elements().unwrap_or_default().iter();
            Literal::tuple(parts.map(|part| lifted_literal(field, part)).collect())
        }
        Literal::Array(_) | Literal::Token => value.clone(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what only moves elements is kept")]
fn part(module: &Module, computation: &Computation, instruction: &Instruction, op: &Op) -> Part {
    let operands = || instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
    let leaves = |shape: &Shape| shape.leaves().into_iter().cloned().collect::<Vec<_>>();
    let all: Vec<Shape> = operands().flat_map(leaves).chain(leaves(&instruction.shape)).collect();
    let types = || all.iter().filter_map(Shape::array).map(|array| array.ty);
    if instruction.opcode().kind() == Kind::Random {
        return Part::Open("random numbers differ from run to run");
    }
    if !types().any(is_number) {
        return Part::Kept;
    }
    if let Some(reason) = unfit(&all) {
        return Part::Open(reason);
    }
    let is_complex = types().any(ElementType::is_complex);
    let folds = |id: ComputationId| fold_of(&module.computations[id]);
    match op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Clamp(_)
        | Op::Convert(_)
        | Op::ReducePrecision(_)
        | Op::Iota(_)
        | Op::Fft(_) => Part::Call(None),
        Op::Dot(_) | Op::Convolution(_) => {
            match instruction.shape.element_type().is_some_and(is_number) {
                true => Part::Call(None),
                false => Part::Open("integers that are computed from floats by products"),
            }
        }
        Op::Cholesky(_) | Op::TriangularSolve(_) => Part::Call(None),
        Op::BatchNormTraining(_)
        | Op::BatchNormInference(_)
        | Op::BatchNormGrad(_)
        | Op::TopK(_) => match is_complex {
            true => Part::Open("the op is not known over the field for complex numbers"),
            false => Part::Call(None),
        },
        Op::Reduce(op) if instruction.operands.len() == 2 => match folds(op.to_apply) {
            Some(op) => Part::Call(Some(op)),
            None => Part::Kept,
        },
        Op::ReduceWindow(op) if instruction.operands.len() == 2 => match folds(op.to_apply) {
            Some(op) => Part::Call(Some(op)),
            None => Part::Kept,
        },
        Op::CustomCall(call) => of_function(call, &all, &instruction.shape),
        Op::RaggedDot(_) | Op::ScaledDot(_) | Op::StochasticConvert(_) => {
            Part::Open("the op is not known over the field")
        }
        Op::Infeed(_) | Op::Outfeed(_) | Op::Send(_) | Op::Recv(_) => {
            Part::Open("the host has no elements of the field")
        }
        Op::Bitcast(_) | Op::BitcastConvert(_)
            if operands().any(|from| !same_type(from, &instruction.shape)) =>
        {
            match operands().all(|from| has_same_bits(from, &instruction.shape)) && !is_complex {
                true => Part::Call(None),
                false => Part::Open("a bitcast to a type of another size"),
            }
        }
        Op::AllReduce(op) if op.to_apply.0.is_none() => {
            Part::Open("a sum of devices without its computation")
        }
        Op::Sort(op) if op.to_apply.is_none() => Part::Open("a sort without a comparator"),
        _ => Part::Kept,
    }
}

/// Returns what becomes of a custom call, whose operands and results have these arrays.
fn of_function(call: &CustomCall, all: &[Shape], result: &Shape) -> Part {
    let is_complex = all.iter().filter_map(Shape::array).any(|array| array.ty.is_complex());
    if is_annotation(&call.custom_call_target.0) {
        return Part::Kept;
    }
    if call.custom_call_has_side_effect {
        return Part::Open("a function with a side effect is not known");
    }
    if is_complex || result.leaves().iter().any(|leaf| leaf.array().is_none()) {
        return Part::Open("an unknown function has results that are no real numbers");
    }
    match call.called_computations.is_empty() && call.to_apply.is_none() {
        true => Part::Call(None),
        false => Part::Open("an unknown function calls computations"),
    }
}

/// Returns why the field has no arrays of these shapes.
fn unfit(shapes: &[Shape]) -> Option<&'static str> {
    let mut arrays = shapes.iter().filter_map(Shape::array);
    arrays.find_map(|array| {
        // Also one of no elements may be walked along its other dimensions.
        let sizes = array.dims.iter();
        let elements = sizes.fold(1i64, |product, &size| product.saturating_mul(size.max(1)));
        match array.dynamic.is_some() {
            _ if elements > LARGEST => Some("the array is too large for the field"),
            true => Some("sizes are known only at run time"),
            false => None,
        }
    })
}

fn same_type(x: &Shape, y: &Shape) -> bool {
    x.element_type() == y.element_type()
}

/// Returns whether arrays have elements of as many bits at the same places.
fn has_same_bits(x: &Shape, y: &Shape) -> bool {
    let (Some(x), Some(y)) = (x.array(), y.array()) else { return false };
    let order = |shape: &ArrayShape| shape.layout.minor_to_major.clone();
    x.ty.bits() == y.ty.bits() && x.dims == y.dims && order(x) == order(y)
}

/// Returns the function of two floats that a computation is, however it converts between floats.
fn fold_of(computation: &Computation) -> Option<Binary> {
    let past_converts = |mut id: InstructionId| {
        let instruction = |id: InstructionId| &computation.instructions[id];
        while matches!(instruction(id).op, Op::Convert(_)) && is_float(&instruction(id).shape) {
            id = instruction(id).operands[0];
        }
        id
    };
    let root = &computation.instructions[past_converts(computation.root)];
    let Op::Binary(op) = root.op else { return None };
    let numbers: Option<Vec<i64>> = root
        .operands
        .iter()
        .map(|&id| {
            let operand = &computation.instructions[past_converts(id)];
            let Op::Parameter(parameter) = &operand.op else { return None };
            Some(parameter.number)
        })
        .collect();
    let mut numbers = numbers?;
    numbers.sort_unstable();
    let known = [Binary::Add, Binary::Multiply, Binary::Maximum, Binary::Minimum];
    let is_number = root.shape.element_type().is_some_and(is_number);
    (is_number && numbers == [0, 1] && known.contains(&op)).then_some(op)
}
