//! What feeds a result: how long the way is, what is summed, and in which types it is rounded.
use collectives::Groups;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::op::{Accuracy, Op};
use hlo::{ElementType, Module, Opcode};
use interp::Grid;

use crate::bound::PATH_LIMIT;

/// What is known of the way to a value. Values of tuple shape have one for each leaf: what is rounded to 4 bits for one
/// part of a result says nothing about the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Facts {
    /// Float operations on the longest way.
    pub(crate) path: u32,
    /// Most terms of one sum.
    pub(crate) terms: f64,
    /// Unit roundoff of the coarsest type that is computed in.
    pub(crate) roundoff: f64,
    /// Most units in the last place that an operation may be off by.
    pub(crate) ulps: u32,
    /// An operation sums terms, in an order of its own.
    pub(crate) sums: bool,
    /// An operation is on complex numbers, whose parts have no bound of their own.
    pub(crate) complex: bool,
    /// Only operations of which the reference gives the one right result.
    pub(crate) exact: bool,
}

impl Facts {
    pub(crate) const NOTHING: Self = Self {
        path: 0,
        terms: 0.0,
        roundoff: 0.0,
        ulps: 0,
        sums: false,
        complex: false,
        exact: true,
    };

    /// Facts of each leaf of the module's result.
    pub(crate) fn of(module: &Module) -> Vec<Self> {
        let count = module.computations.len();
        Walk { module, done: vec![None; count] }.computation(module.entry)
    }
    fn merge(self, other: Self) -> Self {
        Self {
            path: self.path.max(other.path),
            terms: self.terms.max(other.terms),
            roundoff: self.roundoff.max(other.roundoff),
            ulps: self.ulps.max(other.ulps),
            sums: self.sums || other.sums,
            complex: self.complex || other.complex,
            exact: self.exact && other.exact,
        }
    }
    /// One after the other.
    fn then(self, next: Self) -> Self {
        let path = self.path.saturating_add(next.path).min(PATH_LIMIT);
        Self { path, ..self.merge(next) }
    }
    /// What the instruction itself adds to a leaf of this type.
    fn own(
        module: &Module,
        computation: &Computation,
        instruction: &Instruction,
        ty: Option<ElementType>,
    ) -> Self {
        let Some(ty) = ty.filter(|ty| ty.is_float() || ty.is_complex()) else {
            return Self::NOTHING;
        };
        if moves(instruction, computation) {
            return Self::NOTHING;
        }
        let accuracy = instruction.opcode().accuracy();
        let operand = |&id: &InstructionId| computation.instructions[id].shape.element_type();
        let is_complex = |ty: ElementType| ty.is_complex();
        let complex =
            is_complex(ty) || instruction.operands.iter().filter_map(operand).any(is_complex);
        Self {
            path: steps(&instruction.op),
            terms: terms(module, computation, instruction),
            roundoff: roundoff(ty),
            ulps: match accuracy {
                Accuracy::Ulp(n) => n,
                Accuracy::Exact | Accuracy::Order | Accuracy::Random => 0,
            },
            sums: matches!(accuracy, Accuracy::Order | Accuracy::Random),
            complex,
            exact: match accuracy {
                Accuracy::Exact => true,
                // The reference rounds real functions correctly; complex ones carry bounds.
                Accuracy::Ulp(_) => !complex,
                Accuracy::Order | Accuracy::Random => false,
            },
        }
    }
}

/// Unit roundoff of a float or complex type; 0 of others.
pub(crate) fn roundoff(ty: ElementType) -> f64 {
    if !ty.is_float() && !ty.is_complex() {
        return 0.0;
    }
    let format = ty.component().float_format();
    format.map_or(0.0, |format| (-f64::from(format.mantissa_bits) - 1.0).exp2())
}

struct Walk<'m> {
    module: &'m Module,
    done: Vec<Option<Vec<Facts>>>,
}

fn merged<'a>(facts: impl IntoIterator<Item = &'a Facts>) -> Facts {
    facts.into_iter().copied().fold(Facts::NOTHING, Facts::merge)
}

impl Walk<'_> {
    /// Facts of the root. Computations do not call themselves in a verified module, so this ends.
    fn computation(&mut self, id: ComputationId) -> Vec<Facts> {
        if let Some(facts) = &self.done[id.index()] {
            return facts.clone();
        }
        let computation = &self.module.computations[id];
        let mut facts: Vec<Vec<Facts>> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let before: Vec<&[Facts]> =
                instruction.operands.iter().map(|o| facts[o.index()].as_slice()).collect();
            let own = self.instruction(computation, instruction, &before);
            facts.push(own);
        }
        let root = facts.swap_remove(computation.root.index());
        self.done[id.index()] = Some(root.clone());
        root
    }

    fn instruction(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        before: &[&[Facts]],
    ) -> Vec<Facts> {
        let leaves = instruction.shape.leaves();
        if let Some(handed) = handed_on(computation, instruction, before)
            && handed.len() == leaves.len()
        {
            return handed;
        }
        let before = merged(before.iter().copied().flatten());
        let called = self.called(instruction);
        let all = merged(&called);
        let own = leaves.iter().enumerate().map(|(i, leaf)| {
            let called = if called.len() == leaves.len() { called[i] } else { all };
            let ty = leaf.element_type();
            before.then(called).then(Facts::own(self.module, computation, instruction, ty))
        });
        own.collect()
    }

    /// Facts of what an instruction calls: leaf by leaf where the callee's result is its own, else of all together.
    fn called(&mut self, instruction: &Instruction) -> Vec<Facts> {
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |id| callees.push(id));
        let opcode = instruction.opcode();
        if let ([only], Opcode::Call | Opcode::Fusion) = (callees.as_slice(), opcode) {
            return self.computation(*only);
        }
        let all = callees
            .iter()
            .fold(Facts::NOTHING, |all, &id| all.merge(merged(&self.computation(id))));
        // The number of turns is not known.
        let looped = opcode == Opcode::While && all.path > 0;
        vec![if looped { Facts { path: PATH_LIMIT, ..all } } else { all }]
    }
}

/// Facts of the result's leaves, where each is a leaf of an operand.
fn handed_on(
    computation: &Computation,
    instruction: &Instruction,
    before: &[&[Facts]],
) -> Option<Vec<Facts>> {
    match (&instruction.op, before) {
        (Op::Tuple(_), operands) => Some(operands.concat()),
        (Op::GetTupleElement(get), [operand]) => {
            let tuple = &computation.instructions[*instruction.operands.first()?].shape;
            let index = usize::try_from(get.index).ok()?;
            let skipped = tuple.tuple()?.iter().take(index).map(|s| s.leaves().len()).sum();
            let count = instruction.shape.leaves().len();
            operand.get(skipped..)?.get(..count).map(<[Facts]>::to_vec)
        }
        (Op::OptBarrier(_) | Op::Copy(_) | Op::Domain(_), [operand]) => Some(operand.to_vec()),
        _ => None,
    }
}

/// Whether the op moves, compares or selects elements without computing on them. What ops that call do is known from
/// the computations they call.
fn moves(instruction: &Instruction, computation: &Computation) -> bool {
    use Opcode as O;
    // The magnitude of a complex number is a root.
    let of_complex = || {
        let ty = |id| computation.instructions[id].shape.element_type();
        instruction.operands.iter().any(|&id| ty(id).is_some_and(ElementType::is_complex))
    };
    if instruction.opcode() == O::Abs {
        return !of_complex();
    }
    if let Op::CustomCall(call) = &instruction.op {
        // Notes for partitioners, and what cuts arrays for devices and puts them together.
        let target = call.custom_call_target.0.as_str();
        return target == "Sharding"
            || target.starts_with("SPMD")
            || target.starts_with("xla.sdy.");
    }
    matches!(
        instruction.opcode(),
        O::Negate
            | O::Real
            | O::Imag
            | O::Complex
            | O::IsFinite
            | O::Compare
            | O::Select
            | O::Send
            | O::SendDone
            | O::AddDependency
            | O::AfterAll
            | O::AllGather
            | O::AllGatherDone
            | O::AllGatherStart
            | O::AllReduceDone
            | O::AllToAll
            | O::Bitcast
            | O::BitcastConvert
            | O::Broadcast
            | O::Call
            | O::CollectiveBroadcast
            | O::CollectivePermute
            | O::CollectivePermuteDone
            | O::CollectivePermuteStart
            | O::Concatenate
            | O::Conditional
            | O::Constant
            | O::Copy
            | O::CopyDone
            | O::CopyStart
            | O::Domain
            | O::DynamicReshape
            | O::DynamicSlice
            | O::DynamicUpdateSlice
            | O::Fusion
            | O::Gather
            | O::GetDimensionSize
            | O::GetTupleElement
            | O::Iota
            | O::Map
            | O::OptBarrier
            | O::Pad
            | O::Parameter
            | O::RaggedAllToAll
            | O::Recv
            | O::RecvDone
            | O::Reshape
            | O::Reverse
            | O::SetDimensionSize
            | O::Slice
            | O::Sort
            | O::TopK
            | O::Transpose
            | O::Tuple
            | O::While
            | O::AsyncStart
            | O::AsyncUpdate
            | O::AsyncDone
    )
}

/// Float operations that backends make of one, on the longest way through it.
fn steps(op: &Op) -> u32 {
    match op {
        // x^2, sum, / N, - mean^2, + epsilon, rsqrt, * (x - mean), * scale, + offset
        Op::BatchNormTraining(_) => 9,
        // variance + epsilon, rsqrt, * scale, * mean, offset -, x * scale +
        Op::BatchNormInference(_) => 7,
        // the same up to rsqrt, then g (x - mean), sum, / variance, * (x - mean), -, -, * scale, * rsqrt / N
        Op::BatchNormGrad(_) => 11,
        _ => 1,
    }
}

/// Terms that one element of the result is summed from; 0 of an op that sums nothing.
fn terms(module: &Module, computation: &Computation, instruction: &Instruction) -> f64 {
    if instruction.opcode().accuracy() != Accuracy::Order {
        return 0.0;
    }
    let operand = |i: usize| operand_dims(computation, instruction.operands.get(i).copied());
    let picked = |dims: &[i64], which: &[i64]| {
        let sizes = which.iter().filter_map(|&d| dims.get(usize::try_from(d).ok()?));
        sizes.map(|&size| size_of_dim(size)).product()
    };
    match &instruction.op {
        Op::Dot(dot) => picked(&operand(0), &dot.lhs_contracting_dims),
        Op::RaggedDot(dot) => picked(&operand(0), &dot.lhs_contracting_dims),
        Op::ScaledDot(dot) => picked(&operand(0), &dot.lhs_contracting_dims),
        Op::Reduce(reduce) => picked(&operand(0), &reduce.dimensions),
        Op::ReduceWindow(reduce) => product(reduce.window.dims.iter().map(|d| d.size)),
        Op::SelectAndScatter(select) => product(select.window.dims.iter().map(|d| d.size)),
        Op::Convolution(conv) => {
            let features = picked(&operand(1), &[conv.dim_labels.rhs_input_feature]);
            product(conv.window.dims.iter().map(|d| d.size)) * features
        }
        Op::Fft(fft) => product(fft.fft_length.iter().copied()),
        // n terms in each of n steps, which hand their errors on.
        Op::Cholesky(_) | Op::TriangularSolve(_) => {
            let dims = operand(0);
            product(dims[dims.len().saturating_sub(2)..].iter().copied())
        }
        Op::AllReduce(_) | Op::AllReduceStart(_) | Op::ReduceScatter(_) => {
            members(module, &instruction.op)
        }
        Op::BatchNormInference(_) => 1.0,
        Op::BatchNormTraining(op) => one_feature(&operand(0), op.feature_index),
        Op::BatchNormGrad(op) => one_feature(&operand(0), op.feature_index),
        // Each output of these may depend on the whole operand.
        _ => product(operand(0).into_iter()),
    }
}

/// Members of the largest group of a collective op.
fn members(module: &Module, op: &Op) -> f64 {
    let groups = Groups::of(op, Grid::of(&module.config)).and_then(Result::ok);
    let most = groups.and_then(|groups| groups.groups.iter().map(Vec::len).max()).unwrap_or(1);
    f64::from(u32::try_from(most).unwrap_or(u32::MAX))
}

fn operand_dims(computation: &Computation, id: Option<InstructionId>) -> Vec<i64> {
    let shape = id.and_then(|id| computation.instructions[id].shape.array());
    shape.map(|array| array.dims.to_vec()).unwrap_or_default()
}
/// Elements of one feature: all dimensions but that of the features.
fn one_feature(dims: &[i64], feature_index: i64) -> f64 {
    product((0i64..).zip(dims).filter(|&(d, _)| d != feature_index).map(|(_, &size)| size))
}
fn product(sizes: impl Iterator<Item = i64>) -> f64 {
    sizes.map(size_of_dim).product()
}
/// A size as a float; at least 1, so that empty dimensions do not hide the others.
fn size_of_dim(size: i64) -> f64 {
    f64::from(u32::try_from(size.max(1)).unwrap_or(u32::MAX))
}
