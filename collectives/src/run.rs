//! One run: strands that are stepped while they can go on, and what they wait for.
use crate::deadlock::{Deadlock, Waiting, listed};
use crate::mail::{Mail, Slot};
use crate::meeting::{Arrival, Claim, Key, Meeting, Meetings, Site, Ticket};
use crate::{Code, Error, Result};
use hlo::Literal;
use hlo::ir::{Computation, InstructionId};
use interp::{Grid, Machine, Request, Step, Team};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A computation that a device runs: its entry, or one that an `async-start` has begun.
#[derive(Debug)]
pub(crate) struct Strand<'m> {
    pub(crate) device: usize,
    pub(crate) machine: Machine<'m>,
    state: State<'m>,
    /// Who gets its result; nobody, if it is the device's entry.
    claim: Option<Claim>,
}

#[derive(Debug)]
enum State<'m> {
    Ready,
    Waits(Wait<'m>),
    Ended,
}

/// Where a strand waits, and for what.
#[derive(Debug)]
struct Wait<'m> {
    computation: &'m Computation,
    id: InstructionId,
    on: On,
}

/// What a strand waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum On {
    Meeting(Key),
    Ticket(Ticket),
    /// A value of this device.
    Letter(usize),
    Channel(Option<i64>),
}

/// One run of a world.
#[derive(Debug)]
pub(crate) struct Run<'m> {
    pub(crate) team: Team<'m>,
    pub(crate) strands: Vec<Strand<'m>>,
    pub(crate) meetings: Meetings<'m>,
    pub(crate) mail: Mail,
    /// What was started: its result, once there is one.
    pub(crate) tickets: FxHashMap<Ticket, Option<Literal>>,
    /// Where a started meeting or letter is waited for, to be told.
    pub(crate) pending: FxHashMap<Ticket, On>,
    /// Who waits for a done.
    finishing: FxHashMap<Ticket, usize>,
    /// Who waits for a letter.
    pub(crate) expected: BTreeMap<Slot, Claim>,
    /// Who waits for a value on a channel.
    pub(crate) receivers: BTreeMap<Option<i64>, Vec<(usize, Request<'m>)>>,
    /// Groups that have come together.
    complete: Vec<Meeting<'m>>,
    results: Vec<Option<Literal>>,
}

impl<'m> Run<'m> {
    pub(crate) fn new(team: Team<'m>, machines: Vec<Machine<'m>>) -> Self {
        let results = vec![None; machines.len()];
        let strand =
            |(device, machine)| Strand { device, machine, state: State::Ready, claim: None };
        Self {
            team,
            strands: machines.into_iter().enumerate().map(strand).collect(),
            meetings: Meetings::default(),
            mail: Mail::default(),
            tickets: FxHashMap::default(),
            pending: FxHashMap::default(),
            finishing: FxHashMap::default(),
            expected: BTreeMap::default(),
            receivers: BTreeMap::default(),
            complete: Vec::new(),
            results,
        }
    }
    pub(crate) fn grid(&self) -> Grid {
        self.team.grid()
    }

    /// Steps whoever can go on, until all have ended.
    pub(crate) fn finish(mut self) -> Result<Vec<Literal>> {
        loop {
            let steps: Vec<(usize, interp::Result<Step<'m>>)> = (self.strands.par_iter_mut())
                .enumerate()
                .filter(|(_, strand)| matches!(strand.state, State::Ready))
                .map(|(i, strand)| (i, strand.machine.resume()))
                .collect();
            if steps.is_empty() {
                break;
            }
            // What follows is done in the order of the strands, so that it does not depend on who was faster.
            for (i, step) in steps {
                self.stepped(i, step)?;
            }
            self.settle()?;
        }
        if self.results.iter().any(Option::is_none) {
            return Err(Code::Deadlock { deadlock: self.deadlock() }.into());
        }
        self.mail.all_claimed()?;
        Ok(self.results.into_iter().flatten().collect())
    }

    fn stepped(&mut self, i: usize, step: interp::Result<Step<'m>>) -> Result<()> {
        let device = self.strands[i].device;
        match step.map_err(|error| Error::from(Code::Device { device, error }))? {
            Step::Wait(request) => self.serve(i, request),
            Step::Done(result) => {
                self.strands[i].state = State::Ended;
                match self.strands[i].claim.take() {
                    Some(claim) => self.fulfil(claim, result),
                    None => self.results[device] = Some(result),
                }
                Ok(())
            }
            _ => Err(Code::Unsupported {
                message: "a machine has stopped for a reason that is not known here".to_owned(),
            }
            .into()),
        }
    }

    /// Gives the groups that have come together what their op gives them.
    fn settle(&mut self) -> Result<()> {
        let complete = std::mem::take(&mut self.complete);
        let team = &self.team;
        let exchanged: Vec<_> = (complete.into_par_iter())
            .map(|meeting| {
                let (claims, given): (Vec<Claim>, Vec<Vec<Literal>>) =
                    meeting.given.into_iter().flatten().unzip();
                let given: Vec<&[Literal]> = given.iter().map(Vec::as_slice).collect();
                let results = interp::collective::exchange(team, meeting.instruction, &given);
                (claims, results)
            })
            .collect();
        for (claims, results) in exchanged {
            let results = results.map_err(|error| self.blamed(claims[0], error))?;
            for (claim, result) in claims.into_iter().zip(results) {
                self.fulfil(claim, result);
            }
        }
        Ok(())
    }

    /// The error of an op that several devices take part in, at the instruction of the first.
    pub(crate) fn blamed(&self, claim: Claim, error: interp::Error) -> Error {
        let i = match claim {
            Claim::Strand(i) | Claim::Ticket((i, ..)) => i,
        };
        let strand = &self.strands[i];
        Code::Device { device: strand.device, error: strand.machine.blame(error) }.into()
    }

    /// Answers a strand, which then can go on.
    pub(crate) fn answer(&mut self, i: usize, value: Literal) {
        self.strands[i].machine.answer(value);
        self.strands[i].state = State::Ready;
    }
    /// Gives a value to whoever claims it.
    pub(crate) fn fulfil(&mut self, claim: Claim, value: Literal) {
        match claim {
            Claim::Strand(i) => self.answer(i, value),
            Claim::Ticket(ticket) => {
                self.pending.remove(&ticket);
                match self.finishing.remove(&ticket) {
                    Some(i) => {
                        self.tickets.remove(&ticket);
                        self.answer(i, value);
                    }
                    None => {
                        self.tickets.insert(ticket, Some(value));
                    }
                }
            }
        }
    }
    /// Lets a strand wait.
    pub(crate) fn wait(&mut self, i: usize, request: &Request<'m>, on: On) {
        let (computation, id) = (request.computation, request.id);
        self.strands[i].state = State::Waits(Wait { computation, id, on });
    }
    /// Notes where a claim waits: the strand itself, or what its done will wait for.
    pub(crate) fn claimed(&mut self, claim: Claim, request: &Request<'m>, on: On) {
        match claim {
            Claim::Strand(i) => self.wait(i, request, on),
            Claim::Ticket(ticket) => {
                self.pending.insert(ticket, on);
            }
        }
    }

    /// A device comes to an op of its group.
    pub(crate) fn meet(
        &mut self,
        i: usize,
        request: Request<'m>,
        channel: Option<i64>,
        claim: Claim,
    ) -> Result<()> {
        let device = self.strands[i].device;
        let grid = self.grid();
        let asked = Request { operands: Vec::new(), ..request.clone() };
        match self.meetings.arrive(device, request, channel, claim, grid)? {
            Arrival::Waits(key) => self.claimed(claim, &asked, On::Meeting(key)),
            Arrival::Complete(meeting) => {
                // It is answered when all that were stepped together have been served.
                let key = (Site::of(&asked, channel), meeting.members[0], 0);
                self.claimed(claim, &asked, On::Meeting(key));
                self.complete.push(meeting);
            }
            Arrival::Alone => {
                let opcode = asked.instruction().opcode();
                if opcode != hlo::Opcode::CollectiveBroadcast {
                    let message = format!("device {device} runs `{opcode}` and is in no group");
                    return Err(Code::Groups { message }.into());
                }
                self.fulfil(claim, interp::collective::nothing(asked.instruction()));
            }
        }
        Ok(())
    }
    /// A done: the strand gets what its start asked for, now or later.
    pub(crate) fn done(&mut self, i: usize, request: &Request<'m>, ticket: Ticket) -> Result<()> {
        match self.tickets.remove(&ticket) {
            Some(Some(value)) => self.answer(i, value),
            Some(None) => {
                self.tickets.insert(ticket, None);
                self.finishing.insert(ticket, i);
                self.wait(i, request, On::Ticket(ticket));
            }
            None => {
                let opcode = request.instruction().opcode();
                let message = format!("the start of `{opcode}` is not in its computation");
                return Err(Code::Unsupported { message }.into());
            }
        }
        Ok(())
    }
    /// Runs a computation beside the strand that starts it.
    pub(crate) fn spawn(&mut self, device: usize, machine: Machine<'m>, claim: Claim) {
        self.strands.push(Strand { device, machine, state: State::Ready, claim: Some(claim) });
    }

    /// Who waits for whom.
    fn deadlock(&self) -> Deadlock {
        let mut waiting: Vec<Waiting> = (self.strands.iter())
            .filter_map(|strand| match &strand.state {
                State::Waits(wait) => Some(self.waiting(strand, wait)),
                State::Ready | State::Ended => None,
            })
            .collect();
        waiting.sort_by_key(|w| w.device);
        Deadlock { waiting, ended: self.results.iter().filter(|r| r.is_some()).count() }
    }
    fn waiting(&self, strand: &Strand<'m>, wait: &Wait<'m>) -> Waiting {
        let Wait { computation, id, on } = wait;
        let (reason, missing) = self.reason(*on);
        let trail = strand.machine.trail();
        let loops = trail.iter().filter(|(_, _, rounds)| *rounds > 0);
        Waiting {
            device: strand.device,
            at: format!("{}/{}", computation.name, computation.names[*id]),
            span: computation.spans.get(*id).copied().unwrap_or_default().body,
            reason,
            missing,
            loops: loops.map(|(c, id, n)| (c.names[*id].to_string(), *n)).collect(),
        }
    }
    fn reason(&self, on: On) -> (String, Vec<usize>) {
        match on {
            On::Meeting(key) => {
                let missing = self.meetings.get(&key).map(Meeting::missing).unwrap_or_default();
                (listed(&missing), missing)
            }
            On::Ticket(ticket) => match self.pending.get(&ticket) {
                Some(&on) => self.reason(on),
                None => ("what it has started".to_owned(), Vec::new()),
            },
            On::Letter(source) => (format!("a value of device {source}"), vec![source]),
            On::Channel(channel) => {
                let channel = channel.map_or_else(String::new, |id| format!(" {id}"));
                (format!("a value on channel{channel}"), Vec::new())
            }
        }
    }
}
