//! The module's header.
use super::{FrontendAttributes, Recovery};
use crate::diag::Code;
use crate::{Result, Shape};
use smol_str::SmolStr;

/// Everything after the module's name in its header.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConfig {
    /// The order of the instructions is the order in which they run.
    pub is_scheduled: bool,
    /// Devices that run the same program on different data.
    pub replica_count: i64,
    /// Devices each replica is divided over.
    pub num_partitions: i64,
    /// Results that lie in a parameter's memory.
    pub input_output_alias: Vec<InputOutputAlias>,
    /// Parameters whose memory may be used for results.
    pub buffer_donor: Vec<BufferDonor>,
    /// Parameters that are handed through unchanged share memory with the result.
    pub alias_passthrough_params: bool,
    /// Shapes of the entry computation's parameters and result; taken from it if absent.
    pub entry_layout: Option<(Vec<Shape>, Shape)>,
    /// For each parameter, or for all, whether a sharding may be given to it.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// For each part of the result, or for all, whether a sharding may be given to it.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// Notes of a front end.
    pub frontend_attributes: Option<FrontendAttributes>,
    /// How values of the unoptimised module can be had again.
    pub origin_recovery_table: Vec<Recovery>,
    /// Attributes kept as they stand: `debug_attributes`, and what nothing is known of.
    pub raw: Vec<HeaderAttr>,
}

impl Default for ModuleConfig {
    fn default() -> Self {
        Self {
            is_scheduled: false,
            replica_count: 1,
            num_partitions: 1,
            input_output_alias: Vec::new(),
            buffer_donor: Vec::new(),
            alias_passthrough_params: false,
            entry_layout: None,
            allow_spmd_sharding_propagation_to_parameters: Vec::new(),
            allow_spmd_sharding_propagation_to_output: Vec::new(),
            frontend_attributes: None,
            origin_recovery_table: Vec::new(),
            raw: Vec::new(),
        }
    }
}

impl ModuleConfig {
    /// Fails unless every alias is of a part of the result.
    pub(crate) fn check_aliases(&self, result: &Shape) -> Result<()> {
        for alias in &self.input_output_alias {
            let mut part = Some(result);
            for &index in &alias.output_index {
                let elements = part.and_then(Shape::tuple);
                part = elements.and_then(|e| e.get(usize::try_from(index).ok()?));
            }
            if part.is_none() {
                let index: Vec<_> = alias.output_index.iter().map(i64::to_string).collect();
                let message = format!(
                    "input_output_alias names part {{{}}} of the result, which is {result}",
                    index.join(",")
                );
                return Err(Code::Header { message }.into());
            }
        }
        Ok(())
    }
}

/// Whether an alias must be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasKind {
    /// `may-alias`
    May,
    /// `must-alias`
    Must,
}

/// `{0}: (1, {}, may-alias)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputOutputAlias {
    /// Which part of the result.
    pub output_index: Vec<i64>,
    /// Which parameter.
    pub parameter: i64,
    /// Which part of it.
    pub parameter_index: Vec<i64>,
    /// Whether it must be kept.
    pub kind: AliasKind,
}

/// `(0, {})`
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferDonor {
    /// Which parameter.
    pub parameter: i64,
    /// Which part of it.
    pub parameter_index: Vec<i64>,
}

/// An attribute of the header kept as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderAttr {
    /// Its name.
    pub name: SmolStr,
    /// Everything after the `=`.
    pub value: String,
}

/// Parameters and result of a computation.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramShape<'a> {
    /// Shapes of the parameters by number.
    pub parameters: Vec<&'a Shape>,
    /// Shape of the result.
    pub result: &'a Shape,
}
