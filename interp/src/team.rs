//! Machines of several devices that run one module.
use crate::context::{Context, Prepared};
use crate::device::{Device, Grid};
use crate::hooks::Hooks;
use crate::interpreter::admitted;
use crate::machine::Machine;
use crate::{Options, Result};
use hlo::{Literal, Verified};
use std::sync::Arc;

/// What the machines of one run share: the module, its limits, and what is laid out once.
///
/// A machine that belongs to a team does not run ops that other devices take part in: it stops, hands out a
/// [`Request`](crate::Request), and waits for an [answer](Machine::answer).
#[derive(Debug, Clone)]
pub struct Team<'m> {
    prepared: Arc<Prepared<'m>>,
    options: Options,
    grid: Grid,
}

impl<'m> Team<'m> {
    /// A team of as many devices as the grid has. Limits hold for each device by itself.
    pub fn new(verified: &'m Verified, options: Options, grid: Grid) -> Self {
        Self { prepared: Prepared::new(verified.module()), options, grid }
    }
    /// The module they run.
    pub fn module(&self) -> &'m hlo::Module {
        self.prepared.module()
    }
    /// The devices.
    pub fn grid(&self) -> Grid {
        self.grid
    }
    /// A machine of a device that has not taken its first step.
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit.
    pub fn start(
        &self,
        device: Device,
        hooks: Hooks,
        arguments: &[Literal],
    ) -> Result<Machine<'m>> {
        let module = self.prepared.module();
        let arguments = admitted(module, arguments)?;
        let context =
            Context::of(Arc::clone(&self.prepared), self.options, hooks, Some((device, self.grid)));
        Machine::new(context, module.entry, arguments)
    }
    /// What ops that belong to no device need.
    pub(crate) fn context(&self) -> Context<'m> {
        Context::of(Arc::clone(&self.prepared), self.options, Hooks::new(), None)
    }
}
