//! Streams of launches, one for each device, in the order of the host.
//!
//! JAX launches a program on all of its devices at once. PyTorch/XLA launches it on one device at a time, from a thread for each: where
//! devices take part in one computation, it begins when it is the next launch of each of them.
use crate::execute::{Part, queue};
use crate::failure::{Code, Failure, Result};
use crate::program::Program;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A launch on one device.
type Launch = (Arc<Program>, Part);

/// The launches that wait for others, by the number of their device.
pub(crate) struct Streams {
    waiting: Mutex<Vec<VecDeque<Launch>>>,
    count: AtomicUsize,
}

impl Streams {
    pub(crate) fn new(devices: usize) -> Self {
        let waiting = (0..devices).map(|_| VecDeque::new()).collect();
        Self { waiting: Mutex::new(waiting), count: AtomicUsize::new(0) }
    }
    /// Launches a program on all of its devices, or on some, each with its number.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn launch(&self, program: &Arc<Program>, parts: Vec<(usize, Part)>) -> Result<()> {
        let is_whole = parts.len() == program.placement.devices.len();
        if is_whole && self.count.load(Ordering::Acquire) == 0 {
            return queue(program, parts.into_iter().map(|(_, part)| part).collect());
        }
        // Until what is ready is queued: what follows it on a device must not come before it.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.fetch_add(parts.len(), Ordering::Release);
        for (device, part) in parts {
            waiting[device].push_back((Arc::clone(program), part));
        }
        while let Some((program, parts)) = ready(&mut waiting) {
            self.count.fetch_sub(parts.len(), Ordering::Release);
            queue(&program, parts)?;
        }
        if waiting.iter().all(|launches| !launches.is_empty()) {
            let failure = deadlock(&waiting);
            let stuck = waiting.iter_mut().filter_map(VecDeque::pop_front);
            let count = stuck.map(|(_, part)| part.fail(&failure)).count();
            self.count.fetch_sub(count, Ordering::Release);
        }
        Ok(())
    }
}

/// Returns the error of launches that wait for each other.
fn deadlock(waiting: &[VecDeque<Launch>]) -> Failure {
    let programs = waiting.iter().filter_map(VecDeque::front).map(|(program, _)| program.name());
    let named: Vec<String> = (programs.enumerate())
        .map(|(device, name)| format!("device {device} launched `{name}`"))
        .collect();
    Failure::new(
        Code::FAILED_PRECONDITION,
        format!(
            "the devices communicate, and wait for each other in different programs: {}\n = help: each device must launch the same program; a number of the device that is part of it makes programs differ",
            named.join(", ")
        ),
    )
}

/// Takes a launch that waits for no other out of the streams of its devices.
fn ready(waiting: &mut [VecDeque<Launch>]) -> Option<(Arc<Program>, Vec<Part>)> {
    let first = |device: usize| waiting[device].front().map(|(program, _)| program);
    let (program, devices) = (0..waiting.len()).find_map(|device| {
        let program = first(device)?;
        let devices = match program.is_joint {
            true => program.placement.devices.clone(),
            false => vec![device],
        };
        // Each thread of the host may have compiled the program.
        let is_next = |&device: &usize| {
            first(device).is_some_and(|next| next.fingerprint == program.fingerprint)
        };
        devices.iter().all(is_next).then(|| (Arc::clone(program), devices))
    })?;
    let parts = devices.iter().filter_map(|&device| waiting[device].pop_front());
    Some((program, parts.map(|(_, part)| part).collect()))
}

#[cfg(test)]
mod tests {
    use crate::testing::{buffer, client, compile, launch, value};
    use std::ffi::c_void;

    const SUM: &str = "HloModule sum, replica_count=2
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
    const NEGATE: &str = "HloModule negate, replica_count=2
        ENTRY e { x = s32[] parameter(0) ROOT n = s32[] negate(x) }";

    /// Launches programs of two devices on each of them, with a number.
    fn launches() -> (impl Fn(*mut c_void, usize, i32) -> *mut c_void, *mut c_void) {
        let (client, devices) = client(2);
        let start = move |executable, device: usize, number| {
            launch(executable, devices[device], buffer(client, devices[device], &[number], &[]))
        };
        (start, client)
    }

    fn is(buffer: *mut c_void, number: i32) -> bool {
        value(buffer) == Ok(format!("s32[] {number}"))
    }

    #[test]
    fn devices_are_launched_one_by_one() {
        let (start, client) = launches();
        let of_thread = || compile(client, SUM, 2);
        let (sum, again, negate) = (of_thread(), of_thread(), compile(client, NEGATE, 2));
        let of_first = start(sum, 0, 3);
        // It waits for the sum, which is earlier on its device.
        let behind = start(negate, 0, 7);
        assert!(is(start(negate, 1, 5), -5));
        let of_second = start(again, 1, 4);
        assert!(is(of_first, 7) && is(of_second, 7) && is(behind, -7));
    }

    #[test]
    fn different_programs_that_communicate_are_an_error() {
        let (start, client) = launches();
        let other = SUM.replace("HloModule sum", "HloModule other");
        let (sum, other) = (compile(client, SUM, 2), compile(client, &other, 2));
        for buffer in [start(sum, 0, 3), start(other, 1, 4)] {
            let message = value(buffer).unwrap_err();
            assert!(
                message.contains("device 0 launched `sum`, device 1 launched `other`"),
                "{message}"
            );
        }
        // The devices go on.
        let (of_first, of_second) = (start(sum, 0, 1), start(sum, 1, 2));
        assert!(is(of_first, 3) && is(of_second, 3));
    }
}
