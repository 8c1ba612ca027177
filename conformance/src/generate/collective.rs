//! Collectives and transfers between devices. All devices run them, in the same order.
use super::generator::Generator;
use super::generator::{any, list};
use super::scope::{ArrayOperand, Scope};
use hlo::{ArrayShape, ElementType, Shape};
use std::fmt::Write as _;

/// The groups of a collective, as attributes.
struct Groups {
    attributes: String,
    /// The number of devices in a group.
    size: i64,
}

/// How an instruction is started: not, or by an op whose value is the result, or is a tuple of
/// operand and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Not,
    Result,
    Both,
}

impl Generator {
    fn channel(&mut self) -> usize {
        self.channels += 1;
        self.channels
    }
    /// Draws groups; `flag` is whether the op has `use_global_device_ids`.
    fn groups(&mut self, flag: bool) -> Groups {
        let (replicas, partitions) = (self.config.replicas, self.config.partitions);
        let (ids, each, channel, global) = match (self.rng.bool(), flag, self.rng.bool()) {
            (true, false, _) => (partitions, 1, true, false),
            (true, true, true) => (replicas * partitions, 1, true, true),
            (true, true, false) => (replicas, partitions, true, false),
            (false, _, _) => (replicas, 1, false, false),
        };
        let divisors: Vec<usize> = (1..=ids).filter(|d| ids.is_multiple_of(*d)).collect();
        let size = divisors[self.pick(divisors.len())];
        let order = self.order(ids);
        let groups = if size == ids && !global && self.rng.bool() {
            "{}".to_owned()
        } else {
            list(order.chunks(size).map(list))
        };
        let mut attributes = format!("replica_groups={groups}");
        if channel {
            let channel = self.channel();
            let _ = write!(attributes, ", channel_id={channel}");
        }
        if global {
            attributes.push_str(", use_global_device_ids=true");
        }
        Groups { attributes, size: i64::try_from(size * each).unwrap_or(1) }
    }
    /// Adds a collective, in one or two instructions.
    fn collective(
        &mut self,
        scope: &mut Scope,
        op: &str,
        start: Start,
        operand: &ArrayOperand,
        result: ArrayShape,
        attributes: &str,
    ) {
        let (name, result) = (&operand.name, Shape::from(result));
        let started = match start {
            Start::Not => {
                self.push(scope, result, &format!("{op}({name}), {attributes}"));
                return;
            }
            Start::Result => result.clone(),
            Start::Both => Shape::Tuple(vec![operand.shape.clone().into(), result.clone()]),
        };
        let text = format!("{op}-start({name}), {attributes}");
        let started = self.push_hidden(scope, &started, &text);
        self.between(scope);
        self.push(scope, result, &format!("{op}-done({started})"));
    }
    pub(super) fn all_reduce(&mut self, scope: &mut Scope, start: Start) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let groups = self.groups(true);
        let reducer = self.reducer(x.shape.ty).name;
        let attributes = format!("{}, to_apply={reducer}", groups.attributes);
        self.collective(scope, "all-reduce", start, &x, x.shape.clone(), &attributes);
        Some(())
    }
    pub(super) fn all_gather(&mut self, scope: &mut Scope, start: Start) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let groups = self.groups(true);
        let dim = self.pick(x.shape.rank());
        let mut dims = x.shape.dims.to_vec();
        dims[dim] *= groups.size;
        let attributes = format!("{}, dimensions={{{dim}}}", groups.attributes);
        let result = ArrayShape::new(x.shape.ty, dims.as_slice());
        self.collective(scope, "all-gather", start, &x, result, &attributes);
        Some(())
    }
    pub(super) fn reduce_scatter(&mut self, scope: &mut Scope) -> Option<()> {
        let groups = self.groups(true);
        let part = self.operand(scope, any, 1)?.shape;
        let dim = self.pick(part.rank());
        let mut dims = part.dims.to_vec();
        dims[dim] *= groups.size;
        let x = self.array_of(scope, part.ty, &dims);
        let reducer = self.reducer(part.ty).name;
        let attributes = format!("{}, dimensions={{{dim}}}, to_apply={reducer}", groups.attributes);
        self.collective(scope, "reduce-scatter", Start::Not, &x, part, &attributes);
        Some(())
    }
    pub(super) fn all_to_all(&mut self, scope: &mut Scope) -> Option<()> {
        let groups = self.groups(false);
        let part = self.operand(scope, any, 1)?;
        if self.rng.bool() {
            let count = usize::try_from(groups.size).ok()?;
            let names: Vec<String> = (0..count).map(|_| self.array(scope, &part.shape)).collect();
            let shape = Shape::Tuple(vec![part.shape.into(); count]);
            let text = format!("all-to-all({}), {}", names.join(", "), groups.attributes);
            self.push(scope, shape, &text);
            return Some(());
        }
        let dim = self.pick(part.shape.rank());
        let mut dims = part.shape.dims.to_vec();
        dims[dim] *= groups.size;
        let x = self.array_of(scope, part.shape.ty, &dims);
        let attributes = format!("{}, dimensions={{{dim}}}", groups.attributes);
        self.collective(scope, "all-to-all", Start::Not, &x, x.shape.clone(), &attributes);
        Some(())
    }
    pub(super) fn collective_broadcast(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let groups = self.groups(false).attributes;
        self.collective(scope, "collective-broadcast", Start::Not, &x, x.shape.clone(), &groups);
        Some(())
    }
    /// Returns pairs of sources and targets among `count` devices.
    fn pairs(&mut self, count: usize) -> String {
        let (from, to) = (self.order(count), self.order(count));
        let most = self.rng.usize(0..=count);
        list(from.iter().zip(&to).take(most).map(|(from, to)| list([from, to])))
    }
    pub(super) fn collective_permute(&mut self, scope: &mut Scope, start: Start) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let across_partitions = self.rng.bool();
        let (count, channel) = if across_partitions {
            (self.config.partitions, format!(", channel_id={}", self.channel()))
        } else {
            (self.config.replicas, String::new())
        };
        let attributes = format!("source_target_pairs={}{channel}", self.pairs(count));
        self.collective(scope, "collective-permute", start, &x, x.shape.clone(), &attributes);
        Some(())
    }
    /// Each device sends as many rows to each device of its group, which lie in the order of the
    /// senders there.
    pub(super) fn ragged_all_to_all(&mut self, scope: &mut Scope) -> Option<()> {
        let (count, id, attributes) = if self.rng.bool() {
            let channel = self.channel();
            (self.config.partitions, "partition-id()", format!(", channel_id={channel}"))
        } else {
            (self.config.replicas, "replica-id()", String::new())
        };
        let devices = i64::try_from(count).ok()?;
        let input = self.operand(scope, any, 1)?;
        let sent = (input.shape.dims.first()? / devices).min(2);
        let mut dims = input.shape.dims.to_vec();
        dims[0] = sent * devices + self.rng.i64(0..=2);
        let output = self.array_of(scope, input.shape.ty, &dims).name;
        let lists = Shape::from(ArrayShape::new(ElementType::S32, [devices].as_slice()));
        let offsets = format!("constant({})", list((0..devices).map(|i| i * sent)));
        let offsets = self.push_hidden(scope, &lists, &offsets);
        let sizes = format!("constant({})", list(vec![sent; count]));
        let sizes = self.push_hidden(scope, &lists, &sizes);
        let own = self.row_of_sender(scope, id, sent);
        let own = self.push_hidden(scope, &lists, &format!("broadcast({own}), dimensions={{}}"));
        let text = format!(
            "ragged-all-to-all({}, {output}, {offsets}, {sizes}, {own}, {sizes}), replica_groups={{}}{attributes}",
            input.name
        );
        self.push(scope, ArrayShape::new(input.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    /// Returns the first row of a device: its number times the rows of each.
    fn row_of_sender(&mut self, scope: &mut Scope, id: &str, rows: i64) -> String {
        let index = Shape::scalar(ElementType::S32);
        let id = self.push_hidden(scope, &Shape::scalar(ElementType::U32), id);
        let id = self.push_hidden(scope, &index, &format!("convert({id})"));
        let rows = self.integer(scope, rows);
        self.push_hidden(scope, &index, &format!("multiply({id}, {rows})"))
    }
    /// Each device sends to another, or to itself.
    pub(super) fn transfer(&mut self, scope: &mut Scope) -> Option<()> {
        (scope.depth == 0).then_some(())?;
        let x = self.operand(scope, any, 0)?;
        let channel = self.channel();
        let count = self.config.replicas * self.config.partitions;
        let pairs = match count {
            1 => String::new(),
            _ => {
                (self.config.partitions == 1 || self.config.replicas == 1).then_some(())?;
                let (from, to) = (self.order(count), self.order(count));
                let pairs = list(from.iter().zip(&to).map(|(from, to)| list([from, to])));
                format!(", frontend_attributes={{_xla_send_recv_source_target_pairs={pairs}}}")
            }
        };
        let shape = Shape::from(x.shape);
        let context = Shape::scalar(ElementType::U32);
        let state = Shape::Tuple(vec![shape.clone(), context, Shape::Token]);
        let token = self.push_hidden(scope, &Shape::Token, "after-all()");
        let attributes = format!("channel_id={channel}{pairs}");
        let send = format!("send({}, {token}), {attributes}", x.name);
        let send = self.push_hidden(scope, &state, &send);
        let recv = self.push_hidden(scope, &state, &format!("recv({token}), {attributes}"));
        let done = format!("send-done({send}), channel_id={channel}");
        self.push_hidden(scope, &Shape::Token, &done);
        let done = format!("recv-done({recv}), channel_id={channel}");
        self.push(scope, Shape::Tuple(vec![shape, Shape::Token]), &done);
        Some(())
    }
    pub(super) fn device_id(&mut self, scope: &mut Scope, text: &str) -> Option<()> {
        scope.communicates.then_some(())?;
        self.push(scope, Shape::scalar(ElementType::U32), text);
        Some(())
    }
}
