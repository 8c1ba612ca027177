//! Which engine runs a module, and on how many devices.
use collectives::spmd::{Divergence, Program, RunOutput};
use collectives::{Ranks, World};
use hlo::diag::Diagnostic;
use hlo::{Literal, Verified};
use interp::{Device, Hooks, Options};

/// An engine of Etalon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The specification itself: slow and plain.
    Reference,
    /// The optimized kernels, checked against it.
    #[default]
    Exact,
}

/// Why a run gave no results.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failed {
    /// The run of the only device.
    #[error("{0}")]
    Alone(#[from] interp::Error),
    /// A run of several.
    #[error("{0}")]
    Together(#[from] collectives::Error),
}

impl Failed {
    /// In the form the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Alone(error) => error.diagnostic(),
            Self::Together(error) => error.diagnostic(),
        }
    }
    /// The error of one device's own run, if that is what failed.
    pub fn of_device(&self) -> Option<&interp::Error> {
        match self {
            Self::Alone(error) => Some(error),
            Self::Together(error) => match error.code() {
                collectives::Code::Device { error, .. } | collectives::Code::Outside { error } => {
                    Some(error)
                }
                _ => None,
            },
        }
    }
    /// Whether the module needs something that is not there yet.
    pub fn is_unsupported(&self) -> bool {
        if let Some(error) = self.of_device() {
            return matches!(
                error.code(),
                interp::Code::Unsupported { .. } | interp::Code::Elided { .. }
            );
        }
        match self {
            Self::Alone(_) => false,
            Self::Together(e) => matches!(e.code(), collectives::Code::Unsupported { .. }),
        }
    }
}

impl Engine {
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

    /// Runs a module on as many devices as its header states; a program before partitioning (see [`Program`]) on those of its
    /// meshes, where it has manual regions. `inputs` are the arguments of each device, or those of all.
    ///
    /// # Errors
    /// `E04xx` of one device's own run; `E05xx` if the devices do not fit together or wait for each other.
    pub fn run_on_devices(
        self,
        verified: &Verified,
        inputs: &[Vec<Literal>],
        options: Options,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<Ran, Failed> {
        let grid = World::devices(verified.module())?;
        let alone = |result| Ran { results: vec![result], notes: Vec::new() };
        if let ([arguments], 1) = (inputs, grid.len()) {
            let Some(global) = Program::of(verified)? else {
                return Ok(alone(self.run(verified, arguments, options, hooks(grid.device(0)))?));
            };
            let global =
                global.with_options(options.engine(self.into())).with_hooks(hooks(grid.device(0)));
            let RunOutput { result, divergences: notes } =
                global.with_device_hooks(hooks).run(arguments)?;
            return Ok(Ran { notes, ..alone(result) });
        }
        let options = options.engine(self.into());
        on_world(verified, inputs, |world| world.with_options(options).with_hooks(hooks))
    }

    /// Runs a module on as many devices as its header states, as one of several ranks that each run a block of them.
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
    ) -> Result<Ran, Failed> {
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
) -> Result<Ran, Failed> {
    Ok(Ran { results: set(World::new(verified)).run(inputs)?, notes: Vec::new() })
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// The result of each device, in the order of their numbers; of a program before partitioning its only result.
    pub results: Vec<Literal>,
    /// Where devices of a program before partitioning should have had equal values and had not.
    pub notes: Vec<Divergence>,
}
