//! The configuration of a module: each one draws its own ops, types, sizes and devices, so that
//! rare combinations occur.
use super::data::Regime;
use crate::CapabilityMap;
use hlo::op::Kind;
use hlo::{ElementType, Opcode, Shape};
use std::sync::Arc;

/// The contents that modules may have.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The weight of an op; 1 for those that are not listed. 0 leaves it out where no other op
    /// needs it; an op with any other weight may be in each module.
    pub weights: Vec<(Opcode, u32)>,
    /// Whether to leave out what backends may define in different ways: computations that reduce in
    /// an order of their own, comparators that are no order, initial values that are no identity,
    /// random numbers.
    pub portable: bool,
    /// The number of devices that a module may have; none for any number.
    pub devices: Option<usize>,
    /// The ops that modules may have; any, if there are none. Others may be needed to feed these.
    pub ops: Vec<Opcode>,
    /// The element types that modules may have, besides `pred` and `s32`, which choose and index;
    /// any, if there are none.
    pub types: Vec<ElementType>,
    /// Ops of types that modules leave out.
    pub capabilities: Arc<CapabilityMap>,
}

impl Options {
    /// Returns whether modules may have an element type.
    fn allows(&self, ty: ElementType) -> bool {
        let needed = [ElementType::Pred, ElementType::S32].contains(&ty);
        let asked = self.types.is_empty() || self.types.contains(&ty) || needed;
        asked && !self.capabilities.lacks_type(ty)
    }
    /// Returns whether modules may have an op.
    fn has(&self, op: Opcode) -> bool {
        (self.ops.is_empty() || self.ops.contains(&op)) && !self.capabilities.lacks_op(op)
    }
}

/// The limits and choices of one module.
#[expect(clippy::struct_excessive_bools, reason = "each is drawn, whatever the others")]
#[derive(Debug)]
pub(super) struct Config {
    /// Ops and their weights.
    pub(super) ops: Vec<(Opcode, u32)>,
    pub(super) types: Vec<ElementType>,
    pub(super) max_rank: usize,
    pub(super) max_size: i64,
    pub(super) max_elements: i64,
    /// Whether arrays may be large; there are few instructions then.
    pub(super) is_large: bool,
    pub(super) instructions: usize,
    pub(super) max_depth: usize,
    pub(super) replicas: usize,
    pub(super) partitions: usize,
    /// The values of constants.
    pub(super) regime: Regime,
    pub(super) portable: bool,
    /// One in this number of instructions gets a twin; none for 0.
    pub(super) twins: usize,
    /// Whether results are stated in layouts of their own.
    pub(super) layouts: bool,
    /// Whether results may take the memory of arguments.
    pub(super) donates: bool,
    /// Whether loops run for thousands of rounds.
    pub(super) repeats: bool,
    /// The element types that are left out.
    pub(super) excluded: Vec<ElementType>,
    /// Ops of types that are left out.
    pub(super) capabilities: Arc<CapabilityMap>,
}

/// Types of many backends; half of the modules have no others.
const COMMON: [ElementType; 12] = {
    use ElementType::{Bf16, C64, F16, F32, F64, Pred, S8, S32, S64, U8, U32, U64};
    [F32, S32, Pred, F64, Bf16, F16, S8, U8, U32, S64, U64, C64]
};

impl Config {
    pub(super) fn draw(rng: &mut fastrand::Rng, options: &Options) -> Self {
        let is_large = rng.u8(..24) == 0;
        let max_size = if is_large { 1 << 18 } else { [3, 5, 8, 20, 70][rng.usize(..5)] };
        let max_elements = match max_size {
            _ if is_large => [6000, 20_000, 70_000, 140_000][rng.usize(..4)],
            9.. => 2500,
            _ => 200,
        };
        let devices = devices(rng, options.devices);
        let (replicas, partitions) = if is_large { (1, 1) } else { devices };
        let mut ops = ops(rng, options, replicas * partitions > 1);
        let is_given = options.weights.iter().any(|(op, _)| *op == Opcode::While);
        let repeats = !is_given && options.has(Opcode::While) && rng.u8(..6) == 0;
        if repeats {
            let total: u32 = ops.iter().map(|(_, weight)| weight).sum();
            ops.push((Opcode::While, 1 + total / 12));
        }
        Self {
            ops,
            types: types(rng, options),
            max_rank: 1 + rng.usize(..4),
            max_size,
            max_elements,
            is_large,
            instructions: if is_large { 4 } else { [3, 8, 15, 30][rng.usize(..4)] },
            max_depth: rng.usize(..4).max(usize::from(repeats)),
            replicas,
            partitions,
            regime: Regime::ALL[rng.usize(..Regime::ALL.len())],
            portable: options.portable,
            twins: [0, 6, 2][rng.usize(..3)],
            layouts: !options.portable && rng.u8(..3) == 0,
            donates: !options.portable && rng.u8(..3) == 0,
            repeats,
            excluded: ElementType::ALL.iter().copied().filter(|&ty| !options.allows(ty)).collect(),
            capabilities: Arc::clone(&options.capabilities),
        }
    }
    /// Returns whether an instruction needs what is left out.
    pub(super) fn excludes(&self, op: &str, shape: &Shape, operands: &[&Shape]) -> bool {
        let excluded = |shape: &Shape| {
            let mut types = shape.leaves().into_iter().filter_map(Shape::element_type);
            types.any(|ty| self.excluded.contains(&ty))
        };
        let lacks = |op| self.capabilities.lacks_any(op, shape, operands);
        excluded(shape) || Opcode::from_name(op).is_some_and(lacks)
    }
}

fn types(rng: &mut fastrand::Rng, options: &Options) -> Vec<ElementType> {
    let all = if rng.bool() { &COMMON[..] } else { ElementType::ALL };
    let asked = |of: &[ElementType]| -> Vec<ElementType> {
        let is_asked = |ty: &ElementType| options.types.is_empty() || options.types.contains(ty);
        of.iter().copied().filter(|ty| is_asked(ty) && options.allows(*ty)).collect()
    };
    let all = [all, ElementType::ALL].into_iter().map(asked).find(|all| !all.is_empty());
    let Some(all) = all else { return Vec::new() };
    let count = 1 + rng.usize(..5);
    let mut types: Vec<ElementType> = (0..count).map(|_| all[rng.usize(..all.len())]).collect();
    if rng.bool() && (options.types.is_empty() || options.types.contains(&ElementType::F32)) {
        types.push(ElementType::F32);
    }
    types.retain(|&ty| options.allows(ty));
    types
}

/// Each op is in a module with the probability of that module.
fn ops(rng: &mut fastrand::Rng, options: &Options, many: bool) -> Vec<(Opcode, u32)> {
    let share = [0.1, 0.4, 0.8][rng.usize(..3)];
    let weight = |op: Opcode| {
        let given = options.weights.iter().rev().find(|(other, _)| *other == op);
        (given.map_or(1, |&(_, weight)| weight), given.is_some())
    };
    let mut ops = Vec::new();
    for &op in Opcode::ALL {
        let (in_module, factor) = (rng.f64() < share, rng.u32(1..4));
        let across = matches!(op.kind(), Kind::Collective | Kind::Transfer | Kind::Device);
        let factor = if across && many { 3 * factor } else { factor };
        let (weight, is_given) = weight(op);
        let weight = weight.saturating_mul(factor);
        let is_asked = is_given || !options.ops.is_empty();
        let is_used = in_module || (across && many) || is_asked;
        if is_used && weight > 0 && options.has(op) {
            ops.push((op, weight));
        }
    }
    if ops.is_empty() {
        ops.push((options.ops.first().copied().unwrap_or(Opcode::Add), 1));
    }
    ops
}

/// One device in three of four modules.
fn devices(rng: &mut fastrand::Rng, most: Option<usize>) -> (usize, usize) {
    const GRIDS: [(usize, usize); 6] = [(2, 1), (1, 2), (2, 2), (3, 1), (4, 1), (1, 4)];
    let drawn = if rng.u8(..4) > 0 { (1, 1) } else { GRIDS[rng.usize(..GRIDS.len())] };
    if most.is_some_and(|most| drawn.0 * drawn.1 > most) { (1, 1) } else { drawn }
}
