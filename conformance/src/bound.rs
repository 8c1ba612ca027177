//! How near another backend's result must come, derived from the module.
//!
//! - A module that only moves elements, compares and selects has one right result: every bit counts.
//! - Results that are whole numbers or truth values must be equal.
//! - Other floats may differ from the wanted array by `u * K * scale` in each element:
//!   - `u` is the unit roundoff (`2^-precision`: `2^-24` of f32, `2^-8` of bf16) of the *coarsest* float type among
//!     the instructions that feed the result, since a value that was once rounded to bf16 is no better afterwards.
//!   - `scale` is the largest finite magnitude of the wanted array: where terms cancel, the error stays of the size of
//!     the terms, not of the result.
//!   - `K = 8 + 2 p + 4 sqrt(t)`. `p` counts the float operations on the longest path to the result, at most
//!     [`PATH_LIMIT`]: each may round once, and backends may fuse `a*b+c` into one rounding or use another polynomial
//!     for a function. The body of a `while` counts as the limit, for its number of turns is not known. `t` is the
//!     largest number of terms that one operation sums (contracted elements of a dot, reduced elements, places of a
//!     window): the error of a sum in another order grows as the square root of its terms.
//!
//! This is an estimate of what correct backends may differ by, not a proof: reports show the error that was measured
//! beside the bound.
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::op::{Accuracy, Op};
use hlo::{ElementType, Module, Opcode, Shape};

/// The longest path that still widens the bound.
pub(crate) const PATH_LIMIT: u32 = 256;

/// How near a result must come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Unit roundoff of the coarsest float type on the way.
    pub(crate) roundoff: f64,
    /// Roundoffs allowed; none if every bit counts.
    pub(crate) factor: Option<f64>,
}

impl Tolerance {
    /// Every bit counts, except that all NaN are alike.
    pub const EXACT: Self = Self { roundoff: 0.0, factor: None };

    /// What another backend's result may differ by.
    pub fn of(module: &Module) -> Self {
        let facts = Facts::of(module);
        if facts.moves_only {
            return Self::EXACT;
        }
        let path = f64::from(facts.path.min(PATH_LIMIT));
        Self { roundoff: facts.roundoff, factor: Some(8.0 + 2.0 * path + 4.0 * facts.terms.sqrt()) }
    }
    /// What the reference engine's result may differ by from one that was written down: nothing, unless an operation
    /// is inexact by nature.
    pub fn of_reference(module: &Module) -> Self {
        if Facts::of(module).exact { Self::EXACT } else { Self::of(module) }
    }
    /// The allowed error of an array of this type, relative to the largest magnitude in it; 0 if every bit counts.
    pub fn relative(&self, ty: ElementType) -> f64 {
        self.factor.map_or(0.0, |factor| factor * self.roundoff.max(roundoff(ty)))
    }
}

/// Unit roundoff of a float or complex type; 0 of others.
fn roundoff(ty: ElementType) -> f64 {
    if !ty.is_float() && !ty.is_complex() {
        return 0.0;
    }
    let format = ty.component().float_format();
    format.map_or(0.0, |format| (-f64::from(format.mantissa_bits) - 1.0).exp2())
}

/// What is known of the way to a value.
#[derive(Debug, Clone, Copy)]
struct Facts {
    /// Float operations on the longest way.
    path: u32,
    /// Most terms of one sum.
    terms: f64,
    /// Of the coarsest type.
    roundoff: f64,
    /// Only movement, comparison and selection.
    moves_only: bool,
    /// Only operations with one right result.
    exact: bool,
}

impl Facts {
    const NOTHING: Self =
        Self { path: 0, terms: 0.0, roundoff: 0.0, moves_only: true, exact: true };

    fn of(module: &Module) -> Self {
        let count = module.computations.len();
        Walk { module, done: vec![None; count] }.computation(module.entry)
    }
    fn merge(self, other: Self) -> Self {
        Self {
            path: self.path.max(other.path),
            terms: self.terms.max(other.terms),
            roundoff: self.roundoff.max(other.roundoff),
            moves_only: self.moves_only && other.moves_only,
            exact: self.exact && other.exact,
        }
    }
}

struct Walk<'m> {
    module: &'m Module,
    done: Vec<Option<Facts>>,
}

impl Walk<'_> {
    /// Facts of the root. Computations do not call themselves in a verified module, so this ends.
    fn computation(&mut self, id: ComputationId) -> Facts {
        if let Some(facts) = self.done[id.index()] {
            return facts;
        }
        let computation = &self.module.computations[id];
        let mut facts: Vec<Facts> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let operands = instruction.operands.iter().map(|o| facts[o.index()]);
            let before = operands.fold(Facts::NOTHING, Facts::merge);
            let own = self.instruction(computation, instruction, before);
            facts.push(own);
        }
        let root = facts[computation.root.index()];
        self.done[id.index()] = Some(root);
        root
    }

    fn instruction(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        before: Facts,
    ) -> Facts {
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |id| callees.push(id));
        let called = callees.iter().map(|&id| self.computation(id));
        let called = called.fold(Facts::NOTHING, Facts::merge);
        let looped = instruction.opcode() == Opcode::While && called.path > 0;
        let counted = !moves(instruction.opcode()) && has_floats(&instruction.shape);
        let exact = instruction.opcode().accuracy() == Accuracy::Exact;
        let own = Facts {
            path: u32::from(counted),
            terms: terms(computation, instruction),
            roundoff: coarsest(&instruction.shape),
            moves_only: !counted,
            exact: exact || !has_floats(&instruction.shape),
        };
        let path = if looped { PATH_LIMIT } else { called.path };
        let path = before.path.saturating_add(path).saturating_add(own.path).min(PATH_LIMIT);
        Facts { path, ..before.merge(called).merge(own) }
    }
}

/// Whether the op moves, compares or selects elements without computing on them. What ops that call do is known from
/// the computations they call.
fn moves(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Abs
            | O::Negate
            | O::Real
            | O::Imag
            | O::Complex
            | O::IsFinite
            | O::Compare
            | O::Select
            | O::AddDependency
            | O::AfterAll
            | O::AllGather
            | O::AllToAll
            | O::Bitcast
            | O::BitcastConvert
            | O::Broadcast
            | O::Call
            | O::CollectiveBroadcast
            | O::CollectivePermute
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

fn float_types(shape: &Shape) -> impl Iterator<Item = ElementType> {
    let types = shape.leaves().into_iter().filter_map(Shape::element_type);
    types.filter(|ty| ty.is_float() || ty.is_complex())
}
fn has_floats(shape: &Shape) -> bool {
    float_types(shape).next().is_some()
}
fn coarsest(shape: &Shape) -> f64 {
    float_types(shape).map(roundoff).fold(0.0, f64::max)
}

/// Terms that one element of the result is summed from; 0 of an op that sums nothing.
fn terms(computation: &Computation, instruction: &Instruction) -> f64 {
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
        // Each output of these may depend on the whole operand.
        _ => product(operand(0).into_iter()),
    }
}

fn operand_dims(computation: &Computation, id: Option<InstructionId>) -> Vec<i64> {
    let shape = id.and_then(|id| computation.instructions[id].shape.array());
    shape.map(|array| array.dims.to_vec()).unwrap_or_default()
}
fn product(sizes: impl Iterator<Item = i64>) -> f64 {
    sizes.map(size_of_dim).product()
}
/// A size as a float; at least 1, so that empty dimensions do not hide the others.
fn size_of_dim(size: i64) -> f64 {
    f64::from(u32::try_from(size.max(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    fn of(body: &str) -> Tolerance {
        Tolerance::of(&Module::parse(body).unwrap())
    }

    #[test]
    fn movement_is_exact() {
        let text = "HloModule m\nENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] reverse(p), dimensions={0} }";
        assert_eq!(of(text), Tolerance::EXACT);
    }

    #[test]
    fn a_path_and_a_sum_widen_the_bound() {
        let text = "HloModule m\nENTRY e { p = f32[16] parameter(0) q = f32[16] add(p, p)
            ROOT r = f32[] dot(q, q), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
        assert_eq!(of(text).factor, Some(8.0 + 2.0 * 2.0 + 4.0 * 4.0));
        assert_eq!(of(text).relative(ElementType::F32), 28.0 / f64::from(1 << 24));
    }

    #[test]
    fn the_coarsest_type_counts() {
        let text = "HloModule m\nENTRY e { p = f32[2] parameter(0) q = bf16[2] convert(p) ROOT r = f32[2] convert(q) }";
        assert_eq!(of(text).roundoff, 1.0 / 256.0);
    }

    #[test]
    fn a_loop_counts_as_the_limit() {
        let text = "HloModule m
            b { p = f32[] parameter(0) ROOT r = f32[] multiply(p, p) }
            c { p = f32[] parameter(0) ROOT r = pred[] compare(p, p), direction=LT }
            ENTRY e { p = f32[] parameter(0) ROOT w = f32[] while(p), condition=c, body=b }";
        assert_eq!(of(text).factor, Some(8.0 + 2.0 * f64::from(PATH_LIMIT)));
    }

    #[test]
    fn the_reference_is_held_to_the_bit_on_exact_ops() {
        let module = |op: &str| {
            Module::parse(&format!(
                "HloModule m\nENTRY e {{ p = f32[] parameter(0) ROOT r = f32[] {op}(p) }}"
            ))
            .unwrap()
        };
        assert_eq!(Tolerance::of_reference(&module("floor")), Tolerance::EXACT);
        assert!(Tolerance::of_reference(&module("tanh")).factor.is_some());
    }
}
