//! Operations: the opcode table and one module for each structured op.
//!
//! To add an elementwise op, add a row to `table.rs`. To add a structured op, add a row and a module with its
//! attributes (`attrs!`) and its shape rule (`ShapeRule`); the compiler then lists every match that needs an arm.
#[macro_use]
mod attrs;
#[macro_use]
mod table;
mod family;
mod rule;
mod rules;
pub mod value;
mod windows;

pub(crate) use attrs::{AttrReader, AttrValue, AttrWriter, Attrs, Field, OuterAsync};
pub use family::{Accuracy, Arity, Binary, Op, Opcode, ShapeText, Types, Unary};
pub use rule::Callees;
pub(crate) use rule::{Infer, ShapeRule, check};

/// Declares the modules of the structured ops and re-exports what each defines.
macro_rules! modules {
    ($($module:ident: $($name:ident),+;)*) => {
        $(mod $module; pub use $module::{$($name),+};)*
    };
}
modules! {
    all_gather: AllGather, AllGatherDone, AllGatherStart;
    all_reduce: AllReduce, AllReduceDone, AllReduceStart;
    all_to_all: AllToAll;
    async_: AsyncDone, AsyncStart, AsyncUpdate;
    batch_norm: BatchNormGrad, BatchNormInference, BatchNormTraining;
    bitcast: Bitcast, BitcastConvert;
    broadcast: Broadcast;
    call: Call;
    cholesky: Cholesky;
    clamp: Clamp;
    collective_broadcast: CollectiveBroadcast;
    collective_permute: CollectivePermute, CollectivePermuteDone, CollectivePermuteStart;
    compare: Compare;
    concatenate: Concatenate;
    conditional: Conditional;
    constant: Constant;
    convert: Convert, ReducePrecision, StochasticConvert;
    convolution: Convolution;
    copy: Copy, CopyDone, CopyStart;
    custom_call: CustomCall;
    domain: Domain;
    dot: Dot, RaggedDot, ScaledDot;
    dynamic_shape: DynamicReshape, GetDimensionSize, SetDimensionSize;
    dynamic_slice: DynamicSlice, DynamicUpdateSlice;
    fft: Fft;
    fusion: Fusion;
    gather: Gather;
    host: Infeed, Outfeed, Recv, RecvDone, Send, SendDone;
    iota: Iota;
    map: Map;
    pad: Pad;
    parameter: Parameter;
    partition_id: PartitionId, ReplicaId;
    ragged_all_to_all: RaggedAllToAll;
    reduce: Reduce;
    reduce_scatter: ReduceScatter;
    reduce_window: ReduceWindow;
    reshape: Reshape;
    reverse: Reverse;
    rng: Rng, RngBitGenerator, RngGetAndUpdateState;
    scan: Scan;
    scatter: Scatter;
    select: Select;
    select_and_scatter: SelectAndScatter;
    slice: Slice;
    sort: Sort;
    token: AddDependency, AfterAll, OptBarrier;
    topk: TopK;
    transpose: Transpose;
    triangular_solve: TriangularSolve;
    tuple: GetTupleElement, Tuple;
    while_: While;
}
