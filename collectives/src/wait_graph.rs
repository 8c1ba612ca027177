//! The wait-for graph of a run without a runnable task.
use crate::async_ops::AsyncState;
use crate::channels;
use crate::deadlock::{Deadlock, Waiting};
use crate::rendezvous::Rendezvous;
use crate::run::Run;
use crate::site::Key;
use crate::task::{Task, TaskState, WaitReason};
use interp::{AsyncId, Position};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The missing devices of each rendezvous, in one list for all members that have joined.
type Known = BTreeMap<Key, Arc<[usize]>>;

/// The reason why a device waits: see [`Waiting`].
struct Missing {
    started: Option<Position>,
    what: Option<String>,
    devices: Arc<[usize]>,
}

impl Run {
    /// Returns the wait-for graph.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut known = Known::new();
        let mut waiting: Vec<Waiting> = (self.tasks.iter())
            .filter(|task| !task.origin.is_some_and(|async_id| self.is_waited_for(async_id)))
            .filter_map(|task| match &task.state {
                TaskState::Waiting(_, WaitReason::Parts) => None,
                TaskState::Waiting(position, on) => {
                    Some(self.waiting(task, *position, *on, &mut known))
                }
                TaskState::Ready | TaskState::Finished => None,
            })
            .collect();
        waiting.sort_by_key(|w| w.device);
        let finished = self.results.iter().enumerate().filter(|(_, result)| result.is_some());
        Deadlock { waiting, finished: finished.map(|(device, _)| device).collect() }
    }
    /// Returns whether the task at the done reports already what the operation waits for.
    fn is_waited_for(&self, async_id: AsyncId) -> bool {
        matches!(self.async_ops.get(async_id), Some(AsyncState::Pending { done: Some(_), .. }))
    }
    fn waiting(
        &self,
        task: &Task,
        position: Position,
        on: WaitReason,
        known: &mut Known,
    ) -> Waiting {
        let Missing { started, what, devices } = self.missing(on, known);
        let module = self.module();
        let trail = task.device_state.trail();
        let loops = trail.iter().filter(|(_, rounds)| *rounds > 0);
        let name = |position: &Position| {
            let path = position.name(module);
            path.split_once('/').map_or(path.clone(), |(_, name)| name.to_owned())
        };
        Waiting {
            device: task.device,
            at: position.name(module),
            span: position.span(module),
            started: started.map(|position| (position.name(module), position.span(module))),
            what,
            missing: devices,
            loops: loops.map(|(position, rounds)| (name(position), *rounds)).collect(),
        }
    }
    fn missing(&self, on: WaitReason, known: &mut Known) -> Missing {
        let none = Missing { started: None, what: None, devices: Arc::default() };
        match on {
            WaitReason::Rendezvous(key) => {
                let missing = || {
                    let rendezvous = self.rendezvous.get(&key);
                    rendezvous.map(Rendezvous::missing).unwrap_or_default().into()
                };
                let devices = Arc::clone(known.entry(key).or_insert_with(missing));
                Missing { devices, ..none }
            }
            WaitReason::Exchange => {
                Missing { what: Some("the end of the round".to_owned()), ..none }
            }
            WaitReason::Async(async_id) => self.async_missing(async_id, known),
            WaitReason::Message(source) => {
                Missing { what: Some("a value".to_owned()), devices: [source].into(), ..none }
            }
            WaitReason::Parts => Missing { what: Some("the rest of the steps".to_owned()), ..none },
            WaitReason::Receiver(channel, target) => {
                let what = Some(format!("a `recv` on {}", channels::channel_name(channel)));
                Missing { what, devices: target.into_iter().collect(), ..none }
            }
            WaitReason::Channel(channel, source) => {
                let what = Some(format!("a value on {}", channels::channel_name(channel)));
                Missing { what, devices: source.into_iter().collect(), ..none }
            }
        }
    }
    /// Returns the reason why an async operation waits.
    fn async_missing(&self, async_id: AsyncId, known: &mut Known) -> Missing {
        let mut tasks = self.tasks.iter().filter(|task| task.origin == Some(async_id));
        let inner = tasks.find(
            |task| matches!(task.state, TaskState::Waiting(_, on) if on != WaitReason::Parts),
        );
        let waits = match (self.async_ops.get(async_id), inner.map(|task| &task.state)) {
            (Some(AsyncState::Pending { waits: Some((position, on)), .. }), _) => {
                Some((*position, *on))
            }
            (_, Some(TaskState::Waiting(position, on))) => Some((*position, *on)),
            _ => None,
        };
        match waits {
            Some((position, on)) => Missing { started: Some(position), ..self.missing(on, known) },
            None => Missing {
                started: None,
                what: Some("an async operation".to_owned()),
                devices: Arc::default(),
            },
        }
    }
}
