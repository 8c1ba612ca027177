//! Ops on arrays with attributes, and those that apply a computation to elements.
use super::Chlo;
use super::exporter::{At, Draft, Exporter, Given, Leaves, array, leaf_shapes};
use super::instruction::dims;
use crate::attributes::{integer, integer32, keyword, list, matrix, named};
use crate::error::Result;
use crate::ir::{Attribute, Region, Type, ValueId};
use hlo::ir::ComputationId;
use hlo::op::value::{Float, Window};
use hlo::op::{
    Compare, DynamicSlice, Gather, Map, Pad, Reduce, ReducePrecision, ReduceWindow, Rng, Scan,
    Scatter, SelectAndScatter, Slice, Sort, TriangularSolve,
};
use hlo::{ArrayShape, Dims, ElementType, Literal, Shape};

/// Returns `{name}` and the value of a flag.
fn flag(name: &'static str, value: bool) -> (&'static str, Attribute) {
    (name, Attribute::Bool(value))
}

impl Exporter<'_> {
    pub(super) fn compare(&mut self, at: At<'_, '_>, op: &Compare) -> Result<Leaves> {
        let Compare { direction, ty } = op;
        let direction = keyword("stablehlo.comparison_direction", direction.name());
        let ty = ty.map(|ty| ("compare_type", keyword("stablehlo.comparison_type", ty.name())));
        self.plain(at, std::iter::once(("comparison_direction", direction)).chain(ty))
    }
    pub(super) fn reduce_precision(
        &mut self,
        at: At<'_, '_>,
        op: &ReducePrecision,
    ) -> Result<Leaves> {
        let ReducePrecision { exponent_bits, mantissa_bits } = op;
        let bits = [("exponent_bits", *exponent_bits), ("mantissa_bits", *mantissa_bits)];
        self.plain(at, bits.map(|(name, bits)| (name, integer32(bits.min(i32::MAX.into())))))
    }
    /// Converts `select`, which selects each leaf of tuples.
    pub(super) fn select(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let predicate = at.operand(0)?;
        let (on_true, on_false) = (at.leaves(1), at.leaves(2));
        let mut all = Leaves::new();
        let shapes = leaf_shapes(&at.instruction.shape);
        // A scalar selects one of two sizes, too.
        let is_dynamic = |shape: &Shape| shape.array().is_some_and(|array| array.dynamic.is_some());
        if at.array(0)?.rank() == 0 && shapes.iter().any(is_dynamic) {
            let mut draft = Draft::new("stablehlo.if", [predicate]);
            for values in [on_true, on_false] {
                let body = std::mem::take(&mut self.body);
                self.emit(Draft::new("stablehlo.return", values.iter().copied()), &[])?;
                let ops = std::mem::replace(&mut self.body, body);
                draft = draft.region(Region { arguments: Vec::new(), ops });
            }
            return self.emit(draft, &shapes);
        }
        for ((&x, &y), shape) in on_true.iter().zip(on_false).zip(shapes) {
            let draft = Draft::new("stablehlo.select", [predicate, x, y]).with_common(self);
            all.extend(self.emit(draft, &[shape])?);
        }
        Ok(all)
    }

    /// Returns scalars as an array of rank 1.
    fn stacked(&mut self, scalars: &[ValueId]) -> Result<ValueId> {
        let Some(&first) = scalars.first() else {
            let none = Literal::zeros(ArrayShape::new(ElementType::S32, [0].as_slice()));
            return Ok(self.constant(&none)?[0]);
        };
        let ty = array(self.shape(first))?.ty;
        let one = ArrayShape::new(ty, [1].as_slice());
        let mut rows = Vec::with_capacity(scalars.len());
        for &scalar in scalars {
            rows.push(self.emit_one(Draft::new("stablehlo.reshape", [scalar]), one.clone())?);
        }
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let draft = Draft::new("stablehlo.concatenate", rows).set("dimension", integer(0));
        self.emit_one(draft, ArrayShape::new(ty, [count].as_slice()))
    }
    pub(super) fn dynamic_reshape(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let sizes = self.stacked(&at.operands_from(1))?;
        let draft = Draft::new("stablehlo.dynamic_reshape", [at.operand(0)?, sizes]);
        let draft = draft.with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
    /// Returns the scalars at which a slice starts; old texts have one array of them.
    fn starts(&mut self, at: At<'_, '_>, first: usize) -> Result<Vec<ValueId>> {
        let given = at.operands_from(first);
        let [vector] = given.as_slice() else { return Ok(given.to_vec()) };
        let shape = array(self.shape(*vector))?.clone();
        let [count] = shape.dims.as_slice() else { return Ok(given.to_vec()) };
        let mut starts = Vec::new();
        for i in 0..*count {
            let ranges = [("start_indices", i), ("limit_indices", i + 1), ("strides", 1)];
            let draft = Draft::new("stablehlo.slice", [*vector])
                .set_all(ranges.map(|(name, value)| (name, list([value]))));
            let one = self.emit_one(draft, ArrayShape::new(shape.ty, [1].as_slice()))?;
            let scalar = Shape::scalar(shape.ty);
            starts.push(self.emit_one(Draft::new("stablehlo.reshape", [one]), scalar)?);
        }
        Ok(starts)
    }
    pub(super) fn dynamic_slice(&mut self, at: At<'_, '_>, op: &DynamicSlice) -> Result<Leaves> {
        let DynamicSlice { dynamic_slice_sizes } = op;
        let mut operands = vec![at.operand(0)?];
        operands.extend(self.starts(at, 1)?);
        let draft = Draft::new("stablehlo.dynamic_slice", operands)
            .set("slice_sizes", list(dynamic_slice_sizes.as_slice()))
            .with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
    pub(super) fn dynamic_update_slice(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let mut operands = vec![at.operand(0)?, at.operand(1)?];
        operands.extend(self.starts(at, 2)?);
        let draft = Draft::new("stablehlo.dynamic_update_slice", operands).with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
    pub(super) fn slice(&mut self, at: At<'_, '_>, op: &Slice) -> Result<Leaves> {
        let ranges = &op.ranges.0;
        let starts: Vec<i64> = ranges.iter().map(|range| range.start).collect();
        let limits: Vec<i64> = ranges.iter().map(|range| range.limit).collect();
        let strides: Vec<i64> = ranges.iter().map(|range| range.stride).collect();
        self.plain(
            at,
            [
                dims("start_indices", &starts),
                dims("limit_indices", &limits),
                dims("strides", &strides),
            ],
        )
    }
    pub(super) fn pad(&mut self, at: At<'_, '_>, op: &Pad) -> Result<Leaves> {
        let padding = &op.padding.dims;
        let low: Vec<i64> = padding.iter().map(|dim| dim.low).collect();
        let high: Vec<i64> = padding.iter().map(|dim| dim.high).collect();
        let interior: Vec<i64> = padding.iter().map(|dim| dim.interior).collect();
        self.plain(
            at,
            [
                dims("edge_padding_low", &low),
                dims("edge_padding_high", &high),
                dims("interior_padding", &interior),
            ],
        )
    }
    pub(super) fn gather(&mut self, at: At<'_, '_>, op: &Gather) -> Result<Leaves> {
        let Gather {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
            index_vector_dim,
            slice_sizes,
            indices_are_sorted,
        } = op;
        let fields = named([
            dims("collapsed_slice_dims", collapsed_slice_dims),
            ("index_vector_dim", integer(*index_vector_dim)),
            dims("offset_dims", offset_dims),
            dims("operand_batching_dims", operand_batching_dims),
            dims("start_index_map", start_index_map),
            dims("start_indices_batching_dims", start_indices_batching_dims),
        ]);
        self.plain(
            at,
            [
                ("dimension_numbers", Attribute::Dialect("stablehlo.gather".into(), fields)),
                flag("indices_are_sorted", *indices_are_sorted),
                dims("slice_sizes", slice_sizes),
            ],
        )
    }
    pub(super) fn scatter(&mut self, at: At<'_, '_>, op: &Scatter) -> Result<Leaves> {
        let Scatter {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            index_vector_dim,
            indices_are_sorted,
            unique_indices,
            to_apply,
        } = op;
        let fields = named([
            ("index_vector_dim", integer(*index_vector_dim)),
            dims("input_batching_dims", input_batching_dims),
            dims("inserted_window_dims", inserted_window_dims),
            dims("scatter_dims_to_operand_dims", scatter_dims_to_operand_dims),
            dims("scatter_indices_batching_dims", scatter_indices_batching_dims),
            dims("update_window_dims", update_window_dims),
        ]);
        let operands = scalars(&at, 0..at.instruction.operands.len())?;
        let inputs = operands.len() / 2;
        let arguments = [&operands[..inputs], &operands[inputs + 1..]].concat();
        self.applying(
            at,
            (*to_apply, &arguments),
            [
                (
                    "scatter_dimension_numbers",
                    Attribute::Dialect("stablehlo.scatter".into(), fields),
                ),
                flag("indices_are_sorted", *indices_are_sorted),
                flag("unique_indices", *unique_indices),
            ],
        )
    }

    pub(super) fn batch_norm(
        &mut self,
        at: At<'_, '_>,
        Float(epsilon): Float,
        feature_index: i64,
    ) -> Result<Leaves> {
        let epsilon = Attribute::Float(epsilon.into(), Type::Element(ElementType::F32));
        self.plain(at, [("epsilon", epsilon), ("feature_index", integer(feature_index))])
    }
    pub(super) fn triangular_solve(
        &mut self,
        at: At<'_, '_>,
        op: &TriangularSolve,
    ) -> Result<Leaves> {
        let TriangularSolve { left_side, lower, unit_diagonal, transpose_a } = op;
        // The default of the message means none.
        let transpose = match transpose_a {
            hlo::op::value::Transpose::Invalid => hlo::op::value::Transpose::None,
            transpose => *transpose,
        };
        self.plain(
            at,
            [
                flag("left_side", *left_side),
                flag("lower", *lower),
                ("transpose_a", keyword("stablehlo.transpose", transpose.name())),
                flag("unit_diagonal", *unit_diagonal),
            ],
        )
    }
    pub(super) fn rng(&mut self, at: At<'_, '_>, op: &Rng) -> Result<Leaves> {
        let sizes = &at.result()?.dims;
        let sizes = Literal::from_slice(&[i64::try_from(sizes.len()).unwrap_or(0)], sizes);
        let mut operands = at.operands();
        operands.extend(self.constant(&sizes)?);
        let distribution = op.distribution.name().trim_start_matches("rng_").to_uppercase();
        let draft = Draft::new("stablehlo.rng", operands)
            .set("rng_distribution", keyword("stablehlo.rng_distribution", &distribution))
            .with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }

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
    fn applying(
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

    /// Converts `scan`: its operands are the arrays and then the first carries, its results the
    /// outputs and then the last carries.
    pub(super) fn scan(&mut self, at: At<'_, '_>, op: &Scan) -> Result<Leaves> {
        let Scan { dimensions, num_carries, is_reverse, is_associative, to_apply } = op;
        at.refuse(self.options.chlo == Chlo::Expand, "has no expansion: keep the op of CHLO")?;
        let shape = at.frame.module.computations[*to_apply].program_shape();
        let arguments: Vec<Shape> = shape.parameters.into_iter().cloned().collect();
        let region = self.applied(at, *to_apply, &arguments, &leaf_shapes(shape.result))?;
        let results = leaf_shapes(&at.instruction.shape);
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

/// Returns an array of these sizes and of this type.
pub(super) fn shape_of(ty: ElementType, sizes: impl IntoIterator<Item = i64>) -> ArrayShape {
    ArrayShape::new(ty, sizes.into_iter().collect::<Dims>())
}
/// Returns leaves of one value.
pub(super) fn one(id: ValueId) -> Leaves {
    Leaves::from_elem(id, 1)
}
