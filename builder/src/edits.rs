//! Changes to existing instructions and computations: shardings, frontend attributes, threads.
use crate::annotations::for_shape;
use crate::{Builder, Code, Computation, Error, Result, Value};
use hlo::Opcode;
use hlo::ir::{CommonAttrs, FrontendAttributes, Instruction, Sharding};
use hlo::op::value::ResultAccuracy;
use smol_str::SmolStr;

/// Changes the attributes that every instruction may have.
pub(crate) fn amend(value: Value<'_>, change: impl FnOnce(&mut CommonAttrs)) -> Result<()> {
    let (Some(mark), Some(id)) = (value.mark(), value.id()) else {
        return Err(value.builder().failure());
    };
    let mut state = value.builder().state.borrow_mut();
    let here = state.innermost().name.to_string();
    let found = "a closure that has ended".to_owned();
    let open = state.marked_mut(mark).ok_or(Code::OtherComputation { found, here })?;
    let common = &mut open.instructions[id].common;
    let mut changed = common.take().unwrap_or_default();
    change(&mut changed);
    *common = (*changed != CommonAttrs::default()).then_some(changed);
    Ok(())
}

/// Gives a copy of an instruction what the original says besides its op: the configuration of its
/// backend, and what the builder's own settings do not say. Control predecessors stay behind, as
/// they are of the other computation.
pub(crate) fn carry(copy: Value<'_>, original: &Instruction) -> Result<()> {
    let Some(given) = original.common.as_deref() else { return Ok(()) };
    let CommonAttrs {
        sharding,
        frontend_attributes,
        control: _,
        statistics,
        parameter_replication: _,
        result_accuracy,
        origin,
        metadata: _,
        backend_config,
        unknown,
        unknown_fields: _,
    } = given.clone();
    amend(copy, |common| {
        common.sharding = common.sharding.take().or(sharding);
        for (name, value) in frontend_attributes.iter().flat_map(|of| &of.0) {
            set_frontend_attribute(common, name, value);
        }
        common.statistics = statistics;
        common.result_accuracy = result_accuracy;
        common.origin = common.origin.take().or(origin);
        common.backend_config = backend_config;
        common.unknown = unknown;
    })
}

/// Adds a note, or changes the one of this name.
pub(crate) fn set_frontend_attribute(common: &mut CommonAttrs, name: &str, value: &str) {
    let FrontendAttributes(notes) = common.frontend_attributes.get_or_insert_default();
    match notes.binary_search_by(|(key, _)| key.as_str().cmp(name)) {
        Ok(at) => value.clone_into(&mut notes[at].1),
        Err(at) => notes.insert(at, (SmolStr::new(name), value.to_owned())),
    }
}

impl Builder {
    /// Adds a frontend attribute to an instruction: XLA's `SetInstructionFrontendAttribute`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[]", "x").exp();
    /// b.set_instruction_frontend_attribute(x, "origin", "loss");
    /// assert!(b.build(x)?.module().to_string().contains("frontend_attributes={origin=\"loss\"}"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn set_instruction_frontend_attribute(&self, op: Value<'_>, name: &str, value: &str) {
        self.record_or((), |b| {
            b.same_builder(op)?;
            amend(op, |common| set_frontend_attribute(common, name, value))
        });
    }
    /// Sets or removes the sharding of an instruction: XLA's `SetInstructionSharding`.
    #[track_caller]
    pub fn set_instruction_sharding(&self, op: Value<'_>, sharding: Option<Sharding>) {
        self.record_or((), |b| {
            b.same_builder(op)?;
            let shape = op.shape()?;
            amend(op, |common| common.sharding = sharding.map(|s| for_shape(s, &shape)))
        });
    }
    /// Sets for each leaf of a parameter whether all replicas receive the same value: XLA's
    /// `SetParameterReplication`.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the value is no parameter, or there are not as many entries
    /// as leaves.
    #[track_caller]
    pub fn set_parameter_replication(&self, parameter: Value<'_>, replicated: &[bool]) {
        self.record_or((), |b| {
            b.same_builder(parameter)?;
            let (leaves, op) = (parameter.shape()?.leaves().len(), parameter.op()?);
            if op.opcode() != Opcode::Parameter {
                let message = format!("only parameters have replication, found `{}`", op.opcode());
                return Err(Error::argument(message));
            }
            if leaves != replicated.len() {
                let message =
                    format!("the parameter has {leaves} leaves, the list has {}", replicated.len());
                return Err(Error::argument(message));
            }
            amend(parameter, |common| common.parameter_replication = Some(replicated.to_vec()))
        });
    }
    /// Sets the thread that runs a computation: XLA's `SetExecutionThread`. XLA has `main`, the
    /// default, and `host`.
    #[track_caller]
    pub fn set_execution_thread(&self, computation: Computation<'_>, thread: &str) {
        self.record_or((), |b| {
            let id = computation.id_in(b)?;
            let thread = if thread == "main" { "" } else { thread };
            b.state.borrow_mut().finished[id].execution_thread = thread.into();
            Ok(())
        });
    }
}

impl Value<'_> {
    /// Sets the accuracy of the function that computes the value: XLA's `result_accuracy`.
    ///
    /// ```
    /// use hlo::op::value::{AccuracyMode, ResultAccuracy};
    /// let b = builder::Builder::new("m");
    /// let highest = ResultAccuracy::Mode(AccuracyMode::Highest);
    /// let y = b.parameter(0, "f32[]", "x").exp().with_result_accuracy(highest);
    /// assert!(b.build(y)?.module().to_string().contains("result_accuracy={mode=highest}"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is not one of the functions that have it.
    #[track_caller]
    pub fn with_result_accuracy(self, accuracy: ResultAccuracy) -> Self {
        self.record(|_| {
            let opcode = self.opcode()?;
            if !opcode.takes_result_accuracy() {
                return Err(Error::argument(format!("`{opcode}` has no `result_accuracy`")));
            }
            amend(self, |common| common.result_accuracy = Some(accuracy))?;
            Ok(self)
        })
    }
}
