//! The exchange of a group whose members are on several ranks.
//!
//! Each rank with a member computes the results of its own members. A reduction is distributed: a
//! rank reduces a range of the elements of all members, and sends the reduced range to the others,
//! so that no rank has the operands of all members.
mod ragged;

use crate::rendezvous::Rendezvous;
use crate::run::Run;
use crate::task::Waiter;
use crate::transfers::Transfers;
use crate::values::{RemoteValue, Values};
use crate::{Ranks, Result};
use hlo::ir::Instruction;
use hlo::{ArrayShape, Literal};
use interp::collective;
use interp::collective::distributed::{self, Traffic};
use std::ops::Range;

/// A group with a member on this rank.
struct GroupOnRank<'a> {
    run: &'a Run,
    ranks: &'a Ranks,
    instruction: &'a Instruction,
    /// The rank and the operands of each member.
    members: Vec<(usize, &'a Values)>,
    /// The ranks with a member, by number.
    involved: Vec<usize>,
    order: Option<&'a [usize]>,
}

/// The result of each member of this rank with its waiter, or the error of the computation.
type Results = interp::Result<Vec<(Waiter, Literal)>>;

impl Run {
    /// Returns the results of the members of this rank. If the computation fails, this rank still
    /// takes part in all transfers of the group, for which the other ranks wait.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost.
    pub(crate) fn exchange_across_ranks(
        &self,
        ranks: &Ranks,
        rendezvous: &Rendezvous,
        order: Option<&[usize]>,
    ) -> Result<Results> {
        let joined = || rendezvous.joined.iter().flatten();
        let Some(first) = joined().next() else { return Ok(Ok(Vec::new())) };
        let rank = |&device: &usize| self.rank_of(device);
        let mut involved: Vec<usize> = rendezvous.members.iter().map(rank).collect();
        let members = involved.iter().copied().zip(joined().map(|one| &one.operands)).collect();
        involved.sort_unstable();
        involved.dedup();
        let instruction = first.position.instruction(self.module());
        let group = GroupOnRank { run: self, ranks, instruction, members, involved, order };
        if !group.members.iter().all(|(_, operands)| operands.is_static()) {
            return Ok(Err(collective::refused(instruction)));
        }
        let results = match Traffic::of(&instruction.op) {
            Traffic::Ranges => group.reduce()?,
            Traffic::Parts => group.all_to_all()?,
            Traffic::Rows => group.ragged_all_to_all()?,
            Traffic::First => group.operands(1)?,
            Traffic::Operands => group.operands(group.members.len())?,
        };
        let waiters = joined().zip(&group.members).filter(|(_, member)| group.is_own(member));
        let waiters = waiters.map(|(one, _)| one.waiter);
        Ok(results.map(|results| waiters.zip(results).collect()))
    }
}

impl GroupOnRank<'_> {
    fn is_own(&self, member: &(usize, &Values)) -> bool {
        member.0 == self.ranks.rank()
    }
    fn own(&self) -> impl Iterator<Item = &[Literal]> {
        self.members.iter().filter(|member| self.is_own(member)).map(|(_, values)| values.local())
    }
    /// Returns the other ranks with a member.
    fn others(&self) -> impl Iterator<Item = usize> {
        self.involved.iter().copied().filter(|&rank| rank != self.ranks.rank())
    }

    /// Sends the operands from number `first` on of the first `senders` members to all ranks;
    /// returns them.
    fn gather(&self, senders: usize, first: usize) -> Result<Vec<Vec<Literal>>> {
        let senders = &self.members[..senders];
        let mut transfers = Transfers::default();
        for member in senders {
            match member.1 {
                Values::Local(own) => {
                    self.others().for_each(|rank| transfers.send(rank, &own[first..]));
                }
                Values::Remote(values) => {
                    values[first..].iter().for_each(|value| transfers.receive(member.0, value));
                }
            }
        }
        let mut received = transfers.run(self.ranks)?.into_iter();
        let operands = senders.iter().map(|(_, values)| match values {
            Values::Local(own) => own[first..].to_vec(),
            Values::Remote(values) => {
                values[first..].iter().map(|value| value.assemble(&mut received)).collect()
            }
        });
        Ok(operands.collect())
    }
    /// Sends the operands of the first `senders` members to all ranks, and computes the results of
    /// them.
    fn operands(&self, senders: usize) -> Result<interp::Result<Vec<Literal>>> {
        let given = self.gather(senders, 0)?;
        let given: Vec<&[Literal]> = given.iter().map(Vec::as_slice).collect();
        let Run { executable, options, .. } = self.run;
        let results = collective::exchange(
            executable,
            options,
            self.instruction,
            &given,
            self.order.filter(|order| order.len() == given.len()),
        );
        Ok(results.map(|results| match given.len() == self.members.len() {
            true => self.select_own(results),
            // The result of a broadcast is the same for each member.
            false => self.own().filter_map(|_| results.first().cloned()).collect(),
        }))
    }
    /// Returns the results of this rank's members, of those of all members.
    fn select_own(&self, results: Vec<Literal>) -> Vec<Literal> {
        let own = results.into_iter().zip(&self.members).filter(|(_, member)| self.is_own(member));
        own.map(|(result, _)| result).collect()
    }

    /// Sends each member its part of the operands.
    fn all_to_all(&self) -> Result<interp::Result<Vec<Literal>>> {
        let Run { executable, options, .. } = self.run;
        let count = self.members.len();
        let part = |own| distributed::parts(executable, options, self.instruction, own, count);
        // The operands of all members have the same shapes, so that this fails on all ranks of the
        // group.
        let mut own_parts = match self.own().map(part).collect::<interp::Result<Vec<_>>>() {
            Ok(parts) => parts.into_iter(),
            Err(error) => return Ok(Err(error)),
        };
        let part_shape =
            own_parts.as_slice().first().and_then(|parts| parts.first()?.array_shape());
        let part_shape = part_shape.cloned();
        let mut transfers = Transfers::default();
        // What each member of this rank gets from each member; nothing where it is received.
        let own: Vec<usize> = (0..count).filter(|&i| self.is_own(&self.members[i])).collect();
        let mut parts: Vec<Vec<Option<Literal>>> = vec![Vec::with_capacity(count); own.len()];
        let mut expected = Vec::new();
        for sender in &self.members {
            if self.is_own(sender) {
                let sent = own_parts.next().unwrap_or_default();
                for (member, part) in self.members.iter().zip(&sent) {
                    if !self.is_own(member) {
                        transfers.send(member.0, std::slice::from_ref(part));
                    }
                }
                own.iter().zip(&mut parts).for_each(|(&i, parts)| parts.push(sent.get(i).cloned()));
                continue;
            }
            let remote = sender.1.remote();
            for (&i, parts) in own.iter().zip(&mut parts) {
                // Several operands are one for each member; the parts of a single one have equal
                // shapes.
                let value = match (remote, &part_shape) {
                    ([_], Some(shape)) => RemoteValue::array(shape.clone()),
                    _ => remote[i].clone(),
                };
                transfers.receive(sender.0, &value);
                expected.push(value);
                parts.push(None);
            }
        }
        let mut received = transfers.run(self.ranks)?.into_iter();
        let mut expected = expected.iter();
        // Parts are received sender by sender.
        for sender in 0..count {
            for parts in &mut parts {
                if parts[sender].is_none() {
                    parts[sender] = expected.next().map(|value| value.assemble(&mut received));
                }
            }
        }
        let result = |parts: Vec<Option<Literal>>| {
            let parts = parts.into_iter().flatten().collect();
            distributed::of_parts(executable, options, self.instruction, parts)
        };
        Ok(parts.into_iter().map(result).collect())
    }

    /// Reduces a range of the elements of all members, and sends it to the other ranks.
    fn reduce(&self) -> Result<interp::Result<Vec<Literal>>> {
        let Run { executable, options, .. } = self.run;
        let operands = self.own().next().unwrap_or_default();
        let shapes: Vec<&ArrayShape> = operands.iter().filter_map(Literal::array_shape).collect();
        let (slices, shapes) = (self.receive_slices(&shapes)?, shapes);
        let given: Vec<&[Literal]> = slices.iter().map(Vec::as_slice).collect();
        let reduced =
            distributed::reduced(executable, options, self.instruction, &given, self.order);
        let mut whole: Vec<Literal> = (shapes.iter())
            .map(|shape| Literal::zeros(ArrayShape::new(shape.ty, shape.dims.clone())))
            .collect();
        // After an error the other ranks get zeros, and the error with the next report.
        let (reduced, error) = match reduced {
            Ok(reduced) => (reduced, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        drop(slices);
        self.share_ranges(&reduced, &mut whole)?;
        if let Some(error) = error {
            return Ok(Err(error));
        }
        let count = self.members.len();
        let results = distributed::of_reduced(executable, options, self.instruction, whole, count);
        Ok(results.map(|results| self.select_own(results)))
    }
    /// Returns this rank's range of the operands of each member, as arrays of one dimension.
    fn receive_slices(&self, shapes: &[&ArrayShape]) -> Result<Vec<Vec<Literal>>> {
        let mut transfers = Transfers::default();
        let flat = |shape: &ArrayShape, bytes: &Range<usize>| {
            let count = bytes.len() / shape.ty.storage_bytes();
            ArrayShape::new(shape.ty, [i64::try_from(count).unwrap_or(0)].as_slice())
        };
        for member in &self.members {
            for (i, shape) in shapes.iter().enumerate() {
                if !self.is_own(member) {
                    let range = self.range(shape, self.ranks.rank());
                    transfers.receive_array(member.0, flat(shape, &range));
                    continue;
                }
                for rank in self.others() {
                    let range = self.range(shape, rank);
                    transfers.send_range(rank, &member.1.local()[i], range);
                }
            }
        }
        let mut received = transfers.run(self.ranks)?.into_iter();
        let slice = |array: &Literal, shape: &ArrayShape| {
            let range = self.range(shape, self.ranks.rank());
            let mut slice = Literal::zeros(flat(shape, &range));
            slice.bytes_mut().copy_from_slice(&array.bytes()[range]);
            slice
        };
        let slices = self.members.iter().map(|(_, values)| match values {
            Values::Local(own) => own.iter().zip(shapes).map(|(x, s)| slice(x, s)).collect(),
            Values::Remote(_) => received.by_ref().take(shapes.len()).collect(),
        });
        Ok(slices.collect())
    }
    /// Sends this rank's range of the reduced arrays, and receives those of the others.
    fn share_ranges(&self, own: &[Literal], whole: &mut [Literal]) -> Result<()> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        let zeros: Vec<Vec<u8>>;
        let own: Vec<&[u8]> = if own.is_empty() {
            let size = |array: &Literal| {
                array.array_shape().map(|s| self.range(s, self.ranks.rank()).len())
            };
            zeros = whole.iter().map(|array| vec![0; size(array).unwrap_or(0)]).collect();
            zeros.iter().map(Vec::as_slice).collect()
        } else {
            own.iter().map(Literal::bytes).collect()
        };
        for (own, array) in own.iter().zip(whole) {
            let Some(shape) = array.array_shape().cloned() else { continue };
            let mut rest = array.bytes_mut();
            for &rank in &self.involved {
                let (part, after) = rest.split_at_mut(self.range(&shape, rank).len());
                rest = after;
                if rank == self.ranks.rank() {
                    part.copy_from_slice(own);
                } else {
                    sends.push((rank, *own));
                    receives.push((rank, part));
                }
            }
        }
        self.ranks.exchange(&sends, &mut receives)
    }
    /// Returns the bytes of an array that a rank reduces.
    fn range(&self, shape: &ArrayShape, rank: usize) -> Range<usize> {
        let width = shape.ty.storage_bytes();
        let elements = shape.byte_count().unwrap_or(0) / width;
        let place = self.involved.iter().position(|&other| other == rank).unwrap_or(0);
        let (each, more) = (elements / self.involved.len(), elements % self.involved.len());
        let first = |place: usize| (place * each + place.min(more)) * width;
        first(place)..first(place + 1)
    }
}
