//! The run of an unpartitioned program.
use super::region::Divergence;
use super::split::{Split, region_target, split};
use crate::{Code, Error, Result};
use hlo::diag::{Diagnostic, Level, Place};
use hlo::{Literal, Span, Verified};
use interp::{Device, Hooks, Interpreter, Options};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type DeviceHooks = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// An unpartitioned SPMD program: a module over global arrays with manual regions, as it is before XLA's partitioner.
///
/// Outside of manual regions it runs once. A region runs on each device of its mesh, which starts with its shard of the
/// arrays; devices communicate by collectives; at the end of the region their shards are assembled.
///
/// ```
/// let text = r##"HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
/// add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
/// ENTRY e {
///   x = s32[4] parameter(0)
///   shard = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
///     xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
///   sum = s32[2] all-reduce(shard), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
///   ROOT r = s32[2] custom-call(sum), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
///     xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
/// }"##;
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let program = collectives::spmd::Program::of(&verified)?.expect("it has a manual region");
/// let output = program.run(&["s32[4] {1, 2, 30, 40}".parse()?])?;
/// assert_eq!(output.result.to_string(), "s32[2]{0} {31, 42}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Program {
    split: Arc<Split>,
    options: Options,
    hooks: Hooks,
    device_hooks: Option<DeviceHooks>,
}

/// The output of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutput {
    /// The program's result.
    pub result: Literal,
    /// Where values differ between devices on which they should be equal, in text order; the result has the first one's.
    pub divergences: Vec<Divergence>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions = self.split.regions.len();
        let mut shown = f.debug_struct("Program");
        shown.field("regions", &regions).field("options", &self.options).finish_non_exhaustive()
    }
}

/// What the regions of one run report besides their values.
#[derive(Debug, Default)]
struct RegionReport {
    /// The error of a region. The interpreter sees only that a custom call failed.
    error: Option<Error>,
    divergences: Vec<Divergence>,
}

impl Program {
    /// Returns the program, if it has manual regions: `xla.sdy.GlobalToLocalShape` or `SPMDFullToShardShape`.
    ///
    /// # Errors
    /// `E0511` if a sharding is malformed or does not fit; `E0512` if a per-device value leaves its region;
    /// `E0514` if the module of a region is invalid; `E0507` for what is not supported.
    pub fn of(verified: &Verified) -> Result<Option<Self>> {
        Ok(split(verified)?.map(|split| Self {
            split: Arc::new(split),
            options: Options::default(),
            hooks: Hooks::new(),
            device_hooks: None,
        }))
    }
    /// Sets limits. They apply to the outer program, and to each device in each run of a region.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// Sets the hooks of the outer program, and of devices in a region unless
    /// [`with_device_hooks`](Self::with_device_hooks) sets theirs.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }
    /// Sets the hooks of each device in a region.
    #[must_use]
    pub fn with_device_hooks(
        mut self,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Self {
        self.device_hooks = Some(Arc::new(hooks));
        self
    }

    /// Runs the program on global arrays, one for each parameter.
    ///
    /// # Errors
    /// `E04xx` if the run fails outside of the regions, for example `E0401` if the arguments do not fit; in a region those of
    /// [`World::run`](crate::World::run).
    pub fn run(&self, inputs: &[Literal]) -> Result<RunOutput> {
        let report = Arc::new(Mutex::new(RegionReport::default()));
        let mut hooks = self.hooks.clone();
        for i in 0..self.split.regions.len() {
            hooks = self.with_region(hooks, i, &report);
        }
        let interpreter =
            Interpreter::with_options(&self.split.outer, self.options).with_hooks(hooks);
        let result = interpreter.run(inputs);
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = report.error.take() {
            return Err(error);
        }
        let result = result.map_err(|error| Error::from(Code::Outside { error }))?;
        let divergences = merge(std::mem::take(&mut report.divergences));
        Ok(RunOutput { result, divergences })
    }

    /// Adds the custom call that runs region `i`.
    fn with_region(&self, hooks: Hooks, i: usize, report: &Arc<Mutex<RegionReport>>) -> Hooks {
        let (split, options, report) = (Arc::clone(&self.split), self.options, Arc::clone(report));
        let common = self.hooks.clone();
        let device_hooks: DeviceHooks = match &self.device_hooks {
            Some(hooks) => Arc::clone(hooks),
            None => Arc::new(move |_| common.clone()),
        };
        hooks.custom_call(region_target(i), move |call| {
            let inputs = call.operands.iter().map(|&operand| operand.clone()).collect();
            let output = split.regions[i].run(inputs, options, &device_hooks);
            let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
            match output {
                Ok((value, divergences)) => {
                    report.divergences.extend(divergences);
                    Ok(value)
                }
                Err(error) => {
                    let message = "a manual region failed".to_owned();
                    report.error = Some(error);
                    Err(interp::Code::Trap { message }.into())
                }
            }
        })
    }
}

/// Merges the divergences of all runs of an instruction: all devices, the largest distance.
fn merge(mut found: Vec<Divergence>) -> Vec<Divergence> {
    found.sort_by_key(|one| (one.span.start, one.device));
    let mut all: Vec<Divergence> = Vec::new();
    for one in found {
        let alike = |known: &&mut Divergence| {
            (&known.instruction, known.device) == (&one.instruction, one.device)
        };
        match all.last_mut().filter(alike) {
            Some(known) => {
                known.others.extend(one.others);
                known.others.sort_unstable();
                known.others.dedup();
                known.distance = known.distance.max(one.distance);
            }
            None => all.push(one),
        }
    }
    all
}

impl Divergence {
    /// Returns the warning that the renderer shows.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic {
            level: Level::Warning,
            code: "",
            message: self.to_string(),
            span: Some(self.span).filter(|&span| span != Span::default()),
            place: Place::Whole,
            labels: Vec::new(),
            help: Some(
                "the sharding says that they are equal; the result has the value of the first device".to_owned(),
            ),
        }
    }
}
impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction, device, others, distance, .. } = self;
        let others = crate::deadlock::list_devices(others);
        let verb = if self.others.len() == 1 { "differs" } else { "differ" };
        write!(f, "`{instruction}`: {others} {verb} from device {device}, by up to {distance}")
    }
}
