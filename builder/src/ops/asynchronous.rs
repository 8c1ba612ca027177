//! Ops that compilers insert: asynchronous computations, fusions, bitcasts, domains, dependencies.
use crate::{Builder, Computation, IntoShape, Value};
use hlo::ir::Sharding;
use hlo::op::value::{DomainMetadata, FusionKind, OutputOperandAliasing};
use hlo::op::{
    AddDependency, AsyncDone, AsyncStart, AsyncUpdate, Bitcast, CopyDone, CopyStart, Domain,
    Fusion, RngGetAndUpdateState,
};
use hlo::{ElementType, Shape};

impl Builder {
    /// Starts a computation that runs concurrently until [`Value::async_done`]: XLA's
    /// `BuildAsyncStart`.
    ///
    /// It runs on the thread that [`Builder::set_execution_thread`] says. Operands may be missing
    /// at the end of the list: updates give them. Returns `((operands), result, u32[])`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let double = b.computation("double", &["f32[]"], |p| p[0] + p[0]);
    /// let started = b.async_start(double, &[b.constant(4f32)]);
    /// assert_eq!(interp::run(&b.build(started.async_update(&[]).async_done())?, &[])?.to_string(), "f32[] 8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn async_start<'b>(
        &'b self,
        computation: Computation<'b>,
        operands: &[Value<'b>],
    ) -> Value<'b> {
        self.record(|b| {
            let calls = computation.id_in(b)?;
            let (_, result) = b.signature(calls)?;
            let thread = b.state.borrow().finished[calls].execution_thread.clone();
            let op = AsyncStart { async_execution_thread: thread, ..AsyncStart::new(calls) };
            let given: crate::Result<Vec<Shape>> = operands.iter().map(|o| o.shape()).collect();
            let context = Shape::scalar(ElementType::U32);
            let stated = Shape::Tuple(vec![Shape::Tuple(given?), result, context]);
            b.emit(op, operands, Some(stated))
        })
    }
    /// Calls a computation as a fusion: XLA's `BuildFusion`. `aliasing` says which parts of the
    /// result lie in the memory of an operand.
    #[track_caller]
    pub fn fusion<'b>(
        &'b self,
        kind: FusionKind,
        computation: Computation<'b>,
        operands: &[Value<'b>],
        aliasing: &OutputOperandAliasing,
    ) -> Value<'b> {
        self.record(|b| {
            let calls = computation.id_in(b)?;
            let (_, result) = b.signature(calls)?;
            let op = Fusion { kind, output_to_operand_aliasing: aliasing.clone(), calls };
            b.emit(op, operands, Some(result))
        })
    }
    /// Returns the state of the random number generator, as `u64[2]`, which is then moved on by
    /// `delta`: XLA's `BuildRngGetAndUpdateState`.
    #[track_caller]
    pub fn rng_get_and_update_state(&self, delta: i64) -> Value<'_> {
        self.record(|b| b.emit(RngGetAndUpdateState { delta }, &[], None))
    }
}

impl Value<'_> {
    /// Continues what [`Builder::async_start`] started, with further operands: XLA's
    /// `BuildAsyncUpdate`.
    #[track_caller]
    pub fn async_update(self, operands: &[Self]) -> Self {
        self.record(|b| b.emit(AsyncUpdate::default(), &[&[self], operands].concat(), None))
    }
    /// Returns the result of what [`Builder::async_start`] started: XLA's `BuildAsyncDone`.
    #[track_caller]
    pub fn async_done(self) -> Self {
        self.record(|b| b.emit(AsyncDone::default(), &[self], None))
    }
    /// Starts a copy, which [`copy_done`](Value::copy_done) ends: XLA's `BuildCopyStart`. Returns
    /// `(copy, value, u32[])`.
    #[track_caller]
    pub fn copy_start(self, cross_program_prefetch_index: Option<i64>) -> Self {
        self.record(|b| {
            let op = CopyStart { cross_program_prefetch_index, ..CopyStart::default() };
            b.emit(op, &[self], None)
        })
    }
    /// Returns the copy that [`copy_start`](Value::copy_start) started: XLA's `BuildCopyDone`.
    #[track_caller]
    pub fn copy_done(self) -> Self {
        self.record(|b| b.emit(CopyDone {}, &[self], None))
    }
    /// Returns the same memory under another shape and layout: XLA's `BuildBitcast`. It is the one
    /// op whose value depends on layouts.
    #[track_caller]
    pub fn bitcast(self, shape: impl IntoShape) -> Self {
        self.record(|b| b.emit(Bitcast {}, &[self], Some(shape.into_shape()?)))
    }
    /// Returns the value; on its two sides shardings differ: XLA's `BuildDomain`.
    #[track_caller]
    pub fn domain(self, entry: Sharding, exit: Sharding) -> Self {
        self.record(|b| b.emit(Domain { domain: DomainMetadata { entry, exit } }, &[self], None))
    }
    /// Returns the value, once the token is there: XLA's `BuildAddDependency`.
    #[track_caller]
    pub fn add_dependency(self, token: Self) -> Self {
        self.record(|b| b.emit(AddDependency {}, &[self, token], None))
    }
}
