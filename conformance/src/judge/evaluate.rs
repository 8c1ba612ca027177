//! Evaluation of a module over ranges: computation by computation, instruction by instruction.
#![expect(clippy::wildcard_enum_match_arm, reason = "ops without a rule are unsupported")]
use super::accuracy::Accuracies;
use super::anchors::Anchors;
use super::interval::Interval;
use super::modes::{Mode, Modes};
use super::needed::{is_started, needed};
use super::range::{Cause, CauseKind, Range, is_whole, wide};
use super::regions::Part;
use super::runner::Runner;
use super::seen::{self, Factors};
use super::site::Site;
use super::transfers::received;
use super::unrepresentable::unrepresentable;
use super::whole::Decisions;
use super::{
    Stop, batch_norm, control, custom, decides, devices, dynamic, elementwise, fold, linear, moved,
    narrowed, products, random, rewrites, scan, scatter, sort, sums, topk, transform,
};
use collectives::spmd::{Boundary, Program};
use hlo::ir::{ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::{Accuracy, Binary, CustomCall, Kind, Op};
use hlo::{ArrayShape, ElementType, Literal, Module, Opcode, Scalar, Shape, Verified};
use interp::DeviceGrid;
use std::sync::Arc;

/// Instructions that one evaluation may take: a loop of more rounds is not judged by its bound.
const MOST_INSTRUCTIONS: u64 = 100_000;

/// The ranges of the leaves of a value.
pub(super) type Leaves = Vec<Range>;

/// An evaluation of a module in which a backend may use some modes.
pub(super) struct Evaluator<'m> {
    pub(super) module: &'m Module,
    pub(super) modes: Modes,
    pub(super) runner: Runner,
    /// The promises of the backend.
    accuracies: &'m Accuracies,
    /// The instructions whose values are exact.
    pub(super) anchors: Arc<Anchors>,
    /// Whether each leaf of the entry's result is asked for, if not all are.
    asked: Option<Vec<bool>>,
    /// Whether errors of sums grow with the square root of the number of terms, as they typically
    /// do, not as in the worst case.
    typical: bool,
    count: u64,
    /// Whether an open decision, or another choice, was taken.
    pub(super) has_choices: bool,
    pub(super) factors: Factors,
    pub(super) decisions: Decisions,
    /// Whether another evaluation goes on with its results.
    pub(super) is_inner: bool,
    /// The device that runs what is evaluated, if it is known.
    pub(super) device: Option<usize>,
    /// How the results are divided between the devices of a partitioned module, if they are.
    boundary: Option<Arc<Boundary>>,
    /// What is evaluated of a program with manual regions.
    pub(super) part: Option<Part<'m>>,
}

impl<'m> Evaluator<'m> {
    pub(super) fn new(module: &'m Module, modes: Modes, accuracies: &'m Accuracies) -> Self {
        Self {
            module,
            modes,
            runner: Runner::default(),
            accuracies,
            anchors: Arc::default(),
            asked: None,
            typical: false,
            count: 0,
            has_choices: false,
            factors: Factors::default(),
            decisions: Decisions::default(),
            is_inner: false,
            device: None,
            boundary: None,
            part: None,
        }
    }
    /// Returns an evaluation of a module, or of the parts of a program with manual regions, if it is
    /// one.
    pub(super) fn of_program(
        verified: &'m Verified,
        parts: Option<&'m Program>,
        modes: Modes,
        accuracies: &'m Accuracies,
    ) -> Self {
        let module = parts.map_or(verified.module(), |program| program.outer().module());
        Self { part: parts.map(Part::Outer), ..Self::new(module, modes, accuracies) }
    }
    /// Divides the results between the devices of a partitioned module.
    pub(super) fn divided(self, boundary: Option<Arc<Boundary>>) -> Self {
        Self { boundary, ..self }
    }
    /// Restricts the evaluation to some leaves of the entry's result; the others are not computed.
    pub(super) fn asked_for(self, leaves: Vec<bool>) -> Self {
        Self { asked: Some(leaves), ..self }
    }
    /// Bounds what errors typically are, not what they may be.
    pub(super) fn typical(self) -> Self {
        Self { typical: true, count: 0, factors: Factors::default(), ..self }
    }
    /// Returns the number of roundings that sums of so many add up.
    pub(super) fn roundings(&self, count: f64) -> f64 {
        if self.typical { count.sqrt() } else { count }
    }
    /// Replaces the modes; compiled instructions are kept.
    pub(super) fn with_modes(self, modes: Modes) -> Self {
        Self { modes, count: 0, ..self }
    }

    /// Returns the allowed error of a function, in units in the last place.
    pub(super) fn accuracy(&self, op: Opcode, ty: ElementType) -> f64 {
        let own = match op.accuracy() {
            Accuracy::Ulp(ulps) => f64::from(ulps),
            Accuracy::Exact | Accuracy::Order | Accuracy::Random => 0.0,
        };
        let stated = self.accuracies.of(op, ty);
        self.formula(own).max(if self.modes.has(Mode::StatedAccuracy) { stated } else { 0.0 })
    }
    /// Returns the values of a function of floats that may have the error of its op, or the one that
    /// the backend states. A function of a type of fewer than 32 bits is computed in `f32`, or in a
    /// mode in that type.
    pub(super) fn inaccurate(&self, op: Opcode, ty: ElementType, x: Interval) -> Interval {
        let own = match op.accuracy() {
            Accuracy::Ulp(ulps) => self.formula(f64::from(ulps)),
            Accuracy::Exact | Accuracy::Order | Accuracy::Random => 0.0,
        };
        let narrow = ty.bits() < 32;
        let near = Modes::inaccurate(if narrow { ElementType::F32 } else { ty }, x, own);
        let in_element = narrow && self.modes.has(Mode::ElementFunctions);
        let element = if in_element { own.min(1.0) } else { 0.0 };
        let stated = self.modes.has(Mode::StatedAccuracy);
        let stated = if stated { self.accuracies.of(op, ty) } else { 0.0 };
        let far = Modes::inaccurate(ty, x, element.max(stated));
        if far.is_point() {
            return near;
        }
        Interval { lo: near.lo.min(far.lo), hi: near.hi.max(far.hi) }
    }
    /// Returns an error that formulas of functions have, where functions need not be correctly
    /// rounded.
    pub(super) fn formula(&self, error: f64) -> f64 {
        if self.modes.has(Mode::FunctionAccuracy) { error } else { 0.0 }
    }

    /// Returns the legal values of the module's results, of one device or of several, one after the
    /// other.
    pub(super) fn entry(&mut self, arguments: &[Vec<Literal>]) -> Result<Leaves, Stop> {
        self.check_sizes()?;
        let of = |literal: &Literal| literal.leaves().into_iter().map(Range::exact).collect();
        let arguments: Vec<Vec<Leaves>> =
            arguments.iter().map(|list| list.iter().map(of).collect()).collect();
        let (module, entry) = (self.module, self.module.entry);
        let count = DeviceGrid::of(&module.config).len();
        let has_all = arguments.len() == count;
        if has_all && devices::exchange(module, entry) {
            let results = devices::call(self, entry, &arguments)?;
            return Ok(results.into_iter().flatten().collect());
        }
        if !has_all && arguments.len() > 1 && devices::depend_on_devices(module, entry) {
            let reason = format!("{} results of a module for {count} devices", arguments.len());
            return Err(Stop::Module(reason));
        }
        if let (Some(boundary), [global]) = (self.boundary.clone(), arguments.as_slice()) {
            let results = self.call(entry, global.clone(), None)?;
            let shard = |(device, leaf): (usize, usize)| {
                results[leaf].map(&|end| boundary.leaf(device, leaf, end))
            };
            let devices = 0..boundary.devices();
            let leaves = devices.flat_map(|device| (0..results.len()).map(move |i| (device, i)));
            return Ok(leaves.map(shard).collect());
        }
        // The devices do not depend on each other.
        let mut results = Leaves::new();
        for (device, arguments) in arguments.into_iter().enumerate() {
            self.device = has_all.then_some(device);
            results.extend(self.call(entry, arguments, None)?);
        }
        Ok(results)
    }

    /// Returns for each instruction of a computation, whose scalars may be vectors, whether its value
    /// is needed. Other forms of an instruction read what an anchor is computed from.
    pub(super) fn needed(&self, id: ComputationId, lanes: Option<i64>) -> Vec<bool> {
        let asked = self.asked.as_deref().filter(|_| id == self.module.entry);
        let ends_there = lanes.is_none() && !self.modes.has(Mode::AlgebraicRewrites);
        let is_known = |at| ends_there && self.anchors.has((id, at));
        needed(self.module, &self.module.computations[id], asked, &is_known)
    }

    /// Returns the legal values of a computation's result; with `lanes`, of one whose scalars are
    /// vectors.
    pub(super) fn call(
        &mut self,
        id: ComputationId,
        mut arguments: Vec<Leaves>,
        lanes: Option<i64>,
    ) -> Result<Leaves, Stop> {
        let computation = &self.module.computations[id];
        if let Some(lanes) = lanes
            && !computation.instructions.iter().all(|(_, instruction)| takes_lanes(instruction))
        {
            return self.call_each(id, &arguments, lanes);
        }
        let mut uses = vec![0u32; computation.instructions.len()];
        for (_, instruction) in computation.instructions.iter() {
            for read in narrowed::read(computation, instruction) {
                uses[read.index()] += 1;
            }
        }
        uses[computation.root.index()] += 1;
        for (at, _) in computation.instructions.iter() {
            if let Some(from) = received(self.module, computation, at) {
                uses[from.sent.index()] += 1;
            }
        }
        let mut values: Vec<Leaves> = Vec::with_capacity(uses.len());
        let needed = self.needed(id, lanes);
        for (at, instruction) in computation.instructions.iter() {
            let site = Site { computation, id, at, lanes };
            if !needed[at.index()] {
                values.push(site.nothing());
                continue;
            }
            let value = if let Some(known) = self.anchors.ranges(site) {
                known
            } else if let Op::Parameter(parameter) = &instruction.op {
                let number = usize::try_from(parameter.number).unwrap_or(usize::MAX);
                let argument = arguments.get_mut(number).map(std::mem::take);
                site.or_any(&[], argument.ok_or_else(|| site.unsupported("a parameter")))?
            } else if let Some(from) = received(self.module, computation, at) {
                let own = from.is_own().then(|| with_token(site, &values[from.sent.index()]));
                site.or_any(&[], own.ok_or_else(|| site.unsupported("what another device sends")))?
            } else {
                let operands: Vec<&Leaves> =
                    instruction.operands.iter().map(|id| &values[id.index()]).collect();
                let value = self.evaluated(site, &operands)?;
                self.in_either_form(site, value, &|id| values.get(id.index()))
            };
            values.push(value);
            // What nothing uses any more is freed, unless another form may use it.
            if self.modes.has(Mode::AlgebraicRewrites) {
                continue;
            }
            for read in narrowed::read(computation, instruction) {
                uses[read.index()] -= 1;
                if uses[read.index()] == 0 {
                    values[read.index()] = Vec::new();
                }
            }
        }
        Ok(values.swap_remove(computation.root.index()))
    }

    /// Returns what an evaluation of another module gives, which may be a part of a program, in the same
    /// modes.
    pub(super) fn in_module<'n, T>(
        &mut self,
        module: &'n Module,
        part: Option<Part<'n>>,
        evaluate: impl FnOnce(&mut Evaluator<'n>) -> T,
    ) -> T
    where
        'm: 'n,
    {
        let mut inner = Evaluator {
            typical: self.typical,
            count: self.count,
            device: self.device,
            part,
            factors: std::mem::take(&mut self.factors),
            decisions: std::mem::take(&mut self.decisions),
            is_inner: true,
            ..Evaluator::new(module, self.modes, self.accuracies)
        };
        let result = evaluate(&mut inner);
        self.count = inner.count;
        self.has_choices |= inner.has_choices;
        self.factors = inner.factors;
        self.decisions = inner.decisions;
        result
    }

    /// Returns the legal values of a computation that is applied to one element after the other,
    /// with vectors for its scalars.
    fn call_each(
        &mut self,
        id: ComputationId,
        arguments: &[Leaves],
        lanes: i64,
    ) -> Result<Leaves, Stop> {
        let scalar = |range: &Range, lane: usize| {
            let element = fold::picked(range, 1, std::iter::once(lane));
            element.shape().map_or(Range::nothing(), |shape| {
                fold::reshaped(&element, &ArrayShape::new(shape.ty, [].as_slice()))
            })
        };
        let mut results: Vec<Leaves> = Vec::new();
        for lane in 0..usize::try_from(lanes).unwrap_or(0) {
            let element =
                |leaves: &Leaves| leaves.iter().map(|range| scalar(range, lane)).collect();
            results.push(self.call(id, arguments.iter().map(element).collect(), None)?);
        }
        let computation = &self.module.computations[id];
        let leaves = computation.instructions[computation.root].shape.leaves();
        let leaf = |(i, leaf): (usize, &&Shape)| match leaf.array() {
            Some(array) => {
                let vector = ArrayShape::new(wide(array.ty), [lanes].as_slice());
                let each = results.iter().map(|result| result[i].clone());
                fold::stacked(&vector, 0, &each.collect::<Vec<_>>())
            }
            None => Range::nothing(),
        };
        Ok(leaves.iter().enumerate().map(leaf).collect())
    }

    /// Adds the legal values of an instruction's other form, and removes those of a selection that
    /// its comparison excludes.
    pub(super) fn in_either_form(
        &self,
        site: Site<'m>,
        mut value: Leaves,
        values: rewrites::Values<'_>,
    ) -> Leaves {
        if let (Some(narrowed), [own]) =
            (narrowed::narrowed(self.modes, site, values), value.as_mut_slice())
        {
            *own = narrowed.because(own.cause.take());
        }
        if !self.modes.has(Mode::AlgebraicRewrites) {
            return value;
        }
        let Some(other) = rewrites::rewritten(self, site, values) else { return value };
        value.into_iter().map(|own| Range::any_of(&[own, other.clone()])).collect()
    }

    /// Returns the legal values of an instruction, with their cause if it loses them.
    pub(super) fn evaluated(
        &mut self,
        site: Site<'m>,
        operands: &[&Leaves],
    ) -> Result<Leaves, Stop> {
        // Those of the entry run once: it is what they call that may run too often.
        let in_entry = site.id == self.module.entry;
        self.count += u64::from(!in_entry);
        if self.count > MOST_INSTRUCTIONS && !in_entry {
            return Err(Stop::Module("the module runs too many instructions".to_owned()));
        }
        let value = self.instruction(site, operands);
        self.has_choices |=
            value.as_ref().map_or(true, |value| decides::is_open(site, operands, value));
        let value = match value {
            Err(Stop::Module(reason)) if in_entry => {
                let reason = format!("{}: {reason}", site.computation.path(site.at));
                if decides::any_call(self.module, &site.instruction().op) {
                    let (path, kind) = (reason.as_str().into(), CauseKind::Unbounded);
                    return Ok(unknown(site, Some(Cause { path, kind })));
                }
                Err(Stop::NoRule(reason))
            }
            value => value,
        };
        let mut value = match value {
            Err(Stop::NoRule(_)) => return site.or_any(operands, value),
            value => value?,
        };
        follow(site, operands, &mut value);
        self.written(site, &mut value);
        unrepresentable(site, &mut value);
        for range in &mut value {
            name_cause(site, range);
        }
        Ok(value)
    }
    /// Adds the zeros that an op may write in place of denormals that it computes.
    pub(super) fn written(&self, site: Site<'m>, value: &mut Leaves) {
        if !computes(site.instruction()) {
            return;
        }
        let leaves = site.instruction().shape.leaves();
        for (range, leaf) in value.iter_mut().zip(leaves) {
            let ty = leaf.element_type().filter(|ty| ty.is_float() || ty.is_complex());
            if let Some(flushed) = ty.and_then(|ty| range.flushed(ty, self.modes, true)) {
                *range = flushed;
            }
        }
    }

    fn instruction(&mut self, site: Site<'m>, operands: &[&Leaves]) -> Result<Leaves, Stop> {
        let instruction = site.instruction();
        if dynamic::has_sizes(site) {
            return dynamic::evaluate(self, site, operands);
        }
        let read = self.read(site, operands);
        let read: Vec<&Leaves> =
            read.iter().zip(operands).map(|(r, &o)| r.as_ref().unwrap_or(o)).collect();
        let operands = read.as_slice();
        let whole = |i: usize| operands[i].clone();
        let empty = |leaf: &&Shape| leaf.array().is_some_and(|array| array.dims.contains(&0));
        if instruction.opcode().kind() == Kind::Array
            && instruction.shape.leaves().iter().all(empty)
        {
            // Other dimensions may be of any size: nothing may loop over them.
            return Ok(unknown(site, None));
        }
        if let Some(value) = carried(site, operands) {
            return Ok(value);
        }
        match &instruction.op {
            Op::Tuple(_) => Ok(operands.iter().flat_map(|leaves| leaves.iter().cloned()).collect()),
            Op::GetTupleElement(get) => Ok(site.element(get.index, operands[0])),
            Op::Constant(constant) => Self::constant(site, &constant.value),
            Op::ReplicaId(_) | Op::PartitionId(_) => self.number(site),
            // A started operation stands for its result.
            Op::AsyncStart(op) => self.started(site, op.calls, operands),
            Op::Call(call) => self.call(call.to_apply, arguments(operands), site.lanes),
            Op::Fusion(fusion) => self.call(fusion.calls, arguments(operands), site.lanes),
            Op::While(looped) => control::looped(self, site, looped, whole(0)),
            Op::Conditional(branches) => {
                control::conditional(self, site, &branches.branches, operands)
            }
            Op::Map(map) => fold::map(self, site, map.to_apply, operands),
            Op::Reduce(reduce) => sums::reduce(self, site, reduce, operands),
            Op::ReduceWindow(window) => sums::reduce_window(self, site, window, operands),
            Op::Scan(op) => scan::alone(self, site, op, operands),
            Op::Scatter(scatter) => scatter::scatter(self, site, scatter, operands),
            Op::SelectAndScatter(_) => scatter::select_and_scatter(self, site, operands),
            Op::Dot(_) | Op::Convolution(_) | Op::RaggedDot(_) | Op::ScaledDot(_) => {
                products::products(self, site, operands)
            }
            Op::BatchNormTraining(_) | Op::BatchNormInference(_) | Op::BatchNormGrad(_) => {
                batch_norm::batch_norm(self, site, operands)
            }
            Op::Cholesky(op) => linear::cholesky(self, site, op, operands),
            Op::TriangularSolve(op) => linear::triangular_solve(self, site, op, operands),
            Op::Fft(op) => transform::fft(self, site, op, operands),
            Op::Sort(op) => sort::sort(self, site, op, operands),
            Op::TopK(op) => topk::topk(self, site, op, operands),
            Op::Rng(_) | Op::RngBitGenerator(_) | Op::RngGetAndUpdateState(_) => {
                random::random(self, site, operands)
            }
            op if elementwise::is_elementwise(op) => {
                let arrays = arrays(site, operands)?;
                Ok(seen::followed(op, &arrays, elementwise::evaluate(self, site, &arrays)?))
            }
            Op::Bitcast(_)
                if site.shape()?.ty
                    == site.operand(0).element_type().unwrap_or(ElementType::Pred) =>
            {
                self.moved(site, &arrays(site, operands)?)
            }
            op if moved::data_operands(op).is_some() => self.moved(site, &arrays(site, operands)?),
            Op::Bitcast(_) | Op::BitcastConvert(_) => self.bits(site, &arrays(site, operands)?),
            op if op.opcode().accuracy() == Accuracy::Exact
                && op.opcode().kind() == Kind::Array =>
            {
                self.stated(site, &arrays(site, operands)?)
            }
            Op::CustomCall(op) => self.custom(site, op, operands),
            _ => without_rule(site, operands),
        }
    }

    fn custom(
        &mut self,
        site: Site<'m>,
        op: &CustomCall,
        operands: &[&Leaves],
    ) -> Result<Leaves, Stop> {
        if let Some(value) = custom::evaluate(self, site, op, operands)? {
            return Ok(value);
        }
        // It may have a choice, as eigenvectors have of their signs.
        let value = without_rule(site, operands);
        let value = value.or_else(|stop| site.or_any(operands, Err(stop)))?;
        Ok(value.into_iter().map(Range::unbounded).collect())
    }

    /// Returns the value of a computation that was started.
    fn started(
        &mut self,
        site: Site<'m>,
        calls: ComputationId,
        operands: &[&Leaves],
    ) -> Result<Leaves, Stop> {
        let result = self.call(calls, arguments(operands), site.lanes)?;
        Ok(site.started(result))
    }

    /// Returns whether a `select` may be a minimum or maximum: by a comparison of what it selects, or
    /// in a function by what its caller compares.
    fn selects_by_comparison(&self, site: Site<'m>) -> bool {
        let (Op::Select(_), [decision, data @ ..]) =
            (&site.instruction().op, &*site.instruction().operands)
        else {
            return false;
        };
        let decision = &site.computation.instructions[*decision];
        match &decision.op {
            Op::Parameter(_) => site.id != self.module.entry,
            Op::Compare(_) => decision.operands.iter().any(|of| data.contains(of)),
            _ => false,
        }
    }

    /// Returns the operands that an op computes with or compares, where it may flush denormals
    /// to 0. Others are moved bit by bit.
    fn read(&self, site: Site<'m>, operands: &[&Leaves]) -> Vec<Option<Leaves>> {
        let computes = computes(site.instruction()) || self.selects_by_comparison(site);
        if !computes || !self.modes.has(Mode::FlushedDenormals) {
            return vec![None; operands.len()];
        }
        // Of two zeros a backend may select either.
        let op = &site.instruction().op;
        let signed = !matches!(op, Op::Binary(Binary::Maximum | Binary::Minimum) | Op::Clamp(_));
        let flushed = |(i, leaves): (usize, &&Leaves)| match leaves.as_slice() {
            [range] => {
                Some(vec![range.flushed(site.operand(i).element_type()?, self.modes, signed)?])
            }
            _ => None,
        };
        operands.iter().enumerate().map(flushed).collect()
    }

    /// Returns the number of the replica or partition.
    fn number(&self, site: Site<'m>) -> Result<Leaves, Stop> {
        let Some(device) = self.device else { return without_rule(site, &[]) };
        let device = DeviceGrid::of(&self.module.config).device(device);
        let is_replica = matches!(site.instruction().op, Op::ReplicaId(_));
        let number = if is_replica { device.replica } else { device.partition };
        let number = Scalar::Unsigned(number.try_into().unwrap_or(u64::MAX));
        Ok(known(site, &Literal::scalar(site.shape()?.ty, number)))
    }

    fn constant(site: Site<'m>, value: &ConstantValue) -> Result<Leaves, Stop> {
        let ConstantValue::Literal(literal) = value else {
            return Err(site.unsupported("an elided constant"));
        };
        Ok(known(site, literal))
    }
}

/// Returns whether an instruction can take vectors for its scalars.
fn takes_lanes(instruction: &Instruction) -> bool {
    let is_scalar = |leaf: &&Shape| leaf.array().is_none_or(|array| array.rank() == 0);
    let takes = match &instruction.op {
        Op::Parameter(_)
        | Op::Constant(_)
        | Op::ReplicaId(_)
        | Op::PartitionId(_)
        | Op::Tuple(_)
        | Op::GetTupleElement(_)
        | Op::Call(_)
        | Op::Fusion(_)
        | Op::Map(_)
        | Op::BitcastConvert(_) => true,
        op => elementwise::is_elementwise(op) || op.opcode().aliases_operand(),
    };
    takes && instruction.shape.leaves().iter().all(is_scalar)
}

/// Returns whether an op computes with floats, or compares them, where it may flush denormals:
/// others move elements bit by bit.
fn computes(instruction: &Instruction) -> bool {
    if let Op::CustomCall(op) = &instruction.op {
        return custom::computes(op);
    }
    let opcode = instruction.opcode();
    // Hardware may flush what it negates.
    let moves = opcode.moves_data() && !matches!(opcode, Opcode::Compare | Opcode::Negate);
    let array = matches!(opcode.kind(), Kind::Array | Kind::Collective);
    array && !moves && !instruction.operands.is_empty()
}

/// Says of what is computed with values of which nothing is known that it is not bounded, or, if it
/// is a whole number that follows from floats, that it is a decision.
fn follow(site: Site<'_>, operands: &[&Leaves], value: &mut Leaves) {
    let is_open = |cause: &Cause| matches!(cause.kind, CauseKind::NoRule | CauseKind::Unbounded);
    let whole = |range: &Range| range.shape().is_some_and(|shape| is_whole(shape.ty));
    let open = operands.iter().flat_map(|leaves| leaves.iter());
    let mut open = open.filter(|range| range.cause.as_ref().is_some_and(is_open));
    if !computes(site.instruction()) || !open.any(|range| !whole(range)) {
        return;
    }
    for range in value {
        let kind = if whole(range) { CauseKind::Decides } else { CauseKind::Unbounded };
        if let Some(cause) = range.cause.as_mut().filter(|cause| is_open(cause)) {
            cause.kind = kind;
        }
    }
}

/// Returns what is known of an op that has no rule: nothing, if nothing is known of an operand.
fn without_rule(site: Site<'_>, operands: &[&Leaves]) -> Result<Leaves, Stop> {
    match operands.iter().find_map(|&leaves| open(leaves)) {
        Some(range) => Ok(unknown(site, range.cause.clone().or_else(|| Some(site.cause())))),
        None => Err(site.unsupported(&format!("`{}`", site.instruction().opcode()))),
    }
}

/// Returns an array of which an element is unknown, or a NaN of either sign.
fn open(leaves: &Leaves) -> Option<&Range> {
    let open = |x: Interval| x.is_any() || x.has_open_sign();
    leaves.iter().find(|range| range.intervals().any(open))
}

/// Names the instruction of whose result nothing is known although something was known of its
/// operands.
fn name_cause(site: Site<'_>, range: &mut Range) {
    let open = range.cause.is_none() || range.is_loose();
    if open && !range.is_point() && range.intervals().any(Interval::is_any) {
        range.cause = Some(Cause { kind: CauseKind::Unbounded, ..site.cause() });
    }
}

/// Any values at all, of the shape of the result.
#[expect(clippy::needless_pass_by_value, reason = "callers make it")]
pub(super) fn unknown(site: Site<'_>, cause: Option<Cause>) -> Leaves {
    let leaves = site.instruction().shape.leaves();
    let range = |leaf: &&Shape| match leaf.array() {
        // Its sizes are not known either.
        Some(array) if array.dynamic.is_some() => Range::nothing().because(cause.clone()),
        Some(array) => Range::any(&site.lane_shape(array)).because(cause.clone()),
        None => Range::nothing(),
    };
    leaves.iter().map(range).collect()
}

/// Returns the value of an instruction that hands on a value, or an operation that was started.
fn carried(site: Site<'_>, operands: &[&Leaves]) -> Option<Leaves> {
    let count = site.instruction().shape.leaves().len();
    match &site.instruction().op {
        Op::AfterAll(_) => Some(vec![Range::point(Literal::token())]),
        Op::CopyStart(_) | Op::Send(_) => Some(sent(site, operands[0])),
        Op::SendDone(_) => Some(site.nothing()),
        Op::CustomCall(op) => custom::annotated(site, op, operands),
        op if is_started(op) => Some(operands[0][..count.min(operands[0].len())].to_vec()),
        op if op.opcode().aliases_operand() => Some(operands[0].clone()),
        _ => None,
    }
}

/// Returns the only legal value of an instruction, in each lane.
fn known(site: Site<'_>, value: &Literal) -> Leaves {
    let ranges = value.leaves().into_iter().map(Range::exact);
    match site.lanes {
        Some(lanes) => ranges.map(|range| fold::repeated(&range, lanes)).collect(),
        None => ranges.collect(),
    }
}

fn arguments(operands: &[&Leaves]) -> Vec<Leaves> {
    operands.iter().map(|&leaves| leaves.clone()).collect()
}

/// Returns the operands, if all of them are arrays.
pub(super) fn arrays<'a>(site: Site<'_>, operands: &[&'a Leaves]) -> Result<Vec<&'a Range>, Stop> {
    let only = |leaves: &&'a Leaves| match leaves.as_slice() {
        [range] if range.shape().is_some() => Ok(range),
        _ => Err(site.unsupported("a tuple")),
    };
    operands.iter().map(only).collect()
}

/// Returns the leaves of a value that was received, with a token if the instruction returns one.
pub(super) fn with_token(site: Site<'_>, data: &Leaves) -> Leaves {
    let tokens = site.instruction().shape.leaves().len().saturating_sub(data.len());
    data.iter().cloned().chain((0..tokens).map(|_| Range::nothing())).collect()
}

/// Returns the leaves of a copy or transfer that has been started: the array once or twice, a
/// number that is 0, and a token.
fn sent(site: Site<'_>, data: &Leaves) -> Leaves {
    let leaves = site.instruction().shape.leaves();
    let last = leaves.iter().rposition(|leaf| leaf.array().is_some());
    let leaf = |(i, leaf): (usize, &&Shape)| match leaf.array() {
        Some(number) if Some(i) == last => Range::exact(&Literal::zeros(number.clone())),
        Some(_) => data[0].clone(),
        None => Range::nothing(),
    };
    leaves.iter().enumerate().map(leaf).collect()
}
