//! Modules, computations, instructions, and their attributes.
mod common;
mod computation;
mod config;
mod frames;
mod metadata;
mod module;
mod origin;
pub mod rewrite;
pub(crate) mod sharding;

pub use common::{BackendConfig, CommonAttrs, FrontendAttributes, RawAttr, Statistics};
pub use computation::{Computation, Instruction, InstructionSpans};
pub use config::{
    AliasKind, BufferDonor, HeaderAttr, InputOutputAlias, ModuleConfig, ProgramShape,
};
pub use frames::{FileLocation, SourcePlace, StackFrame, StackFrames};
pub use metadata::Metadata;
pub(crate) use module::SourceText;
pub use module::{Module, ParseOptions, Parsed, Unverified};
pub use origin::{OriginArray, OriginalValue};
pub use sharding::{
    DeviceSharding, NamedAxes, NamedDim, NamedSharding, Placement, Reduction, ShardGroup, Sharding,
    Subgroup, TileDevices, Tiling,
};

/// Index of a computation in its module.
pub type ComputationId = crate::id::Id<Computation>;
/// Index of an instruction in its computation.
pub type InstructionId = crate::id::Id<Instruction>;
