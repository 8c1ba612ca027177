//! Properties of the module: device counts, aliases and donors, builds with options.
use crate::{Builder, Result, Value};
use hlo::ir::{AliasKind, BufferDonor, InputOutputAlias};
use hlo::{Shape, Verified};
use std::panic::Location;

impl Builder {
    /// Sets the number of replicas, which run the program on different data; 1 by default.
    pub fn set_replica_count(&self, count: i64) {
        self.state.borrow_mut().config.replica_count = count;
    }
    /// Sets the number of partitions of each replica; 1 by default.
    pub fn set_num_partitions(&self, count: i64) {
        self.state.borrow_mut().config.num_partitions = count;
    }
    /// Aliases a part of the result with a part of a parameter: XLA's `SetUpAlias`.
    ///
    /// ```
    /// use hlo::ir::AliasKind;
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[4]", "x");
    /// b.set_up_alias(&[], 0, &[], AliasKind::May);
    /// let text = b.build(x + 1)?.module().to_string();
    /// assert!(text.contains("input_output_alias={ {}: (0, {}, may-alias) }"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    pub fn set_up_alias(
        &self,
        output_index: &[i64],
        param_number: i64,
        param_index: &[i64],
        kind: AliasKind,
    ) {
        let alias = InputOutputAlias {
            output_index: output_index.to_vec(),
            parameter: param_number,
            parameter_index: param_index.to_vec(),
            kind,
        };
        let aliases = &mut self.state.borrow_mut().config.input_output_alias;
        let at = aliases.partition_point(|other| other.output_index <= alias.output_index);
        aliases.insert(at, alias);
    }
    /// Donates the buffer of this part of a parameter to the result: XLA's `AddBufferDonor`.
    pub fn add_buffer_donor(&self, param_number: i64, param_index: &[i64]) {
        let donor = BufferDonor { parameter: param_number, parameter_index: param_index.to_vec() };
        let donors = &mut self.state.borrow_mut().config.buffer_donor;
        if let Err(at) = donors.binary_search(&donor) {
            donors.insert(at, donor);
        }
    }

    /// As [`Builder::build`], of a module without dynamic dimensions: XLA's `Build` with
    /// `remove_dynamic_dimensions`. Each dimension of the entry computation has the size of its
    /// bound.
    ///
    /// # Errors
    /// As [`Builder::build`].
    #[track_caller]
    pub fn build_without_dynamic_dimensions(&self, root: Value<'_>) -> Result<Verified> {
        let caller = Location::caller();
        self.status()?;
        let module = self.module(root, |entry| {
            entry.instructions.iter_mut().for_each(|(_, i)| make_static(&mut i.shape));
        });
        module.map_err(|error| error.at(caller))
    }

    /// Runs a function that may fail, and gives an invalid value if it does; the error is kept like
    /// an error of the builder: XLA's `ReportErrorOrReturn`. For libraries of ops: inside it `?`
    /// works, and the line noted is that of the caller.
    ///
    /// ```
    /// use builder::{Builder, Code, Error, Value};
    /// #[track_caller]
    /// fn halves(x: Value<'_>) -> Value<'_> {
    ///     x.builder().report_error_or_return(|| {
    ///         let size = x.dims()?[0];
    ///         if size % 2 == 0 {
    ///             return Ok(x.reshape(&[2, size / 2]));
    ///         }
    ///         Err(Code::Argument { message: format!("{size} is odd") }.into())
    ///     })
    /// }
    /// let b = Builder::new("m");
    /// let odd = halves(b.parameter(0, "f32[3]", "x"));
    /// assert!(b.build(odd).unwrap_err().to_string().contains("3 is odd"));
    /// ```
    #[track_caller]
    pub fn report_error_or_return<'b>(
        &'b self,
        make: impl FnOnce() -> Result<Value<'b>>,
    ) -> Value<'b> {
        self.record(|_| make())
    }
    /// Sets whether the first error panics: XLA's `set_die_immediately_on_error`. The backtrace of
    /// the panic shows the calls that lead to it.
    ///
    /// # Panics
    /// Not here, but every later call that fails.
    pub fn set_die_immediately_on_error(&self, enabled: bool) {
        self.state.borrow_mut().dies = enabled;
    }
}

/// Replaces each dynamic dimension by its bound.
pub(crate) fn make_static(shape: &mut Shape) {
    match shape {
        Shape::Array(array) => array.dynamic = None,
        Shape::Buffer(array) => array.dynamic = None,
        Shape::Tuple(elements) => elements.iter_mut().for_each(make_static),
        Shape::Token | Shape::Opaque => {}
    }
}
