//! `scan`: the op of CHLO, or a loop.
use super::Chlo;
use super::exporter::{At, Draft, Exporter, Leaves, array, leaf_shapes};
use crate::attributes::{integer, keyword, list};
use crate::error::{Error, Result};
use crate::ir::{Attribute, ValueId};
use hlo::ir::ComputationId;
use hlo::op::Scan;
use hlo::{ArrayShape, ElementType, Literal, Scalar, Shape};

/// The dimension and the direction of a scan as a loop.
struct Steps {
    dim: usize,
    count: i64,
    is_reverse: bool,
    /// The type of the counter.
    ty: ElementType,
}

impl Exporter<'_> {
    /// Converts `scan`: its operands are the arrays and then the first carries, its results the
    /// outputs and then the last carries.
    pub(super) fn scan(&mut self, at: At<'_, '_>, op: &Scan) -> Result<Leaves> {
        let Scan { dimensions, num_carries, is_reverse, is_associative, to_apply } = op;
        let shape = at.frame.module.computations[*to_apply].program_shape();
        let results = leaf_shapes(&at.instruction.shape);
        if self.options.chlo == Chlo::Expand {
            return self.scan_loop(at, op, &results);
        }
        let arguments: Vec<Shape> = shape.parameters.into_iter().cloned().collect();
        let region = self.applied(at, *to_apply, &arguments, &leaf_shapes(shape.result))?;
        let segments = |count: usize| {
            let carries = *num_carries;
            list([i64::try_from(count).unwrap_or(carries) - carries, carries])
        };
        let draft = Draft::new("chlo.scan", at.operands())
            .set("dimension", integer(dimensions.first().copied().unwrap_or(0)))
            .set("is_reverse", Attribute::Bool(*is_reverse))
            .set("is_associative", Attribute::Bool(*is_associative))
            .set("operandSegmentSizes", segments(at.instruction.operands.len()))
            .set("resultSegmentSizes", segments(results.len()))
            .region(region)
            .with_common(self);
        self.emit(draft, &results)
    }
    /// Converts `scan` to a loop with the counter, the inputs, the outputs and the carries.
    fn scan_loop(&mut self, at: At<'_, '_>, op: &Scan, results: &[Shape]) -> Result<Leaves> {
        let operands = at.operands();
        let carries = usize::try_from(op.num_carries).unwrap_or(0);
        let (inputs, initial) = operands.split_at(operands.len().saturating_sub(carries));
        let outputs = &results[..results.len().saturating_sub(carries)];
        let first = match inputs.first() {
            Some(&input) => self.shape(input).clone(),
            None => outputs.first().cloned().ok_or_else(|| at.unsupported("of nothing"))?,
        };
        let arrays = inputs.iter().map(|&id| self.shape(id)).chain(outputs).map(array);
        at.refuse_dynamic_without_chlo(&arrays.collect::<Result<Vec<_>>>()?)?;
        let dim = op.dimensions.first().and_then(|&dim| usize::try_from(dim).ok()).unwrap_or(0);
        let count = array(&first)?.dims.get(dim).copied().unwrap_or(0);
        let ty = if i32::try_from(count).is_ok() { ElementType::S32 } else { ElementType::S64 };
        let steps = Steps { dim, count, is_reverse: op.is_reverse, ty };

        let mut outputs_of = Leaves::new();
        for shape in outputs {
            outputs_of.push(self.zeros(array(shape)?)?);
        }
        if count == 0 {
            outputs_of.extend(initial.iter().copied());
            return Ok(outputs_of);
        }
        let mut state = vec![self.number(ty, 0)?];
        state.extend(inputs.iter().chain(&outputs_of).chain(initial));
        let shapes: Vec<Shape> = state.iter().map(|&id| self.shape(id).clone()).collect();
        let condition = self.region_of(&shapes, |exporter, values| {
            let limit = exporter.number(ty, count)?;
            let draft = Draft::new("stablehlo.compare", [values[0], limit])
                .set("comparison_direction", keyword("stablehlo.comparison_direction", "LT"));
            exporter.emit(draft, &[Shape::scalar(ElementType::Pred)])
        })?;
        let split = inputs.len();
        let body = self.region_of(&shapes, |exporter, values| {
            exporter.scan_step(at, op.to_apply, &steps, (values, split, outputs.len()))
        })?;
        let draft = Draft::new("stablehlo.while", state).region(condition).region(body);
        let draft = draft.with_common(self);
        Ok(self.emit(draft, &shapes)?.into_iter().skip(1 + split).collect())
    }
    /// Adds a step of a loop with these values, so many of which are inputs and outputs; returns
    /// the next values.
    fn scan_step(
        &mut self,
        at: At<'_, '_>,
        to_apply: ComputationId,
        steps: &Steps,
        (values, inputs, outputs): (&[ValueId], usize, usize),
    ) -> Result<Leaves> {
        let &Steps { dim, count, is_reverse, ty } = steps;
        let counter = values[0];
        let (inputs, rest) = values[1..].split_at(inputs);
        let (outputs, carries) = rest.split_at(outputs);
        let position = if is_reverse {
            let last = self.number(ty, count - 1)?;
            self.emit_one(Draft::new("stablehlo.subtract", [last, counter]), Shape::scalar(ty))?
        } else {
            counter
        };
        let zero = self.number(ty, 0)?;
        let starts = |rank: usize| (0..rank).map(|d| if d == dim { position } else { zero });
        let mut given = Leaves::new();
        for &input in inputs {
            let sizes = array(self.shape(input))?.clone();
            let mut sizes = ArrayShape::new(sizes.ty, sizes.dims);
            sizes.dims[dim] = 1;
            let operands = std::iter::once(input).chain(starts(sizes.rank()));
            let draft = Draft::new("stablehlo.dynamic_slice", operands)
                .set("slice_sizes", list(sizes.dims.as_slice()));
            let one = self.emit_one(draft, sizes.clone())?;
            sizes.dims.remove(dim);
            let shape = ArrayShape::new(sizes.ty, sizes.dims);
            given.push(self.emit_one(Draft::new("stablehlo.reshape", [one]), shape)?);
        }
        given.extend(carries.iter().copied());
        let module = at.frame.module;
        let parameters = self.split(&module.computations[to_apply], &given)?;
        let found = self.computation(module, to_apply, parameters)?;

        let one = self.number(ty, 1)?;
        let next = Draft::new("stablehlo.add", [counter, one]);
        let mut all = Leaves::from_elem(self.emit_one(next, Shape::scalar(ty))?, 1);
        all.extend(inputs.iter().copied());
        for (&output, &slice) in outputs.iter().zip(&found) {
            let whole = array(self.shape(output))?.clone();
            let mut one = ArrayShape::new(whole.ty, whole.dims.clone());
            one.dims[dim] = 1;
            let slice = self.converted(slice, &whole.clone().into())?;
            let slice = self.emit_one(Draft::new("stablehlo.reshape", [slice]), one)?;
            let operands = [output, slice].into_iter().chain(starts(whole.rank()));
            let draft = Draft::new("stablehlo.dynamic_update_slice", operands);
            all.push(self.emit_one(draft, whole)?);
        }
        for (&carry, &next) in carries.iter().zip(&found[outputs.len()..]) {
            let shape = self.shape(carry).clone();
            all.push(self.converted(next, &shape)?);
        }
        Ok(all)
    }
    /// Adds an integer.
    fn number(&mut self, ty: ElementType, value: i64) -> Result<ValueId> {
        let constant = self.constant(&Literal::scalar(ty, Scalar::Signed(value)))?;
        constant.first().copied().ok_or_else(|| Error::internal("a constant has no value"))
    }
    /// Adds an array of zeros.
    fn zeros(&mut self, shape: &ArrayShape) -> Result<ValueId> {
        let zero = self.constant(&Literal::zeros(ArrayShape::new(shape.ty, [].as_slice())))?;
        let draft =
            Draft::new("stablehlo.broadcast_in_dim", zero).set("broadcast_dimensions", list([]));
        self.emit_one(draft, shape.clone())
    }
}
