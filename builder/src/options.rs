//! Argument structs: dimension numbers, windows, options.
pub use crate::ops::conv::ConvOptions;
pub use crate::ops::dot::{DotDimensionNumbers, DotOptions, RaggedDotDimensionNumbers};
pub use crate::ops::indexing::{GatherDimensionNumbers, ScatterDimensionNumbers};
pub use crate::ops::linear::TriangularSolveOptions;
pub use crate::ops::padding::{Padding, WindowOptions};
pub use crate::ops::scan::ScanOptions;
