//! Fusion: elementwise steps over one index space become one step, which holds the values between
//! them in tiles.
//!
//! Steps are visited in order. One joins the groups that compute its operands, and the group's step
//! stands where its last member stood. So a group is closed to further steps as soon as a step
//! outside it reads one of its values. Results of broadcasts, slices and widening conversions are
//! not stored for the members that read them, but read from their operands. A reduction of runs of
//! neighbors joins a group as its end. A group waits for all that its members
//! [wait for](super::waits).
use super::unallocated::{ArrayId, UnallocatedPlan, UnallocatedStep};
use super::waits::Waits;
use crate::plan::Action;
use hlo::ElementType;
use kernels::{
    Fused, FusedFn, FusedOperand, FusedPart, Fusion, Kernel, Method, Output, Read, Register, Walk,
};
use num::loops::{VectorLoop, WriteElements};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// The limit of members of a group. Their tiles are used again, so few values are in the cache at a
/// time.
const MOST_MEMBERS: usize = 256;
/// The limit of elements of a run that is reduced: it stays in the second cache.
const MOST_INNER: usize = 1 << 14;
/// The limit where only the widened elements of the run are in the cache: storing all of them takes
/// longer.
const MOST_WIDENED: usize = 1 << 16;

/// An operand that a member reads from outside its group.
#[derive(Clone)]
struct Outer {
    array: ArrayId,
    read: Read,
    /// The type that the bits of its elements are read as, which is not that of the array after a
    /// `bitcast-convert`.
    ty: ElementType,
    /// The type that it is converted to.
    convert: Option<(ElementType, VectorLoop)>,
}

impl Outer {
    /// Returns all that the elements depend on: the loop follows from the types.
    fn key(&self) -> (ArrayId, &Read, ElementType, Option<ElementType>) {
        let Self { array, read, ty, convert } = self;
        (*array, read, *ty, convert.as_ref().map(|(to, _)| *to))
    }
}

impl PartialEq for Outer {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

/// Steps that are computed together.
#[derive(Default)]
struct Group {
    members: Vec<Member>,
    /// Elements of its values.
    count: usize,
    /// Elements of each run that it reduces.
    inner: Option<usize>,
    is_closed: bool,
}

struct Member {
    step: usize,
    role: Role,
}

/// The computation of a member.
enum Role {
    Loop(VectorLoop),
    /// Elements that follow from their indices.
    Numbers(WriteElements),
    /// The bytes of its operand.
    Same,
    /// One element from each run of elements.
    Rows(Arc<Method>),
}

impl Role {
    fn is_rows(&self) -> bool {
        matches!(self, Self::Rows(_))
    }
    /// Returns how the member reads operand `k` from outside its group.
    fn outer(
        &self,
        plan: &UnallocatedPlan,
        step: &UnallocatedStep,
        k: usize,
        reads: &FxHashMap<ArrayId, Outer>,
    ) -> Outer {
        match self {
            // The first value of a reduction is taken as it is.
            Self::Rows(_) if k == 1 => {
                let array = step.inputs[1];
                Outer { array, read: Read::Scalar, ty: ty(plan, array), convert: None }
            }
            Self::Rows(method) => {
                let outer = outer(plan, step, k, reads);
                match outer.convert.is_some() && method.of_elements(outer.ty).is_some() {
                    true => Outer { convert: None, ..outer },
                    false => outer,
                }
            }
            Self::Loop(_) | Self::Numbers(_) | Self::Same => outer(plan, step, k, reads),
        }
    }
}

/// The groups of a plan.
struct Groups<'a> {
    plan: &'a UnallocatedPlan,
    all: Vec<Group>,
    /// The group of each array that a member computes, and whether the array has the elements of
    /// the group.
    of_array: FxHashMap<ArrayId, (usize, bool)>,
    /// How to read results that are not stored.
    reads: FxHashMap<ArrayId, Outer>,
    /// The waits of the steps, if some may wait.
    waits: Option<&'a Waits>,
}

impl UnallocatedPlan {
    /// Returns the plan with each group of elementwise steps as one step.
    pub(super) fn fused(mut self, waits: Option<&Waits>) -> Self {
        let mut groups = Groups {
            plan: &self,
            waits,
            all: Vec::new(),
            of_array: FxHashMap::default(),
            reads: FxHashMap::default(),
        };
        (0..self.steps.len()).for_each(|number| groups.visit(number));
        let (groups, reads) = groups.found();
        let mut uses: FxHashMap<ArrayId, usize> = FxHashMap::default();
        let read = self.steps.iter().flat_map(|step| &step.inputs).chain(&self.results);
        read.for_each(|&array| *uses.entry(array).or_default() += 1);
        let mut steps: Vec<Option<UnallocatedStep>> =
            std::mem::take(&mut self.steps).into_iter().map(Some).collect();
        for group in groups {
            let last = group.members.last().map_or(0, |member| member.step);
            let shape = (group.count, group.inner);
            let members = group.members.into_iter().map(|member| {
                (steps[member.step].take().expect("a step is in one group"), member.role)
            });
            steps[last] = Some(fuse(&self, shape, members.collect(), &reads, &uses));
        }
        self.steps.extend(steps.into_iter().flatten());
        self
    }
}

impl Groups<'_> {
    fn visit(&mut self, number: usize) {
        let step = &self.plan.steps[number];
        let result = step.outputs.first().and_then(|&array| self.plan.shape_of(array));
        let are_arrays = step.inputs.iter().all(|&array| self.plan.shape_of(array).is_some());
        let Some(result) = result.filter(|_| are_arrays) else { return self.close(&step.inputs) };
        let count = result.element_count().unwrap_or(0);
        if let Action::Bitcast = step.action {
            return self.bitcast(number, step);
        }
        let fusion = step.action.kernel().map_or(Fusion::None, Kernel::fusion);
        match fusion {
            // Each row is a run of the operand, or one element of it.
            Fusion::Walk(walk) if walk.line().is_some() => {
                let outer = self.walked(step.inputs[0], walk);
                self.reads.insert(step.outputs[0], outer);
                self.close(&step.inputs);
            }
            Fusion::None | Fusion::Walk(_) => self.close(&step.inputs),
            // A value is converted once as it is read.
            Fusion::Widen(function) if !self.is_computed(step.inputs[0]) => {
                self.close(&step.inputs);
                let outer = outer(self.plan, step, 0, &self.reads);
                let outer = Outer { convert: Some((result.ty, function)), ..outer };
                self.reads.insert(step.outputs[0], outer);
            }
            Fusion::Numbers(numbers) => {
                self.join(Member { step: number, role: Role::Numbers(numbers) }, count, None);
            }
            Fusion::Widen(function) | Fusion::Loop(function) => {
                self.join(Member { step: number, role: Role::Loop(function) }, count, None);
            }
            Fusion::Rows { inner, method } => {
                let is_apart = self.of_array.get(&step.inputs[1]).map(|(group, _)| group)
                    != self.of_array.get(&step.inputs[0]).map(|(group, _)| group)
                    || self.open(step.inputs[0]).is_none();
                let most = match self.open(step.inputs[0]) {
                    Some(_) => MOST_INNER,
                    None => MOST_WIDENED,
                };
                match inner <= most && is_apart && self.is_computed(step.inputs[0]) {
                    true => {
                        self.close(&step.inputs[1..]);
                        let member = Member { step: number, role: Role::Rows(method) };
                        self.join(member, count * inner, Some(inner));
                    }
                    false => self.close(&step.inputs),
                }
            }
        }
    }

    /// Returns whether an array is computed as it is read.
    fn is_computed(&self, array: ArrayId) -> bool {
        self.open(array).is_some()
            || self.reads.get(&array).is_some_and(|outer| outer.convert.is_some())
    }

    /// Returns how to read what a walk over an array reads.
    fn walked(&self, array: ArrayId, walk: Walk) -> Outer {
        let read = Read::of(walk);
        match self.reads.get(&array) {
            Some(outer) if outer.read == Read::Array => Outer { read, ..outer.clone() },
            Some(outer) if outer.read == Read::Scalar => outer.clone(),
            Some(_) | None => Outer { array, read, ty: ty(self.plan, array), convert: None },
        }
    }

    /// Adds a step that changes only the shape, where its operand has a place already.
    fn bitcast(&mut self, number: usize, step: &UnallocatedStep) {
        let (from, to) = (step.inputs[0], step.outputs[0]);
        if let Some(outer) = self.reads.get(&from) {
            let ty = ty(self.plan, to);
            let outer = match &outer.convert {
                None => Some(Outer { ty, ..outer.clone() }),
                // No loop converts to the bits of another type.
                Some((converted, _)) => (*converted == ty).then(|| outer.clone()),
            };
            self.reads.extend(outer.map(|outer| (to, outer)));
        }
        // It computes nothing, so it never begins a group.
        let fits = |group: &usize| {
            self.all[*group].members.len() < MOST_MEMBERS && self.may_join(*group, step)
        };
        match self.open(from).filter(fits) {
            Some(group) => {
                let count = self.all[group].count;
                self.join(Member { step: number, role: Role::Same }, count, None);
            }
            None => self.close(&[from]),
        }
    }

    /// Returns the group that computes an array as an array of its elements, if it is open.
    fn open(&self, array: ArrayId) -> Option<usize> {
        let &(group, has_elements) = self.of_array.get(&array)?;
        (has_elements && !self.all[group].is_closed).then_some(group)
    }
    fn close(&mut self, arrays: &[ArrayId]) {
        for array in arrays {
            if let Some(&(group, _)) = self.of_array.get(array) {
                self.all[group].is_closed = true;
            }
        }
    }

    /// Returns whether nothing waits for more if a step joins a group.
    fn may_join(&self, group: usize, step: &UnallocatedStep) -> bool {
        let members = self.all[group].members.iter().map(|member| &self.plan.steps[member.step]);
        self.waits.is_none_or(|waits| waits.may_join(members, step))
    }

    /// Adds a step to the groups that compute its operands, which become one.
    fn join(&mut self, member: Member, count: usize, inner: Option<usize>) {
        let step = &self.plan.steps[member.step];
        // The results of reductions are complete only when the group is.
        for array in &step.inputs {
            if let Some(&(group, false)) = self.of_array.get(array) {
                self.all[group].is_closed = true;
            }
        }
        let mut joined: SmallVec<[usize; 3]> =
            step.inputs.iter().filter_map(|&array| self.open(array)).collect();
        joined.sort_unstable();
        joined.dedup();
        let mut inner = inner;
        let (mut fitting, mut members) = (SmallVec::<[usize; 3]>::new(), 0);
        for number in joined {
            let may_join = self.may_join(number, step);
            let group = &mut self.all[number];
            let fits = may_join
                && group.count == count
                && (inner.is_none() || group.inner.is_none() || group.inner == inner)
                && members + group.members.len() < MOST_MEMBERS;
            if fits {
                inner = inner.or(group.inner);
                members += group.members.len();
                fitting.push(number);
            } else {
                group.is_closed = true;
            }
        }
        // The vector of the largest group is kept, and those of the others are freed, so that a
        // chain takes memory once.
        let largest = fitting.iter().copied().max_by_key(|&group| self.all[group].members.len());
        let members = largest.map(|group| std::mem::take(&mut self.all[group].members));
        let members = members.unwrap_or_default();
        let mut all = Group { members, count, inner, is_closed: false };
        for group in fitting {
            all.members.extend(std::mem::take(&mut self.all[group].members));
        }
        all.members.push(member);
        all.members.sort_unstable_by_key(|member| member.step);
        let number = self.all.len();
        for member in &all.members {
            let array = self.plan.steps[member.step].outputs[0];
            self.of_array.insert(array, (number, !member.role.is_rows()));
        }
        self.all.push(all);
    }

    /// Returns the groups that gain, and how to read results that are not stored.
    fn found(self) -> (Vec<Group>, FxHashMap<ArrayId, Outer>) {
        let Self { plan, all, reads, .. } = self;
        let mut groups = all;
        groups.retain(|group| match group.members.as_slice() {
            [] => false,
            [one] => plan.steps[one.step].inputs.iter().any(|array| reads.contains_key(array)),
            _ => true,
        });
        (groups, reads)
    }
}

/// Returns one step for the steps of a group over `count` elements, with runs of `inner`.
fn fuse(
    plan: &UnallocatedPlan,
    (count, inner): (usize, Option<usize>),
    members: Vec<(UnallocatedStep, Role)>,
    reads: &FxHashMap<ArrayId, Outer>,
    uses: &FxHashMap<ArrayId, usize>,
) -> UnallocatedStep {
    let outers = outers(plan, &members, reads);
    let mut parts: Vec<FusedPart> = Vec::new();
    let mut registers: FxHashMap<ArrayId, Register> = FxHashMap::default();
    let mut inner_uses: FxHashMap<ArrayId, usize> = FxHashMap::default();
    let (mut outputs, mut ends) = (Vec::new(), Vec::new());
    let (mut fuel, mut fuses, mut last_part) = (0u64, Vec::new(), None);
    for (mut step, role) in members {
        let operands =
            step.inputs.iter().enumerate().map(|(k, array)| match registers.get(array) {
                Some(&register) => {
                    *inner_uses.entry(*array).or_default() += 1;
                    register
                }
                None => {
                    let outer = role.outer(plan, &step, k, reads);
                    let found = outers.iter().position(|other| *other == outer);
                    found.expect("the operands from outside were listed")
                }
            });
        let operands: SmallVec<[Register; 3]> = operands.collect();
        let of_kernel = step.action.kernel().and_then(Kernel::computes).unwrap_or(0);
        fuel = fuel.saturating_add(step.fuel).saturating_add(of_kernel);
        fuses.push(step.site);
        last_part = step.part.take().or(last_part);
        let array = step.outputs[0];
        let mut part = |function, operands| {
            parts.push(FusedPart { function, operands, width: width(plan, array) });
            outers.len() + parts.len() - 1
        };
        let register = match role {
            Role::Loop(function) => part(FusedFn::Loop(function), operands),
            Role::Numbers(numbers) => part(FusedFn::Numbers(numbers), operands),
            Role::Same => operands[0],
            Role::Rows(method) => {
                ends.push((array, rows(plan, &step, &operands, &outers, method)));
                continue;
            }
        };
        registers.insert(array, register);
        outputs.push(array);
    }
    outputs.retain(|array| uses.get(array) > inner_uses.get(array));
    let arrays = outputs.iter().map(|array| (*array, Output::Array(registers[array])));
    let (outputs, results): (Vec<ArrayId>, Vec<Output>) = arrays.chain(ends).unzip();
    let inputs = outers.iter().map(|outer| outer.array).collect();
    let operands = outers.into_iter().map(|Outer { read, ty, convert, .. }| FusedOperand {
        read,
        width: ty.storage_bytes(),
        convert: convert.map(|(ty, function)| (function, ty.storage_bytes())),
    });
    let fused = Fused::new((count, inner), operands.collect(), &parts, results);
    let scratch = fused.scratch();
    UnallocatedStep {
        site: fuses.pop().expect("a group has members"),
        fuses,
        action: Action::Kernel(Box::new(fused)),
        inputs,
        outputs,
        bytes: None,
        scratch,
        applies: SmallVec::new(),
        fuel,
        part: last_part,
        is_whole: false,
    }
}

/// Returns what members read from outside their group. What may be computed in the memory of an
/// operand comes first.
fn outers(
    plan: &UnallocatedPlan,
    members: &[(UnallocatedStep, Role)],
    reads: &FxHashMap<ArrayId, Outer>,
) -> Vec<Outer> {
    let computed: FxHashSet<ArrayId> = members.iter().map(|(step, _)| step.outputs[0]).collect();
    let mut outers: Vec<Outer> = Vec::new();
    for (step, role) in members {
        let read = (0..step.inputs.len()).filter(|&k| !computed.contains(&step.inputs[k]));
        for outer in read.map(|k| role.outer(plan, step, k, reads)) {
            if !outers.contains(&outer) {
                outers.push(outer);
            }
        }
    }
    outers.sort_by_key(|outer| outer.read != Read::Array);
    outers
}

/// Returns the output of a reduction. The sum of widened floats is that of the floats.
fn rows(
    plan: &UnallocatedPlan,
    step: &UnallocatedStep,
    operands: &[Register],
    outers: &[Outer],
    method: Arc<Method>,
) -> Output {
    let from = outers.get(operands[0]).map(|outer| outer.ty);
    let method = from.and_then(|from| method.of_elements(from)).unwrap_or(method);
    let first = (operands[1], ty(plan, step.inputs[1]));
    Output::Rows { of: operands[0], first, method }
}

/// Returns how a step reads operand `k` from outside its group.
fn outer(
    plan: &UnallocatedPlan,
    step: &UnallocatedStep,
    k: usize,
    reads: &FxHashMap<ArrayId, Outer>,
) -> Outer {
    let array = step.inputs[k];
    // A `reshape` may be read from outside too: only a scalar among arrays is one element for all
    // indices.
    let is_scalar = |array| plan.shape_of(array).is_some_and(|array| array.rank() == 0);
    let read = match is_scalar(array) && !is_scalar(step.outputs[0]) {
        true => Read::Scalar,
        false => Read::Array,
    };
    match reads.get(&array) {
        Some(outer) if outer.read == Read::Array => Outer { read, ..outer.clone() },
        Some(outer) => outer.clone(),
        None => Outer { array, read, ty: ty(plan, array), convert: None },
    }
}

fn ty(plan: &UnallocatedPlan, array: ArrayId) -> ElementType {
    plan.shape_of(array).expect("a fused step computes arrays from arrays").ty
}

/// Returns the bytes of an element.
fn width(plan: &UnallocatedPlan, array: ArrayId) -> usize {
    ty(plan, array).storage_bytes()
}
