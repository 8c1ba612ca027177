//! Calls and composites.
use super::exporter::{At, Draft, Exporter, Given, Leaves, function, leaf_shapes};
use crate::attributes::{integer32, string};
use crate::error::Result;
use crate::ir::{Attribute, Region};
use crate::text;
use hlo::ir::ComputationId;
use hlo::op::Call;
use smol_str::SmolStr;

impl Exporter<'_> {
    pub(super) fn call(&mut self, at: At<'_, '_>, op: &Call) -> Result<Leaves> {
        let Call { to_apply, is_composite } = op;
        if !at.is_original(self) {
            // The functions of an expansion.
            return self.inlined(at, *to_apply);
        }
        let name = self.function(*to_apply)?;
        let symbol = Attribute::Symbol(vec![name]);
        let results = leaf_shapes(&at.instruction.shape);
        if *is_composite && let Some(draft) = composite(at, symbol.clone()) {
            return self.emit(draft, &results);
        }
        let draft = Draft::new("func.call", at.operands()).set("callee", symbol);
        let draft = draft.with_common(self);
        self.emit(draft, &results)
    }
    /// Returns the name of the function that a computation of the module becomes, which is private.
    pub(super) fn function(&mut self, id: ComputationId) -> Result<SmolStr> {
        if let Some(known) = self.functions.get(&id) {
            return Ok(known.clone());
        }
        let module = self.module;
        let computation = &module.computations[id];
        let name = self.unique(&computation.name);
        self.functions.insert(id, name.clone());
        let shape = computation.program_shape();
        let parameters: Vec<_> = shape.parameters.into_iter().flat_map(leaf_shapes).collect();
        let results = leaf_shapes(shape.result);
        let region = self.region(module, id, Given::Arguments(&parameters), &results)?;
        let op = function_of(&name, "private", region, &results, Vec::new())?;
        self.finished.push(op);
        Ok(name)
    }
    /// Returns a name that no function has.
    fn unique(&mut self, name: &SmolStr) -> SmolStr {
        let numbered = (0u32..).map(|n| SmolStr::new(format!("{name}_{n}")));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| !self.names.contains(name)).expect("numbers do not end");
        self.names.insert(free.clone());
        free
    }
}

/// Returns a function with this body.
pub(super) fn function_of(
    name: &SmolStr,
    visibility: &str,
    mut region: Region,
    results: &[hlo::Shape],
    attributes: Vec<(SmolStr, Attribute)>,
) -> Result<crate::ir::Op> {
    if let Some(end) = region.ops.last_mut() {
        end.name = SmolStr::new_static("func.return");
    }
    let results = results.iter().map(super::types::of_shape).collect::<Result<_>>()?;
    Ok(function(name, visibility, region, results, attributes))
}
/// Returns the composite that a call stands for, if it says which.
fn composite(at: At<'_, '_>, decomposition: Attribute) -> Option<Draft> {
    let common = at.instruction.common.as_ref();
    let pairs = common.and_then(|common| common.frontend_attributes.as_ref());
    let get = |key: &str| {
        let pair = pairs?.0.iter().find(|(known, _)| known == key)?;
        Some(pair.1.as_str())
    };
    let attributes = get("composite.attributes").unwrap_or("{}");
    let (Some(name), Ok(attributes)) = (get("composite.name"), text::read_attribute(attributes))
    else {
        return None;
    };
    let version = get("composite.version").and_then(|version| version.parse().ok()).unwrap_or(0);
    let mut draft = Draft::new("stablehlo.composite", at.operands())
        .set("composite_attributes", attributes)
        .set("decomposition", decomposition)
        .set("name", string(name))
        .set("version", integer32(version));
    let others =
        pairs.map(|pairs| pairs.0.iter().filter(|(key, _)| !key.starts_with("composite.")));
    let others: Vec<_> = others.into_iter().flatten().cloned().collect();
    if !others.is_empty() {
        let others = hlo::ir::FrontendAttributes(others);
        draft = draft.set("mhlo.frontend_attributes", super::location::frontend(&others));
    }
    Some(draft)
}
