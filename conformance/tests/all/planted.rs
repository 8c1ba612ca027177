//! A backend with a planted bug: the exact engine, on a module rewritten to contain the bug.
#![allow(dead_code, reason = "the example uses a part of it")]
use collectives::{RunError, Session};
use conformance::backend::{Backend, BackendError, Backends, Capabilities, Code, LoadedModule};
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::value::{Direction, SliceRange, SliceRanges};
use hlo::op::{Binary, Broadcast, Convert, Copy, ReducePrecision, Select, Slice};
use hlo::{ArrayShape, Dims, ElementType, Literal, Module, Op, Scalar, Shape, Verified};
use interp::{CompileOptions, DeviceGrid, RunOptions};
use std::sync::Arc;

/// A bug that a backend may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A product of f32 has 11 significant bits.
    Rounding,
    /// The windows of `reduce-window` begin one element too early.
    WindowEdge,
    /// A reducer computes `b - a` in place of `a - b`.
    SwappedOperands,
    /// `maximum` returns the other operand if one is NaN.
    NanLost,
    /// `clamp` has no upper bound.
    Clamp,
    /// The last element that a loop carries keeps its first value.
    LostCarry,
    /// Each device is a group of its own in `all-reduce`.
    ReplicaGroup,
    /// `dot` leaves out the last term of each sum.
    DotTerm,
    /// `shift-right-arithmetic` shifts in zeros.
    ShiftSign,
    /// `gather` clamps negative indices to the last slice.
    GatherClamp,
    /// `clamp` has no upper bound; sums of products are legally rounded once, which is no bug.
    FusedClamp,
}

impl Bug {
    /// All of them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Rounding,
        Self::WindowEdge,
        Self::SwappedOperands,
        Self::NanLost,
        Self::Clamp,
        Self::LostCarry,
        Self::ReplicaGroup,
        Self::DotTerm,
        Self::ShiftSign,
        Self::GatherClamp,
    ];

    /// Returns the module with the bug wherever it can be, and how often that is.
    pub(crate) fn plant(self, module: &Module) -> (Module, usize) {
        let mut rewriter = ModuleRewriter::new(module);
        let mut count = 0;
        for id in rewriter.computation_ids() {
            for instruction in rewriter.computation(id).ids() {
                count += usize::from(self.plant_at(&mut rewriter, id, instruction));
            }
        }
        (rewriter.finish().expect("a planted bug leaves a module"), count)
    }

    fn plant_at(
        self,
        rewriter: &mut ModuleRewriter,
        computation: ComputationId,
        id: InstructionId,
    ) -> bool {
        match self {
            Self::SwappedOperands => swapped_operands(rewriter, computation, id),
            Self::LostCarry => lost_carry(rewriter, computation, id),
            Self::Rounding => rounding(rewriter.computation_mut(computation), id),
            Self::WindowEdge => window_edge(rewriter.computation_mut(computation), id),
            Self::NanLost => nan_lost(rewriter.computation_mut(computation), id),
            Self::Clamp => clamp(rewriter.computation_mut(computation), id),
            Self::ReplicaGroup => replica_group(rewriter.computation_mut(computation), id),
            Self::DotTerm => dot_term(rewriter.computation_mut(computation), id),
            Self::ShiftSign => shift_sign(rewriter.computation_mut(computation), id),
            Self::GatherClamp => gather_clamp(rewriter.computation_mut(computation), id),
            Self::FusedClamp => {
                let computation = rewriter.computation_mut(computation);
                fuse(computation, id);
                clamp(computation, id)
            }
        }
    }
}

/// The array that an instruction returns.
fn array(computation: &ComputationRewriter, id: InstructionId) -> Option<ArrayShape> {
    computation.instruction(id).shape.array().cloned()
}

fn rounding(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    let is_product = instruction.op == Op::Binary(Binary::Multiply)
        && instruction.shape.element_type() == Some(ElementType::F32);
    if is_product {
        let product = computation.add(id, instruction.clone());
        let shape = computation.instruction(id).shape.clone();
        let op = ReducePrecision::new(8, 10);
        computation.replace(id, Instruction::new(op, shape, [product]));
    }
    is_product
}

fn window_edge(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let Op::ReduceWindow(op) = &mut computation.instruction_mut(id).op else { return false };
    let Some(dim) = op.window.dims.iter_mut().rev().find(|dim| dim.size > 1) else { return false };
    dim.pad_low += 1;
    dim.pad_high -= 1;
    true
}

fn swapped_operands(
    rewriter: &mut ModuleRewriter,
    computation: ComputationId,
    id: InstructionId,
) -> bool {
    let Op::Reduce(op) = &rewriter.computation(computation).instruction(id).op else {
        return false;
    };
    let reducer = op.to_apply;
    let reducer = rewriter.computation_mut(reducer);
    let is_difference =
        |id: &InstructionId| reducer.instruction(*id).op == Op::Binary(Binary::Subtract);
    let found = reducer.ids().into_iter().find(is_difference);
    if let Some(id) = found {
        reducer.instruction_mut(id).operands.reverse();
    }
    found.is_some()
}

fn nan_lost(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    let is_float = instruction.shape.element_type().is_some_and(ElementType::is_float);
    if instruction.op != Op::Binary(Binary::Maximum) || !is_float {
        return false;
    }
    let (a, b, shape) =
        (instruction.operands[0], instruction.operands[1], instruction.shape.clone());
    let is_larger = computation.add_compare(id, Direction::Ge, [a, b]);
    let is_nan = computation.add_compare(id, Direction::Ne, [b, b]);
    let pred = computation.instruction(is_nan).shape.clone();
    let takes_first = Instruction::new(Op::Binary(Binary::Or), pred, [is_larger, is_nan]);
    let takes_first = computation.add(id, takes_first);
    computation.replace(id, Instruction::new(Select {}, shape, [takes_first, a, b]));
    true
}

fn clamp(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    if !matches!(instruction.op, Op::Clamp(_)) {
        return false;
    }
    let (mut low, x, shape) =
        (instruction.operands[0], instruction.operands[1], instruction.shape.clone());
    if array(computation, low)
        .is_some_and(|low| Some(low.rank()) != shape.array().map(ArrayShape::rank))
    {
        let op = Broadcast { dimensions: Vec::new() };
        low = computation.add(id, Instruction::new(op, shape.clone(), [low]));
    }
    computation.replace(id, Instruction::new(Op::Binary(Binary::Maximum), shape, [low, x]));
    true
}

/// Rounds an `f32` sum of a product and something once.
fn fuse(computation: &mut ComputationRewriter, id: InstructionId) {
    let instruction = computation.instruction(id).clone();
    let factors = |id: InstructionId| {
        let product = computation.instruction(id);
        (product.op == Op::Binary(Binary::Multiply)).then(|| product.operands.to_vec())
    };
    let (Op::Binary(Binary::Add), Some(shape)) = (&instruction.op, array(computation, id)) else {
        return;
    };
    let Some(factors) = factors(instruction.operands[0]) else { return };
    let wide = Shape::from(shape.with_type(ElementType::F64));
    let converts = |computation: &mut ComputationRewriter, operand: InstructionId| {
        computation.add(id, Instruction::new(Convert::default(), wide.clone(), [operand]))
    };
    let factors: Vec<_> = factors.into_iter().map(|of| converts(computation, of)).collect();
    let product = Instruction::new(Op::Binary(Binary::Multiply), wide.clone(), factors);
    let parts = [computation.add(id, product), converts(computation, instruction.operands[1])];
    let sum = Instruction::new(Op::Binary(Binary::Add), wide.clone(), parts);
    let sum = computation.add(id, sum);
    computation.replace(id, Instruction::new(Convert::default(), instruction.shape, [sum]));
}

fn lost_carry(
    rewriter: &mut ModuleRewriter,
    computation: ComputationId,
    id: InstructionId,
) -> bool {
    let Op::While(op) = &rewriter.computation(computation).instruction(id).op else { return false };
    let body = op.body;
    let body = rewriter.computation_mut(body);
    let (Some(root), Some(&parameter)) = (body.root(), body.parameters().first()) else {
        return false;
    };
    let parts = body.instruction(root).operands.to_vec();
    if !matches!(body.instruction(root).op, Op::Tuple(_)) || parts.len() < 2 {
        return false;
    }
    let last = parts.len() - 1;
    let element = body.element(parameter, last);
    let kept = body.add(root, element);
    body.instruction_mut(root).operands[last] = kept;
    true
}

fn replica_group(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    let is_all_reduce =
        matches!(instruction.op, Op::AllReduce(_)) && instruction.operands.len() == 1;
    if is_all_reduce {
        let (shape, operand) = (instruction.shape.clone(), instruction.operands[0]);
        computation.replace(id, Instruction::new(Copy::default(), shape, [operand]));
    }
    is_all_reduce
}

fn dot_term(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    let Op::Dot(op) = &instruction.op else { return false };
    let (Some(&lhs), Some(&rhs)) =
        (op.lhs_contracting_dims.first(), op.rhs_contracting_dims.first())
    else {
        return false;
    };
    let operands = instruction.operands.clone();
    for (k, dim) in [lhs, rhs].into_iter().enumerate() {
        let dim = usize::try_from(dim).expect("verified");
        let shape = array(computation, operands[k]).expect("verified");
        let mut dims: Dims = shape.dims.clone();
        dims[dim] = (dims[dim] - 1).max(0);
        let range = |&limit: &i64| SliceRange { start: 0, limit, stride: 1 };
        let op = Slice { ranges: SliceRanges(dims.iter().map(range).collect()) };
        let shape = ArrayShape { dims, ..shape };
        let slice = computation.add(id, Instruction::new(op, shape, [operands[k]]));
        computation.instruction_mut(id).operands[k] = slice;
    }
    true
}

fn shift_sign(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let op = &mut computation.instruction_mut(id).op;
    let is_shift = *op == Op::Binary(Binary::ShiftRightArithmetic);
    if is_shift {
        *op = Op::Binary(Binary::ShiftRightLogical);
    }
    is_shift
}

fn gather_clamp(computation: &mut ComputationRewriter, id: InstructionId) -> bool {
    let instruction = computation.instruction(id);
    if !matches!(instruction.op, Op::Gather(_)) {
        return false;
    }
    let indices = instruction.operands[1];
    let shape = array(computation, indices).expect("verified");
    let zero = computation.add_filled(id, &shape, Scalar::zero(shape.ty));
    let large = Scalar::Signed(100).convert(ElementType::S32, shape.ty);
    let large = computation.add_filled(id, &shape, large);
    let is_negative = computation.add_compare(id, Direction::Lt, [indices, zero]);
    let wrong = Instruction::new(Select {}, shape, [is_negative, large, indices]);
    let wrong = computation.add(id, wrong);
    computation.instruction_mut(id).operands[1] = wrong;
    true
}

/// The exact engine with a planted bug.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planted(pub(crate) Bug);

impl Planted {
    /// Returns backends with the bug that work side by side.
    pub(crate) fn backends(self, jobs: usize) -> Backends {
        Backends::new(Box::new(self), jobs.try_into().expect("not 0"), move || Ok(Box::new(self)))
    }
}

/// The steps of a run: a bug may take the end from a loop.
const FUEL: u64 = 1 << 16;

struct PlantedModule(Session);

impl Backend for Planted {
    fn name(&self) -> String {
        format!("{:?}", self.0)
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: None, isolated: false }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let (module, _) = self.0.plant(module.module());
        let rejected = |message: String| BackendError::from(Code::Rejected { message });
        let module = module.verify().map_err(|errors| rejected(errors.to_string()))?;
        let session = Session::compile_for(module, grid, &CompileOptions::default());
        let session = session.map_err(|error: RunError| rejected(error.to_string()))?;
        Ok(Box::new(PlantedModule(session)))
    }
}

impl LoadedModule for PlantedModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
        let failed =
            |error: RunError| BackendError::from(Code::Failed { message: error.to_string() });
        let output = self.0.run(arguments, &RunOptions::default().fuel(FUEL)).map_err(failed)?;
        Ok(output.results)
    }
}
