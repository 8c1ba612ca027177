//! Ops on arrays with attributes.
use super::applied::scalars;
use super::exporter::{At, Draft, Exporter, Leaves, array, leaf_shapes};
use super::instruction::dims;
use crate::attributes::{integer, integer32, keyword, list, named};
use crate::error::Result;
use crate::ir::{Attribute, Type, ValueId};
use hlo::op::value::Float;
use hlo::op::{
    Compare, DynamicSlice, Gather, Pad, ReducePrecision, Rng, Scatter, Slice, TriangularSolve,
};
use hlo::{ArrayShape, Dims, ElementType, Literal, Shape};

/// Returns a flag as an attribute.
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
                draft = draft.region(self.region_of(&[], |_, _| Ok(values.clone()))?);
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
}

/// Returns an array of these sizes and of this type.
pub(super) fn shape_of(ty: ElementType, sizes: impl IntoIterator<Item = i64>) -> ArrayShape {
    ArrayShape::new(ty, sizes.into_iter().collect::<Dims>())
}
/// Returns leaves of one value.
pub(super) fn one(id: ValueId) -> Leaves {
    Leaves::from_elem(id, 1)
}
