//! `composite`: an op by another name, or a call of its decomposition.
use super::dispatch;
use super::scope::Scope;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Op};
use crate::ops::{self, OpRow};
use crate::text::print;
use hlo::ir::FrontendAttributes;
use smol_str::SmolStr;

/// The attributes of composites that stand for ops of CHLO; a composite with others is its
/// decomposition.
const KNOWN: [&str; 8] = [
    "broadcast_dimensions",
    "compare_type",
    "comparison_direction",
    "is_stable",
    "k",
    "largest",
    "precision_config",
    RAGGED,
];
const RAGGED: &str = "ragged_dot_dimension_numbers";

/// Returns the attributes that the op has whose composite has these.
fn of_op(attributes: &Attributes) -> Attributes {
    const FIELDS: [&str; 6] = [
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
        "lhs_ragged_dimensions",
        "rhs_group_dimensions",
    ];
    let mut attributes = attributes.clone();
    for (name, value) in &mut attributes.0 {
        // VHLO cannot keep an attribute of CHLO, so a composite has the fields as a list.
        if let Attribute::Array(items) = value
            && name == RAGGED
            && items.len() == FIELDS.len()
        {
            let fields = FIELDS.map(SmolStr::new_static).into_iter().zip(items.clone());
            *value = Attribute::Dictionary(Attributes(fields.collect()));
        }
    }
    attributes
}

/// Converts `stablehlo.composite`: one of CHLO's ops, or a call.
pub(crate) fn composite(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let name: String = scope.required(op, "name")?;
    let attributes = scope.optional::<&Attributes>(op, "composite_attributes")?;
    let attributes = attributes.cloned().unwrap_or_default();
    let version: i64 = scope.optional(op, "version")?.unwrap_or(0);
    let is_known = ops::find(&name).is_some_and(OpRow::is_converted);
    if is_known && name.starts_with("chlo.") && version <= 1 {
        let known = Op {
            name: name.as_str().into(),
            attributes: of_op(&attributes).into(),
            regions: Vec::new(),
            ..op.clone()
        };
        let is_known = |name: &str| KNOWN.contains(&name);
        let understood = attributes.0.iter().all(|(name, _)| is_known(name));
        let has_decomposition = op.attributes.get("decomposition").is_some();
        if understood || !has_decomposition {
            let converted = dispatch::convert_plain(scope, &known);
            if converted.is_ok() || !has_decomposition {
                return converted;
            }
        }
    }
    if !op.regions.is_empty() {
        return Err(scope.unsupported(
            op,
            format!("the composite `{name}` has regions, which HLO's call lacks"),
        ));
    }
    let decomposition: String = scope.required(op, "decomposition")?;
    let mut common = scope.cx.common(op);
    let pairs = common.frontend_attributes.get_or_insert_with(FrontendAttributes::default);
    pairs.0.extend([
        ("composite.attributes".into(), print::dictionary(&attributes)),
        ("composite.name".into(), name),
        ("composite.version".into(), version.to_string()),
    ]);
    pairs.0.sort();
    scope.set_common(common);
    scope.call(op, &decomposition, true)
}
