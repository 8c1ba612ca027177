//! Which engine runs a module, and on how many devices.
use collectives::World;
use hlo::diag::Diagnostic;
use hlo::{Literal, Module, Verified};
use interp::{Device, Grid, Hooks, Options};

/// An engine of Etalon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The executable specification: slow and plain.
    #[default]
    Reference,
}

/// Devices of one run; each is a machine of its own, and more of them than this are a slip of the keyboard.
const DEVICE_LIMIT: usize = 1 << 13;

/// The devices that the header of a module asks for.
///
/// # Errors
/// `E0507` if there are too many for one run.
pub fn devices(module: &Module) -> Result<Grid, Failed> {
    let grid = Grid::of(&module.config);
    if grid.len() <= DEVICE_LIMIT {
        return Ok(grid);
    }
    let Grid { replicas, partitions } = grid;
    let message = format!(
        "a run takes at most {DEVICE_LIMIT} devices; {replicas} replicas with {partitions} partitions each are more"
    );
    Err(Failed::Together(collectives::Code::Unsupported { message }.into()))
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
                collectives::Code::Device { error, .. } => Some(error),
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
        match self {
            Self::Reference => interp::Interpreter::with_options(verified, options)
                .with_hooks(hooks)
                .run(arguments),
        }
    }

    /// Runs a module on as many devices as its header states: the result of each, in the order of their numbers. `inputs` are
    /// the arguments of each device, or those of all.
    ///
    /// # Errors
    /// `E04xx` of one device's own run; `E05xx` if the devices do not fit together or wait for each other.
    pub fn run_on_devices(
        self,
        verified: &Verified,
        inputs: &[Vec<Literal>],
        options: Options,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Result<Vec<Literal>, Failed> {
        let grid = devices(verified.module())?;
        if let ([arguments], 1) = (inputs, grid.len()) {
            let result = self.run(verified, arguments, options, hooks(grid.device(0)))?;
            return Ok(vec![result]);
        }
        match self {
            Self::Reference => {
                let world = World::new(verified).with_options(options).with_hooks(hooks);
                Ok(world.run(inputs)?)
            }
        }
    }
}
