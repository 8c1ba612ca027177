//! `scan`: repeats a computation along a dimension.
use super::rules::{only, parameters};
use super::{Infer, ShapeRule, check};
use crate::diag::{Code, Place};
use crate::ir::ComputationId;
use crate::{ArrayShape, Error, Result, Shape};

attrs! {
    /// Repeats a computation along a dimension, carrying values.
    ///
    /// Operands are the inputs, all of the same size along the dimension, then the initial carries.
    /// The computation takes one slice of each input, without the dimension, and the carries; it
    /// returns one slice of each output and the next carries. The result is a tuple of the outputs,
    /// each concatenated along the dimension, and the last carries; if that is a single array, the
    /// tuple may be omitted.
    ///
    /// Without inputs the number of steps follows from the stated shape of the outputs.
    pub struct Scan {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
        /// The number of carried values.
        pub num_carries: i64 = "num_carries" in num_carries;
        /// Whether it runs from the end to the start; outputs have the position of the inputs of
        /// their step.
        pub is_reverse: bool = "is_reverse" in is_reverse or false;
        /// An assertion that does not change the result.
        pub is_associative: bool = "is_associative" in is_associative, always false;
        /// The body.
        pub to_apply: ComputationId = "to_apply" in called_computation_ids;
    }
}

/// The extent of a scan: its dimension, the number of steps, and whether that is only a bound.
struct Extent {
    dim: usize,
    steps: i64,
    is_dynamic: bool,
}

impl ShapeRule for Scan {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let dim = usize::try_from(only(&self.dimensions, "dimensions")?);
        let dim = dim.map_err(|_| self.no_dimension(0))?;
        let carries = usize::try_from(self.num_carries).ok().filter(|&n| n <= cx.operands.len());
        let Some(carries) = carries else {
            let (found, expected) = (cx.operands.len(), self.num_carries);
            let message =
                format!("num_carries={expected} is not in 0..={found}, the number of operands");
            return Err(failed("scan_carries", message).on(Place::Attribute("num_carries")));
        };
        let (inputs, initial) = cx.operands.split_at(cx.operands.len() - carries);
        let callee = cx.callee(self.to_apply)?;
        let results = callee.result.tuple().unwrap_or(std::slice::from_ref(callee.result));
        let Some(outputs) = results.len().checked_sub(carries) else {
            let message =
                format!("the body must return the {carries} carries, found {}", callee.result);
            return Err(wrong_step("scan_step_result", message));
        };
        check(inputs.len() + outputs > 0, "scan_nothing", || {
            "a scan needs inputs or outputs".to_owned()
        })?;
        cx.arrays()?;
        let extent = self.extent(cx, dim, inputs.len())?;
        let mut given: Vec<Shape> = Vec::with_capacity(cx.operands.len());
        for i in 0..inputs.len() {
            given.push(extent.slice(cx.array(i)?).into());
        }
        given.extend(initial.iter().map(|&carry| carry.clone()));
        let given: Vec<&Shape> = given.iter().collect();
        parameters(&callee, &given, "scan_step_parameters", "to_apply")?;
        for (i, (found, &expected)) in results[outputs..].iter().zip(initial).enumerate() {
            if !found.compatible(expected) {
                let message = format!(
                    "carry {i} is initialized with {expected}, but the body returns {found}"
                );
                return Err(wrong_step("scan_step_result", message));
            }
        }
        let mut shapes = Vec::with_capacity(results.len());
        for slice in &results[..outputs] {
            let stacked = slice.array().and_then(|slice| extent.stacked(slice));
            let Some(stacked) = stacked else {
                let message =
                    format!("slices {slice} cannot be concatenated along dimension {dim}");
                return Err(wrong_step("scan_step_result", message));
            };
            shapes.push(stacked.into());
        }
        shapes.extend(initial.iter().map(|&carry| carry.clone()));
        let bare = cx.stated.is_some_and(|stated| stated.tuple().is_none());
        Ok(if bare && shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) })
    }
}

impl Scan {
    fn no_dimension(&self, i: usize) -> Error {
        let message = format!("operand {i} has no dimension {:?} to scan", self.dimensions);
        failed("scan_dimension", message).on(Place::Attribute("dimensions"))
    }

    /// Returns the number of steps, on which all inputs agree.
    fn extent(&self, cx: &Infer<'_>, dim: usize, inputs: usize) -> Result<Extent> {
        let mut extent = None;
        for i in 0..inputs {
            let input = cx.array(i)?;
            let steps = *input.dims.get(dim).ok_or_else(|| self.no_dimension(i))?;
            let is_dynamic = input.is_dynamic(dim);
            let first = extent.get_or_insert(Extent { dim, steps, is_dynamic });
            check(first.steps == steps, "scan_extent", || {
                format!("input 0 has {} steps, input {i} has {steps}", first.steps)
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            first.is_dynamic |= is_dynamic;
        }
        if let Some(extent) = extent {
            return Ok(extent);
        }
        let stated = cx.stated()?;
        let first = stated.tuple().and_then(<[Shape]>::first).unwrap_or(stated).array();
        let steps = first.and_then(|array| array.dims.get(dim)).copied();
        let steps = steps.ok_or_else(|| {
            let message = format!("the first output of {stated} has no dimension {dim} to scan");
            failed("scan_dimension", message)
        })?;
        Ok(Extent { dim, steps, is_dynamic: first.is_some_and(|array| array.is_dynamic(dim)) })
    }
}

impl Extent {
    /// Returns the slice of an input that one step takes.
    fn slice(&self, input: &ArrayShape) -> ArrayShape {
        let dim = i64::try_from(self.dim).expect("found in an operand");
        super::rules::drop_dims(input, input.ty, &[dim])
    }
    /// Returns the concatenation of the slices of all steps; `None` if a slice has too few
    /// dimensions.
    fn stacked(&self, slice: &ArrayShape) -> Option<ArrayShape> {
        if self.dim > slice.rank() {
            return None;
        }
        let mut dims = slice.dims.clone();
        dims.insert(self.dim, self.steps);
        let mut result = ArrayShape::new(slice.ty, dims);
        if self.is_dynamic || slice.dynamic.is_some() {
            let mut flags: Vec<bool> = (0..slice.rank()).map(|d| slice.is_dynamic(d)).collect();
            flags.insert(self.dim, self.is_dynamic);
            result.dynamic = Some(flags.into());
        }
        Some(result)
    }
}

fn failed(rule: &'static str, message: String) -> Error {
    Code::Rule { rule, message }.into()
}
fn wrong_step(rule: &'static str, message: String) -> Error {
    Error::from(Code::Callee { rule, message }).on(Place::Attribute("to_apply"))
}
