//! Steps on small arrays as one step, whose program holds the values between them at fixed places.
//!
//! A step of a machine takes longer than to compute a few elements. Steps are visited in order. A
//! small one joins the program that is open, whose step stands where its last member stood. So the
//! program is closed as soon as another step reads one of its values.
use super::lowering::Lowering;
use super::unallocated::{ArrayId, UnallocatedPlan, UnallocatedStep};
use crate::loops::{Member, SmallArray};
use crate::plan::Action;
use crate::value::Value;
use hlo::{ArrayShape, Opcode};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The bytes of the largest arrays that a member reads and computes: of larger ones, a step takes
/// little of the time.
const SMALL: usize = 1 << 13;
/// The most fuel of a member.
const FUEL: u64 = 1 << 14;
/// The numbers of members, reshapes not counted, for which a program is made.
const LEAST: usize = 6;
const MOST: usize = 2048;
/// The members that are left out before no program is made.
const ATTEMPTS: usize = 8;

impl UnallocatedPlan {
    /// Returns the plan with programs for small steps.
    pub(super) fn with_programs(mut self, lowering: &Lowering<'_>) -> Self {
        let mut uses: FxHashMap<ArrayId, usize> = FxHashMap::default();
        let read = self.steps.iter().flat_map(|step| &step.inputs).chain(&self.results);
        read.for_each(|&array| *uses.entry(array).or_default() += 1);
        let mut refused = FxHashSet::default();
        let mut found: Vec<(Vec<usize>, UnallocatedStep)> = Vec::new();
        let mut first = 0;
        while let Some(members) = self.next_members(first, &refused, lowering) {
            first = members.last().map_or(first, |last| last + 1);
            match self.program(&members, &uses, lowering) {
                Ok(step) => found.push((members, step)),
                Err(member) if refused.len() < ATTEMPTS => {
                    refused.insert(members[member]);
                    first = members[0];
                }
                Err(_) => {}
            }
        }
        let mut steps: Vec<Option<UnallocatedStep>> =
            std::mem::take(&mut self.steps).into_iter().map(Some).collect();
        for (members, step) in found {
            for &member in &members {
                steps[member] = None;
            }
            steps[members[members.len() - 1]] = Some(step);
        }
        self.steps.extend(steps.into_iter().flatten());
        self
    }

    /// Returns the members of the next program, from a step on.
    fn next_members(
        &self,
        first: usize,
        refused: &FxHashSet<usize>,
        lowering: &Lowering<'_>,
    ) -> Option<Vec<usize>> {
        let mut members: Vec<usize> = Vec::new();
        let mut computed: FxHashSet<ArrayId> = FxHashSet::default();
        // A large array that a member reads lives until the program has run. The program ends before
        // the next step outside of it, which may update the array where it is.
        let mut is_holding = false;
        let is_large = |&array: &ArrayId| {
            let info = &self.arrays[array];
            let may_be_taken = info.value.is_none() && !info.is_kept;
            may_be_taken && self.bytes(array).is_some_and(|bytes| bytes > SMALL)
        };
        let is_long = |members: &[usize]| {
            let computes = |&&member: &&usize| self.steps[member].action.kernel().is_some();
            members.iter().filter(computes).count() >= LEAST
        };
        for (number, step) in self.steps.iter().enumerate().skip(first) {
            if members.len() < MOST && !refused.contains(&number) && self.is_small(step, lowering) {
                members.push(number);
                computed.extend(&step.outputs);
                is_holding |= step.inputs.iter().any(is_large);
            } else if is_holding || step.inputs.iter().any(|array| computed.contains(array)) {
                if is_long(&members) {
                    return Some(members);
                }
                members.clear();
                computed.clear();
                is_holding = false;
            }
        }
        is_long(&members).then_some(members)
    }

    fn bytes(&self, array: ArrayId) -> Option<usize> {
        self.shape_of(array).and_then(ArrayShape::byte_count)
    }

    fn is_small(&self, step: &UnallocatedStep, lowering: &Lowering<'_>) -> bool {
        let is_kernel = matches!(step.action, Action::Kernel(_) | Action::Bitcast);
        let opcode = step.site.of(lowering.module()).opcode();
        let fits =
            |&array: &ArrayId| self.bytes(array).is_some_and(|bytes| (1..=SMALL).contains(&bytes));
        // Of a large array, a small part may be read.
        let skipped = usize::from(matches!(opcode, Opcode::DynamicSlice | Opcode::Slice));
        // How often a scatter applies its computation follows from its indices.
        is_kernel
            && opcode != Opcode::Scatter
            && step.is_whole
            && step.applies.is_empty()
            && step.fuel <= FUEL
            && step.inputs.iter().skip(skipped).chain(&step.outputs).all(fits)
    }

    /// Returns the step of members; the number of one that cannot be a member if there is none.
    fn program(
        &self,
        members: &[usize],
        uses: &FxHashMap<ArrayId, usize>,
        lowering: &Lowering<'_>,
    ) -> Result<UnallocatedStep, usize> {
        let steps = || members.iter().map(|&member| &self.steps[member]);
        let computed: FxHashSet<ArrayId> =
            steps().flat_map(|step| step.outputs.iter().copied()).collect();
        let mut inner_uses: FxHashMap<ArrayId, usize> = FxHashMap::default();
        let (mut arrays, mut inputs) = (Vec::new(), Vec::new());
        for &array in steps().flat_map(|step| &step.inputs) {
            let count = inner_uses.entry(array).or_default();
            *count += 1;
            if *count > 1 || computed.contains(&array) {
                continue;
            }
            arrays.push((
                array,
                match &self.arrays[array].value {
                    Some(Value::Array(value)) => SmallArray::Constant(value),
                    Some(Value::Tuple(_) | Value::Token | Value::Async(_)) => return Err(0),
                    None => {
                        inputs.push(array);
                        SmallArray::Operand(self.arrays[array].shape.as_deref().ok_or(0usize)?)
                    }
                },
            ));
        }
        let outputs: Vec<ArrayId> = (steps().flat_map(|step| step.outputs.iter().copied()))
            .filter(|array| uses.get(array) > inner_uses.get(array))
            .collect();
        let all = steps().map(|UnallocatedStep { site, inputs, outputs, fuel, .. }| Member {
            site: *site,
            operands: inputs,
            results: outputs,
            fuel: *fuel,
        });
        let all: Vec<Member<'_>> = all.collect();
        let program = lowering.program_of_steps(&arrays, &all, &outputs)?;
        let mut fuses: Vec<_> = steps().map(|step| step.site).collect();
        Ok(UnallocatedStep {
            site: fuses.pop().ok_or(0usize)?,
            fuses,
            scratch: program.bytes().unwrap_or(0),
            action: Action::Steps(Box::new(program)),
            inputs,
            outputs,
            bytes: None,
            applies: SmallVec::new(),
            fuel: 0,
            part: None,
            is_whole: false,
        })
    }
}
