//! The run of an unpartitioned program.
use super::region::{Divergence, Region};
use super::split::{Split, region_target, split};
use crate::device_run::DeviceHooks;
use crate::memory::ArgumentBytes;
use crate::{Code, Error, Ranks, Result};
use hlo::diag::{Diagnostic, Level, Place};
use hlo::{Literal, Module, Span, Verified};
use interp::{CompileOptions, DeviceGrid, Executable, Hooks, RunOptions};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// An unpartitioned SPMD program: a module over global arrays with manual regions, before XLA's
/// partitioner.
///
/// Outside of manual regions it runs once. A region runs on each device of its mesh, which starts
/// with its shard of the arrays; devices communicate by collectives; at the end of the region their
/// shards are assembled.
///
/// ```
/// let text = r##"HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
/// ENTRY e {
///   x = s32[4] parameter(0)
///   shard = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
///     xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
///   n = s32[2] negate(shard)
///   ROOT r = s32[4] custom-call(n), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
///     xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
/// }"##;
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let program = collectives::spmd::Program::compile(&verified, interp::CompileOptions::default())?;
/// let program = program.expect("it has a region");
/// let called = program.outer().module().entry().instructions.iter().find_map(|(_, i)| match &i.op {
///     hlo::Op::CustomCall(call) => program.region(&call.custom_call_target.0),
///     _ => None,
/// });
/// assert_eq!(called.expect("the region is called").devices(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program(Arc<Split>);

/// Returns a program with manual regions for the one device on which it runs as a whole: XLA's dumps
/// state the partitions that it will have. Nothing of other modules, and of programs for one device.
///
/// ```
/// let text = r##"HloModule m, num_partitions=2
/// ENTRY e {
///   x = s32[4] parameter(0), sharding={devices=[2]<=[2]}
///   shard = s32[2] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
///   ROOT r = s32[4] custom-call(shard), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]}
/// }"##;
/// let program = hlo::Module::parse(text)?.verify()?;
/// let whole = collectives::spmd::whole(&program).expect("it has a region");
/// assert_eq!(whole.config.num_partitions, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn whole(program: &Verified) -> Option<Module> {
    let config = &program.module().config;
    if config.num_partitions <= 1 || config.replica_count > 1 {
        return None;
    }
    Program::compile(program, CompileOptions::default()).ok()??;
    let mut module = program.module().clone();
    module.config.num_partitions = 1;
    Some(module)
}

/// The reports of the regions of one run, in addition to their values.
#[derive(Debug, Default)]
struct RegionReport {
    /// The error of a region. The interpreter sees only that a custom call failed.
    error: Option<Error>,
    divergences: Vec<Divergence>,
}

impl Program {
    /// Splits and compiles a module; returns nothing if it has no manual regions: no
    /// `xla.sdy.GlobalToLocalShape` or `SPMDFullToShardShape`.
    ///
    /// # Errors
    /// `E0511` if a sharding is malformed or does not fit; `E0512` if a per-device value leaves its
    /// region; `E0514` if the module of a region is invalid; `E0507` for what is not supported.
    pub fn compile(verified: &Verified, options: CompileOptions) -> Result<Option<Self>> {
        Ok(split(verified, options)?.map(|split| Self(Arc::new(split))))
    }
    /// Returns the program that runs once, which calls regions as custom calls.
    pub fn outer(&self) -> &Executable {
        &self.0.outer
    }
    /// Returns the region that a custom call of the outer program calls.
    pub fn region(&self, target: &str) -> Option<&Region> {
        let regions = self.0.regions.iter().enumerate();
        regions.into_iter().find(|&(i, _)| region_target(i) == target).map(|(_, region)| region)
    }

    /// Runs the program on global arrays, one for each parameter. Returns its result, and where
    /// devices diverge. The outer program has the hooks of device 0. The limit of fuel applies to
    /// it, and to each device in each run of a region; the devices of a region share the memory
    /// that it leaves.
    ///
    /// # Errors
    /// `E04xx` if the run fails outside of the regions, for example `E0401` if the arguments do not
    /// fit; in a region those of [`Session::run`](crate::Session::run).
    pub(crate) fn run(
        &self,
        inputs: &[Literal],
        options: &RunOptions,
        device_hooks: &DeviceHooks,
        ranks: Option<&Ranks>,
    ) -> Result<(Literal, Vec<Divergence>)> {
        let report = Arc::new(Mutex::new(RegionReport::default()));
        let one = DeviceGrid { replicas: 1, partitions: 1 };
        let mut hooks = device_hooks(one.device(0));
        for i in 0..self.0.regions.len() {
            let region = RegionCall {
                split: Arc::clone(&self.0),
                options: options.clone(),
                hooks: Arc::clone(device_hooks),
                ranks: ranks.cloned(),
                report: Arc::clone(&report),
            };
            hooks = region.attach(hooks, i);
        }
        let result = self.0.outer.execute(inputs, &options.clone().hooks(hooks));
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = report.error.take() {
            return Err(error);
        }
        let result = result.map_err(|error| Error::from(Code::Outside { error }))?;
        let notes = merge(std::mem::take(&mut report.divergences));
        Ok((result, notes))
    }
}

/// The data of the custom call that runs a region.
struct RegionCall {
    split: Arc<Split>,
    options: RunOptions,
    hooks: DeviceHooks,
    ranks: Option<Ranks>,
    report: Arc<Mutex<RegionReport>>,
}

impl RegionCall {
    /// Adds the custom call that runs region `i`.
    fn attach(self, hooks: Hooks, i: usize) -> Hooks {
        hooks.custom_call(region_target(i), move |call| {
            let inputs: Vec<Literal> = call.operands.iter().map(|&o| o.clone()).collect();
            let region = &self.split.regions[i];
            // The outer program holds the operands, and the region counts them too.
            let held = ArgumentBytes::of([inputs.as_slice()].into_iter()).total;
            let mut options = self.options.clone();
            options.max_memory = call.memory.map(|left| left.saturating_add(held));
            let output = region.run(inputs, &options, &self.hooks, self.ranks.as_ref());
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
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
            instruction: Some(self.instruction.clone()),
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
