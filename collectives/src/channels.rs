//! Channels of `send` and `recv`: what both ends state.
use crate::message_queue::all_neighbors;
use crate::{Code, Error, Result};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::GroupMode;
use hlo::{Module, Op, Opcode};
use interp::{DeviceGrid, Position};
use std::collections::{BTreeMap, BTreeSet};

/// The id of a channel, if it has one.
pub(crate) type Channel = Option<i64>;

/// The pairs that the instructions at one end of a channel state, each with an instruction that
/// states it.
#[derive(Debug, Default)]
struct End {
    pairs: BTreeMap<(i64, i64), Position>,
    /// The first instruction.
    first: Option<Position>,
    /// The first instruction that states no pairs.
    without: Option<Position>,
}

/// Returns the instructions of a module that send to devices, or receive from them.
fn transfers(module: &Module, opcode: Opcode) -> impl Iterator<Item = (Position, &Instruction)> {
    let all = module.computations.iter().flat_map(|(id, computation)| {
        computation.instructions.iter().map(move |(at, found)| (position(id, at), found))
    });
    all.filter(move |(_, found)| found.opcode() == opcode && !found.op.is_host_transfer())
}

fn position(computation: ComputationId, instruction: InstructionId) -> Position {
    Position { computation, instruction, depth: 1 }
}

/// Returns whether an op sends on a channel, or receives, or neither.
pub(crate) fn is_used(module: &Module, opcode: Opcode, channel: Channel) -> bool {
    transfers(module, opcode).any(|(_, found)| found.op.channel_id() == channel)
}

/// Returns whether devices of a module both send and receive.
pub(crate) fn has_transfers(module: &Module) -> bool {
    let is_there = |opcode| transfers(module, opcode).next().is_some();
    is_there(Opcode::Send) && is_there(Opcode::Recv)
}

/// Checks the pairs that `send` and `recv` state.
///
/// # Errors
/// `E0502` if an id is not one of the grid's, or is the source or the target of two pairs; `E0503`
/// if the two ends of a channel state different pairs, or one of them none.
pub(crate) fn check(module: &Module, grid: DeviceGrid) -> Result<()> {
    let sends = ends(module, grid, Opcode::Send)?;
    let recvs = ends(module, grid, Opcode::Recv)?;
    for (&channel, send) in &sends {
        let Some(recv) = recvs.get(&channel) else { continue };
        let one = |end: &End| end.pairs.values().next().copied();
        match (send.without, recv.without) {
            (None, None) => compare(module, channel, send, recv)?,
            (without, other) => {
                let without = without.zip(one(recv)).or_else(|| other.zip(one(send)));
                without.map_or(Ok(()), |ends| Err(states_none(module, channel, ends)))?;
            }
        }
    }
    Ok(())
}

/// Returns the ends of all channels at which there are instructions of an opcode.
fn ends(module: &Module, grid: DeviceGrid, opcode: Opcode) -> Result<BTreeMap<Channel, End>> {
    let mut found: BTreeMap<Channel, End> = BTreeMap::new();
    for (position, instruction) in transfers(module, opcode) {
        let end = found.entry(instruction.op.channel_id()).or_default();
        end.first.get_or_insert(position);
        // The pairs of a `recv` may be those of its done.
        let done = || done_of(position, module).map(|done| done.instruction(module));
        let pairs = stated(instruction, grid);
        let Some(pairs) = pairs.or_else(|| stated(done()?, grid)) else {
            end.without.get_or_insert(position);
            continue;
        };
        let checked = pairs.and_then(|(mode, pairs)| {
            check_distinct(&pairs)?;
            all_neighbors(mode, &pairs, grid).map(|_| pairs)
        });
        let pairs = checked.map_err(|error| error.at(position.site(module)))?;
        for pair in pairs {
            end.pairs.entry(pair).or_insert(position);
        }
    }
    Ok(found)
}

/// Checks that a device sends to one device, and receives from one.
fn check_distinct(pairs: &[(i64, i64)]) -> Result<()> {
    let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for &(source, target) in pairs {
        let (id, what) = match (sources.insert(source), targets.insert(target)) {
            (true, true) => continue,
            (false, _) => (source, "source"),
            (true, false) => (target, "target"),
        };
        let message = format!("{id} is the {what} of two pairs");
        return Err(Error::from(Code::Groups { message })
            .with_help("use several channels: each connects a source with one target"));
    }
    Ok(())
}

/// Returns the error of an end of a channel without pairs, and one with.
fn states_none(module: &Module, channel: Channel, (none, some): (Position, Position)) -> Error {
    let [none_opcode, some_opcode] = [none, some].map(|at| at.instruction(module).opcode());
    let message = format!(
        "{}: its `{some_opcode}` states pairs, its `{none_opcode}` states none",
        channel_name(channel)
    );
    Error::from(Code::Mismatch { message })
        .at(none.site(module))
        .label(some.span(module), format!("the `{some_opcode}` of this channel"))
        .with_help("state the same pairs at both ends of a channel")
}

fn compare(module: &Module, channel: Channel, send: &End, recv: &End) -> Result<()> {
    let only = |one: &End, other: &End| {
        let mut pairs = one.pairs.iter().filter(|(pair, _)| !other.pairs.contains_key(pair));
        pairs.next().map(|(&pair, &at)| (pair, at))
    };
    let (pair, at, other) = match (only(send, recv), only(recv, send)) {
        (Some((pair, at)), _) => (pair, at, recv.first),
        (None, Some((pair, at))) => (pair, at, send.first),
        (None, None) => return Ok(()),
    };
    let Some(other) = other else { return Ok(()) };
    let list = |end: &End| {
        let pairs = end.pairs.keys().map(|(from, to)| format!("{{{from},{to}}}"));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
    };
    let message = format!(
        "{}: its `send` states the pairs {}, its `recv` {}: {{{},{}}} is at one end only",
        channel_name(channel),
        list(send),
        list(recv),
        pair.0,
        pair.1
    );
    let opcode = other.instruction(module).opcode();
    Err(Error::from(Code::Mismatch { message })
        .at(at.site(module))
        .label(other.span(module), format!("the `{opcode}` of this channel"))
        .with_help("state the same pairs at both ends of a channel"))
}

/// Returns `channel 3`, or `the channel without an id`.
pub(crate) fn channel_name(channel: Channel) -> String {
    let none = || "the channel without an id".to_owned();
    channel.map_or_else(none, |id| format!("channel {id}"))
}

/// Returns the position of the `recv-done` of a `recv` in the same computation.
pub(crate) fn done_of(position: Position, module: &Module) -> Option<Position> {
    let computation = &module.computations[position.computation];
    let mut all = computation.instructions.iter();
    let (instruction, _) = all.find(|(_, instruction)| {
        matches!(instruction.op, Op::RecvDone(_))
            && instruction.operands.first() == Some(&position.instruction)
    })?;
    Some(Position { instruction, ..position })
}

/// Pairs of sender and receiver, and the kind of their ids.
type StatedPairs = (GroupMode, Vec<(i64, i64)>);

/// Returns the pairs that a `send` or `recv` states; nothing if it states none.
pub(crate) fn stated(instruction: &Instruction, grid: DeviceGrid) -> Option<Result<StatedPairs>> {
    let attributes = instruction.common.as_deref()?.frontend_attributes.as_ref()?;
    let (_, text) =
        attributes.0.iter().find(|(key, _)| key == "_xla_send_recv_source_target_pairs")?;
    let mode = match grid.partitions {
        1 => GroupMode::CrossReplica,
        _ => GroupMode::CrossPartition,
    };
    let pairs = pairs_of(text).ok_or_else(|| {
        let message = format!("`{text}` is not a list of pairs like `{{{{0,1}},{{1,2}}}}`");
        Error::from(Code::Groups { message })
    });
    Some(pairs.map(|pairs| (mode, pairs)))
}

/// Parses `{{0,1},{1,2}}`.
fn pairs_of(text: &str) -> Option<Vec<(i64, i64)>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut found = Vec::new();
    let mut rest = inner.trim();
    if rest.is_empty() {
        return Some(found);
    }
    loop {
        let (pair, after) = rest.strip_prefix('{')?.split_once('}')?;
        let (from, to) = pair.split_once(',')?;
        found.push((from.trim().parse().ok()?, to.trim().parse().ok()?));
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(found);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::pairs_of;

    #[test]
    fn pairs_are_separated_by_commas() {
        assert_eq!(pairs_of("{}"), Some(Vec::new()));
        assert_eq!(pairs_of(" {{0,1}, { 1 , 2 }} "), Some(vec![(0, 1), (1, 2)]));
        for text in ["", "{", "{{0,1} {1,2}}", "{{0,1},}", "{,{0,1}}", "{{0,1},,{1,2}}", "{{0}}"] {
            assert_eq!(pairs_of(text), None, "{text}");
        }
    }
}
