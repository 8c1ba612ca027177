//! The devices that an instruction connects, as far as the text states them: groups, and pairs of
//! sender and receiver.
use crate::channels::stated;
use crate::message_queue::{Neighbors, all_neighbors};
use crate::{Groups, Result};
use hlo::Opcode;
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use interp::DeviceGrid;

/// The devices that an instruction connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// The members of each group exchange values.
    Groups(Groups),
    /// The first device of a pair sends to the second.
    Pairs(Vec<(usize, usize)>),
    /// The text does not state the receiver: any device that receives on the channel.
    Channel(Option<i64>),
}

impl Link {
    /// Returns the devices that an instruction connects; nothing for one that connects none. Of
    /// `send` and `recv` the `send` has the link.
    ///
    /// # Errors
    /// `E0502` if an id is out of range, or the pairs are malformed.
    pub fn of(instruction: &Instruction, grid: DeviceGrid) -> Option<Result<Self>> {
        let op = &instruction.op;
        if let Some(groups) = Groups::of(op, grid) {
            return Some(groups.map(Self::Groups));
        }
        if let Some((mode, list)) = op.pairs() {
            return Some(devices(mode, list, grid).map(Self::Pairs));
        }
        // All other cross-device ops have groups or pairs.
        if op.opcode() != Opcode::Send || op.is_host_transfer() {
            return None;
        }
        Some(match stated(instruction, grid) {
            Some(list) => list.and_then(|(mode, list)| devices(mode, &list, grid)).map(Self::Pairs),
            None => Ok(Self::Channel(op.channel_id())),
        })
    }
}

/// Returns the pairs of devices for pairs of ids.
fn devices(mode: GroupMode, list: &[(i64, i64)], grid: DeviceGrid) -> Result<Vec<(usize, usize)>> {
    let all = all_neighbors(mode, list, grid)?.into_iter().enumerate();
    let pairs = |(number, neighbors): (usize, Neighbors)| {
        neighbors.targets.into_iter().map(move |target| (number, target))
    };
    Ok(all.flat_map(pairs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the link of the root of a module with 2 replicas and 2 partitions.
    fn link(body: &str) -> Option<Link> {
        let text = format!("HloModule m, replica_count=2, num_partitions=2\nENTRY e {{ {body} }}");
        let module = hlo::Module::parse(&text).unwrap();
        let root = &module.entry().instructions[module.entry().root];
        Link::of(root, DeviceGrid::of(&module.config)).map(Result::unwrap)
    }

    #[test]
    fn pairs_are_of_devices() {
        let permute = |channel: &str| {
            link(&format!(
                "x = f32[] parameter(0) ROOT r = f32[] collective-permute(x){channel}, source_target_pairs={{{{0,1}}}}"
            ))
        };
        // Replica 0 to replica 1, in both partitions; then partition 0 to 1, in both replicas.
        assert_eq!(permute(""), Some(Link::Pairs(vec![(0, 2), (1, 3)])));
        assert_eq!(permute(", channel_id=1"), Some(Link::Pairs(vec![(0, 1), (2, 3)])));
    }

    #[test]
    fn a_send_says_to_whom_or_only_its_channel() {
        let send = |rest: &str| {
            link(&format!(
                "t = token[] after-all() x = f32[] parameter(0) ROOT s = (f32[], u32[], token[]) send(x, t), channel_id=3{rest}"
            ))
        };
        assert_eq!(send(""), Some(Link::Channel(Some(3))));
        let pairs = ", frontend_attributes={_xla_send_recv_source_target_pairs={{1,0}}}";
        assert_eq!(send(pairs), Some(Link::Pairs(vec![(1, 0), (3, 2)])));
        assert_eq!(send(", is_host_transfer=true"), None);
        assert_eq!(link("ROOT r = u32[] replica-id()"), None);
    }
}
