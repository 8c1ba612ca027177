//! Backends that compute one op wrong, to try what compares backends.
use super::{Backend, Capabilities, LoadedModule, Result, compile_instead};
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Binary, Call, Iota, Kind, Select};
use hlo::{ElementType, Module, Op, Opcode, Scalar, Verified};
use interp::DeviceGrid;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A backend, but for wrong results of one op: the last elements of an array along its last
/// dimension are too large by an eighth, and those of integers and booleans have another last bit.
/// A scalar is wrong, and so is a result within a reducer. Tuples, arrays of dynamic sizes, zeros,
/// infinities, and numbers with fewer than three bits behind the point are right.
pub struct PlantedBackend {
    opcode: Opcode,
    backend: Box<dyn Backend>,
}

impl PlantedBackend {
    /// Returns a backend that computes an op wrong.
    pub fn new(opcode: Opcode, backend: Box<dyn Backend>) -> Self {
        Self { opcode, backend }
    }
}

impl Backend for PlantedBackend {
    fn name(&self) -> String {
        format!("planted:{}", self.opcode)
    }
    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        compile_instead(&mut *self.backend, plant(module.module(), self.opcode), grid)
    }
}

/// Returns the module with wrong results of an op.
fn plant(module: &Module, opcode: Opcode) -> Result<Module, String> {
    let mut rewriter = ModuleRewriter::new(module);
    let instructions = module.instructions();
    let started = instructions.filter_map(|instruction| {
        let Op::AsyncStart(start) = &instruction.op else { return None };
        Some(start.calls)
    });
    for id in started.collect::<BTreeSet<_>>() {
        call_instead(&mut rewriter, id, opcode);
    }
    for id in rewriter.computation_ids() {
        let computation = rewriter.computation_mut(id);
        for id in computation.ids() {
            if computation.instruction(id).opcode() == opcode {
                plant_at(computation, id);
            }
        }
    }
    rewriter.finish().map_err(|error| error.to_string())
}

/// Moves the op of an asynchronous computation, which has one instruction beside its parameters,
/// into a computation that it calls.
fn call_instead(rewriter: &mut ModuleRewriter, id: ComputationId, opcode: Opcode) {
    let body = rewriter.computation(id).clone();
    let is_planted = |&root: &InstructionId| body.instruction(root).opcode() == opcode;
    let root = body.root().filter(is_planted).filter(|_| opcode.kind() == Kind::Array);
    let Some(root) = root else { return };
    let shape = body.instruction(root).shape.clone();
    let parameters = body.parameters();
    let to_apply = rewriter.add_computation(body);
    let call = Op::Call(Call { to_apply, is_composite: false });
    rewriter.computation_mut(id).replace(root, Instruction::new(call, shape, parameters));
}

/// Makes the result of an instruction wrong, if it is an array of static sizes.
fn plant_at(computation: &mut ComputationRewriter, id: InstructionId) {
    let right = computation.instruction(id).clone();
    let Some(shape) = right.shape.array().filter(|shape| shape.dynamic.is_none()).cloned() else {
        return;
    };
    let right = computation.add(id, right);
    let (op, value) = match shape.ty.is_float() || shape.ty.is_complex() {
        true => (Binary::Multiply, Scalar::Float(1.125).convert(ElementType::F64, shape.ty)),
        false => (Binary::Xor, Scalar::Signed(1).convert(ElementType::S64, shape.ty)),
    };
    let value = computation.add_filled(id, &shape, value);
    let wrong = Instruction::new(Op::Binary(op), shape.clone(), [right, value]);
    let Some(&size) = shape.dims.last() else {
        computation.replace(id, wrong);
        return;
    };
    let wrong = computation.add(id, wrong);
    let indices = shape.with_type(ElementType::S64);
    let dimension = i64::try_from(shape.dims.len() - 1).unwrap_or(i64::MAX);
    let op = Iota { iota_dimension: Some(dimension) };
    let index = computation.add(id, Instruction::new(op, indices.clone(), []));
    let last = computation.add_filled(id, &indices, Scalar::Signed(size - 1));
    let is_last = computation.add_compare(id, Direction::Eq, [index, last]);
    computation.replace(id, Instruction::new(Select {}, shape, [is_last, wrong, right]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use crate::backend::EngineBackend;

    fn run(opcode: Opcode, text: &str, argument: &str) -> String {
        let module = Arc::new(Module::parse(text).unwrap().verify().unwrap());
        let mut backend = PlantedBackend::new(opcode, Box::new(EngineBackend(Engine::Exact)));
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        let mut loaded = backend.compile(&module, grid).unwrap();
        loaded.execute(&[vec![argument.parse().unwrap()]]).unwrap()[0].to_string()
    }

    #[test]
    fn the_last_elements_are_wrong() {
        let negate = "ENTRY e { x = f32[3] parameter(0) ROOT r = f32[3] negate(x) }";
        let argument = "f32[3] {1, 2, 8}";
        assert_eq!(run(Opcode::Negate, negate, argument), "f32[3]{0} {-1, -2, -9}");
        assert_eq!(run(Opcode::Add, negate, argument), "f32[3]{0} {-1, -2, -8}");
        let and = "ENTRY e { x = s4[2,2] parameter(0) ROOT r = s4[2,2] and(x, x) }";
        assert_eq!(
            run(Opcode::And, and, "s4[2,2] {{1, 2}, {3, 4}}"),
            "s4[2,2]{1,0} { { 1, 3 }, { 3, 5 } }"
        );
        let not = "ENTRY e { x = pred[] parameter(0) ROOT r = pred[] not(x) }";
        assert_eq!(run(Opcode::Not, not, "pred[] false"), "pred[] false");
    }

    #[test]
    fn asynchronous_computations() {
        let negate = "f { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }
          ENTRY e { x = f32[2] parameter(0) s = ((f32[2]), f32[2], s32[]) async-start(x), calls=f
            ROOT d = f32[2] async-done(s) }";
        assert_eq!(run(Opcode::Negate, negate, "f32[2] {1, 8}"), "f32[2]{0} {-1, -9}");
        let sugar = "ENTRY e { x = f32[2] parameter(0)
            s = ((f32[2]), f32[2], s32[]) negate-start(x) ROOT d = f32[2] negate-done(s) }";
        assert_eq!(run(Opcode::Negate, sugar, "f32[2] {1, 8}"), "f32[2]{0} {-1, -9}");
    }

    #[test]
    fn reducers_and_tuples() {
        let reduce = "a { x = c64[] parameter(0) y = c64[] parameter(1) ROOT s = c64[] add(x, y) }
          ENTRY e { x = c64[1] parameter(0) z = c64[] constant((0, 0))
            t = (c64[1]) tuple(x) u = c64[1] get-tuple-element(t), index=0
            ROOT r = c64[] reduce(u, z), dimensions={0}, to_apply=a }";
        let argument = "c64[1] {(8, 16)}";
        assert_eq!(run(Opcode::Add, reduce, argument), "c64[] (9, 18)");
        assert_eq!(run(Opcode::Reduce, reduce, argument), "c64[] (9, 18)");
        assert_eq!(run(Opcode::Tuple, reduce, argument), "c64[] (8, 16)");
    }
}
