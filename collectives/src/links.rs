//! Whom an instruction joins, as far as the text says: groups, and pairs of sender and receiver.
use crate::mail::{Neighbours, all_neighbours};
use crate::transfer::stated;
use crate::{Groups, Result};
use hlo::Op;
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use interp::Grid;

/// Whom an instruction joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// The members of each group all give and all get.
    Groups(Groups),
    /// The first device of a pair sends to the second.
    Pairs(Vec<(usize, usize)>),
    /// It sends to whoever receives on its channel: the text does not say who that is.
    Channel(Option<i64>),
}

impl Link {
    /// Whom an instruction joins on a grid; nothing for one that joins nobody. Of `send` and `recv` the `send` has the link.
    ///
    /// # Errors
    /// `E0502` if ids are not those of the grid, or pairs cannot be read.
    pub fn of(instruction: &Instruction, grid: Grid) -> Option<Result<Self>> {
        let op = &instruction.op;
        if let Some(groups) = Groups::of(op, grid) {
            return Some(groups.map(Self::Groups));
        }
        if let Some((mode, list)) = op.pairs() {
            return Some(devices(mode, list, grid).map(Self::Pairs));
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "all others have groups or pairs")]
        match op {
            Op::Send(send) if !send.is_host_transfer => Some(match stated(instruction, grid) {
                Some(list) => {
                    list.and_then(|(mode, list)| devices(mode, &list, grid)).map(Self::Pairs)
                }
                None => Ok(Self::Channel(send.channel_id)),
            }),
            _ => None,
        }
    }
}

/// The pairs of devices that pairs of ids stand for.
fn devices(mode: GroupMode, list: &[(i64, i64)], grid: Grid) -> Result<Vec<(usize, usize)>> {
    let all = all_neighbours(mode, list, grid)?.into_iter().enumerate();
    let pairs = |(number, neighbours): (usize, Neighbours)| {
        neighbours.targets.into_iter().map(move |target| (number, target))
    };
    Ok(all.flat_map(pairs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link of the root of a module of 2 replicas and 2 partitions.
    fn link(body: &str) -> Option<Link> {
        let text = format!("HloModule m, replica_count=2, num_partitions=2\nENTRY e {{ {body} }}");
        let module = hlo::Module::parse(&text).unwrap();
        let root = &module.entry().instructions[module.entry().root];
        Link::of(root, Grid::of(&module.config)).map(Result::unwrap)
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
