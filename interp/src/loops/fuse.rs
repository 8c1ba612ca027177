//! Fusion in a program: operations on the elements of arrays that are not tiny become one, which
//! holds the values between them in tiles, as the steps of a plan do.
//!
//! Operations are visited in order. One joins the groups that compute its operands, and the group's
//! operation stands where its last member stood. So a group is closed as soon as an operation
//! outside it reads one of its values, or writes what it reads. What a walk moves is read from where
//! it comes from.
#![expect(clippy::wildcard_enum_match_arm, reason = "other operations are no members")]
use super::Block;
use super::chain::{Chain, is_link};
use super::memory::{Image, LoopCopy, Place};
use super::operation::{Elementwise, FusedCall, KernelCall, Move, Operation, Source};
use hlo::ElementType;
use kernels::{
    Fused, FusedFn, FusedOperand, FusedPart, Fusion, Kernel, Method, Output, Read, Register,
};
use num::loops::VectorLoop;
use num::scalar_program::step::ElementStep;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::mem::take;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The bytes of the smallest result of a member: a call takes as long as a few operations on less.
/// Code takes members that are instructions of vectors as soon as their vectors are many.
const LEAST: usize = 1 << 11;
/// The bytes above which a constant takes more of the cache than a tile of its elements.
const LONG: usize = 1 << 12;
/// The bytes of a line that is read as fast by a walk as by copies.
const LINE: usize = 256;
/// The limit of members of a group. Their tiles are used again, so few values are in the cache at a
/// time.
const MOST_MEMBERS: usize = 256;
/// The elements of a run that is reduced: shorter ones are reduced beside one another, of which a
/// tile has few.
const INNER: RangeInclusive<usize> = 1 << 7..=1 << 14;

/// Fuses operations of the blocks of a program, which reads `kept` beside them; returns the most bytes
/// that one of them works in.
pub(super) fn fuse(
    mut blocks: Vec<&mut Block>,
    (image, kernels): (&Image, &mut [KernelCall]),
    kept: impl Iterator<Item = Place>,
) -> usize {
    let mut pass = Pass { image, kernels, uses: FxHashMap::default(), scratch: 0 };
    kept.for_each(|place| pass.count(place));
    for block in &blocks {
        pass.count_in(block);
    }
    for block in &mut blocks {
        pass.block(block);
    }
    pass.scratch
}

/// What an operation reads or writes: the array at a byte of the block, or a large array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Small(usize),
    Large(usize),
}

impl Key {
    fn small(self) -> Option<usize> {
        match self {
            Self::Small(start) => Some(start),
            Self::Large(_) => None,
        }
    }
}

/// An operand of a member.
#[derive(Clone)]
struct Operand {
    source: Source,
    /// The array that it is, or that which a walk moves.
    key: Key,
    read: Read,
    width: usize,
    /// The array that a walk fills, in whose place it is read.
    moved: Option<usize>,
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        let place = |source: Source| source.small().map(|place| place.start);
        (self.key, place(self.source), &self.read, self.width)
            == (other.key, place(other.source), &other.read, other.width)
    }
}

/// The computation of a member.
enum Role {
    Loop(VectorLoop, Option<ElementStep>),
    /// One element from each run of so many elements, from a value of a type on.
    Rows(Arc<Method>, usize, ElementType),
}

/// An operation that may become a part of another.
struct Member {
    at: usize,
    role: Role,
    operands: SmallVec<[Operand; 3]>,
    result: Place,
    /// Elements that it reads of an array.
    count: usize,
    kernel: Option<usize>,
}

#[derive(Default)]
struct Group {
    members: Vec<Member>,
    count: usize,
    inner: Option<usize>,
    is_closed: bool,
}

/// The groups of a block.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    /// The group that computes an array, and whether the array has the elements of the group.
    of_array: FxHashMap<usize, (usize, bool)>,
    readers: FxHashMap<Key, SmallVec<[usize; 2]>>,
    /// How to read what walks move.
    moved: FxHashMap<usize, Operand>,
    /// From where walks move.
    sources: FxHashSet<Key>,
}

struct Pass<'a> {
    image: &'a Image,
    kernels: &'a mut [KernelCall],
    /// How often an array is read.
    uses: FxHashMap<usize, usize>,
    scratch: usize,
}

impl Pass<'_> {
    fn count(&mut self, place: Place) {
        for array in self.image.arrays_in(place) {
            *self.uses.entry(array.start).or_default() += 1;
        }
    }
    fn count_in(&mut self, block: &Block) {
        for operation in &block.operations {
            operation.places(self.kernels).0.into_iter().for_each(|place| self.count(place));
            match operation {
                Operation::Repeat(repeat) => {
                    self.count(repeat.condition.value);
                    self.count_in(&repeat.condition.block);
                    self.count_in(&repeat.body);
                }
                Operation::Branch { selector, branches, .. } => {
                    self.count(*selector);
                    for branch in branches {
                        self.count_in(branch);
                    }
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &mut Block) {
        let mut groups = Groups::default();
        for (at, operation) in block.operations.iter_mut().enumerate() {
            match operation {
                Operation::Repeat(repeat) => {
                    groups.close_all();
                    self.block(&mut repeat.condition.block);
                    self.block(&mut repeat.body);
                }
                Operation::Branch { branches, .. } => {
                    groups.close_all();
                    for branch in branches {
                        self.block(branch);
                    }
                }
                _ => self.visit(&mut groups, at, operation),
            }
        }
        groups.all.retain(|group| match group.members.as_slice() {
            [] => false,
            [one] => one.operands.iter().any(|operand| operand.moved.is_some()),
            _ => true,
        });
        if !groups.all.is_empty() {
            self.replace(block, groups.all);
        }
    }

    fn visit(&self, groups: &mut Groups, at: usize, operation: &Operation) {
        if let Some(member) = self.member(at, operation, groups) {
            return groups.join(member);
        }
        let (read, written) = operation.places(self.kernels);
        for array in read.into_iter().flat_map(|place| self.image.arrays_in(place)) {
            groups.close_writer(array.start);
        }
        if let Operation::Move(Move { walk: Some((walk, [from, to])), copies, .. }) = operation
            && copies.iter().all(|copy| is_long(copy, to.bytes / walk.count().max(1)))
        {
            let (key, source, read) =
                (self.key(*from), Source::Small(*from), Read::of(walk.clone()));
            let width = to.bytes / walk.count().max(1);
            let operand = Operand { source, key, read, width, moved: Some(to.start) };
            groups.sources.insert(key);
            groups.moved.insert(to.start, operand);
            return;
        }
        let small = written.into_iter().flat_map(|place| self.image.arrays_in(place));
        for key in small
            .map(|array| Key::Small(array.start))
            .chain(self.updated(operation).map(Key::Large))
        {
            groups.write(key);
        }
    }

    /// Returns the large array that an operation changes.
    fn updated(&self, operation: &Operation) -> Option<usize> {
        match operation {
            Operation::Move(Move { to: Some(window), .. }) => window.array.large(),
            Operation::Kernel(number) => {
                let call = &self.kernels[*number];
                call.callee.is_update().then(|| call.operands[0].0.large()).flatten()
            }
            _ => None,
        }
    }

    fn key(&self, place: Place) -> Key {
        Key::Small(self.image.array_at(place.start).map_or(place.start, |array| array.place.start))
    }

    /// Returns an operation as a member of a group; `None` if it cannot be one.
    fn member(&self, at: usize, operation: &Operation, groups: &Groups) -> Option<Member> {
        let operand = |source: Source, (bytes, count): (usize, usize), is_one: bool| {
            let width = bytes / count;
            let Source::Small(place) = source else {
                let read = if is_one { Read::Scalar } else { Read::Array };
                return Operand { source, key: self.key_of(source), read, width, moved: None };
            };
            let moved = groups.moved.get(&place.start).filter(|_| !is_one);
            let is_near = |moved: &&Operand| bytes >= LEAST || moved.read == Read::Scalar;
            moved.filter(|moved| moved.width == width).filter(is_near).cloned().unwrap_or_else(
                || {
                    let is_one = is_one || self.is_even(place, width);
                    let read = if is_one { Read::Scalar } else { Read::Array };
                    Operand { source, key: self.key(place), read, width, moved: None }
                },
            )
        };
        let number = match operation {
            Operation::Elementwise(operation) if is_member(operation) => {
                let result = operation.result;
                let ty = self.image.array_at(result.start)?.ty;
                let count = result.bytes / ty.storage_bytes();
                let all = operation.operands.iter();
                let operands = all.map(|&of| operand(Source::Small(of), (of.bytes, count), false));
                let role = Role::Loop(operation.function.clone(), operation.step.clone());
                let operands = operands.collect();
                return Some(Member { at, role, operands, result, count, kernel: None });
            }
            Operation::Kernel(number) | Operation::Compute(number) => *number,
            _ => return None,
        };
        let call = &self.kernels[number];
        let [(result, shape)] = call.results.as_slice() else { return None };
        let mut count = shape.element_count()?;
        let role = match call.callee.kernel()?.fusion() {
            Fusion::Loop(function) | Fusion::Widen(function) if result.bytes >= LEAST => {
                Role::Loop(function, None)
            }
            Fusion::Rows { inner, method } => {
                let [(source, _), (first, of)] = call.operands.as_slice() else { return None };
                let group = |source: &Source| groups.of_array.get(&source.small()?.start);
                let open = groups.open(source.small()?.start)?;
                let is_apart = group(first).is_none_or(|(group, _)| *group != open);
                (INNER.contains(&inner) && is_apart).then_some(())?;
                count *= inner;
                Role::Rows(method, inner, of.ty)
            }
            _ => return None,
        };
        let mut operands = SmallVec::new();
        for (k, (source, of)) in call.operands.iter().enumerate() {
            let is_first = matches!(role, Role::Rows(..)) && k == 1;
            let is_one = is_first || of.rank() == 0 && shape.rank() > 0;
            let elements = of.element_count()?;
            (is_one || elements == count).then_some(())?;
            operands.push(operand(*source, (of.byte_count()?, elements), is_one));
        }
        Some(Member { at, role, operands, result: *result, count, kernel: Some(number) })
    }
    fn key_of(&self, source: Source) -> Key {
        match source {
            Source::Small(place) => self.key(place),
            Source::Large(number) => Key::Large(number),
        }
    }
    /// Returns whether a place is a constant of equal elements, which are more than a tile of them.
    fn is_even(&self, place: Place, width: usize) -> bool {
        let bytes = self.image.constant(place).filter(|bytes| bytes.len() > LONG);
        bytes.is_some_and(|bytes| bytes[width..] == bytes[..bytes.len() - width])
    }

    /// Puts one operation in the place of the last member of each group, and removes the others, and
    /// walks whose results only groups read.
    fn replace(&mut self, block: &mut Block, groups: Vec<Group>) {
        let mut operations: Vec<Option<Operation>> =
            take(&mut block.operations).into_iter().map(Some).collect();
        let mut moved: FxHashMap<usize, usize> = FxHashMap::default();
        for group in groups {
            for member in &group.members {
                // What computes bytes from bytes is charged with the block.
                operations[member.at] = None;
                if let Some(number) = member.kernel {
                    let call = &mut self.kernels[number];
                    (call.operands, call.results) = (Vec::new(), Vec::new());
                }
                let walks = member.operands.iter().filter_map(|operand| operand.moved);
                walks.for_each(|array| *moved.entry(array).or_default() += 1);
            }
            let last = group.members.last().map_or(0, |member| member.at);
            operations[last] = self.fused(group).map(|call| Operation::Fused(Box::new(call)));
        }
        for operation in &mut operations {
            if let Some(Operation::Move(Move { walk: Some((_, [_, to])), .. })) = operation
                && let Some(count) = moved.get(&to.start)
                && self.uses.get(&to.start) == Some(count)
            {
                *operation = None;
            }
        }
        block.operations.extend(operations.into_iter().flatten());
    }

    /// Returns the operation of a group, if anything outside reads what it computes.
    fn fused(&mut self, group: Group) -> Option<FusedCall> {
        let Group { members, count, inner, .. } = group;
        let computed: FxHashSet<usize> = members.iter().map(|member| member.result.start).collect();
        let is_inner = |operand: &Operand| {
            operand.moved.is_none()
                && operand.key.small().is_some_and(|start| computed.contains(&start))
        };
        let mut outers: Vec<Operand> = Vec::new();
        for operand in members.iter().flat_map(|member| &member.operands) {
            if !is_inner(operand) && !outers.contains(operand) {
                outers.push(operand.clone());
            }
        }
        outers.sort_by_key(|operand| operand.read != Read::Array);
        let mut parts: Vec<FusedPart> = Vec::new();
        let mut registers: FxHashMap<usize, Register> = FxHashMap::default();
        let mut inner_uses: FxHashMap<usize, usize> = FxHashMap::default();
        let (mut arrays, mut rows) = (Vec::new(), Vec::new());
        let mut steps = Vec::new();
        for Member { role, operands, result, .. } in members {
            let mut register = |operand: &Operand| match operand.key {
                Key::Small(start) if is_inner(operand) => {
                    *inner_uses.entry(start).or_default() += 1;
                    registers[&start]
                }
                _ => outers.iter().position(|outer| outer == operand).unwrap_or(0),
            };
            let operands: SmallVec<[Register; 3]> = operands.iter().map(&mut register).collect();
            match role {
                Role::Loop(function, step) => {
                    steps.push(step.map(|step| (step, operands.clone())));
                    let (function, width) = (FusedFn::Loop(function), result.bytes / count);
                    registers.insert(result.start, outers.len() + parts.len());
                    arrays.push((result, Output::Array(outers.len() + parts.len())));
                    parts.push(FusedPart { function, operands, width });
                }
                Role::Rows(method, _, ty) => {
                    steps.push(None);
                    let first = (operands[1], ty);
                    rows.push((result, Output::Rows { of: operands[0], first, method }));
                }
            }
        }
        arrays.retain(|(place, _)| self.uses.get(&place.start) > inner_uses.get(&place.start));
        let (outputs, results): (Vec<Place>, Vec<Output>) = arrays.into_iter().chain(rows).unzip();
        let inputs = outers.iter().map(|outer| outer.source).collect();
        let array = |result: &Output| match result {
            Output::Array(register) => Some(*register),
            Output::Rows { .. } => None,
        };
        let are_lines = outers.iter().all(|outer| !matches!(outer.read, Read::Walk(_)));
        let steps: Option<Vec<_>> = steps.into_iter().collect();
        let chain = steps.filter(|_| are_lines).zip(results.iter().map(array).collect());
        let is_one = outers.iter().map(|outer| outer.read == Read::Scalar);
        let chain = chain.and_then(|(steps, outputs)| Chain::new(count, is_one, steps, outputs));
        let operands = outers.into_iter().map(|Operand { read, width, .. }| FusedOperand {
            read,
            width,
            convert: None,
        });
        (!outputs.is_empty()).then_some(())?;
        let kernel = Fused::new((count, inner), operands.collect(), &parts, results);
        self.scratch = self.scratch.max(kernel.scratch());
        Some(FusedCall::new((kernel, chain), inputs, outputs))
    }
}

/// Returns whether an operation may be a member.
fn is_member(Elementwise { step, operands, result, .. }: &Elementwise) -> bool {
    let bytes = operands.iter().map(|place| place.bytes).fold(result.bytes, usize::max);
    result.bytes >= LEAST || step.as_ref().is_some_and(|step| is_link(step, bytes))
}

/// Returns whether a walk over elements of this width reads a line of neighbors, or of one element.
fn is_long(copy: &LoopCopy, width: usize) -> bool {
    let is_one = copy.bytes == width && copy.steps == [0, width];
    copy.bytes >= LINE || is_one && copy.count * width >= LINE
}

impl Member {
    fn inner(&self) -> Option<usize> {
        match self.role {
            Role::Loop(..) => None,
            Role::Rows(_, inner, _) => Some(inner),
        }
    }
}

impl Groups {
    /// Returns the group that computes an array as an array of its elements, if it is open.
    fn open(&self, array: usize) -> Option<usize> {
        let &(group, has_elements) = self.of_array.get(&array)?;
        (has_elements && !self.all[group].is_closed).then_some(group)
    }
    fn close_writer(&mut self, array: usize) {
        if let Some(&(group, _)) = self.of_array.get(&array) {
            self.all[group].is_closed = true;
        }
    }
    fn close_all(&mut self) {
        self.all.iter_mut().for_each(|group| group.is_closed = true);
        self.moved.clear();
    }
    /// Closes the groups that an operation changes an array for.
    fn write(&mut self, key: Key) {
        for &group in self.readers.get(&key).into_iter().flatten() {
            self.all[group].is_closed = true;
        }
        if let Key::Small(array) = key {
            self.close_writer(array);
            // It is no longer what a walk has moved there.
            self.moved.remove(&array);
        }
        if self.sources.remove(&key) {
            self.moved.retain(|_, operand| operand.key != key);
        }
    }

    /// Adds an operation to the groups that compute its operands, which become one.
    fn join(&mut self, member: Member) {
        let mut joined: SmallVec<[usize; 3]> = SmallVec::new();
        for operand in &member.operands {
            let Key::Small(array) = operand.key else { continue };
            match self
                .open(array)
                .filter(|_| operand.moved.is_none() && operand.read == Read::Array)
            {
                Some(group) => joined.push(group),
                // The results of reductions are complete only when the group is.
                None => self.close_writer(array),
            }
        }
        joined.sort_unstable();
        joined.dedup();
        let mut all = Group { count: member.count, inner: member.inner(), ..Group::default() };
        for number in joined {
            let group = &mut self.all[number];
            let fits = group.count == all.count
                && (all.inner.is_none() || group.inner.is_none() || group.inner == all.inner)
                && all.members.len() + group.members.len() < MOST_MEMBERS;
            if fits {
                all.inner = all.inner.or(group.inner);
                all.members.append(&mut group.members);
            }
            group.is_closed = true;
        }
        all.members.push(member);
        all.members.sort_unstable_by_key(|member| member.at);
        let number = self.all.len();
        for member in &all.members {
            self.of_array.insert(member.result.start, (number, member.inner().is_none()));
            for operand in &member.operands {
                self.readers.entry(operand.key).or_default().push(number);
            }
        }
        self.all.push(all);
    }
}
