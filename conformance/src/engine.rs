//! Runs of a module: on one device, on all devices of its header, or on the devices of one rank.
use collectives::{Finished, Global, Note, Ranks, World};
use hlo::diag::Diagnostic;
use hlo::{Literal, Verified};
use interp::{Device, Hooks, Options};

/// An engine of Etalon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// One function per op, written as the specification states it; slow.
    Reference,
    /// Optimized kernels that give the bits of `Reference` wherever an op has one right result.
    #[default]
    Exact,
}

/// Why a run has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// A run on one device failed.
    #[error("{0}")]
    OneDevice(#[from] interp::Error),
    /// A run on many devices failed.
    #[error("{0}")]
    ManyDevices(#[from] collectives::Error),
}

impl RunError {
    /// Returns the error in the form that the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::OneDevice(error) => error.diagnostic(),
            Self::ManyDevices(error) => error.diagnostic(),
        }
    }
    /// Returns the error of a single device, unless the devices failed together.
    pub fn device_error(&self) -> Option<&interp::Error> {
        match self {
            Self::OneDevice(error) => Some(error),
            Self::ManyDevices(error) => match error.code() {
                collectives::Code::Device { error, .. } | collectives::Code::Outside { error } => {
                    Some(error)
                }
                _ => None,
            },
        }
    }
    /// Whether the module needs something that is not implemented.
    pub fn is_unsupported(&self) -> bool {
        if let Some(error) = self.device_error() {
            return matches!(
                error.code(),
                interp::Code::Unsupported { .. } | interp::Code::Elided { .. }
            );
        }
        match self {
            Self::OneDevice(_) => false,
            Self::ManyDevices(e) => matches!(e.code(), collectives::Code::Unsupported { .. }),
        }
    }
}

impl Engine {
    /// All engines; the first one is the default.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Reference];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Exact => "exact",
        }
    }

    /// Runs a module on one device.
    ///
    /// # Errors
    /// `E04xx`, as [`interp::Interpreter::run`].
    pub fn run(
        self,
        verified: &Verified,
        arguments: &[Literal],
        options: Options,
        hooks: Hooks,
    ) -> Result<Literal, interp::Error> {
        let options = options.engine(self.into());
        interp::Interpreter::with_options(verified, options).with_hooks(hooks).run(arguments)
    }

    /// Runs a module on the devices that its header states. The manual regions of an unpartitioned SPMD program (see [`Global`])
    /// run on the devices of its meshes. `inputs` has one list of arguments for each device, or a single list for all.
    ///
    /// # Errors
    /// `E04xx` if the run of a device fails; `E05xx` if the ops of different devices do not match, or the run is deadlocked.
    pub fn run_on_devices(
        self,
        verified: &Verified,
        inputs: &[Vec<Literal>],
        options: Options,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<RunOutput, RunError> {
        let grid = World::devices(verified.module())?;
        let one = |result, notes| RunOutput { results: vec![result], notes };
        if let ([arguments], 1) = (inputs, grid.len()) {
            let Some(global) = Global::of(verified)? else {
                let result = self.run(verified, arguments, options, hooks(grid.device(0)))?;
                return Ok(one(result, Vec::new()));
            };
            let global =
                global.with_options(options.engine(self.into())).with_hooks(hooks(grid.device(0)));
            let Finished { result, notes } = global.with_device_hooks(hooks).run(arguments)?;
            return Ok(one(result, notes));
        }
        let options = options.engine(self.into());
        on_world(verified, inputs, |world| world.with_options(options).with_hooks(hooks))
    }

    /// Runs a block of the devices that a module's header states: the block of this rank.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_on_ranks(
        self,
        ranks: Ranks,
        verified: &Verified,
        inputs: &[Vec<Literal>],
        options: Options,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<RunOutput, RunError> {
        let options = options.engine(self.into());
        on_world(verified, inputs, |world| {
            world.with_options(options).with_hooks(hooks).with_ranks(ranks)
        })
    }
}

impl From<Engine> for interp::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Reference => Self::Reference,
            Engine::Exact => Self::Exact,
        }
    }
}

fn on_world<'m>(
    verified: &'m Verified,
    inputs: &[Vec<Literal>],
    set: impl FnOnce(World<'m>) -> World<'m>,
) -> Result<RunOutput, RunError> {
    Ok(RunOutput { results: set(World::new(verified)).run(inputs)?, notes: Vec::new() })
}

/// The output of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutput {
    /// The result of each device, ordered by device number. An unpartitioned SPMD program has a single result.
    pub results: Vec<Literal>,
    /// Values of an unpartitioned SPMD program that differ between devices although they must be equal.
    pub notes: Vec<Note>,
}
