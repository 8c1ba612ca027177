//! `interpreter.run_parallel`: functions on a grid of devices.
use super::calls::{Functions, trap};
use super::{CONVERTED, run_module, unconverted};
use crate::report::Failed;
use crate::{Outcome, report::Failure};
use collectives::spmd::Shards;
use hlo::ir::BackendConfig;
use hlo::{Literal, Shape};
use interp::Call;
use stablehlo::testing::Grid;
use std::ops::Range;

/// The most grids around each other.
const DEEPEST: usize = 4;

/// Runs the programs of a call.
pub(super) fn run(functions: &Functions, call: &Call<'_>) -> interp::Result<Literal> {
    if functions.depth >= DEEPEST {
        return Err(trap(call, "grids of devices run each other, too deep"));
    }
    let functions = Functions { depth: functions.depth + 1, ..functions.clone() };
    let run = Run { functions: &functions, call };
    run.results().map_err(|failed| {
        functions.findings().failure.get_or_insert(failed);
        trap(call, "a program fails")
    })
}

fn unsupported(message: &str) -> Box<Failed> {
    Failed::new("", Outcome::Unsupported(message.to_owned().into()))
}

struct Run<'a> {
    functions: &'a Functions,
    call: &'a Call<'a>,
}

fn failed(message: impl Into<String>) -> Box<Failed> {
    Failed::invalid(Failure::from(message.into()))
}

impl Run<'_> {
    fn treatment(&self) -> String {
        format!("engine {}", self.functions.engine.name())
    }
    fn results(&self) -> Result<Literal, Box<Failed>> {
        let text = self.call.backend_config.map_or("", |config: &BackendConfig| &config.0);
        let grid = self.functions.program.grid(text).map_err(|error| unconverted("", &error))?;
        let parameters = parameters(&grid);
        if grid.is_whole {
            return self.sharded(&grid, &parameters);
        }
        let arguments = self.arguments(&grid, &parameters)?;
        let queue = self.infeed(&grid)?;
        let mut functions = self.functions.clone();
        functions.queue = queue;
        let results = run_module(grid.module.clone(), &functions, &self.treatment(), &arguments)?;
        let mut all = Vec::new();
        for (&number, result) in grid.devices.iter().zip(&results) {
            let function = &grid.functions[number];
            let own = match result.elements() {
                Some(elements) if !function.is_single => elements.get(function.results.clone()),
                _ => Some(std::slice::from_ref(result)),
            };
            let is_value = |value: &&Literal| value.shape() != Shape::Token;
            all.extend(own.unwrap_or_default().iter().filter(is_value).cloned());
        }
        Ok(Literal::tuple(all))
    }
    /// Runs a function with shardings, which computes with whole arrays: they are assembled from
    /// the shards of the devices, and the results are divided.
    fn sharded(&self, grid: &Grid, parameters: &[Shape]) -> Result<Literal, Box<Failed>> {
        if grid.functions.len() > 1 {
            let message = "devices that run different functions, some of which have shardings";
            return Err(unsupported(message));
        }
        let (module, text) = grid.module.clone().with_text();
        let in_module = |error: &collectives::Error| {
            let failure = Failure::new(&text, vec![error.diagnostic()]);
            Failed::new(self.treatment(), Outcome::Unsupported(failure).named(CONVERTED))
        };
        let verified = module.verify().map_err(|errors| {
            let outcome = Outcome::Failed(Failure::new(&text, errors.diagnostics()));
            Failed::new(self.treatment(), outcome.named(CONVERTED))
        })?;
        let shards =
            Shards::of(&verified, grid.devices.len()).map_err(|error| in_module(&error))?;
        let arguments = self.arguments(grid, parameters)?;
        let whole = shards.assemble(&arguments).map_err(|error| in_module(&error))?;
        if !shards.is_whole(&whole, &arguments) {
            return Err(unsupported(
                "devices have different values of the same part of an argument",
            ));
        }
        let results = run_module(grid.module.clone(), self.functions, &self.treatment(), &[whole])?;
        let Some(result) = results.first() else { return Ok(Literal::tuple(Vec::new())) };
        let is_value = |value: &Literal| value.shape() != Shape::Token;
        let results = shards.split(result).into_iter().flatten().filter(is_value).collect();
        let results = Literal::tuple(results);
        if !results.shape().compatible(self.call.shape) {
            return Err(unsupported(
                "the function states no sharding of its results, and the call states other parts",
            ));
        }
        Ok(results)
    }
    /// Returns the arguments of each device: those of its function, and nothing for the others.
    fn arguments(
        &self,
        grid: &Grid,
        parameters: &[Shape],
    ) -> Result<Vec<Vec<Literal>>, Box<Failed>> {
        let mut operands = self.call.operands.iter();
        let mut all = Vec::new();
        for &number in &grid.devices {
            let own: &Range<usize> = &grid.functions[number].arguments;
            let mut arguments = Vec::with_capacity(parameters.len());
            for (i, shape) in parameters.iter().enumerate() {
                arguments.push(match shape {
                    Shape::Token => Literal::token(),
                    _ if own.contains(&i) => match operands.next() {
                        Some(&operand) => operand.clone(),
                        None => return Err(failed("`interpreter.run_parallel` has fewer operands than its functions have arguments")),
                    },
                    Shape::Array(array) => Literal::zeros(array.clone()),
                    other @ (Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_)) => return Err(failed(format!("an argument of shape {other}"))),
                });
            }
            all.push(arguments);
        }
        match operands.next() {
            Some(_) => Err(failed(
                "`interpreter.run_parallel` has more operands than its functions have arguments",
            )),
            None => Ok(all),
        }
    }
    /// Returns the values of the infeed queue: the results of functions.
    fn infeed(&self, grid: &Grid) -> Result<Vec<Literal>, Box<Failed>> {
        if !grid.infeed.is_empty() && grid.devices.len() > 1 {
            let message = "the devices of a grid take turns at its infeed queue, in an order that nothing defines";
            return Err(unsupported(message));
        }
        let mut values = Vec::new();
        for name in &grid.infeed {
            let program = &self.functions.program;
            let module = program.module(name).map_err(|error| unconverted("", &error))?;
            let results = run_module(module, self.functions, &self.treatment(), &[Vec::new()])?;
            values.extend(results.into_iter().map(|value| Literal::tuple(vec![value])));
        }
        Ok(values)
    }
}

fn parameters(grid: &Grid) -> Vec<Shape> {
    let entry = grid.module.entry();
    let ids = entry.parameters().into_iter();
    ids.map(|id| entry.instructions[id].shape.clone()).collect()
}
