//! The module header: replicas, aliases, the layout of the entry computation.
use crate::diag::Code;
use crate::ir::FrontendAttributes;
use crate::{Result, Shape};
use smol_str::SmolStr;

/// The attributes of a module.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConfig {
    /// The instructions are in execution order.
    pub is_scheduled: bool,
    /// Number of replicas: copies of the program that run on different data.
    pub replica_count: i64,
    /// Number of partitions of one replica.
    pub num_partitions: i64,
    /// Outputs that alias a parameter, by output index.
    pub input_output_alias: Vec<InputOutputAlias>,
    /// Parameters whose buffer any output may use.
    pub buffer_donor: Vec<BufferDonor>,
    /// Parameters that are returned unchanged alias the output.
    pub alias_passthrough_params: bool,
    /// Shapes of the entry computation's parameters and result, if the text states them.
    pub entry_layout: Option<(Vec<Shape>, Shape)>,
    /// Attributes of a frontend, for later passes.
    pub frontend_attributes: Option<FrontendAttributes>,
    /// Parameters whose sharding the partitioner may choose; a single value applies to all of them,
    /// none means `false`.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// Outputs whose sharding the partitioner may choose; a single value applies to all of them,
    /// none means `false`.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// How values that were optimized away are recomputed: the entries as they are printed, one per
    /// line.
    pub origin_recovery_table: Option<String>,
    /// Which values to log: the text with its braces.
    pub debug_attributes: Option<String>,
    /// Unknown attributes; kept only by lenient parsing.
    pub unknown: Vec<HeaderAttr>,
    /// Unknown fields of the message it was read from, as they were encoded.
    pub unknown_fields: Vec<u8>,
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
            frontend_attributes: None,
            allow_spmd_sharding_propagation_to_parameters: Vec::new(),
            allow_spmd_sharding_propagation_to_output: Vec::new(),
            origin_recovery_table: None,
            debug_attributes: None,
            unknown: Vec::new(),
            unknown_fields: Vec::new(),
        }
    }
}

impl ModuleConfig {
    /// Returns whether an output may use the memory of a parameter, or of a part of it.
    pub fn is_donated(&self, parameter: i64) -> bool {
        let aliased = self.input_output_alias.iter().map(|alias| alias.parameter);
        let given = self.buffer_donor.iter().map(|donor| donor.parameter);
        aliased.chain(given).any(|number| number == parameter)
    }
    /// Fails unless the output index of every alias exists in the result.
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
                    "input_output_alias names output index {{{}}}, but the result is {result:#}",
                    index.join(",")
                );
                return Err(Code::Header { message }.into());
            }
        }
        Ok(())
    }
}

/// An output that aliases a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputOutputAlias {
    /// Index into the result.
    pub output_index: Vec<i64>,
    /// Number of the parameter.
    pub parameter: i64,
    /// Index into the parameter.
    pub parameter_index: Vec<i64>,
    /// Whether the buffer must be donated.
    pub kind: AliasKind,
}

/// Whether the buffer must be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AliasKind {
    /// The caller donates the buffer.
    Must,
    /// The caller may keep the buffer; the output then has its own.
    #[default]
    May,
}

impl AliasKind {
    /// Returns the word in the text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must-alias",
            Self::May => "may-alias",
        }
    }
}

/// A parameter whose buffer any output may use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferDonor {
    /// Number of the parameter.
    pub parameter: i64,
    /// Index into the parameter.
    pub parameter_index: Vec<i64>,
}

/// A header attribute that is kept verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeaderAttr {
    /// The name before the `=`.
    pub name: SmolStr,
    /// The value after it.
    pub value: String,
}

/// Shapes of a computation's parameters and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramShape<'a> {
    /// Shapes of the parameters by number.
    pub parameters: Vec<&'a Shape>,
    /// Shape of the result.
    pub result: &'a Shape,
}
