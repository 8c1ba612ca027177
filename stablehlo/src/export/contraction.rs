//! `dot`, `ragged-dot`, `convolution`.
use super::applied::window_attributes;
use super::exporter::{At, Draft, Exporter, Leaves, leaf_shapes};
use super::instruction::dims;
use crate::attributes::{integer, keyword, named};
use crate::convert::product;
use crate::error::Result;
use crate::ir::{Attribute, Type};
use hlo::op::value::{DotAlgorithm, OperandPrecision};
use hlo::op::{Convolution, Dot, RaggedDot};
use hlo::{Class, ElementType, Shape};

impl Exporter<'_> {
    pub(super) fn dot(&mut self, at: At<'_, '_>, op: &Dot) -> Result<Leaves> {
        let Dot {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            operand_precision,
            algorithm,
        } = op;
        let fields = named([
            dims("lhs_batching_dimensions", lhs_batch_dims),
            dims("lhs_contracting_dimensions", lhs_contracting_dims),
            dims("rhs_batching_dimensions", rhs_batch_dims),
            dims("rhs_contracting_dimensions", rhs_contracting_dims),
        ]);
        let numbers = Attribute::Dialect("stablehlo.dot".into(), fields);
        let attributes = [("dot_dimension_numbers", numbers), precision(operand_precision)];
        let algorithm = algorithm_of(*algorithm).map(|algorithm| ("algorithm", algorithm));
        self.named(at, "stablehlo.dot_general", attributes.into_iter().chain(algorithm))
    }
    pub(super) fn ragged_dot(&mut self, at: At<'_, '_>, op: &RaggedDot) -> Result<Leaves> {
        let RaggedDot {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            lhs_ragged_dims,
            rhs_group_dims,
            operand_precision,
        } = op;
        let fields = named([
            dims("lhs_batching_dimensions", lhs_batch_dims),
            dims("lhs_contracting_dimensions", lhs_contracting_dims),
            dims("lhs_ragged_dimensions", lhs_ragged_dims),
            dims("rhs_batching_dimensions", rhs_batch_dims),
            dims("rhs_contracting_dimensions", rhs_contracting_dims),
            dims("rhs_group_dimensions", rhs_group_dims),
        ]);
        let numbers = Attribute::Dialect("chlo.ragged_dot".into(), fields);
        let precision = precision(operand_precision);
        self.named(at, "chlo.ragged_dot", [("ragged_dot_dimension_numbers", numbers), precision])
    }
    pub(super) fn convolution(&mut self, at: At<'_, '_>, op: &Convolution) -> Result<Leaves> {
        let Convolution {
            window: _, // Read by `forward_window`, with `convolution_kind`.
            dim_labels,
            feature_group_count,
            batch_group_count,
            convolution_kind: _,
            operand_precision,
            algorithm,
            sparsity_config,
        } = op;
        at.refuse(*algorithm != DotAlgorithm::Unset, "with an `algorithm`")?;
        at.refuse(sparsity_config.is_some(), "with a `sparsity_config`")?;
        at.refuse(at.instruction.operands.len() != 2, "of other than two operands")?;
        // One of two types has all values of the other: the first of these classes, and the
        // narrower of one class.
        let order = |ty: ElementType| {
            let classes =
                [Class::Pred, Class::Unsigned, Class::Signed, Class::Float, Class::Complex];
            (classes.iter().position(|class| *class == ty.class()), ty.bits())
        };
        let (left, right) = (at.array(0)?.ty, at.array(1)?.ty);
        let ty = if order(left) < order(right) { right } else { left };
        let mut operands = Leaves::new();
        for operand in at.operands() {
            operands.push(self.converted(operand, &Shape::scalar(ty))?);
        }
        let fields = named([
            ("input_batch_dimension", integer(dim_labels.lhs_batch)),
            ("input_feature_dimension", integer(dim_labels.lhs_feature)),
            dims("input_spatial_dimensions", &dim_labels.lhs_spatial),
            ("kernel_input_feature_dimension", integer(dim_labels.rhs_input_feature)),
            ("kernel_output_feature_dimension", integer(dim_labels.rhs_output_feature)),
            dims("kernel_spatial_dimensions", &dim_labels.rhs_spatial),
            ("output_batch_dimension", integer(dim_labels.out_batch)),
            ("output_feature_dimension", integer(dim_labels.out_feature)),
            dims("output_spatial_dimensions", &dim_labels.out_spatial),
        ]);
        let (window, rank) = (op.forward_window(), dim_labels.lhs_spatial.len());
        let mut attributes = window_attributes(at, &window, rank, "lhs_dilation", "rhs_dilation")?;
        let reversal: Vec<i64> = window.dims.iter().map(|dim| dim.reversal.into()).collect();
        attributes.extend([
            dims("window_reversal", &reversal),
            ("dimension_numbers", Attribute::Dialect("stablehlo.conv".into(), fields)),
            ("batch_group_count", integer(*batch_group_count)),
            ("feature_group_count", integer(*feature_group_count)),
            precision(operand_precision),
        ]);
        let draft = Draft::new("stablehlo.convolution", operands).set_all(attributes);
        let draft = draft.with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }
}

/// Returns the precision of each operand.
fn precision(precision: &OperandPrecision) -> (&'static str, Attribute) {
    let words = precision.0.iter().map(|one| one.name().to_uppercase());
    let words = words.map(|word| keyword("stablehlo.precision", &word)).collect();
    ("precision_config", Attribute::Array(words))
}
/// Returns an algorithm as what it computes in.
fn algorithm_of(algorithm: DotAlgorithm) -> Option<Attribute> {
    let row = product::ALGORITHMS.iter().find(|row| row.name == algorithm)?;
    let ty = |name: &str| Attribute::Type(crate::element::scalar(name));
    let sum = Attribute::Type(Type::Element(row.sum));
    let fields = named([
        ("accumulation_type", sum),
        ("allow_imprecise_accumulation", Attribute::Bool(row.is_imprecise)),
        ("lhs_component_count", integer(1)),
        ("lhs_precision_type", ty(row.operands)),
        ("num_primitive_operations", integer(row.products)),
        ("rhs_component_count", integer(1)),
        ("rhs_precision_type", ty(row.operands)),
    ]);
    Some(Attribute::Dialect("stablehlo.dot_algorithm".into(), fields))
}
