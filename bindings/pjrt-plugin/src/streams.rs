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
#[expect(unsafe_code, reason = "calls functions of the table")]
mod tests {
    use crate::table::table;
    use hlo::Module;
    use pjrt::compile_options::{CompileOptionsProto, ExecutableBuildOptionsProto};
    use pjrt::sys::*;
    use prost::Message;
    use std::ffi::c_void;
    use std::ptr::{from_ref, null_mut};

    const S32: i32 = 4;

    fn call<A: Arguments>(arguments: A) -> A {
        // SAFETY: the pointers in the structs of these tests are valid.
        let outcome = unsafe { Api::new(table().cast_mut()).unwrap().call(arguments) };
        outcome.unwrap_or_else(|_| panic!("{} failed", A::FUNCTION))
    }

    /// A client with two devices.
    fn client() -> (*mut c_void, Vec<*mut c_void>) {
        let mut option = NamedValue {
            header: Header::of::<NamedValue>(),
            name: c"device_count".as_ptr(),
            name_size: 12,
            kind: 1,
            value: NamedValueData { int64: 2 },
            value_size: 1,
        };
        let create =
            ClientCreate { create_options: &raw mut option, num_options: 1, ..Default::default() };
        let client = call(create).client;
        let devices = call(ClientDevices { client, ..Default::default() });
        // SAFETY: the list is the client's.
        let devices = unsafe { std::slice::from_raw_parts(devices.devices, devices.num_devices) };
        (client, devices.to_vec())
    }

    fn compile(client: *mut c_void, text: &str) -> *mut c_void {
        let code = hlo::proto::encode(&Module::parse(text).unwrap()).unwrap();
        let build = ExecutableBuildOptionsProto {
            device_ordinal: -1,
            num_replicas: 2,
            num_partitions: 1,
            ..Default::default()
        };
        let options =
            CompileOptionsProto { executable_build_options: Some(build), ..Default::default() };
        let options = options.encode_to_vec();
        let program = Program {
            header: Header::of::<Program>(),
            code: code.as_ptr().cast(),
            code_size: code.len(),
            format: c"hlo".as_ptr(),
            format_size: 3,
        };
        call(ClientCompile {
            client,
            program: &raw const program,
            options: options.as_ptr().cast(),
            options_size: options.len(),
            ..Default::default()
        })
        .executable
    }

    /// Launches a program of a number on one device.
    fn launch(
        executable: *mut c_void,
        client: *mut c_void,
        device: *mut c_void,
        n: i32,
    ) -> *mut c_void {
        let buffer = call(ClientBufferFromHostBuffer {
            client,
            data: from_ref(&n).cast(),
            ty: S32,
            device,
            ..Default::default()
        })
        .buffer;
        let arguments = [buffer];
        let argument_lists = [arguments.as_ptr()];
        let mut outputs = [null_mut()];
        let output_lists = [outputs.as_mut_ptr()];
        call(LoadedExecutableExecute {
            executable,
            argument_lists: argument_lists.as_ptr(),
            num_devices: 1,
            num_args: 1,
            output_lists: output_lists.as_ptr(),
            execute_device: device,
            ..Default::default()
        });
        outputs[0]
    }

    fn value(buffer: *mut c_void) -> Result<i32, String> {
        // SAFETY: the buffer is one of the plugin's.
        let buffer = unsafe { crate::handle::get::<crate::buffer::Buffer>(buffer) };
        let value = buffer.and_then(|buffer| buffer.value()?.wait());
        let value = value.map_err(|failure| failure.message)?;
        Ok(i32::from_le_bytes(value.bytes().try_into().unwrap()))
    }

    const SUM: &str = "HloModule sum, replica_count=2
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
    const NEGATE: &str = "HloModule negate, replica_count=2
        ENTRY e { x = s32[] parameter(0) ROOT n = s32[] negate(x) }";

    #[test]
    fn devices_are_launched_one_by_one() {
        let (client, devices) = client();
        let (sum, again, negate) =
            (compile(client, SUM), compile(client, SUM), compile(client, NEGATE));
        let of_first = launch(sum, client, devices[0], 3);
        // It waits for the sum, which is earlier on its device.
        let behind = launch(negate, client, devices[0], 7);
        assert_eq!(value(launch(negate, client, devices[1], 5)), Ok(-5));
        let of_second = launch(again, client, devices[1], 4);
        assert_eq!((value(of_first), value(of_second)), (Ok(7), Ok(7)));
        assert_eq!(value(behind), Ok(-7));
    }

    #[test]
    fn different_programs_that_communicate_are_an_error() {
        let (client, devices) = client();
        let other = SUM.replace("HloModule sum", "HloModule other");
        let (sum, other) = (compile(client, SUM), compile(client, &other));
        let of_first = launch(sum, client, devices[0], 3);
        let of_second = launch(other, client, devices[1], 4);
        for buffer in [of_first, of_second] {
            let message = value(buffer).unwrap_err();
            assert!(
                message.contains("device 0 launched `sum`, device 1 launched `other`"),
                "{message}"
            );
        }
        // The devices go on.
        let (of_first, of_second) =
            (launch(sum, client, devices[0], 1), launch(sum, client, devices[1], 2));
        assert_eq!((value(of_first), value(of_second)), (Ok(3), Ok(3)));
    }
}
