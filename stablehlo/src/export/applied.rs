//! Ops that apply a computation to elements.
use super::exporter::{At, Draft, Exporter, Given, Leaves, array, leaf_shapes};
use super::instruction::dims;
use crate::attributes::{integer, list, matrix};
use crate::error::Result;
use crate::ir::{Attribute, Region};
use hlo::ir::ComputationId;
use hlo::op::value::Window;
use hlo::op::{Map, Reduce, ReduceWindow, SelectAndScatter, Sort};
use hlo::{ElementType, Shape};

impl Exporter<'_> {
    /// Converts a computation to a region that is applied to scalars and returns some of these
    /// shapes.
    pub(super) fn applied(
        &mut self,
        at: At<'_, '_>,
        id: ComputationId,
        arguments: &[Shape],
        results: &[Shape],
    ) -> Result<Region> {
        self.region(at.frame.module, id, Given::Arguments(arguments), results)
    }
    /// Adds the op of an instruction that applies a computation to scalars of these shapes, the
    /// first of which are those of the results.
    pub(super) fn applying(
        &mut self,
        at: At<'_, '_>,
        (to_apply, arguments): (ComputationId, &[Shape]),
        attributes: impl IntoIterator<Item = (&'static str, Attribute)>,
    ) -> Result<Leaves> {
        let name = format!("stablehlo.{}", at.instruction.opcode().name().replace('-', "_"));
        let results = leaf_shapes(&at.instruction.shape);
        let region = self.applied(at, to_apply, arguments, &scalars_of(&results)?)?;
        let draft = Draft::new(name, at.operands()).set_all(attributes).region(region);
        let draft = draft.with_common(self);
        self.emit(draft, &results)
    }
    pub(super) fn map(&mut self, at: At<'_, '_>, op: &Map) -> Result<Leaves> {
        let Map { dimensions, to_apply } = op;
        let arguments = scalars(&at, 0..at.instruction.operands.len())?;
        self.applying(at, (*to_apply, &arguments), [dims("dimensions", dimensions)])
    }
    pub(super) fn reduce(&mut self, at: At<'_, '_>, op: &Reduce) -> Result<Leaves> {
        let Reduce { dimensions, to_apply } = op;
        let operands = scalars(&at, 0..at.instruction.operands.len())?;
        let (elements, initial) = operands.split_at(operands.len() / 2);
        let arguments = [initial, elements].concat();
        if !dimensions.is_empty() {
            return self.applying(at, (*to_apply, &arguments), [dims("dimensions", dimensions)]);
        }
        // Nothing is reduced, but the computation is applied to each element and the initial
        // value; MLIR folds such an op to its operand.
        let given = at.operands();
        let (elements, initial) = given.split_at(given.len() / 2);
        let mut operands = Vec::new();
        for (&element, &initial) in elements.iter().zip(initial) {
            let ty = array(self.shape(initial))?.ty;
            let shape = array(self.shape(element))?.with_type(ty);
            let draft = Draft::new("stablehlo.broadcast_in_dim", [initial])
                .set("broadcast_dimensions", list([]));
            operands.push(self.emit_one(draft, shape)?);
        }
        operands.extend(elements);
        let results = leaf_shapes(&at.instruction.shape);
        let rank = i64::try_from(array(&results[0])?.rank()).unwrap_or(0);
        let all: Vec<i64> = (0..rank).collect();
        let mut outputs = Leaves::new();
        // A `map` has one result.
        for (i, shape) in results.iter().enumerate() {
            let mut region = self.applied(at, *to_apply, &arguments, &scalars_of(&results)?)?;
            if let Some(end) = region.ops.last_mut() {
                end.operands = end.operands.get(i).copied().into_iter().collect();
            }
            let draft = Draft::new("stablehlo.map", operands.clone())
                .set("dimensions", list(all.as_slice()))
                .region(region);
            outputs.extend(self.emit(draft, std::slice::from_ref(shape))?);
        }
        Ok(outputs)
    }
    pub(super) fn reduce_window(&mut self, at: At<'_, '_>, op: &ReduceWindow) -> Result<Leaves> {
        let ReduceWindow { window, to_apply } = op;
        let operands = scalars(&at, 0..at.instruction.operands.len())?;
        let (elements, initial) = operands.split_at(operands.len() / 2);
        let arguments = [initial, elements].concat();
        let rank = at.array(0)?.rank();
        let attributes = window_attributes(at, window, rank, "base_dilations", "window_dilations")?;
        let sizes: Vec<i64> = sizes(window, rank);
        let attributes = attributes.into_iter().chain([dims("window_dimensions", &sizes)]);
        self.applying(at, (*to_apply, &arguments), attributes)
    }
    pub(super) fn select_and_scatter(
        &mut self,
        at: At<'_, '_>,
        op: &SelectAndScatter,
    ) -> Result<Leaves> {
        let SelectAndScatter { window, select, scatter } = op;
        let [element, source, initial] = [0, 1, 2].map(|i| scalars(&at, i..i + 1));
        let (element, source, initial) = (element?, source?, initial?);
        let pred = [Shape::scalar(ElementType::Pred)];
        let select = self.applied(at, *select, &[&element[..], &element].concat(), &pred)?;
        let results = scalars_of(&leaf_shapes(&at.instruction.shape))?;
        let scatter = self.applied(at, *scatter, &[initial, source].concat(), &results)?;
        let rank = at.array(0)?.rank();
        let attributes = window_attributes(at, window, rank, "", "")?;
        let sizes: Vec<i64> = sizes(window, rank);
        let draft = Draft::new("stablehlo.select_and_scatter", at.operands())
            .set_all(attributes)
            .set("window_dimensions", list(sizes))
            .region(select)
            .region(scatter)
            .with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
    pub(super) fn sort(&mut self, at: At<'_, '_>, op: &Sort) -> Result<Leaves> {
        let Sort { dimensions: _, is_stable, to_apply } = op;
        let Some(to_apply) = to_apply else {
            // Texts until 2019: ascending by the first operand.
            let (dim, is_stable) = (op.dimension(at.array(0)?.rank()), *is_stable);
            return self.expand(at, |x| super::expand::ascending(x, dim, is_stable));
        };
        let elements = scalars(&at, 0..at.instruction.operands.len())?;
        let arguments: Vec<Shape> =
            elements.into_iter().flat_map(|element| [element.clone(), element]).collect();
        let pred = [Shape::scalar(ElementType::Pred)];
        let region = self.applied(at, *to_apply, &arguments, &pred)?;
        let dimension = i64::try_from(op.dimension(at.array(0)?.rank())).unwrap_or(0);
        let draft = Draft::new("stablehlo.sort", at.operands())
            .set("dimension", integer(dimension))
            .set("is_stable", Attribute::Bool(*is_stable))
            .region(region)
            .with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
}

/// Returns the shapes of the elements of these operands.
pub(super) fn scalars(at: &At<'_, '_>, operands: std::ops::Range<usize>) -> Result<Vec<Shape>> {
    operands.map(|i| at.array(i).map(|array| Shape::scalar(array.ty))).collect()
}
/// Returns the shapes of the elements of arrays.
pub(super) fn scalars_of(shapes: &[Shape]) -> Result<Vec<Shape>> {
    shapes.iter().map(|shape| array(shape).map(|array| Shape::scalar(array.ty))).collect()
}
/// Returns the sizes of a window; one without dimensions has an element.
fn sizes(window: &Window, rank: usize) -> Vec<i64> {
    match window.is_empty() {
        true => vec![1; rank],
        false => window.dims.iter().map(|dim| dim.size).collect(),
    }
}
/// Returns the strides, the dilations under these names, and the padding of a window.
pub(super) fn window_attributes(
    at: At<'_, '_>,
    window: &Window,
    rank: usize,
    base_dilations: &'static str,
    window_dilations: &'static str,
) -> Result<Vec<(&'static str, Attribute)>> {
    let all = |of: fn(&hlo::op::value::WindowDim) -> i64| -> Vec<i64> {
        window.dims.iter().map(of).collect()
    };
    let padding: Vec<_> = window.dims.iter().map(|dim| vec![dim.pad_low, dim.pad_high]).collect();
    let mut attributes = Vec::new();
    if window.is_empty() && rank > 0 {
        return Ok(attributes);
    }
    attributes.push(dims("window_strides", &all(|dim| dim.stride)));
    attributes.push(("padding", matrix(&padding, 2)));
    let dilations = [
        (base_dilations, all(|dim| dim.lhs_dilation)),
        (window_dilations, all(|dim| dim.rhs_dilation)),
    ];
    for (name, values) in dilations {
        match name {
            "" => at.refuse(values.iter().any(|&value| value != 1), "with dilations")?,
            _ => attributes.push(dims(name, &values)),
        }
    }
    Ok(attributes)
}
