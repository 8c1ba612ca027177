//! A module as a plugin takes it: encoded, with arguments and results as lists of arrays.
use crate::backend::{BackendError, Code, Result, for_grid};
use hlo::{Literal, Module, Shape, Verified};
use interp::DeviceGrid;
use pjrt::{OptionValue, Program};

/// An encoded module.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// The name of the module.
    pub(super) name: String,
    pub(super) program: Program,
    parameters: Vec<Shape>,
    result: Shape,
}

impl Prepared {
    pub(super) fn new(
        module: &Verified,
        grid: DeviceGrid,
        xla_options: &[(String, OptionValue)],
    ) -> Result<Self> {
        let module = for_grid(module, grid);
        let shapes = module.entry().program_shape();
        let tupled_arguments = match shapes.parameters.as_slice() {
            [only] => only.tuple().is_some(),
            _ => false,
        };
        let parameters = shapes.parameters.iter().map(|&shape| shape.clone()).collect();
        let result = shapes.result.clone();
        let program = Program {
            format: "hlo".to_owned(),
            code: encode(&module, grid)?,
            replicas: grid.replicas,
            partitions: grid.partitions,
            tupled_arguments,
            xla_options: xla_options.to_vec(),
        };
        Ok(Self { name: module.name.to_string(), program, parameters, result })
    }
    /// Returns the arrays of the arguments of each device, with tuples flattened. A plugin may not check their types.
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
        Ok(list.iter().flat_map(Literal::leaves).cloned().collect())
    }
    /// Returns the result of each device from its leaves.
    pub(super) fn results(&self, leaves: Vec<Vec<Literal>>) -> Result<Vec<Literal>> {
        let expected = self.result.leaves().len();
        let result = |leaves: Vec<Literal>| {
            let found = leaves.len();
            if found != expected {
                let message = format!("found {found} results, expected {expected}");
                return Err(BackendError::from(Code::Failed { message }));
            }
            Ok(unflatten(&self.result, &mut leaves.into_iter()))
        };
        leaves.into_iter().map(result).collect()
    }
}

/// Returns a value of this shape from its leaves; tokens are leaves, too.
fn unflatten(shape: &Shape, leaves: &mut dyn Iterator<Item = Literal>) -> Literal {
    match shape {
        Shape::Tuple(shapes) => {
            Literal::tuple(shapes.iter().map(|shape| unflatten(shape, leaves)).collect())
        }
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            leaves.next().unwrap_or_else(Literal::token)
        }
    }
}

/// Returns the module as a serialized `HloModuleProto`.
fn encode(module: &Module, grid: DeviceGrid) -> Result<Vec<u8>> {
    let _ = (module, grid);
    Err(Code::Unsupported { message: "no proto".to_owned() }.into())
}
