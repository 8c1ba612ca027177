//! The messages between a process and the child that runs a plugin.
use super::hello::PluginHello;
use crate::backend::message::Tensor;
use pjrt::{OptionValue, Program};
use serde::{Deserialize, Serialize};

/// A request of the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Load the plugin and create a client. The first request.
    Start { path: String, options: Vec<(String, OptionValue)> },
    /// Compile a program under a number.
    Compile { number: u64, program: Program },
    /// Execute a program.
    Execute { number: u64, arguments: Vec<Vec<Tensor>> },
    /// Forget a program. There is no reply.
    Release { number: u64 },
}

/// A reply of the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The client is created.
    Started(PluginHello),
    /// The program is compiled.
    Compiled,
    /// The leaves of the result of each device.
    Results(Vec<Vec<Tensor>>),
    /// There is no result.
    Failed { unsupported: bool, message: String },
}
