//! A module as a plugin takes it: encoded, with arguments and results as lists of arrays.
use super::boundary;
use crate::backend::format::{bytecode, program, proto};
use crate::backend::{BackendError, Code, Result, for_grid};
use hlo::diag::quantity;
use hlo::ir::{DeviceSharding, Placement, Sharding};
use hlo::{Literal, Module, Shape, Verified};
use interp::DeviceGrid;
use pjrt::{OptionValue, Program};
use stablehlo::ir::{Attribute, Attributes, Op};
use stablehlo::{Chlo, Version};
use std::sync::Arc;

/// The form of a program that a plugin compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramForm {
    /// `HloModuleProto`.
    Hlo,
    /// Portable bytecode of StableHLO, for this version, or for the first that has all of a program.
    Mlir(Option<Version>),
}

impl ProgramForm {
    /// Returns its name in the C API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hlo => "hlo",
            Self::Mlir(_) => "mlir",
        }
    }
}

/// An encoded module.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// The name of the module.
    pub(super) name: String,
    pub(super) program: Program,
    pub(super) parameters: Vec<Shape>,
    pub(super) result: Shape,
}

impl Prepared {
    pub(super) fn new(
        module: &Verified,
        grid: DeviceGrid,
        form: ProgramForm,
        xla_options: &[(String, OptionValue)],
    ) -> Result<Self> {
        let mut module = for_grid(module, grid);
        let shapes = module.entry().program_shape();
        let parameters: Vec<Shape> = shapes.parameters.into_iter().cloned().collect();
        let result = shapes.result.clone();
        // The function of a StableHLO program has no tuples.
        let has_tuple = form == ProgramForm::Hlo && has_tupled_arguments(&parameters);
        let is_taken = has_tuple || parameters.iter().all(boundary::is_static_array);
        let is_flattened = !is_taken || !boundary::is_flat(&result);
        if is_flattened {
            module = boundary::flattened(&module);
        }
        let name = module.name.to_string();
        // The schedule is computed after all passes, which abort if they find one. StableHLO has
        // neither schedules nor layouts, which passes add.
        let optimized = form == ProgramForm::Hlo && module.config.is_scheduled;
        let program = Program {
            format: form.name().to_owned(),
            code: encode(module, grid, form)?,
            replicas: grid.replicas,
            partitions: grid.partitions,
            tupled_arguments: has_tuple && !is_flattened,
            optimized,
            xla_options: xla_options.to_vec(),
        };
        Ok(Self { name, program, parameters, result })
    }
    /// Returns the arrays of the arguments of each device, with tuples flattened. A plugin may not
    /// check their types.
    pub(super) fn arguments(&self, arguments: &[Vec<Literal>]) -> Result<Vec<Vec<Literal>>> {
        arguments.iter().map(|list| self.flatten(list)).collect()
    }
    fn flatten(&self, list: &[Literal]) -> Result<Vec<Literal>> {
        let fits = |(x, shape): (&Literal, &Shape)| x.shape().compatible(shape);
        if list.len() != self.parameters.len() || !list.iter().zip(&self.parameters).all(fits) {
            let names = |shapes: Vec<Shape>| Shape::Tuple(shapes).to_string();
            let found = names(list.iter().map(Literal::shape).collect());
            let expected = names(self.parameters.clone());
            let message = format!("found arguments {found}, the module takes {expected}");
            return Err(Code::Failed { message }.into());
        }
        Ok(boundary::arguments(list, &self.parameters))
    }
    /// Returns the result of each device from its leaves.
    pub(super) fn results(&self, leaves: Vec<Vec<Literal>>) -> Result<Vec<Literal>> {
        let expected = self.result.leaves().len();
        let result = |leaves: Vec<Literal>| {
            let found = leaves.len();
            if found != expected {
                let message = format!("found {}, expected {expected}", quantity(found, "result"));
                return Err(BackendError::from(Code::Failed { message }));
            }
            let value = Literal::from_leaves(&self.result, &mut leaves.into_iter());
            Ok(value.unwrap_or_else(Literal::token))
        };
        leaves.into_iter().map(result).collect()
    }
}

/// Returns whether the only parameter is a tuple of arrays, which a plugin takes apart.
fn has_tupled_arguments(parameters: &[Shape]) -> bool {
    let [Shape::Tuple(elements)] = parameters else { return false };
    elements.iter().all(boundary::is_static_array)
}

/// Returns the module in a form.
fn encode(mut module: Module, grid: DeviceGrid, form: ProgramForm) -> Result<Vec<u8>> {
    match form {
        ProgramForm::Hlo => {
            if grid.partitions > 1 {
                mark_manual(&mut module);
            }
            proto(&module)
        }
        ProgramForm::Mlir(target) => {
            let mut program = program(&module, Chlo::Expand)?;
            if grid.partitions > 1 {
                mark_manual_ops(&mut program.ops);
            }
            bytecode(&program, target)
        }
    }
}

/// Marks each instruction as partitioned by hand. The module is one that each device runs; without
/// the mark, XLA's partitioner would take it for the program of all devices together.
fn mark_manual(module: &mut Module) {
    let manual =
        || DeviceSharding { placement: Placement::Manual, group: None, metadata: Vec::new() };
    for (_, computation) in module.computations.iter_mut() {
        for (_, instruction) in computation.instructions.iter_mut() {
            let leaves = instruction.shape.leaves().len();
            let sharding = match instruction.shape.tuple() {
                Some(elements) if !elements.is_empty() => {
                    Sharding::Tuple((0..leaves).map(|_| manual()).collect())
                }
                _ => Sharding::One(manual()),
            };
            instruction.common.get_or_insert_default().sharding = Some(sharding);
        }
    }
}

/// As [`mark_manual`], for the ops of a StableHLO program, and the arguments and results of its
/// functions.
fn mark_manual_ops(ops: &mut [Op]) {
    for op in ops {
        let attributes = Arc::make_mut(&mut op.attributes);
        if let ("func.func", Some(region)) = (op.name.as_str(), op.regions.first()) {
            let returned = region.ops.last().map_or(0, |last| last.operands.len());
            mark_manual_values(attributes, "arg_attrs", region.arguments.len());
            mark_manual_values(attributes, "res_attrs", returned);
        }
        if !op.results.is_empty() {
            add_manual(attributes, op.results.len());
        }
        op.regions.iter_mut().for_each(|region| mark_manual_ops(&mut region.ops));
    }
}

/// Adds the sharding to the attributes of each argument or each result of a function.
fn mark_manual_values(function: &mut Attributes, name: &'static str, count: usize) {
    let known = function.0.iter().position(|(known, _)| known == name);
    let mut all = match known.map(|at| function.0.remove(at)) {
        Some((_, Attribute::Array(all))) => all,
        _ => Vec::new(),
    };
    all.resize(count, Attribute::Dictionary(Attributes::default()));
    for one in &mut all {
        if let Attribute::Dictionary(attributes) = one {
            add_manual(attributes, 1);
        }
    }
    function.0.push((name.into(), Attribute::Array(all)));
    function.0.sort_by(|a, b| a.0.cmp(&b.0));
}

/// Adds the sharding of an op with this number of results.
fn add_manual(attributes: &mut Attributes, results: usize) {
    let text = match results {
        1 => "{manual}".to_owned(),
        n => format!("{{{}}}", vec!["{manual}"; n].join(", ")),
    };
    attributes.0.push(("mhlo.sharding".into(), Attribute::String(text.into_bytes())));
    attributes.0.sort_by(|a, b| a.0.cmp(&b.0));
}
