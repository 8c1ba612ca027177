//! What is done for a strand that stands at an op others take part in.
use crate::meeting::{Arrival, Site};
use crate::run::Run;
use crate::starts::{Started, Ticket};
use crate::strand::{Claim, On};
use crate::{Code, Error, Result};
use hlo::ir::{ComputationId, Instruction};
use hlo::{Literal, Op};
use interp::{Position, Request, collective};

fn unsupported(message: impl Into<String>) -> Error {
    Code::Unsupported { message: message.into() }.into()
}

/// An operand of a start, or of what has become of it: a start gives `((operands), ...)` back.
fn held(value: &Literal) -> Vec<Literal> {
    let operands = value.elements().and_then(|parts| parts.first()?.elements());
    operands.map(<[Literal]>::to_vec).unwrap_or_default()
}

impl<'m> Run<'m> {
    /// Answers a strand, or lets it wait.
    pub(crate) fn serve(&mut self, i: usize, request: Request<'m>) -> Result<()> {
        let now = Claim::Strand(i);
        #[expect(clippy::wildcard_enum_match_arm, reason = "machines stop at these ops only")]
        match &request.instruction().op {
            Op::AllReduce(op) => self.meet(i, request, op.channel_id, now),
            Op::AllGather(op) => self.meet(i, request, op.channel_id, now),
            Op::ReduceScatter(op) => self.meet(i, request, op.channel_id, now),
            Op::AllToAll(op) => self.meet(i, request, op.channel_id, now),
            Op::CollectiveBroadcast(op) => self.meet(i, request, op.channel_id, now),
            Op::RaggedAllToAll(op) => self.meet(i, request, op.channel_id, now),
            Op::AllReduceStart(op) => {
                let later = self.start(i, &request)?;
                self.meet(i, request, op.channel_id, later)
            }
            Op::AllGatherStart(op) => {
                let later = self.start(i, &request)?;
                self.meet(i, request, op.channel_id, later)
            }
            Op::CollectivePermute(op) => self.permute(i, request, op.channel_id, now),
            Op::CollectivePermuteStart(op) => {
                let later = self.start(i, &request)?;
                self.permute(i, request, op.channel_id, later)
            }
            Op::AsyncStart(op) => {
                let origin = self.strands[i].begins(&request.place);
                let begun = self.starts.begin(i, &request.place, Started::Unbound(origin));
                let operands = request.operands;
                self.bind(i, begun, op.calls, &operands)?;
                let instruction = request.place.instruction();
                let started = self.started(i, instruction, operands);
                self.starts.gave(i, begun, &started, &instruction.op);
                self.answer(i, started)
            }
            Op::AsyncUpdate(_) => {
                let (ticket, operands) = self.bound(i, &request)?;
                let started = self.started(i, request.instruction(), operands);
                self.starts.gave(i, ticket, &started, &request.instruction().op);
                self.answer(i, started)
            }
            Op::AsyncDone(_) => {
                let ticket = self.bound(i, &request)?.0;
                self.done(i, &request.place, ticket)
            }
            Op::AllGatherDone(_) | Op::AllReduceDone(_) | Op::CollectivePermuteDone(_) => {
                let ticket = self.ticket(i, &request)?.0;
                self.done(i, &request.place, ticket)
            }
            Op::Send(op) => self.send(i, &request, op.channel_id),
            Op::Recv(_) | Op::SendDone(_) => {
                self.answer(i, collective::nothing(request.instruction()))
            }
            Op::RecvDone(op) => self.receive(i, request, op.channel_id),
            op => Err(unsupported(format!("`{}` is not run on several devices", op.opcode()))),
        }
    }

    /// A device comes to an op of its group.
    fn meet(
        &mut self,
        i: usize,
        request: Request<'m>,
        channel: Option<i64>,
        claim: Claim,
    ) -> Result<()> {
        let (device, place) = (self.strands[i].device, request.place);
        let instruction = request.instruction();
        let Some(group) = self.meetings.group(device, &place, self.grid())? else {
            if !matches!(instruction.op, Op::CollectiveBroadcast(_)) {
                let message =
                    format!("device {device} runs `{}` and is in no group", instruction.opcode());
                return Err(Error::from(Code::Groups { message })
                    .with_help("each device must be in one of the groups"));
            }
            return self.fulfil(claim, collective::nothing(instruction));
        };
        let (site, round) = self.site(i, &place, channel, group.number)?;
        let module = self.team.module();
        match self.meetings.arrive(device, (claim, request), (site, group, round), module)? {
            Arrival::Waits(key) => self.claimed(claim, place, On::Meeting(key)),
            Arrival::Complete(meeting) => {
                // It is answered when all that were stepped together have been served.
                self.claimed(claim, place, On::Exchange);
                self.complete.push(meeting);
            }
        }
        Ok(())
    }
    /// Where a strand meets others, and how often it has come there before.
    pub(crate) fn site(
        &mut self,
        i: usize,
        place: &Position<'m>,
        channel: Option<i64>,
        group: usize,
    ) -> Result<(Site, u64)> {
        let strand = &mut self.strands[i];
        let site = Site::of(place, channel, strand.origin);
        let Site::Channel(channel) = site else { return Ok((site, strand.round(site, group))) };
        if !self.meetings.is_used_by_one(strand.device, channel, strand.origin) {
            let message = format!(
                "channel {channel}: device {} has ops on it in computations that run beside each other",
                strand.device
            );
            return Err(Error::from(Code::Mismatch { message }).with_help(
                "nobody could tell which of them comes first: give each a channel of its own",
            ));
        }
        Ok((site, self.meetings.round(strand.device, channel, group)))
    }

    /// What a start gives its strand at once.
    pub(crate) fn started(
        &self,
        i: usize,
        instruction: &Instruction,
        operands: Vec<Literal>,
    ) -> Literal {
        match self.strands[i].body.is_here() {
            true => collective::started(instruction, operands),
            false => Literal::token(),
        }
    }
    /// Lets a strand go on past a start, and gives the claim to what it has asked for.
    fn start(&mut self, i: usize, request: &Request<'m>) -> Result<Claim> {
        let pending = Started::Pending { on: None, finishing: None };
        let ticket = self.starts.begin(i, &request.place, pending);
        let started = self.started(i, request.instruction(), request.operands.clone());
        self.starts.gave(i, ticket, &started, &request.instruction().op);
        self.answer(i, started)?;
        Ok(Claim::Ticket(ticket))
    }
    /// The start that an update or a done belongs to, and the computation that an `async-start` calls, if it is in the same
    /// computation. One elsewhere is known by what it gave: ranks do not share that.
    fn ticket(&self, i: usize, request: &Request<'m>) -> Result<(Ticket, Option<ComputationId>)> {
        let place = &request.place;
        let opcode = place.instruction().opcode();
        let Some(start) = collective::start_of(place) else {
            let value = request.operands.first().filter(|_| self.shared.is_none());
            let op = &place.instruction().op;
            let giver = value.and_then(|value| self.starts.giver(i, value, op));
            let message = format!("the start of `{opcode}` is far from it and cannot be followed");
            return giver.map(|ticket| (ticket, None)).ok_or_else(|| unsupported(message));
        };
        let ticket = self.starts.find(i, place, start).ok_or_else(|| {
            unsupported(format!("the start of `{opcode}` has not run, or was done before"))
        })?;
        let calls = match &place.computation.instructions[start].op {
            Op::AsyncStart(op) => Some(op.calls),
            _ => None,
        };
        Ok((ticket, calls))
    }
    /// Binds the operands that an update or a done adds; gives all that are bound now.
    fn bound(&mut self, i: usize, request: &Request<'m>) -> Result<(Ticket, Vec<Literal>)> {
        let (ticket, calls) = self.ticket(i, request)?;
        let mut operands = request.operands.first().map(held).unwrap_or_default();
        operands.extend(request.operands.iter().skip(1).cloned());
        if let Some(calls) = calls {
            self.bind(i, ticket, calls, &operands)?;
        }
        Ok((ticket, operands))
    }
    /// Runs the computation of an `async-start` beside the strand, once all its operands are there.
    fn bind(
        &mut self,
        i: usize,
        ticket: Ticket,
        calls: ComputationId,
        operands: &[Literal],
    ) -> Result<()> {
        let wanted = self.team.module().computations[calls].program_shape().parameters.len();
        let Some(started) = self.starts.get_mut(ticket) else { return Ok(()) };
        let &mut Started::Unbound(origin) = started else { return Ok(()) };
        if operands.len() < wanted {
            return Ok(());
        }
        *started = Started::Pending { on: None, finishing: None };
        let strand = &self.strands[i];
        let device = strand.device;
        let failed = |error| Error::from(Code::Device { device, error });
        let body = strand.body.beside(calls, operands.to_vec()).map_err(failed)?;
        self.spawn(device, body, (ticket, origin));
        Ok(())
    }
    /// A done: the strand gets what its start asked for, now or later.
    fn done(&mut self, i: usize, place: &Position<'m>, ticket: Ticket) -> Result<()> {
        match self.starts.get_mut(ticket) {
            Some(Started::Pending { finishing, .. }) => {
                *finishing = Some(i);
                self.wait(i, *place, On::Ticket(ticket));
                Ok(())
            }
            Some(Started::Unbound(_)) => {
                let message = "operands of the started computation are not bound".to_owned();
                Err(Code::Mismatch { message }.into())
            }
            Some(Started::Done(_)) | None => match self.starts.end(ticket) {
                Some(Started::Done(value)) => self.answer(i, value),
                _ => {
                    let opcode = place.instruction().opcode();
                    Err(unsupported(format!("`{opcode}` has run before for the same start")))
                }
            },
        }
    }
}
