//! Runs a program over global arrays.
use super::region::Note;
use super::split::{Split, split, target};
use crate::{Code, Error, Result};
use hlo::diag::{Diagnostic, Level, Place};
use hlo::{Literal, Span, Verified};
use interp::{Device, Hooks, Interpreter, Options};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type HooksOf = Arc<dyn Fn(Device) -> Hooks + Send + Sync>;

/// A program over global arrays with manual regions, as it is before XLA partitions it.
///
/// Outside of manual regions it runs once. A region runs once for each device of its mesh, which starts with its shard of the
/// arrays; devices exchange values by collectives; at the end their shards are put together.
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
/// let global = collectives::Global::of(&verified)?.expect("it has a manual region");
/// let finished = global.run(&["s32[4] {1, 2, 30, 40}".parse()?])?;
/// assert_eq!(finished.result.to_string(), "s32[2]{0} {31, 42}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Global {
    split: Arc<Split>,
    options: Options,
    hooks: Hooks,
    device_hooks: Option<HooksOf>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The program's result.
    pub result: Literal,
    /// Where devices should have had equal values and had not, in the order of the text; the value of the first one counts.
    pub notes: Vec<Note>,
}

impl fmt::Debug for Global {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions = self.split.regions.len();
        let mut shown = f.debug_struct("Global");
        shown.field("regions", &regions).field("options", &self.options).finish_non_exhaustive()
    }
}

/// What the regions of one run tell the run.
#[derive(Debug, Default)]
struct Told {
    /// Why a region gave nothing. It is kept whole: the interpreter only knows that its call failed.
    error: Option<Error>,
    notes: Vec<Note>,
}

impl Global {
    /// The program, if it has manual regions: `xla.sdy.GlobalToLocalShape` or `SPMDFullToShardShape`.
    ///
    /// # Errors
    /// `E0511` if a sharding cannot be understood or does not fit; `E0512` if a device's own value gets out of its region;
    /// `E0514` if a region is no module that its devices can run; `E0507` for what is not run yet.
    pub fn of(verified: &Verified) -> Result<Option<Self>> {
        Ok(split(verified)?.map(|split| Self {
            split: Arc::new(split),
            options: Options::default(),
            hooks: Hooks::new(),
            device_hooks: None,
        }))
    }
    /// With limits. They hold for the program around the regions, and for each device in each run of a region.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// With what the program may reach outside of itself; the devices in a region too, unless they are given their own.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }
    /// With what each device may reach in a region.
    #[must_use]
    pub fn with_device_hooks(
        mut self,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
    ) -> Self {
        self.device_hooks = Some(Arc::new(hooks));
        self
    }

    /// Runs it on global arrays, one for each parameter.
    ///
    /// # Errors
    /// `E04xx` if the run fails outside of the regions, as `E0401` where the arguments do not fit; in a region as
    /// [`World::run`](crate::World::run).
    pub fn run(&self, inputs: &[Literal]) -> Result<Finished> {
        let told = Arc::new(Mutex::new(Told::default()));
        let mut hooks = self.hooks.clone();
        for i in 0..self.split.regions.len() {
            hooks = self.region(hooks, i, &told);
        }
        let interpreter =
            Interpreter::with_options(&self.split.outer, self.options).with_hooks(hooks);
        let result = interpreter.run(inputs);
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = told.error.take() {
            return Err(error);
        }
        let result = result.map_err(|error| Error::from(Code::Outside { error }))?;
        Ok(Finished { result, notes: gathered(std::mem::take(&mut told.notes)) })
    }

    /// Lets region `i` run where the outer program calls it.
    fn region(&self, hooks: Hooks, i: usize, told: &Arc<Mutex<Told>>) -> Hooks {
        let (split, options, told) = (Arc::clone(&self.split), self.options, Arc::clone(told));
        let common = self.hooks.clone();
        let device_hooks: HooksOf = match &self.device_hooks {
            Some(hooks) => Arc::clone(hooks),
            None => Arc::new(move |_| common.clone()),
        };
        hooks.custom_call(target(i), move |call| {
            let inputs = call.operands.iter().map(|&operand| operand.clone()).collect();
            let finished = split.regions[i].run(inputs, options, &device_hooks);
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            match finished {
                Ok((value, notes)) => {
                    told.notes.extend(notes);
                    Ok(value)
                }
                Err(error) => {
                    let message = "a device in a manual region gave no result".to_owned();
                    told.error = Some(error);
                    Err(interp::Code::Trap { message }.into())
                }
            }
        })
    }
}

/// One note for each place and device whose value counted, the largest distance of all its runs.
fn gathered(mut notes: Vec<Note>) -> Vec<Note> {
    notes.sort_by_key(|note| (note.span.start, note.taken));
    let mut all: Vec<Note> = Vec::new();
    for note in notes {
        let alike = |known: &&mut Note| {
            (&known.instruction, known.taken) == (&note.instruction, note.taken)
        };
        match all.last_mut().filter(alike) {
            Some(known) => {
                known.others.extend(note.others);
                known.others.sort_unstable();
                known.others.dedup();
                known.distance = known.distance.max(note.distance);
            }
            None => all.push(note),
        }
    }
    all
}

impl Note {
    /// The note in the form the renderer takes, as a warning.
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
                "the program promises that they are equal; the first one's is taken".to_owned(),
            ),
        }
    }
}
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction, taken, others, distance, .. } = self;
        let others = crate::deadlock::listed(others);
        let verb = if self.others.len() == 1 { "differs" } else { "differ" };
        write!(f, "`{instruction}`: {others} {verb} from device {taken}, by up to {distance}")
    }
}
