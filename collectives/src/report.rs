//! Who waits for whom, read off a run that cannot go on.
use crate::deadlock::{Deadlock, Waiting, listed};
use crate::meeting::Meeting;
use crate::run::Run;
use crate::starts::Started;
use crate::strand::{On, State, Strand};
use crate::transfer;
use interp::Position;

impl<'m> Run<'m> {
    /// Who waits for whom.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut waiting: Vec<Waiting> = (self.strands.iter())
            .filter_map(|strand| match &strand.state {
                State::Waits(place, on) => Some(self.waiting(strand, place, *on)),
                State::Ready | State::Ended => None,
            })
            .collect();
        waiting.sort_by_key(|w| w.device);
        Deadlock { waiting, ended: self.results.iter().filter(|r| r.is_some()).count() }
    }
    fn waiting(&self, strand: &Strand<'m>, place: &Position<'m>, on: On) -> Waiting {
        let (reason, missing) = self.reason(on);
        let trail = strand.body.trail();
        let loops = trail.iter().filter(|(_, rounds)| *rounds > 0);
        Waiting {
            device: strand.device,
            at: place.name(),
            span: place.span(),
            reason,
            missing,
            loops: loops
                .map(|(place, rounds)| (place.computation.names[place.id].to_string(), *rounds))
                .collect(),
        }
    }
    fn reason(&self, on: On) -> (String, Vec<usize>) {
        match on {
            On::Meeting(key) => {
                let missing = self.meetings.get(&key).map(Meeting::missing).unwrap_or_default();
                (listed(&missing), missing)
            }
            On::Exchange => ("the others of its group".to_owned(), Vec::new()),
            On::Ticket(ticket) => match self.starts.get(ticket) {
                Some(&Started::Pending { on: Some(on), .. }) => self.reason(on),
                _ => ("what it has started".to_owned(), Vec::new()),
            },
            On::Letter(source) => (format!("a value of device {source}"), vec![source]),
            On::Channel(channel) => (format!("a value on {}", transfer::name(channel)), Vec::new()),
        }
    }
}
