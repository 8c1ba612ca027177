//! What attributes can hold: windows, dimension labels, replica groups, words.
mod accuracy;
mod aliasing;
mod basic;
mod conv_dims;
mod hooks;
mod iota;
mod mesh;
mod padding;
mod precision;
mod replica_groups;
mod shape_index;
mod slice_range;
mod sparsity;
mod window;
mod words;

pub use accuracy::ResultAccuracy;
pub use aliasing::{OutputOperandAlias, OutputOperandAliasing};
pub(crate) use basic::Positional;
pub use basic::{DomainMetadata, Float, Ignored, Pairs, Reducer, Text};
pub use conv_dims::ConvDims;
pub use iota::IotaDims;
pub use mesh::{AxisRef, Mesh, MeshDevices};
pub use padding::{PaddingConfig, PaddingDim};
pub use precision::OperandPrecision;
pub use replica_groups::ReplicaGroups;
pub use shape_index::ShapeIndex;
pub use slice_range::{SliceRange, SliceRanges};
pub use sparsity::SparsityConfig;
pub use window::{Window, WindowDim};
pub use words::{
    ApiVersion, ComparisonType, ConvolutionKind, CustomCallSchedule, Direction, DotAlgorithm,
    FftType, FusionKind, PaddingType, Precision, RandomAlgorithm, RandomDistribution, Transpose,
};
