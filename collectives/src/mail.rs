//! `collective-permute`: values on their way from one device to another.
use crate::groups::checked;
use crate::meeting::{Site, agrees};
use crate::run::Run;
use crate::strand::{Claim, On};
use crate::{Code, Error, Result};
use hlo::Literal;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::GroupMode;
use interp::{Device, Grid, Position, Request, collective};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whom a device sends to and receives from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Neighbours {
    pub(crate) targets: Vec<usize>,
    pub(crate) source: Option<usize>,
}

/// The neighbours of each device. Ids are replicas, of a device's own partition, or the other way round.
///
/// # Errors
/// `E0502` if an id is not one of the grid's.
pub(crate) fn all_neighbours(
    mode: GroupMode,
    pairs: &[(i64, i64)],
    grid: Grid,
) -> Result<Vec<Neighbours>> {
    let across = mode == GroupMode::CrossPartition;
    let (count, others) = match across {
        true => (grid.partitions, grid.replicas),
        false => (grid.replicas, grid.partitions),
    };
    let number = |id: usize, other: usize| match across {
        true => grid.number(Device { partition: id, replica: other }),
        false => grid.number(Device { replica: id, partition: other }),
    };
    let mut found = vec![Neighbours::default(); grid.len()];
    for &(source, target) in pairs {
        let source = checked(source, count, mode.id_noun())?;
        let target = checked(target, count, mode.id_noun())?;
        for other in 0..others {
            let (from, to) = (number(source, other), number(target, other));
            found[from].targets.push(to);
            found[to].source = Some(from);
        }
    }
    Ok(found)
}

/// Which box: the instruction, how often its sender has come there before, the receiver.
pub(crate) type Slot = (Site, u64, usize);

/// What was sent and not yet received.
#[derive(Debug, Default)]
pub(crate) struct Mail<'m> {
    letters: BTreeMap<Slot, Letter<'m>>,
    /// The neighbours of all devices at each instruction, found once.
    neighbours: FxHashMap<(ComputationId, InstructionId), Arc<[Neighbours]>>,
}

/// Values, who sent them, and where.
#[derive(Debug)]
struct Letter<'m> {
    sender: usize,
    place: Position<'m>,
    values: Vec<Literal>,
}

impl Mail<'_> {
    /// The neighbours of each device at an instruction.
    ///
    /// # Errors
    /// `E0502` if an id is not one of the grid's.
    pub(crate) fn neighbours(
        &mut self,
        place: &Position<'_>,
        grid: Grid,
    ) -> Result<Arc<[Neighbours]>> {
        let key = (place.computation_id, place.id);
        if let Some(found) = self.neighbours.get(&key) {
            return Ok(Arc::clone(found));
        }
        let (mode, pairs) =
            place.instruction().op.pairs().unwrap_or((GroupMode::CrossReplica, &[]));
        let all: Arc<[Neighbours]> = all_neighbours(mode, pairs, grid)?.into();
        self.neighbours.insert(key, Arc::clone(&all));
        Ok(all)
    }
    /// Fails if something was sent that nobody received.
    pub(crate) fn all_claimed(&self) -> Result<()> {
        let Some(((_, round, receiver), Letter { sender, place, .. })) = self.letters.iter().next()
        else {
            return Ok(());
        };
        let message = format!(
            "device {sender} sent device {receiver} a value in round {} of a `collective-permute` that device {receiver} \
             did not run as often",
            round + 1
        );
        Err(Error::from(Code::Unclaimed { message })
            .at(place)
            .with_help("all devices must run a `collective-permute` equally often"))
    }
}

impl<'m> Run<'m> {
    /// Sends to the targets, and waits for the source.
    pub(crate) fn permute(
        &mut self,
        i: usize,
        request: Request<'m>,
        channel: Option<i64>,
        claim: Claim,
    ) -> Result<()> {
        let number = self.strands[i].device;
        let all = self.mail.neighbours(&request.place, self.team.grid())?;
        let Neighbours { targets, source } = all[number].clone();
        let (site, round) = self.site(i, &request.place, channel, 0)?;
        if !targets.is_empty() {
            let failed = |error| Error::from(Code::Device { device: number, error });
            let blame = |error| failed(request.place.blame(error));
            // Other ranks have no use for what they have not been told.
            let is_used = targets.iter().chain([&number]).any(|&device| self.is_here(device));
            let values = match is_used {
                true => collective::sent(request.instruction(), &request.operands),
                false => Ok(Vec::new()),
            };
            let values = values.map_err(blame)?;
            for target in targets {
                let slot = (site, round, target);
                match self.expected.remove(&slot) {
                    Some((claim, receiver)) => {
                        let here = (number, &request.place);
                        agrees(here, (target, &receiver.place), site, self.team.module())?;
                        self.deliver(target, claim, &receiver, Some(values.clone()))?;
                    }
                    None => {
                        let (place, values) = (request.place, values.clone());
                        let letter = Letter { sender: number, place, values };
                        if let Some(other) = self.mail.letters.insert(slot, letter) {
                            let others = (other.sender, &other.place);
                            agrees(others, (number, &request.place), site, self.team.module())?;
                        }
                    }
                }
            }
        }
        let Some(source) = source else { return self.deliver(number, claim, &request, None) };
        let slot = (site, round, number);
        match self.mail.letters.remove(&slot) {
            Some(Letter { sender, place, values }) => {
                let here = (number, &request.place);
                agrees((sender, &place), here, site, self.team.module())?;
                self.deliver(number, claim, &request, Some(values))
            }
            None => {
                self.claimed(claim, request.place, On::Letter(source));
                self.expected.insert(slot, (claim, request));
                Ok(())
            }
        }
    }
    fn deliver(
        &mut self,
        device: usize,
        claim: Claim,
        request: &Request<'m>,
        sent: Option<Vec<Literal>>,
    ) -> Result<()> {
        if !self.is_here(device) {
            return self.fulfil(claim, Literal::token());
        }
        let value = collective::received(request.instruction(), &request.operands, sent);
        let value = value.map_err(|error| {
            Error::from(Code::Device { device, error: request.place.blame(error) })
        })?;
        self.fulfil(claim, value)
    }
}
