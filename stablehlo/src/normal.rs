//! The form of ops that both readers produce: attributes sorted by name, lists of integers as such,
//! and no attributes that have their default values.
use crate::dense;
use crate::ir::{Attribute, Attributes, Dense, Fields};

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
    /// An empty string, list, array or dictionary.
    Empty,
    /// Empty dictionaries.
    AllEmpty,
    Keyword(&'static str),
    /// `DEFAULT` for each operand.
    Precisions,
    /// The accuracy of the mode `DEFAULT`.
    Accuracy,
    /// Channel 0.
    NoChannel,
    /// None: the attribute is always written.
    None,
}

/// The defaults of attributes of some ops; the first row of an op and an attribute counts.
#[rustfmt::skip]
const OF_OPS: &[(&[&str], &[&str], DefaultValue)] = &[
    (&["func.func", "func.call"], &["arg_attrs", "res_attrs"], DefaultValue::AllEmpty),
    (&["func.func"], &["sym_visibility"], DefaultValue::Empty),
    (&["stablehlo.sort"], &["dimension"], DefaultValue::Integer(-1)),
    (&["stablehlo.sort"], &["is_stable"], DefaultValue::Bool(false)),
    (&["stablehlo.cholesky"], &["lower"], DefaultValue::Bool(false)),
    (&["stablehlo.composite"], &["version"], DefaultValue::Integer(0)),
    (&["stablehlo.send", "stablehlo.recv"], &["source_target_pairs"], DefaultValue::Empty),
    (&["stablehlo.send", "stablehlo.recv"], &["channel_handle"], DefaultValue::None),
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
    (&["compare_type"], DefaultValue::Keyword("NOTYPE")),
    (&["api_version"], DefaultValue::Integer(1)),
    (&["result_accuracy"], DefaultValue::Accuracy),
    (&["backend_config", "called_computations", "composite_attributes", "infeed_config",
       "known_expanding_dimensions", "known_nonexpanding_dimensions", "layout", "outfeed_config",
       "output_operand_aliases", "result_tilings"], DefaultValue::Empty),
];

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
            Self::Empty => is_empty(value),
            Self::AllEmpty => match value {
                Attribute::Array(all) => all.iter().all(is_empty),
                _ => false,
            },
            Self::Keyword(expected) => is_keyword(value, expected),
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
            Self::None => false,
        }
    }
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
