//! The form of ops that both readers produce: attributes sorted by name, lists of integers as such,
//! and no attributes that have their default values.
use crate::dense;
use crate::ir::{Attribute, Attributes, Dense, Dim, Fields, Tensor, Type};
use hlo::ElementType;
use smol_str::SmolStr;

/// Sorts attributes by name.
pub(crate) fn sort(attributes: &mut Attributes) {
    if !attributes.0.is_sorted_by(|a, b| a.0 <= b.0) {
        attributes.0.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Brings the attributes of an op with this full name into the form that both readers produce.
pub(crate) fn normalize(op: &str, attributes: &mut Attributes) {
    sort(attributes);
    if !["stablehlo.", "chlo.", "func."].iter().any(|dialect| op.starts_with(dialect)) {
        return;
    }
    for (attribute, value) in &mut attributes.0 {
        normalize_value(attribute, value);
    }
    let layouts = ["operand_layouts", "result_layouts"];
    let no_layouts = layouts.iter().all(|name| attributes.get(name).is_none_or(is_empty));
    attributes.0.retain(|(attribute, value)| {
        if layouts.contains(&attribute.as_str()) {
            return !no_layouts;
        }
        !default(op, attribute).is(value)
    });
}
fn normalize_value(attribute: &str, value: &mut Attribute) {
    if is_list(attribute)
        && let Some(integers) = dense::integers(value)
    {
        *value = Attribute::Integers(integers);
        return;
    }
    match (attribute, &mut *value) {
        ("use_global_device_ids" | "has_dynamic_root", Attribute::Bool(true)) => {
            *value = Attribute::Unit;
        }
        (_, Attribute::Dialect(name, Fields::Named(fields))) => {
            let names = [
                "stablehlo.gather",
                "stablehlo.scatter",
                "stablehlo.dot",
                "stablehlo.result_accuracy",
            ];
            if names.contains(&name.as_str()) {
                fields.0.retain(|(_, value)| !is_empty(value) && !is_zero(value));
            }
            sort(fields);
        }
        _ => {}
    }
}

/// Returns whether the attribute is a list of integers; old programs have it as `dense` elements.
pub(crate) fn is_list(attribute: &str) -> bool {
    matches!(
        attribute,
        "base_dilations"
            | "broadcast_dimensions"
            | "broadcast_sizes"
            | "dimensions"
            | "edge_padding_high"
            | "edge_padding_low"
            | "fft_length"
            | "interior_padding"
            | "known_expanding_dimensions"
            | "known_nonexpanding_dimensions"
            | "lhs_dilation"
            | "limit_indices"
            | "permutation"
            | "rhs_dilation"
            | "slice_sizes"
            | "start_indices"
            | "strides"
            | "window_dilations"
            | "window_dimensions"
            | "window_reversal"
            | "window_strides"
    )
}

/// A value that an attribute has where it is not written.
#[derive(Debug, Clone, Copy)]
enum DefaultValue {
    Integer(i128),
    Bool(bool),
    /// This integer for each dimension.
    All(i64),
    EmptyString,
    EmptyArray,
    EmptyList,
    EmptyDictionary,
    /// Empty dictionaries.
    AllEmpty,
    /// The value of this enum.
    Keyword(&'static str, &'static str),
    /// `DEFAULT` for each operand.
    Precisions,
    /// The accuracy of the mode `DEFAULT`.
    Accuracy,
    /// Channel 0.
    NoChannel,
    /// The type `none`, which VHLO has for each field of an attribute that is absent.
    NoType,
    /// None: the attribute is always written.
    None,
}

/// The defaults of attributes of some ops; the first row of an op and an attribute counts.
#[rustfmt::skip]
const OF_OPS: &[(&[&str], &[&str], DefaultValue)] = &[
    (&["func.func", "func.call"], &["arg_attrs", "res_attrs"], DefaultValue::AllEmpty),
    (&["func.func"], &["sym_visibility"], DefaultValue::EmptyString),
    (&["stablehlo.sort"], &["dimension"], DefaultValue::Integer(-1)),
    (&["stablehlo.sort"], &["is_stable"], DefaultValue::Bool(false)),
    (&["stablehlo.cholesky"], &["lower"], DefaultValue::Bool(false)),
    (&["stablehlo.composite"], &["version"], DefaultValue::Integer(0)),
    (&["stablehlo.send", "stablehlo.recv"], &["source_target_pairs"], DefaultValue::EmptyList),
    (&["stablehlo.send", "stablehlo.recv"], &["channel_handle", "channel_id"], DefaultValue::None),
    (&["stablehlo.dot_general"],
     &["accumulation_type", "allow_imprecise_accumulation", "lhs_component_count",
       "lhs_precision_type", "num_primitive_operations", "rhs_component_count",
       "rhs_precision_type"],
     DefaultValue::NoType),
    (&["chlo.top_k"], &["is_stable"], DefaultValue::Bool(true)),
];
/// The defaults of attributes of every other op of StableHLO and CHLO.
#[rustfmt::skip]
const OF_ALL: &[(&[&str], DefaultValue)] = &[
    (&["channel_handle"], DefaultValue::NoChannel),
    (&["has_dynamic_root", "has_side_effect", "indices_are_sorted", "is_host_transfer",
       "unique_indices", "use_global_device_ids"], DefaultValue::Bool(false)),
    (&["base_dilations", "lhs_dilation", "rhs_dilation", "window_dilations", "window_strides"],
     DefaultValue::All(1)),
    (&["padding", "window_reversal"], DefaultValue::All(0)),
    (&["precision_config"], DefaultValue::Precisions),
    (&["compare_type"], DefaultValue::Keyword("stablehlo.comparison_type", "NOTYPE")),
    (&["api_version"], DefaultValue::Integer(1)),
    (&["result_accuracy"], DefaultValue::Accuracy),
    (&["backend_config", "infeed_config", "outfeed_config"], DefaultValue::EmptyString),
    (&["called_computations", "layout", "operand_layouts", "output_operand_aliases",
       "result_layouts", "result_tilings"], DefaultValue::EmptyArray),
    (&["composite_attributes"], DefaultValue::EmptyDictionary),
    (&["known_expanding_dimensions", "known_nonexpanding_dimensions"], DefaultValue::EmptyList),
    // VHLO has these in place of `channel_handle` and of the numbers of dimensions.
    (&["channel_id", "index_vector_dim"], DefaultValue::Integer(0)),
    (&["collapsed_slice_dims", "input_batching_dims", "inserted_window_dims",
       "lhs_batching_dimensions", "lhs_contracting_dimensions", "offset_dims",
       "operand_batching_dims", "rhs_batching_dimensions", "rhs_contracting_dimensions",
       "scatter_dims_to_operand_dims", "scatter_indices_batching_dims", "start_index_map",
       "start_indices_batching_dims", "update_window_dims"], DefaultValue::EmptyList),
];

/// Returns whether an attribute of an op has the value that it has where it is not written.
pub(crate) fn is_default(op: &str, attribute: &str, value: &Attribute) -> bool {
    default(op, attribute).is(value)
}
/// Returns the value of an attribute that is not written; `rank` is the number of dimensions of the
/// op's window.
pub(crate) fn default_value(op: &str, attribute: &str, rank: usize) -> Option<Attribute> {
    default(op, attribute).value(attribute, rank)
}
/// Returns the default of an attribute of an op.
fn default(op: &str, attribute: &str) -> DefaultValue {
    let of_op = OF_OPS
        .iter()
        .find(|(ops, attributes, _)| ops.contains(&op) && attributes.contains(&attribute));
    let of_all = || {
        let row = OF_ALL.iter().find(|(attributes, _)| attributes.contains(&attribute));
        row.filter(|_| !op.starts_with("func.")).map(|&(_, default)| default)
    };
    of_op.map(|&(.., default)| default).or_else(of_all).unwrap_or(DefaultValue::None)
}

impl DefaultValue {
    /// Returns whether a value is this default.
    fn is(self, value: &Attribute) -> bool {
        match self {
            Self::Integer(expected) => is_integer(value, expected),
            Self::Bool(expected) => *value == Attribute::Bool(expected),
            Self::All(expected) => all_integers(value, expected),
            Self::EmptyString | Self::EmptyArray | Self::EmptyList | Self::EmptyDictionary => {
                is_empty(value)
            }
            Self::AllEmpty => match value {
                Attribute::Array(all) => all.iter().all(is_empty),
                _ => false,
            },
            Self::Keyword(_, expected) => is_keyword(value, expected),
            Self::Precisions => match value {
                Attribute::Array(all) => all.iter().all(|value| is_keyword(value, "DEFAULT")),
                _ => false,
            },
            Self::Accuracy => is_default_accuracy(value),
            Self::NoChannel => match value {
                Attribute::Dialect(_, Fields::Named(fields)) => {
                    fields.get("handle").is_some_and(|handle| is_integer(handle, 0))
                }
                _ => false,
            },
            Self::NoType => is_none(value),
            Self::None => false,
        }
    }
    /// Returns the value; `rank` is the number of dimensions of a window.
    fn value(self, attribute: &str, rank: usize) -> Option<Attribute> {
        Some(match self {
            Self::Integer(value) => Attribute::Integer(value, Type::Element(ElementType::S64)),
            Self::Bool(value) => Attribute::Bool(value),
            Self::All(value) if is_list(attribute) => Attribute::Integers(vec![value; rank]),
            Self::All(_) => {
                let dims = [rank, 2].map(|size| Dim::Static(size.try_into().unwrap_or(u64::MAX)));
                let ty = Tensor { dims: dims.into(), element: Ok(ElementType::S64) };
                Attribute::Dense(Dense { ty, bytes: vec![0; rank * 16], splat: false })
            }
            Self::EmptyString => Attribute::String(Vec::new()),
            Self::EmptyArray | Self::AllEmpty => Attribute::Array(Vec::new()),
            Self::EmptyList => Attribute::Integers(Vec::new()),
            Self::EmptyDictionary => Attribute::Dictionary(Attributes::default()),
            Self::Keyword(name, word) => keyword(name, word),
            Self::Precisions => {
                Attribute::Array(vec![keyword("stablehlo.precision", "DEFAULT"); 2])
            }
            Self::Accuracy => {
                let fields = Fields::Named(Attributes::default());
                Attribute::Dialect(SmolStr::new_static("stablehlo.result_accuracy"), fields)
            }
            Self::NoType => Attribute::Type(Type::Other(SmolStr::new_static("none"))),
            Self::NoChannel | Self::None => return None,
        })
    }
}
fn keyword(name: &'static str, word: &'static str) -> Attribute {
    Attribute::Dialect(SmolStr::new_static(name), Fields::Keyword(SmolStr::new_static(word)))
}
fn is_none(value: &Attribute) -> bool {
    matches!(value, Attribute::Type(Type::Other(name)) if name == "none")
}
fn is_empty(value: &Attribute) -> bool {
    match value {
        Attribute::Array(all) => all.is_empty(),
        Attribute::Dictionary(all) => all.0.is_empty(),
        Attribute::String(text) => text.is_empty(),
        Attribute::Integers(all) => all.is_empty(),
        Attribute::Dense(dense) => dense.bytes.is_empty(),
        _ => false,
    }
}
fn is_integer(value: &Attribute, expected: i128) -> bool {
    matches!(value, Attribute::Integer(integer, _) if *integer == expected)
}
fn is_zero(value: &Attribute) -> bool {
    is_integer(value, 0) || matches!(value, Attribute::Float(number, _) if *number == 0.0)
}
fn is_keyword(value: &Attribute, expected: &str) -> bool {
    matches!(value, Attribute::Dialect(_, Fields::Keyword(keyword)) if keyword == expected)
}
fn all_integers(value: &Attribute, expected: i64) -> bool {
    match value {
        Attribute::Integers(all) => all.iter().all(|integer| *integer == expected),
        // Only zeros are asked of those that stay dense.
        Attribute::Dense(Dense { bytes, .. }) => {
            expected == 0 && bytes.iter().all(|byte| *byte == 0)
        }
        _ => false,
    }
}
fn is_default_accuracy(value: &Attribute) -> bool {
    let Attribute::Dialect(_, Fields::Named(fields)) = value else { return false };
    fields.0.iter().all(|(name, value)| match (name.as_str(), value) {
        ("atol" | "rtol", Attribute::Float(tolerance, _)) => *tolerance == 0.0,
        ("ulps", ulps) => is_integer(ulps, 0),
        ("mode", mode) => is_keyword(mode, "DEFAULT"),
        _ => false,
    })
}
