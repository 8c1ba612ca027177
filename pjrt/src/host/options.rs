//! Options: named values of a client, and `CompileOptionsProto`.
//!
//! Unknown fields of a protocol buffer are skipped by XLA, and missing ones have their defaults, so the few fields here
//! suffice. Their numbers are those of `compile_options.proto` and `xla_data.proto`.
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

/// The value of an option.
///
/// ```
/// use pjrt::OptionValue;
/// assert_eq!("8".parse(), Ok(OptionValue::Int(8)));
/// assert_eq!("true".parse(), Ok(OptionValue::Bool(true)));
/// assert_eq!("0.5".parse(), Ok(OptionValue::Float(0.5)));
/// assert_eq!("bfc".parse(), Ok(OptionValue::Text("bfc".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum OptionValue {
    /// An int64.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A float.
    Float(f64),
    /// Any other text.
    Text(String),
}

impl std::fmt::Display for OptionValue {
    /// Writes the text that is parsed as this value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Bool(x) => write!(f, "{x}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl FromStr for OptionValue {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let int = text.parse().map(Self::Int).ok();
        let boolean = text.parse().map(Self::Bool).ok();
        let float = text.parse().map(Self::Float).ok();
        Ok(int.or(boolean).or(float).unwrap_or_else(|| Self::Text(text.to_owned())))
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CompileOptionsProto {
    #[prost(bool, tag = "2")]
    pub(super) parameter_is_tupled_arguments: bool,
    #[prost(message, optional, tag = "3")]
    pub(super) executable_build_options: Option<ExecutableBuildOptionsProto>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub(super) env_option_overrides: BTreeMap<String, OptionOverrideProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExecutableBuildOptionsProto {
    #[prost(int64, tag = "1")]
    pub(super) device_ordinal: i64,
    #[prost(int64, tag = "4")]
    pub(super) num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub(super) num_partitions: i64,
    #[prost(bool, tag = "6")]
    pub(super) use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    pub(super) device_assignment: Option<DeviceAssignmentProto>,
    #[prost(bool, tag = "11")]
    pub(super) run_backend_only: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DeviceAssignmentProto {
    #[prost(int32, tag = "1")]
    pub(super) replica_count: i32,
    #[prost(int32, tag = "2")]
    pub(super) computation_count: i32,
    /// One entry for each partition.
    #[prost(message, repeated, tag = "3")]
    pub(super) computation_devices: Vec<ComputationDevice>,
}

/// The devices of a partition, one for each replica.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    pub(super) replica_device_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OptionOverrideProto {
    #[prost(oneof = "OverrideValue", tags = "1, 2, 3, 4")]
    pub(super) value: Option<OverrideValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum OverrideValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Float(f64),
}

impl From<&OptionValue> for OptionOverrideProto {
    fn from(value: &OptionValue) -> Self {
        let value = match value {
            OptionValue::Int(value) => OverrideValue::Int(*value),
            OptionValue::Bool(value) => OverrideValue::Bool(*value),
            OptionValue::Float(value) => OverrideValue::Float(*value),
            OptionValue::Text(value) => OverrideValue::Text(value.clone()),
        };
        Self { value: Some(value) }
    }
}
