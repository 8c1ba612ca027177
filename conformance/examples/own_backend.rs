//! Tests a backend of your own with the suite: a calculator of elementwise f32 modules, with a
//! mistake.
//!
//! ```sh
//! cargo run -p etalon-conformance --example own_backend
//! ```
#![expect(clippy::print_stdout, reason = "the output of the example")]
use conformance::backend::{Backend, BackendError, Capabilities, Code, LoadedModule};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use hlo::ir::{ComputationId, Instruction};
use hlo::op::{Binary, Op, Unary};
use hlo::{ElementType, Literal, Verified};
use interp::DeviceGrid;
use std::sync::Arc;

struct Calculator;

/// A compiled module: there is nothing to compile, so it is the module.
struct Program(Arc<Verified>);

fn unsupported(what: &impl std::fmt::Display) -> BackendError {
    Code::Unsupported { message: format!("the calculator has no `{what}`") }.into()
}

impl Backend for Calculator {
    fn name(&self) -> String {
        "calculator".to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: Some(1), isolated: false }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        _grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let entry = module.module().entry();
        for (_, instruction) in entry.instructions.iter() {
            if instruction.shape.element_type() != Some(ElementType::F32) {
                return Err(unsupported(&instruction.shape));
            }
        }
        Ok(Box::new(Program(Arc::clone(module))))
    }
}

impl LoadedModule for Program {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
        let module = self.0.module();
        let value = self.run(module.entry, &arguments[0])?;
        Ok(vec![value])
    }
}

impl Program {
    fn run(&self, id: ComputationId, arguments: &[Literal]) -> Result<Literal, BackendError> {
        let computation = &self.0.module().computations[id];
        let mut values: Vec<Literal> = Vec::new();
        for (_, instruction) in computation.instructions.iter() {
            let operands: Vec<&Literal> =
                instruction.operands.iter().map(|operand| &values[operand.index()]).collect();
            values.push(evaluate(instruction, &operands, arguments)?);
        }
        Ok(values.swap_remove(computation.root.index()))
    }
}

fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    arguments: &[Literal],
) -> Result<Literal, BackendError> {
    match &instruction.op {
        Op::Parameter(parameter) => {
            let number = usize::try_from(parameter.number).expect("verified: not negative");
            Ok(arguments[number].clone())
        }
        Op::Unary(op) => {
            let f: fn(f32) -> f32 = match op {
                Unary::Abs => f32::abs,
                Unary::Negate => |x| -x,
                Unary::Floor => f32::floor,
                Unary::Sqrt => f32::sqrt,
                // The mistake: halves are rounded away from zero, not to even.
                Unary::RoundNearestEven => f32::round,
                other => return Err(unsupported(&other.opcode())),
            };
            Ok(map(operands[0], |i, x| f(x[i])))
        }
        Op::Binary(op) => {
            let f: fn(f32, f32) -> f32 = match op {
                Binary::Add => |x, y| x + y,
                Binary::Multiply => |x, y| x * y,
                Binary::Divide => |x, y| x / y,
                other => return Err(unsupported(&other.opcode())),
            };
            let right = operands[1].as_slice::<f32>().expect("compiled: an f32 array");
            Ok(map(operands[0], |i, x| f(x[i], right[i])))
        }
        other => Err(unsupported(&other.opcode())),
    }
}

fn map(operand: &Literal, f: impl Fn(usize, &[f32]) -> f32) -> Literal {
    let elements = operand.as_slice::<f32>().expect("compiled: an f32 array");
    let results: Vec<f32> = (0..elements.len()).map(|i| f(i, elements)).collect();
    let dims = &operand.array_shape().expect("compiled: an f32 array").dims;
    Literal::from_slice(dims, &results)
}

fn main() {
    let selection = Selection { pattern: Some("*/f32/*".to_owned()), ..Selection::full() };
    let suite = Suite::load(&selection).expect("the suite has cases of f32");
    let results = suite.run(&mut Calculator, |record| {
        if record.verdict == Verdict::Differs {
            println!("{}: {}", record.name, record.reason);
        }
    });
    println!("{results}");
    let wrong = results.records().filter(|record| record.verdict.is_bad());
    assert!(wrong.count() > 0, "the suite finds the mistake");
}
