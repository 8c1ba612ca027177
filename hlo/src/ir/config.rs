//! What a module's header says: replicas, aliases, the entry's layout.
use crate::diag::Code;
use crate::ir::FrontendAttributes;
use crate::{Result, Shape};
use smol_str::SmolStr;

/// The attributes of a module.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConfig {
    /// Instructions stand in the order they are run in.
    pub is_scheduled: bool,
    /// Number of copies of the program that run on different data.
    pub replica_count: i64,
    /// Number of parts one copy of the program is cut into.
    pub num_partitions: i64,
    /// Outputs that use the memory of a parameter, in the order of their index.
    pub input_output_alias: Vec<InputOutputAlias>,
    /// Parameters whose memory any output may use.
    pub buffer_donor: Vec<BufferDonor>,
    /// Parameters that come out unchanged share their memory with the output.
    pub alias_passthrough_params: bool,
    /// Shapes of the entry's parameters and result, if the text states them.
    pub entry_layout: Option<(Vec<Shape>, Shape)>,
    /// Words a frontend left for later passes.
    pub frontend_attributes: Option<FrontendAttributes>,
    /// Parameters whose sharding the partitioner may choose; a single value is for all of them, none is `false`.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// Outputs whose sharding the partitioner may choose; a single value is for all of them, none is `false`.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// How values that were optimized away are computed again: its entries as they are printed, a line each.
    pub origin_recovery_table: Option<String>,
    /// What to log of which value: the text with its braces.
    pub debug_attributes: Option<String>,
    /// Attributes that no XLA known here has; kept only by lenient reading.
    pub unknown: Vec<HeaderAttr>,
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
                    "input_output_alias names part {{{}}} of the result, which is {result:#}",
                    index.join(",")
                );
                return Err(Code::Header { message }.into());
            }
        }
        Ok(())
    }
}

/// An output that uses the memory of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputOutputAlias {
    /// Which part of the result.
    pub output_index: Vec<i64>,
    /// Number of the parameter.
    pub parameter: i64,
    /// Which part of the parameter.
    pub parameter_index: Vec<i64>,
    /// Whether the caller must give the memory up.
    pub kind: AliasKind,
}

/// Whether memory must be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AliasKind {
    /// The caller gives the memory up.
    Must,
    /// The caller may keep the memory; the output then gets its own.
    #[default]
    May,
}

impl AliasKind {
    /// The word of the text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must-alias",
            Self::May => "may-alias",
        }
    }
}

/// A parameter whose memory any output may use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferDonor {
    /// Number of the parameter.
    pub parameter: i64,
    /// Which part of the parameter.
    pub parameter_index: Vec<i64>,
}

/// An attribute of the header that is kept as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeaderAttr {
    /// What stands before the `=`.
    pub name: SmolStr,
    /// What stands after it.
    pub value: String,
}

/// Shapes a computation takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramShape<'a> {
    /// Shapes of the parameters by number.
    pub parameters: Vec<&'a Shape>,
    /// Shape of the result.
    pub result: &'a Shape,
}
