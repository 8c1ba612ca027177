//! The child of a [`Channel`](super::channel::Channel): answers requests from its standard input.
use super::message::{read, write};
use super::process::{Mark, start_thread};
use super::system;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, Result};
use std::sync::mpsc::{Receiver, channel};

/// Answers the requests of the parent. What foreign code prints goes to stderr. The process ends
/// with its parent, which closes standard input, even if foreign code hangs.
pub(crate) fn answer<Q, R>(mut answer: impl FnMut(Q) -> Option<R>) -> Result<()>
where
    Q: DeserializeOwned + Send + 'static,
    R: Serialize,
{
    let (input, mut output) = system::private_streams()?;
    for request in receive(input)? {
        if let Some(reply) = answer(request) {
            write(&mut output, &reply)?;
        }
    }
    end()
}

/// Reads requests on a thread of its own, so that the end of the parent is noticed while a request
/// is answered.
fn receive<Q: DeserializeOwned + Send + 'static>(input: File) -> Result<Receiver<Q>> {
    let (send, requests) = channel();
    let receive = move || {
        let mut input = BufReader::new(input);
        while let Ok(request) = read(&mut input) {
            if send.send(request).is_err() {
                break;
            }
        }
        end()
    };
    start_thread(receive)?;
    Ok(requests)
}

/// Ends this process and what it started, without the exit handlers of a library, which may wait
/// for its threads.
fn end() -> ! {
    if let Some(mark) = Mark::of_this_process() {
        mark.kill();
    }
    system::end_group()
}
