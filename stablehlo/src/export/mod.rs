//! The conversion of HLO to StableHLO.
//!
//! One walk over the instructions: each becomes an op, or a few. A value of HLO is a list of its
//! leaves, the arrays and tokens in it, so that tuples need no ops: `tuple` and
//! `get-tuple-element` only select, a function has a parameter for each leaf, and loops and
//! branches carry leaves. A computation is walked where it is called: into a function, a region, or
//! the ops around it, as that of a `fusion`. What StableHLO lacks is built as HLO by the crate
//! `builder` and walked likewise.
//!
//! Sources: the StableHLO specification; the op definitions of StableHLO and CHLO.
mod applied;
mod bitcast;
mod call;
mod collective;
mod complex;
mod contraction;
mod control;
mod custom;
pub(crate) mod elementary;
mod entry;
mod expand;
mod exporter;
mod host;
mod instruction;
mod location;
mod permute;
mod scan;
mod structured;
mod types;

pub(crate) use exporter::Expansion;

use crate::error::Result;
use crate::ir::Program;
use hlo::Verified;

/// The ops of CHLO: functions that StableHLO lacks, and that not every reader of it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chlo {
    /// `chlo.erf` and the like.
    #[default]
    Keep,
    /// Ops of StableHLO that compute the same.
    Expand,
}

/// The options of [`from_hlo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportOptions {
    /// What becomes of functions that only CHLO has.
    pub chlo: Chlo,
}

/// Converts a module of HLO to a StableHLO program, which [`convert::module`] turns back into one
/// that computes the same bits.
///
/// The entry becomes the function `main`; its parameters and results are flattened: a parameter or
/// a result for each array in a tuple.
///
/// ```
/// let text = "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p) }";
/// let module = hlo::Module::parse(text)?.verify()?;
/// let program = stablehlo::from_hlo(&module, &stablehlo::ExportOptions::default())?;
/// assert_eq!(program.to_string(), "\
/// module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
///   func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
///     %0 = stablehlo.negate %arg0 : tensor<2xf32>
///     return %0 : tensor<2xf32>
///   }
/// }
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `E0920`: the first instruction that StableHLO cannot express.
///
/// [`convert::module`]: crate::convert::module
pub fn from_hlo(module: &Verified, options: &ExportOptions) -> Result<Program> {
    entry::program(module.module(), *options)
}
