//! Values that a device receives from another or from itself, on a channel of one `send` and one
//! `recv-done`.
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Module, Op};
use interp::DeviceGrid;

/// Where the value of a `recv-done` comes from.
pub(super) struct Received {
    /// The value that the source has sent.
    pub(super) sent: InstructionId,
    /// The pairs of sender and receiver; each device sends to itself if there are none.
    pairs: Vec<(usize, usize)>,
    /// The devices that the numbers of a pair count.
    among: usize,
}

impl Received {
    /// Returns the device that sends to another one.
    pub(super) fn source(&self, device: usize) -> Option<usize> {
        if self.pairs.is_empty() {
            return Some(device);
        }
        let (first, target) = (device / self.among * self.among, device % self.among);
        let mut pairs = self.pairs.iter();
        pairs.find(|(_, to)| *to == target).map(|(from, _)| first + from)
    }
    /// Returns whether each device sends to itself.
    pub(super) fn is_own(&self) -> bool {
        self.pairs.iter().all(|(from, to)| from == to)
    }
}

/// Returns where the value of a `recv-done` comes from, if that has been sent before.
pub(super) fn received(
    module: &Module,
    computation: &Computation,
    at: InstructionId,
) -> Option<Received> {
    let instruction = &computation.instructions[at];
    let Op::RecvDone(done) = &instruction.op else { return None };
    let is_sent = |op: &Op| matches!(op, Op::Send(send) if send.channel_id == done.channel_id);
    let is_received =
        |op: &Op| matches!(op, Op::RecvDone(other) if other.channel_id == done.channel_id);
    let all = || module.instructions();
    let count = |is: &dyn Fn(&Op) -> bool| all().filter(|i| is(&i.op)).count();
    let mut before = computation.instructions.iter().take_while(|(id, _)| *id != at);
    let (_, send) = before.find(|(_, instruction)| is_sent(&instruction.op))?;
    let recv = &computation.instructions[*instruction.operands.first()?];
    let mut stated = [send, recv, instruction].into_iter().filter_map(stated_pairs);
    let text = stated.next();
    let grid = DeviceGrid::of(&module.config);
    let found = Received {
        sent: *send.operands.first()?,
        pairs: text.map_or(Some(Vec::new()), pairs)?,
        among: if grid.partitions == 1 { grid.replicas } else { grid.partitions },
    };
    let is_only = count(&is_sent) == 1 && count(&is_received) == 1;
    let agree = stated.all(|other| Some(other) == text);
    (is_only && agree).then_some(found)
}

/// Returns the pairs that an instruction states.
fn stated_pairs(instruction: &Instruction) -> Option<&str> {
    let attributes = instruction.common.as_deref()?.frontend_attributes.as_ref()?;
    let (_, text) =
        attributes.0.iter().find(|(key, _)| key == "_xla_send_recv_source_target_pairs")?;
    Some(text)
}

/// Returns the numbers of `{{0,1},{1,2}}`, two by two.
fn pairs(text: &str) -> Option<Vec<(usize, usize)>> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let numbers: Vec<usize> = numbers.map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let pairs = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    (!numbers.is_empty() && numbers.len().is_multiple_of(2)).then(|| pairs.collect())
}
