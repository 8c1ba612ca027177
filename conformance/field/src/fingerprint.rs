//! Hashes of what instructions compute: equal for the same instructions under other names.
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::Kind;
use hlo::{Module, Op};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The hashes of the computations of a module that were asked for.
#[derive(Debug)]
pub struct Fingerprints<'m> {
    module: &'m Module,
    computations: HashMap<ComputationId, u64>,
    /// Whether computations have effects, of those that were asked for.
    effects: HashMap<ComputationId, bool>,
}

/// Returns whether an instruction has an effect besides its result, whatever it calls, or another result
/// each time.
fn has_own_effect(instruction: &Instruction) -> bool {
    let is_call = matches!(&instruction.op, Op::CustomCall(op) if op.custom_call_has_side_effect);
    let talks = matches!(
        instruction.op,
        Op::Infeed(_)
            | Op::Outfeed(_)
            | Op::Send(_)
            | Op::SendDone(_)
            | Op::Recv(_)
            | Op::RecvDone(_)
    );
    is_call || talks || matches!(instruction.opcode().kind(), Kind::Collective | Kind::Random)
}

impl<'m> Fingerprints<'m> {
    /// Returns hashes of this module, of which none is known yet.
    #[must_use]
    pub fn new(module: &'m Module) -> Self {
        Self { module, computations: HashMap::new(), effects: HashMap::new() }
    }

    /// Hashes what the result of the module depends on: the instructions with their shapes and
    /// layouts, and what the header says of devices.
    pub fn module(&mut self) -> u64 {
        let config = &self.module.config;
        // A schedule says in which order devices communicate.
        let is_scheduled = config.is_scheduled && self.has_effects(self.module.entry);
        let devices = (config.replica_count, config.num_partitions);
        hashed(&(devices, is_scheduled, self.computation(self.module.entry)))
    }

    /// Hashes an instruction with the computations that it calls, without its operands.
    pub fn instruction(&mut self, instruction: &Instruction) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{}", instruction.shape).hash(&mut hasher);
        instruction.op.each_callee(&mut |id| self.computation(id).hash(&mut hasher));
        own(instruction).hash(&mut hasher);
        hasher.finish()
    }

    /// Hashes the result of a computation, and its effects.
    pub fn computation(&mut self, id: ComputationId) -> u64 {
        if let Some(&known) = self.computations.get(&id) {
            return known;
        }
        let module = self.module;
        let hash = self.result(&module.computations[id]);
        self.computations.insert(id, hash);
        hash
    }

    /// Returns whether an instruction has an effect besides its result.
    fn has_effect(&mut self, instruction: &Instruction) -> bool {
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |id| callees.push(id));
        has_own_effect(instruction) || callees.into_iter().any(|id| self.has_effects(id))
    }

    /// Returns whether a computation has an effect besides its result.
    fn has_effects(&mut self, id: ComputationId) -> bool {
        if let Some(&known) = self.effects.get(&id) {
            return known;
        }
        let module = self.module;
        let found =
            module.computations[id].instructions.iter().any(|(_, own)| self.has_effect(own));
        self.effects.insert(id, found);
        found
    }

    /// Hashes the result of a computation, and its effects in their order: operands come before what
    /// they are operands of.
    fn result(&mut self, computation: &Computation) -> u64 {
        let mut hashes: Vec<u64> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let own = self.instruction(instruction);
            let operands: Vec<u64> =
                instruction.operands.iter().map(|operand| hashes[operand.index()]).collect();
            hashes.push(hashed(&(own, operands)));
        }
        let root = hashes.get(computation.root.index()).copied().unwrap_or_default();
        let all = computation.instructions.iter().zip(&hashes);
        let effects = all.filter(|((_, own), _)| self.has_effect(own));
        let effects: Vec<u64> = effects.map(|(_, &hash)| hash).collect();
        if effects.is_empty() { root } else { hashed(&(root, effects)) }
    }
}

/// Hashes an op with its attributes, and what a custom call says to its target.
pub(crate) fn own(instruction: &Instruction) -> u64 {
    let is_call = matches!(instruction.op, Op::CustomCall(_));
    let config = instruction.common.as_deref().filter(|_| is_call);
    let config = config.map(|of| {
        format!("{:?} {:?} {:?}", of.backend_config, of.frontend_attributes, of.sharding)
    });
    hashed(&(attributes(&instruction.op), config))
}

/// Hashes an op with its attributes, and the elements of a constant, without what it calls.
pub fn attributes(op: &Op) -> u64 {
    if let Op::Constant(constant) = op {
        let mut hasher = DefaultHasher::new();
        match &*constant.value {
            ConstantValue::Literal(literal) => {
                for leaf in literal.leaves().into_iter().filter(|leaf| !leaf.is_empty()) {
                    leaf.bytes().hash(&mut hasher);
                }
            }
            ConstantValue::Elided(shape) => format!("elided {shape}").hash(&mut hasher),
        }
        return hasher.finish();
    }
    let mut op = op.clone();
    op.each_callee_mut(&mut |id| *id = ComputationId::new(0));
    hashed(&format!("{op:?}"))
}

/// Hashes a text by FNV-1a: the same on every machine and in every version.
pub fn stable_hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Hashes a value; the same in each run of the same build.
pub fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entry: &str) -> u64 {
        let text = format!(
            "HloModule m\nadd {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}\nENTRY e {{ x = s32[4] parameter(0) z = s32[] constant(0) {entry} }}"
        );
        Fingerprints::new(&Module::parse(&text).unwrap()).module()
    }

    #[test]
    fn names_and_dead_code_do_not_count() {
        let reduced = "ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=add";
        assert_eq!(of(reduced), of(&reduced.replace(" r ", " other ")));
        assert_eq!(of(reduced), of(&format!("dead = s32[4] negate(x) {reduced}")));
    }

    #[test]
    fn effects_count() {
        let base = "ROOT r = s32[4] negate(x)";
        let fed = format!(
            "t = token[] after-all() o = token[] outfeed(x, t), outfeed_shape=s32[4] {base}"
        );
        assert_ne!(of(base), of(&fed));
        assert_eq!(of(&fed), of(&fed.replace(" o ", " other ")));
    }

    #[test]
    fn what_a_target_is_told_counts() {
        let call = |config: &str| {
            of(&format!(
                "ROOT c = s32[4] custom-call(x), custom_call_target=\"f\", backend_config=\"{config}\""
            ))
        };
        assert_ne!(call("lower"), call("upper"));
        assert_eq!(call("lower"), call("lower"));
    }

    #[test]
    fn random_numbers_of_two_instructions_differ() {
        let rng = |name: &str| format!("{name} = s32[] rng(z, z), distribution=rng_uniform ");
        let two = of(&format!("{}{}ROOT r = s32[] subtract(a, b)", rng("a"), rng("b")));
        assert_ne!(two, of(&format!("{}ROOT r = s32[] subtract(a, a)", rng("a"))));
        assert_eq!(two, of(&format!("{}{}ROOT r = s32[] subtract(c, d)", rng("c"), rng("d"))));
    }

    #[test]
    fn operands_constants_layouts_and_callees_count() {
        let base = of("y = s32[4] negate(x) ROOT r = s32[4] subtract(x, y)");
        assert_ne!(base, of("y = s32[4] negate(x) ROOT r = s32[4] subtract(y, x)"));
        let one = |value: &str| of(&format!("ROOT c = s32[2] constant({value})"));
        assert_ne!(one("{1, 2}"), one("{1, 3}"));
        let reduce = |op: &str| {
            let text = format!(
                "HloModule m\nf {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] {op}(a, b) }}\nENTRY e {{ x = s32[4] parameter(0) z = s32[] constant(0) ROOT r = s32[] reduce(x, z), dimensions={{0}}, to_apply=f }}"
            );
            Fingerprints::new(&Module::parse(&text).unwrap()).module()
        };
        assert_ne!(reduce("add"), reduce("multiply"));
    }
}
