//! The error model of a result: the length of the path to it, the terms of its sums, the types it
//! is rounded to.
use collectives::Groups;
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::op::{Accuracy, Kind, Op};
use hlo::{ElementType, Module, Opcode, Shape};
use interp::DeviceGrid;

/// The path length beyond which the bound does not grow.
pub(crate) const PATH_LIMIT: u32 = 256;

/// The error model of an array. Values of tuple shape have one for each leaf: the rounding of one
/// part of a result to 4 bits does not change the others.
#[expect(clippy::struct_excessive_bools, reason = "each holds or not, whatever the others")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorModel {
    /// Float operations on the longest path.
    pub(crate) path: u32,
    /// The largest number of terms of a sum.
    pub(crate) terms: f64,
    /// The unit roundoff of the coarsest type of an operation.
    pub(crate) roundoff: f64,
    /// The largest error of an operation, in units in the last place.
    pub(crate) ulps: u32,
    /// An operation sums terms, in an unspecified order.
    pub(crate) sums: bool,
    /// An operation is on complex numbers, whose parts have no separate bounds.
    pub(crate) complex: bool,
    /// All operations have a single correct result, that of the reference.
    pub(crate) exact: bool,
    /// All operations have the same bits in both engines that round correctly.
    pub(crate) same_bits: bool,
}

/// Ops that the engine `exact` computes in another order than the functions of the specification
/// do, or by the code of others.
const OWN_ORDER: [Opcode; 4] =
    [Opcode::Cholesky, Opcode::CustomCall, Opcode::Fft, Opcode::TriangularSolve];

impl ErrorModel {
    pub(crate) const NOTHING: Self = Self {
        path: 0,
        terms: 0.0,
        roundoff: 0.0,
        ulps: 0,
        sums: false,
        complex: false,
        exact: true,
        same_bits: true,
    };

    /// Returns the error model of each leaf of the module's result.
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
            same_bits: self.same_bits && other.same_bits,
        }
    }
    /// Returns this operation, then `next`.
    fn then(self, next: Self) -> Self {
        let path = self.path.saturating_add(next.path).min(PATH_LIMIT);
        Self { path, ..self.merge(next) }
    }
    /// Returns the error of the instruction itself for a leaf of this type.
    fn own(
        module: &Module,
        computation: &Computation,
        instruction: &Instruction,
        ty: Option<ElementType>,
    ) -> Self {
        let Some(ty) = ty.filter(|ty| ty.is_float() || ty.is_complex()) else {
            return Self::NOTHING;
        };
        let operands = operand_shapes(computation, instruction);
        let is_complex = |ty: ElementType| ty.is_complex();
        let complex = operands.iter().filter_map(|shape| shape.element_type()).any(is_complex)
            || ty.is_complex();
        if moves(&instruction.op, complex) {
            return Self::NOTHING;
        }
        let accuracy = instruction.opcode().accuracy();
        Self {
            path: instruction.opcode().roundings(),
            terms: terms(module, &instruction.op, &operands),
            roundoff: roundoff(ty),
            ulps: match accuracy {
                Accuracy::Ulp(n) => n,
                Accuracy::Exact | Accuracy::Order | Accuracy::Random => 0,
            },
            sums: matches!(accuracy, Accuracy::Order | Accuracy::Random),
            complex,
            exact: match accuracy {
                Accuracy::Exact => true,
                // The reference rounds real functions correctly; complex ones have bounds.
                Accuracy::Ulp(_) => !complex,
                Accuracy::Order | Accuracy::Random => false,
            },
            same_bits: !OWN_ORDER.contains(&instruction.opcode()),
        }
    }
}

/// Returns the unit roundoff of a float or complex type; 0 for others.
pub(crate) fn roundoff(ty: ElementType) -> f64 {
    if !ty.is_float() && !ty.is_complex() {
        return 0.0;
    }
    let format = ty.component().float_format();
    format.map_or(0.0, |format| (-f64::from(format.mantissa_bits) - 1.0).exp2())
}

struct Walk<'m> {
    module: &'m Module,
    done: Vec<Option<Vec<ErrorModel>>>,
}

fn merged<'a>(models: impl IntoIterator<Item = &'a ErrorModel>) -> ErrorModel {
    models.into_iter().copied().fold(ErrorModel::NOTHING, ErrorModel::merge)
}

impl Walk<'_> {
    /// Returns the error models of the root. Computations do not call themselves in a verified
    /// module, so this ends.
    fn computation(&mut self, id: ComputationId) -> Vec<ErrorModel> {
        if let Some(models) = &self.done[id.index()] {
            return models.clone();
        }
        let computation = &self.module.computations[id];
        let mut models: Vec<Vec<ErrorModel>> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let before: Vec<&[ErrorModel]> =
                instruction.operands.iter().map(|o| models[o.index()].as_slice()).collect();
            let own = self.instruction(computation, instruction, &before);
            models.push(own);
        }
        let root = models.swap_remove(computation.root.index());
        self.done[id.index()] = Some(root.clone());
        root
    }

    fn instruction(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        before: &[&[ErrorModel]],
    ) -> Vec<ErrorModel> {
        let leaves = instruction.shape.leaves();
        if let Some(models) = forwarded(computation, instruction, before)
            && models.len() == leaves.len()
        {
            return models;
        }
        let before = merged(before.iter().copied().flatten());
        let called = self.called(instruction);
        let all = merged(&called);
        let own = leaves.iter().enumerate().map(|(i, leaf)| {
            let called = if called.len() == leaves.len() { called[i] } else { all };
            let ty = leaf.element_type();
            before.then(called).then(ErrorModel::own(self.module, computation, instruction, ty))
        });
        own.collect()
    }

    /// Returns the error models of the computations that an instruction calls: leaf by leaf where
    /// the callee's result is its own, else of all together.
    fn called(&mut self, instruction: &Instruction) -> Vec<ErrorModel> {
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |id| callees.push(id));
        let opcode = instruction.opcode();
        let is_call = opcode.kind() == Kind::Control && opcode != Opcode::Scan;
        if let ([only], true) = (callees.as_slice(), is_call) {
            return self.computation(*only);
        }
        let all = callees
            .iter()
            .fold(ErrorModel::NOTHING, |all, &id| all.merge(merged(&self.computation(id))));
        // The number of iterations is unknown.
        let looped = opcode == Opcode::While && all.path > 0;
        vec![if looped { ErrorModel { path: PATH_LIMIT, ..all } } else { all }]
    }
}

/// Returns the error models of the result's leaves, where each is a leaf of an operand.
fn forwarded(
    computation: &Computation,
    instruction: &Instruction,
    before: &[&[ErrorModel]],
) -> Option<Vec<ErrorModel>> {
    if instruction.opcode() == Opcode::Tuple {
        return Some(before.concat());
    }
    let operand = before.first()?;
    if instruction.opcode().aliases_operand() {
        return Some(operand.to_vec());
    }
    let Op::GetTupleElement(get) = &instruction.op else { return None };
    let tuple = &computation.instructions[*instruction.operands.first()?].shape;
    let index = usize::try_from(get.index).ok()?;
    let skipped = tuple.tuple()?.iter().take(index).map(|s| s.leaves().len()).sum();
    let count = instruction.shape.leaves().len();
    operand.get(skipped..)?.get(..count).map(<[ErrorModel]>::to_vec)
}

/// Returns whether the op copies, compares or selects elements without computing on them.
fn moves(op: &Op, complex: bool) -> bool {
    if let Op::CustomCall(call) = op {
        // Annotations for partitioners, and the markers of manual regions.
        let target = call.custom_call_target.0.as_str();
        return target == "Sharding"
            || target.starts_with("SPMD")
            || target.starts_with("xla.sdy.");
    }
    // The magnitude of a complex number is a square root; that of a real number only changes its
    // sign.
    op.opcode().moves_data() || (op.opcode() == Opcode::Abs && !complex)
}

/// Returns the number of terms of an element's sum; 0 for an op without sums.
fn terms(module: &Module, op: &Op, operands: &[&Shape]) -> f64 {
    let members = Groups::of(op, DeviceGrid::of(&module.config)).and_then(Result::ok);
    let members = members.and_then(|groups| groups.groups.iter().map(Vec::len).max()).unwrap_or(1);
    let float = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    float(op.terms(operands)) * float(u64::try_from(members).unwrap_or(u64::MAX))
}

fn operand_shapes<'a>(computation: &'a Computation, instruction: &Instruction) -> Vec<&'a Shape> {
    instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect()
}
