//! `composite`: an op by another name, or a call of its decomposition.
use super::scope::Scope;
use super::{chlo, print, table};
use crate::error::Result;
use crate::ir::{Attributes, Op};
use hlo::ir::FrontendAttributes;

/// `stablehlo.composite`: one of CHLO's ops, or a call.
pub(super) fn composite(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let name: String = scope.required(op, "name")?;
    let attributes = scope.optional::<&Attributes>(op, "composite_attributes")?;
    let attributes = attributes.cloned().unwrap_or_default();
    let version: i64 = scope.optional(op, "version")?.unwrap_or(0);
    if chlo::TABLE.iter().any(|(known, _)| *known == name) && version <= 1 {
        // The attributes of a composite are those of the op.
        let known = Op {
            name: name.into(),
            attributes: attributes.into(),
            regions: Vec::new(),
            ..op.clone()
        };
        return table::convert_plain(scope, &known);
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
