//! The state of a builder.
use crate::annotations::{Annotations, Caller};
use crate::{Error, Result};
use hlo::Shape;
use hlo::id::{Arena, SecondaryMap};
use hlo::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, ModuleConfig, ProgramShape,
};
use hlo::op::Callees;
use smol_str::SmolStr;

/// The state of a builder.
#[derive(Debug)]
pub(crate) struct State {
    /// Computations being built: the entry first, the innermost closure last.
    pub(crate) open: Vec<Open>,
    /// Computations that are done, callees before callers.
    pub(crate) finished: Arena<Computation>,
    /// The lines of the calls that made the instructions of the finished computations.
    pub(crate) callers: Vec<Vec<Caller>>,
    /// The first error.
    pub(crate) error: Option<Error>,
    /// The call by the user that is running, and the depth of calls inside the library.
    pub(crate) call: Option<(Caller, usize)>,
    /// The attributes of new instructions.
    pub(crate) annotations: Annotations,
    /// Aliases and donors, replica and partition counts.
    pub(crate) config: ModuleConfig,
    /// Results that may use the memory of parameters.
    pub(crate) inplace: Vec<Hint>,
    /// The number of computations opened so far, which is the next mark.
    pub(crate) opened: u32,
    /// The number of channels created so far.
    pub(crate) channels: i64,
    /// The lists of dimensions that values are laid along.
    pub(crate) along: Vec<Vec<i64>>,
    /// Whether instructions stay that no result depends on.
    pub(crate) keep_unused: bool,
    /// Whether the first error panics.
    pub(crate) dies: bool,
}

/// A value of the entry computation, and the number of the parameter whose memory it may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hint {
    pub(crate) value: InstructionId,
    pub(crate) parameter: i64,
}

/// A computation being built.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// Identifies its values.
    pub(crate) mark: u32,
    pub(crate) name: SmolStr,
    pub(crate) instructions: Arena<Instruction>,
    pub(crate) names: SecondaryMap<Instruction, SmolStr>,
    pub(crate) callers: Vec<Caller>,
    /// Captured values of the enclosing computation, in the order of their parameters; `None` if
    /// captures are not allowed.
    pub(crate) captures: Option<Vec<InstructionId>>,
    /// Instructions of the enclosing computation, and their counterparts here.
    pub(crate) brought: Vec<(InstructionId, InstructionId)>,
    /// The tokens that order this computation's infeeds and outfeeds.
    pub(crate) infeed_token: Option<InstructionId>,
    pub(crate) outfeed_token: Option<InstructionId>,
}

impl Open {
    pub(crate) fn new(mark: u32, name: SmolStr) -> Self {
        Self {
            mark,
            name,
            instructions: Arena::default(),
            names: SecondaryMap::default(),
            callers: Vec::new(),
            captures: None,
            brought: Vec::new(),
            infeed_token: None,
            outfeed_token: None,
        }
    }
    /// Adds an instruction.
    pub(crate) fn push(
        &mut self,
        instruction: Instruction,
        name: SmolStr,
        caller: Caller,
    ) -> InstructionId {
        self.names.push(legal(name));
        self.callers.push(caller);
        self.instructions.push(instruction)
    }
    /// Returns for each instruction up to `root` whether `root` depends on it, without looking past
    /// those that `stops`.
    pub(crate) fn reached(
        &self,
        root: InstructionId,
        stops: impl Fn(&Instruction) -> bool,
    ) -> Vec<bool> {
        let mut reached = vec![false; root.index() + 1];
        reached[root.index()] = true;
        for (id, instruction) in self.instructions.iter().take(root.index() + 1).rev() {
            if reached[id.index()] && !stops(instruction) {
                instruction.operands.iter().for_each(|operand| reached[operand.index()] = true);
            }
        }
        reached
    }
    /// Returns the computation whose result is `root`.
    pub(crate) fn finish(self, root: InstructionId) -> Computation {
        Computation::from_parts(self.name, self.instructions, self.names, root)
    }
}

impl State {
    pub(crate) fn new(name: SmolStr) -> Self {
        let mut state = Self {
            open: Vec::new(),
            finished: Arena::default(),
            callers: Vec::new(),
            error: None,
            call: None,
            annotations: Annotations::default(),
            config: ModuleConfig::default(),
            inplace: Vec::new(),
            opened: 0,
            channels: 0,
            along: Vec::new(),
            keep_unused: false,
            dies: false,
        };
        state.enter(name);
        state
    }
    /// Opens a computation, in which new instructions are made from now on.
    pub(crate) fn enter(&mut self, name: SmolStr) -> u32 {
        let mark = self.opened;
        self.opened += 1;
        self.open.push(Open::new(mark, legal(name)));
        mark
    }
    /// Returns the innermost computation.
    pub(crate) fn innermost(&mut self) -> &mut Open {
        // The entry computation is opened with the builder and never closed.
        self.open.last_mut().expect("the entry computation is open")
    }
    /// Returns the open computation of this mark.
    pub(crate) fn marked(&self, mark: u32) -> Option<&Open> {
        self.open.iter().find(|open| open.mark == mark)
    }
    /// Returns the open computation of this mark, to change.
    pub(crate) fn marked_mut(&mut self, mark: u32) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.mark == mark)
    }
    /// Files a finished computation, or finds the equal one that is there already.
    pub(crate) fn file(&mut self, open: Open, root: InstructionId) -> ComputationId {
        let (open, root) = self.pruned(open, root);
        let callers = open.callers.clone();
        let computation = open.finish(root);
        let equal = self.finished.iter().find(|(_, other)| same(other, &computation));
        if let Some((id, _)) = equal {
            return id;
        }
        self.callers.push(callers);
        self.finished.push(computation)
    }
    /// Drops the finished computations after the first `kept`, which nothing calls.
    pub(crate) fn forget_after(&mut self, kept: usize) {
        let mut finished = Arena::default();
        for (_, computation) in std::mem::take(&mut self.finished).iter().take(kept) {
            finished.push(computation.clone());
        }
        self.finished = finished;
        self.callers.truncate(kept);
    }
    /// Returns the name of the computation of this mark; those that are closed have none here.
    pub(crate) fn name_of(&self, mark: u32) -> String {
        self.marked(mark).map_or_else(|| "another".to_owned(), |open| open.name.to_string())
    }
}

/// Returns the name with `_` in place of characters that a name cannot contain, as in XLA.
pub(crate) fn legal(name: SmolStr) -> SmolStr {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let later = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let fits = name.starts_with(first) && name.chars().all(later);
    if fits {
        return name;
    }
    let clean: String = name.chars().map(|c| if later(c) { c } else { '_' }).collect();
    if clean.starts_with(first) { clean.into() } else { smol_str::format_smolstr!("_{clean}") }
}

impl Callees for State {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        self.finished.get(id).map(Computation::program_shape)
    }
}

/// Returns whether two computations are equal except for metadata; XLA merges such copies too.
fn same(a: &Computation, b: &Computation) -> bool {
    let bare = |common: &Option<Box<CommonAttrs>>| {
        common.as_deref().map(|c| CommonAttrs { metadata: None, ..c.clone() }).unwrap_or_default()
    };
    a.name == b.name
        && a.execution_thread == b.execution_thread
        && a.root == b.root
        && a.instructions.len() == b.instructions.len()
        && a.instructions.iter().zip(b.instructions.iter()).all(|((_, a), (_, b))| {
            a.shape == b.shape
                && a.operands == b.operands
                && a.op == b.op
                && bare(&a.common) == bare(&b.common)
        })
}

/// Shapes written as the user likes: as a [`Shape`], or as in the text, `"f32[2,3]"`.
pub trait IntoShape {
    /// Returns the shape.
    ///
    /// # Errors
    /// `E01xx` if it is a text that is no shape.
    fn into_shape(self) -> Result<Shape>;
}
impl IntoShape for Shape {
    fn into_shape(self) -> Result<Shape> {
        Ok(self)
    }
}
impl IntoShape for &Shape {
    fn into_shape(self) -> Result<Shape> {
        Ok(self.clone())
    }
}
impl IntoShape for hlo::ArrayShape {
    fn into_shape(self) -> Result<Shape> {
        Ok(self.into())
    }
}
impl IntoShape for &str {
    fn into_shape(self) -> Result<Shape> {
        self.parse().map_err(|error: hlo::Error| {
            let help = format!(
                "a shape is written like `f32[2,3]` or `(s32[], pred[4])`, this is `{self}`"
            );
            Error::from(error).with_help(help)
        })
    }
}
impl IntoShape for &String {
    fn into_shape(self) -> Result<Shape> {
        self.as_str().into_shape()
    }
}
impl<D: AsRef<[i64]>> IntoShape for (hlo::ElementType, D) {
    fn into_shape(self) -> Result<Shape> {
        Ok(hlo::ArrayShape::new(self.0, hlo::Dims::from_slice(self.1.as_ref())).into())
    }
}
