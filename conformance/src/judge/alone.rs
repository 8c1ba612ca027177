//! An instruction with operands and a result of other shapes, in a computation of its own.
use super::site::Site;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionSpans};
use hlo::op::Parameter;
use hlo::{Module, Op, Shape};

/// Returns the module with a computation of the instruction alone, under its name.
pub(super) fn alone(
    module: &Module,
    site: Site<'_>,
    operands: &[Shape],
    shape: Shape,
) -> (Module, ComputationId) {
    let mut computation = Computation::new(&*site.computation.name);
    let mut push = |instruction: Instruction, name: &str| {
        computation.push(instruction, name.into(), InstructionSpans::default())
    };
    let operand = |(number, shape): (i64, &Shape)| {
        let op = Op::from(Parameter { number });
        let operands = std::iter::empty().collect();
        let parameter = Instruction { op, shape: shape.clone(), operands, common: None };
        push(parameter, &format!("p{number}"))
    };
    let operands = (0..).zip(operands).map(operand).collect();
    let own = Instruction { shape, operands, ..site.instruction().clone() };
    computation.root = push(own, site.computation.name(site.at));
    let mut module = module.clone();
    let id = module.computations.push(computation);
    (module, id)
}
