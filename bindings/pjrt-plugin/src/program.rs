//! Compiled programs.
use crate::callback::{TARGET, Uses};
use crate::client::Client;
use crate::dump::{Dump, DumpedRuns};
use crate::failure::{Code, Failure, Result};
use crate::options::Placement;
use crate::source::{describe, run_failure, write_source};
use collectives::spmd::Shards;
use collectives::{RunError, Session};
use hlo::op::value::ApiVersion;
use hlo::{Literal, Module, Op, Opcode, Shape, Verified};
use interp::{DeviceGrid, Hooks};
use load::{Format, Reason};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A program as a host sends it, which is also its serialized form.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Source {
    #[prost(string, tag = "1")]
    pub(crate) format: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) code: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) options: Vec<u8>,
}

/// A compiled program.
pub(crate) struct Program {
    pub(crate) client: Arc<Client>,
    pub(crate) source: Source,
    pub(crate) placement: Placement,
    pub(crate) session: Session,
    /// The shapes of the leaves of the result on each device.
    pub(crate) outputs: Vec<Shape>,
    /// The shapes of the arguments of each device.
    pub(crate) arguments: Vec<Shape>,
    /// The arguments whose buffers the program may take over.
    pub(crate) donated: Vec<usize>,
    pub(crate) fingerprint: String,
    /// Whether the devices take part in one computation: they communicate, or ask for their numbers, or share arrays.
    pub(crate) is_joint: bool,
    /// The program of one device of several that compute by themselves, from its first launch on.
    alone: OnceLock<Session>,
    verified: Arc<Verified>,
    /// Whether a run may use the thread that it is started on, unless it calls Python.
    pub(crate) stays: bool,
    /// Whether the last run was brief, and called no Python, which may wait for what the host does next.
    pub(crate) is_brief: AtomicBool,
    dumps: DumpedRuns,
    /// The shards of a program that runs once for all devices.
    pub(crate) shards: Option<Shards>,
    /// Keeps the Python functions that the program calls.
    _callbacks: Uses,
}

impl Program {
    /// Reads and compiles a program.
    ///
    /// # Errors
    /// With the number and the place of the first problem.
    pub(crate) fn compile(client: &Arc<Client>, source: Source) -> Result<Self> {
        let placement = Placement::read(&source.options, client.devices.len())?;
        let verified = Arc::new(verify(read(&source)?)?);
        let module = verified.module();
        has_handlers(client, module)?;
        let shards = shards(&verified, &placement)?;
        let grid = match shards {
            Some(_) => DeviceGrid { replicas: 1, partitions: 1 },
            None => DeviceGrid { replicas: placement.replicas, partitions: placement.partitions },
        };
        let session = session(client, &verified, grid)?;
        let shape = module.entry().program_shape();
        let leaves = |shape: &Shape| shape.leaves().into_iter().cloned().collect::<Vec<_>>();
        let arguments = match (placement.tupled, shape.parameters.as_slice()) {
            (true, [Shape::Tuple(elements)]) => elements.clone(),
            (_, parameters) => parameters.iter().map(|&shape| shape.clone()).collect(),
        };
        let config = &module.config;
        let outputs = shards.as_ref().map_or_else(|| leaves(shape.result), Shards::results);
        let arguments = shards.as_ref().map_or(arguments, Shards::arguments);
        // Shards have none: theirs are those of the whole arrays.
        let (parameters, result) = match &config.entry_layout {
            Some((parameters, result)) => (parameters.iter().collect(), result),
            None => (shape.parameters, shape.result),
        };
        let stated: Vec<Shape> = parameters.into_iter().flat_map(leaves).collect();
        let (arguments, outputs) =
            (laid_out(arguments, &stated), laid_out(outputs, &leaves(result)));
        let is_donated =
            |&i: &usize| i64::try_from(i).is_ok_and(|number| config.is_donated(number));
        Ok(Self {
            client: Arc::clone(client),
            donated: (0..arguments.len()).filter(is_donated).collect(),
            outputs,
            arguments,
            is_joint: placement.devices.len() > 1 && (shards.is_some() || is_joint(module)),
            shards,
            alone: OnceLock::new(),
            stays: grid.len() == 1 && session.executable().stays_on_thread(&client.hooks(), TARGET),
            is_brief: AtomicBool::new(false),
            session,
            placement,
            fingerprint: fingerprint(&source),
            source,
            dumps: DumpedRuns::default(),
            _callbacks: Uses::of(module),
            verified,
        })
    }
    pub(crate) fn module(&self) -> &Module {
        self.session.module()
    }
    pub(crate) fn name(&self) -> &str {
        &self.module().name
    }
    /// Returns the program of a device that runs alone.
    fn alone(&self) -> Result<&Session> {
        if let Some(session) = self.alone.get() {
            return Ok(session);
        }
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        let session = session(&self.client, &self.verified, grid)?;
        Ok(self.alone.get_or_init(|| session))
    }
    /// Runs the program on the arguments of each device, or of one that runs alone, and returns the leaves of the result of each.
    ///
    /// # Errors
    /// With the place at which the run stopped.
    pub(crate) fn run(&self, arguments: Vec<Vec<Literal>>) -> Result<Vec<Vec<Literal>>> {
        let session = match arguments.len() == self.placement.devices.len() {
            true => &self.session,
            false => self.alone()?,
        };
        let arguments = match (&self.shards, self.placement.tupled) {
            (Some(shards), _) => vec![
                shards
                    .assemble(&arguments)
                    .map_err(|error| run_failure(&RunError::from(error), self.module()))?,
            ],
            (None, true) => arguments.into_iter().map(|list| vec![Literal::tuple(list)]).collect(),
            (None, false) => arguments,
        };
        let settings = &self.client.settings;
        let dump = settings
            .dump
            .as_deref()
            .map(|folder| Dump::new((folder, self.name()), &self.dumps, &arguments));
        let hooks = self.client.hooks();
        let of_device = move |_| Hooks::clone(&hooks);
        let output = session.run_donated(arguments, &settings.run, of_device);
        let output = output.map_err(|error| run_failure(&error, self.module()));
        let leaves = |result: &Literal| result.leaves().into_iter().cloned().collect();
        let results =
            output.map(|output| output.results.iter().map(leaves).collect::<Vec<Vec<_>>>());
        if let Some(dump) = dump {
            dump.finish(self.module(), results.as_deref());
        }
        match (&self.shards, results?) {
            (Some(shards), results) => {
                Ok(shards.split(&Literal::tuple(results.into_iter().flatten().collect())))
            }
            (None, results) => Ok(results),
        }
    }
}

fn session(client: &Client, verified: &Arc<Verified>, grid: DeviceGrid) -> Result<Session> {
    let options = client.settings.compile.limits_of(&client.settings.run);
    Session::compile_for(Arc::clone(verified), grid, &options)
        .map_err(|error| run_failure(&error, verified.module()))
}

/// Returns whether devices communicate or ask for their numbers.
fn is_joint(module: &Module) -> bool {
    let mut instructions = module.instructions();
    instructions.any(|instruction| {
        instruction.op.communicates()
            || [Opcode::ReplicaId, Opcode::PartitionId].contains(&instruction.opcode())
    })
}

/// Checks that each call of the typed interface has a handler, as hosts expect it of a compiler.
fn has_handlers(client: &Client, module: &Module) -> Result<()> {
    let hooks = client.hooks();
    for instruction in module.instructions() {
        let Op::CustomCall(call) = &instruction.op else { continue };
        let target = call.custom_call_target.0.as_str();
        if call.api_version == ApiVersion::TypedFfi && !hooks.runs_custom_call(target) {
            let mut message = format!("no handler is registered for the target `{target}`");
            if let Some(metadata) = instruction.metadata() {
                write_source(&mut message, &module.frames, metadata);
            }
            return Err(Failure::new(Code::NOT_FOUND, message));
        }
    }
    Ok(())
}

/// Returns shapes with the layouts of others.
fn laid_out(mut shapes: Vec<Shape>, stated: &[Shape]) -> Vec<Shape> {
    for (shape, stated) in shapes.iter_mut().zip(stated) {
        if let (Shape::Array(array), Shape::Array(stated)) = (shape, stated)
            && array.rank() == stated.rank()
        {
            array.layout.clone_from(&stated.layout);
        }
    }
    shapes
}

/// Returns the shards of a program that the host wants partitioned, and that is not yet.
fn shards(program: &Verified, placement: &Placement) -> Result<Option<Shards>> {
    let config = &program.module().config;
    if placement.partitions == 1 || DeviceGrid::of(config).partitions > 1 {
        return Ok(None);
    }
    if placement.replicas > 1 || placement.tupled {
        let message = "a program with shardings for several replicas, or with a tuple of arguments, is not supported";
        return Err(Failure::unimplemented(message));
    }
    let failed = |error| run_failure(&RunError::from(error), program.module());
    Shards::of(program, placement.partitions).map(Some).map_err(failed)
}

/// Reads a program in one of the formats of PJRT.
fn read(source: &Source) -> Result<Module> {
    let format = match source.format.as_str() {
        "mlir" => Format::StableHlo,
        "hlo" => Format::Message,
        other => {
            return Err(Failure::invalid(format!(
                "the program has the format `{other}`, expected `mlir` or `hlo`"
            )));
        }
    };
    let (name, bytes) = ("program".to_owned(), source.code.as_slice().into());
    load::File { name, bytes, format }.parse().map_err(|error| {
        let is_unsupported = matches!(error.reason, Reason::Unsupported);
        let code = if is_unsupported { Code::UNIMPLEMENTED } else { Code::INVALID_ARGUMENT };
        Failure::new(code, error.to_string())
    })
}

fn verify(module: Module) -> Result<Verified> {
    module.verify().map_err(|unverified| {
        let module = Some(unverified.module());
        let shown = unverified.0.iter().map(|error| describe(&error.diagnostic(), module));
        Failure::invalid(shown.collect::<Vec<_>>().join("\n"))
    })
}

/// Returns a text that is different for different programs: FNV-1a of 128 bits.
fn fingerprint(source: &Source) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let parts = [source.format.as_bytes(), &source.code, &source.options];
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mix = |hash: u128, &byte: &u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    format!("{:032x}", parts.into_iter().flatten().fold(start, mix))
}
