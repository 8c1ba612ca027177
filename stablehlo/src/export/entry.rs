//! The module: its attributes, and the function `main`.
use super::ExportOptions;
use super::call::function_of;
use super::exporter::{Exporter, Given, leaf_shapes};
use super::location::frontend;
use super::types;
use crate::attributes::{integer32, string};
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Op, Program, ValueId};
use crate::normal;
use hlo::Module;
use hlo::Shape;
use hlo::ir::{CommonAttrs, Sharding};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// Converts a module.
pub(super) fn program(module: &Module, options: ExportOptions) -> Result<Program> {
    let mut exporter = Exporter::new(module, options);
    let entry = module.entry();
    for id in entry.parameters() {
        let typed = types::of_shape(&entry.instructions[id].shape);
        typed.map_err(|error| error.at(entry.site(id)))?;
    }
    let shape = entry.program_shape();
    let parameters: Vec<Shape> = shape.parameters.into_iter().flat_map(leaf_shapes).collect();
    let results = leaf_shapes(shape.result);
    let region = exporter.region(module, module.entry, Given::Arguments(&parameters), &results)?;
    let attributes = vec![
        ("arg_attrs".into(), exporter.argument_attributes()),
        ("res_attrs".into(), exporter.result_attributes(results.len())),
    ];
    let main = SmolStr::new_static("main");
    let main = function_of(&main, "public", region, &results, attributes)?;
    let mut attributes = module_attributes(module);
    normal::sort(&mut attributes);
    let values = exporter.value_count();
    let Exporter { finished, locations, .. } = exporter;
    let mut ops: Vec<Op> = std::iter::once(main).chain(finished).collect();
    let mut used = FxHashSet::default();
    note_uses(&ops, &mut used);
    remove_unused_constants(&mut ops, &used);
    Ok(Program {
        name: Some(module.name.clone()).filter(|name| !name.is_empty()),
        attributes,
        ops,
        values,
        locations: locations.all,
        entry: None,
        unread: Vec::new(),
    })
}

fn note_uses(ops: &[Op], used: &mut FxHashSet<ValueId>) {
    for op in ops {
        used.extend(&op.operands);
        op.regions.iter().for_each(|region| note_uses(&region.ops, used));
    }
}
/// Removes constants that nothing uses, such as the contexts of asynchronous ops.
fn remove_unused_constants(ops: &mut Vec<Op>, used: &FxHashSet<ValueId>) {
    let is_used = |op: &Op| op.results.iter().any(|result| used.contains(&result.id));
    ops.retain(|op| op.name != "stablehlo.constant" || is_used(op));
    for region in ops.iter_mut().flat_map(|op| &mut op.regions) {
        remove_unused_constants(&mut region.ops, used);
    }
}

fn module_attributes(module: &Module) -> Attributes {
    let config = &module.config;
    let mut attributes = Attributes::default();
    let mut set = |name, value| attributes.0.push((SmolStr::new_static(name), value));
    set("mhlo.num_partitions", integer32(config.num_partitions));
    set("mhlo.num_replicas", integer32(config.replica_count));
    if let Some(pairs) = &config.frontend_attributes {
        set("mhlo.frontend_attributes", frontend(pairs));
    }
    attributes
}

/// Returns the number of the leaf with this index.
fn leaf_at(shape: &Shape, index: &[i64]) -> usize {
    let (mut number, mut shape) = (0, shape);
    for &i in index {
        let parts = shape.tuple().unwrap_or_default();
        let i = usize::try_from(i).unwrap_or(0);
        number += parts.iter().take(i).map(|part| part.leaves().len()).sum::<usize>();
        match parts.get(i) {
            Some(part) => shape = part,
            None => break,
        }
    }
    number
}
/// Returns the sharding of each leaf.
fn of_leaves(sharding: &Sharding, leaves: usize) -> Vec<Attribute> {
    let text = |one: &hlo::ir::DeviceSharding| string(&Sharding::One(one.clone()).to_string());
    match sharding.clone().expand_to_leaves(leaves) {
        Sharding::One(one) => vec![text(&one); leaves],
        Sharding::Tuple(all) => all.iter().map(text).take(leaves).collect(),
    }
}

impl Exporter<'_> {
    /// Returns the attributes of the arguments of `main`.
    fn argument_attributes(&self) -> Attribute {
        let (entry, config) = (self.module.entry(), &self.module.config);
        let mut all: Vec<Attributes> = Vec::new();
        let mut first = Vec::new();
        for id in entry.parameters() {
            let instruction = &entry.instructions[id];
            let leaves = instruction.shape.leaves().len();
            first.push((all.len(), &instruction.shape));
            let none = CommonAttrs::default();
            let common = instruction.common.as_deref().unwrap_or(&none);
            let sharding = common.sharding.as_ref().filter(|_| self.is_unpartitioned());
            let shardings = sharding.map(|sharding| of_leaves(sharding, leaves));
            for leaf in 0..leaves {
                let mut attributes = Attributes::default();
                let mut set = |name, value| attributes.0.push((SmolStr::new_static(name), value));
                if let Some(sharding) = shardings.as_ref().and_then(|all| all.get(leaf)) {
                    set("mhlo.sharding", sharding.clone());
                }
                if let Some(pairs) = &common.frontend_attributes {
                    set("mhlo.frontend_attributes", frontend(pairs));
                }
                let replicated = common.parameter_replication.as_ref();
                if replicated.and_then(|all| all.get(leaf)) == Some(&true) {
                    set("mhlo.is_same_data_across_replicas", Attribute::Bool(true));
                }
                all.push(attributes);
            }
        }
        let place = |parameter: i64, index: &[i64]| {
            let (first, shape) = first.get(usize::try_from(parameter).ok()?)?;
            Some(first + leaf_at(shape, index))
        };
        for alias in &config.input_output_alias {
            let output = leaf_at(entry.result_shape(), &alias.output_index);
            let output = integer32(i64::try_from(output).unwrap_or(0));
            let argument = place(alias.parameter, &alias.parameter_index);
            if let Some(attributes) = argument.and_then(|place| all.get_mut(place)) {
                attributes.0.push(("tf.aliasing_output".into(), output));
            }
        }
        for donor in &config.buffer_donor {
            let argument = place(donor.parameter, &donor.parameter_index);
            if let Some(attributes) = argument.and_then(|place| all.get_mut(place)) {
                attributes.0.push(("jax.buffer_donor".into(), Attribute::Bool(true)));
            }
        }
        dictionaries(all)
    }
    /// Returns the attributes of the results of `main`.
    fn result_attributes(&self, leaves: usize) -> Attribute {
        let entry = self.module.entry();
        let root = &entry.instructions[entry.root];
        let sharding = root.common.as_ref().and_then(|common| common.sharding.as_ref());
        let sharding = sharding.filter(|_| self.is_unpartitioned());
        let shardings = sharding.map(|sharding| of_leaves(sharding, leaves)).unwrap_or_default();
        let one = |sharding| Attributes(vec![("mhlo.sharding".into(), sharding)]);
        dictionaries(shardings.into_iter().map(one).collect())
    }
}

fn dictionaries(all: Vec<Attributes>) -> Attribute {
    let sorted = all.into_iter().map(|mut attributes| {
        normal::sort(&mut attributes);
        attributes.0.dedup_by(|a, b| a.0 == b.0);
        Attribute::Dictionary(attributes)
    });
    Attribute::Array(sorted.collect())
}
