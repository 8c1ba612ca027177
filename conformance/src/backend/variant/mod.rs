//! A backend of legal variants, to try that a judge accuses nobody of what the specification allows.
#![expect(clippy::wildcard_enum_match_arm, reason = "most ops have no variant")]
mod algebra;
mod edit;
mod excess;
mod linear;
mod order;
mod precision;
mod sums;
#[cfg(test)]
mod tests;
mod values;

use super::{Backend, Capabilities, LoadedModule, Result, compile_instead};
pub(crate) use edit::Edit;
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::Binary;
use hlo::{ElementType, Module, Op, Verified};
use interp::DeviceGrid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rewrites an instruction into one whose result another backend may compute; returns whether it
/// did.
type Variant = fn(&mut Edit<'_>) -> bool;

/// The variants that compute other ops, in the order in which they are tried on all instructions.
const FORMS: [Variant; 12] = [
    algebra::rewritten,
    algebra::by_reciprocal,
    precision::in_passes,
    sums::product,
    sums::reduction,
    sums::window,
    sums::convolution,
    linear::cholesky,
    linear::triangular_solve,
    order::sort,
    order::scatter,
    excess::unrounded,
];

/// The variants that change values, whose own instructions are exact.
const VALUES: [Variant; 6] = [
    values::flushed_operands,
    values::inaccurate,
    values::inaccurate_complex,
    values::by_root,
    values::flushed_result,
    values::negative_nan,
];

/// Another backend, with results that a legal backend may compute in place of its own.
///
/// It rewrites each module: sums are taken in another order, products are rounded or not, factors
/// are read with fewer bits where their precision permits, functions are off by what their op
/// allows, denormals are flushed, values keep excess precision, quotients are products, and
/// elements that are equal to a comparator change places. A pseudo-random function of the seed and
/// the name of an instruction decides what becomes of it.
pub struct VariantBackend {
    seed: u64,
    /// Whether all that an op rounds is off by a unit, too, which no backend is.
    moves: bool,
    backend: Box<dyn Backend>,
}

impl VariantBackend {
    /// Returns a backend with the variants of a seed.
    pub fn new(seed: u64, backend: Box<dyn Backend>) -> Self {
        Self { seed, moves: false, backend }
    }
    /// Returns a backend that moves each result that an op rounds by a unit in the last place, too.
    /// It shows how much the results of a module depend on rounding errors.
    pub(crate) fn moving(seed: u64, backend: Box<dyn Backend>) -> Self {
        Self { seed, moves: true, backend }
    }
}

impl Backend for VariantBackend {
    fn name(&self) -> String {
        format!("variant:{}", self.seed)
    }
    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        compile_instead(&mut *self.backend, vary(module.module(), self.seed, self.moves), grid)
    }
}

/// Returns a variant of a module.
fn vary(module: &Module, seed: u64, moves: bool) -> Result<Module, String> {
    let mut rewriter = ModuleRewriter::new(module);
    let fixed = fixed(module);
    let reducers = reducers(module);
    for id in rewriter.computation_ids().into_iter().filter(|id| !fixed.contains(id)) {
        vary_computation(rewriter.computation_mut(id), (seed, moves), &reducers);
    }
    rewriter.finish().map_err(|error| error.to_string())
}

/// Returns the computations that stay as they are: those of asynchronous ops, which have one
/// instruction, and the comparators of sorts, which must be an order.
fn fixed(module: &Module) -> BTreeSet<ComputationId> {
    let mut fixed = BTreeSet::new();
    for (_, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            if let Op::AsyncStart(_) | Op::Sort(_) = instruction.op {
                instruction.op.each_callee(&mut |id| {
                    fixed.insert(id);
                });
            }
        }
    }
    fixed
}

/// Returns the computations that add or multiply two floats or complex numbers.
pub(crate) fn reducers(module: &Module) -> BTreeMap<ComputationId, Binary> {
    let of = |(id, computation): (ComputationId, &hlo::ir::Computation)| {
        let root = &computation.instructions[computation.root];
        let Op::Binary(op) = root.op else { return None };
        let ty = root.shape.element_type().filter(|ty| ty.is_float() || ty.is_complex())?;
        let numbers = root.operands.iter().map(|&id| match &computation.instructions[id].op {
            Op::Parameter(parameter) => Some(parameter.number),
            _ => None,
        });
        let mut numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
        numbers.sort_unstable();
        let sums = op == Binary::Add || op == Binary::Multiply;
        (sums && numbers == [0, 1] && ty.bits() >= 16).then_some((id, op))
    };
    module.computations.iter().filter_map(of).collect()
}

fn vary_computation(
    computation: &mut ComputationRewriter,
    (seed, moves): (u64, bool),
    reducers: &BTreeMap<ComputationId, Binary>,
) {
    let original = computation.clone();
    let (mut wide, mut exact) = (BTreeMap::new(), BTreeSet::new());
    let moving: Option<Variant> = moves.then_some(values::by_a_unit);
    let variants = FORMS.iter().chain(&moving).chain(&VALUES);
    for (number, variant) in variants.enumerate() {
        let ids = computation.ids();
        for &at in ids.iter().filter(|at| !exact.contains(*at)) {
            let random = random(seed, number, &original, computation, at);
            let mut edit = Edit {
                computation: &mut *computation,
                at,
                random,
                original: &original,
                reducers,
                wide: &mut wide,
            };
            if moves && number == FORMS.len() || edit.random.bool() {
                variant(&mut edit);
            }
        }
        if number >= FORMS.len() {
            exact.extend(computation.ids().split_off(ids.len()));
        }
    }
}

/// Returns the choices of a variant of an instruction.
fn random(
    seed: u64,
    variant: usize,
    original: &ComputationRewriter,
    computation: &ComputationRewriter,
    at: InstructionId,
) -> fastrand::Rng {
    let instruction = computation.instruction(at);
    let ty = instruction.shape.element_type().map_or("", ElementType::name);
    let op = instruction.opcode().name();
    let names = [computation.name(), computation.instruction_name(at), op, ty];
    let bytes = names.into_iter().flat_map(|name| name.bytes().chain([0]));
    let own = if original.get(at).is_some() { 0 } else { at.index() };
    // FNV-1a.
    let hash = bytes
        .chain(own.to_le_bytes())
        .chain(variant.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64 ^ seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    fastrand::Rng::with_seed(hash)
}
