//! Custom calls.
use super::exporter::{At, Draft, Exporter, Leaves, leaf_shapes};
use crate::attributes::{integer, integer32, list, named, string};
use crate::dense;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Dim, Tensor, ValueId};
use crate::text;
use hlo::op::CustomCall;
use hlo::op::value::{
    ApiVersion, CustomCallSchedule, OutputOperandAliasing, PaddingType, Text, Window,
};
use hlo::{ArrayShape, Shape};

impl Exporter<'_> {
    pub(super) fn custom_call(&mut self, at: At<'_, '_>, op: &CustomCall) -> Result<Leaves> {
        let CustomCall {
            window,
            dim_labels,
            feature_group_count,
            batch_group_count,
            operand_precision,
            padding_type,
            custom_call_target,
            operand_layout_constraints,
            custom_call_has_side_effect,
            literal,
            output_to_operand_aliasing,
            schedule,
            api_version,
            called_computations,
            to_apply,
            opaque,
            channel_name: _,
            cost_estimate_ns: _,
        } = op;
        let has_window = *window != Window::default() || dim_labels.is_some();
        let has_groups = (*feature_group_count, *batch_group_count) != (1, 1);
        at.refuse(has_window || has_groups, "with a window")?;
        at.refuse(!operand_precision.0.is_empty(), "with an `operand_precision`")?;
        at.refuse(*padding_type != PaddingType::Invalid, "with a `padding_type`")?;
        at.refuse(*schedule != CustomCallSchedule::None, "with a `schedule`")?;
        let mut functions = Vec::new();
        for &called in called_computations.iter().chain(to_apply) {
            functions.push(Attribute::Symbol(vec![self.function(called)?]));
        }
        let mut attributes = vec![
            ("call_target_name", string(&custom_call_target.0)),
            ("has_side_effect", Attribute::Bool(*custom_call_has_side_effect)),
            ("api_version", integer32(version(*api_version))),
            ("called_computations", Attribute::Array(functions)),
            ("output_operand_aliases", aliases(output_to_operand_aliasing)),
        ];
        attributes.extend(config(at, opaque.as_ref(), *api_version)?);
        if let Some(literal) = literal {
            let array =
                literal.array().ok_or_else(|| at.unsupported("with a literal of a tuple"))?;
            attributes.push(("mhlo.literal", Attribute::Dense(super::types::of_literal(array)?)));
        }
        if let Some(constraints) = operand_layout_constraints {
            let results = match &at.instruction.shape {
                Shape::Tuple(parts) => parts.as_slice(),
                one => std::slice::from_ref(one),
            };
            attributes.push(("operand_layouts", layouts(constraints)));
            attributes.push(("result_layouts", layouts(results)));
        }
        let mut operands = Vec::new();
        for i in 0..at.instruction.operands.len() {
            operands.push(self.packed(at.shape(i), &mut at.leaves(i).iter().copied())?);
        }
        let draft = Draft::new("stablehlo.custom_call", operands).set_all(attributes);
        let draft = draft.with_common(self);
        // Several results are a tuple of HLO; one element in a tuple, or tuples in it, need one.
        let shape = &at.instruction.shape;
        let is_flat = |parts: &[Shape]| parts.iter().all(|part| part.tuple().is_none());
        match shape {
            Shape::Tuple(parts) if parts.len() == 1 || !is_flat(parts) => {
                let id = self.emit_one(draft, shape.clone())?;
                let mut all = Leaves::new();
                self.unpacked(id, shape, &mut all)?;
                Ok(all)
            }
            _ => self.emit(draft, &leaf_shapes(shape)),
        }
    }
    /// Returns a value of a shape from its leaves.
    fn packed(
        &mut self,
        shape: &Shape,
        leaves: &mut impl Iterator<Item = ValueId>,
    ) -> Result<ValueId> {
        let Some(parts) = shape.tuple() else {
            return leaves.next().ok_or_else(|| crate::Error::internal("a value lacks a leaf"));
        };
        let mut elements = Vec::new();
        for part in parts {
            elements.push(self.packed(part, leaves)?);
        }
        self.emit_one(Draft::new("stablehlo.tuple", elements), shape.clone())
    }
    /// Adds the leaves of a value.
    fn unpacked(&mut self, id: ValueId, shape: &Shape, leaves: &mut Leaves) -> Result<()> {
        let Some(parts) = shape.tuple() else {
            leaves.push(id);
            return Ok(());
        };
        for (part, index) in parts.iter().zip(0..) {
            let draft = Draft::new("stablehlo.get_tuple_element", [id]);
            let part_id = self.emit_one(draft.set("index", integer32(index)), part.clone())?;
            self.unpacked(part_id, part, leaves)?;
        }
        Ok(())
    }
}

/// Returns the configuration of a call: a text, or a dictionary of MLIR.
fn config(
    at: At<'_, '_>,
    opaque: Option<&Text>,
    api_version: ApiVersion,
) -> Result<Option<(&'static str, Attribute)>> {
    let own = at.instruction.common.as_ref().and_then(|common| common.backend_config.as_ref());
    let (text, bytes) = match (own, opaque) {
        (Some(config), _) => (config.0.as_str(), config.bytes().into_owned()),
        (None, Some(Text(text))) => (text.as_str(), text.as_bytes().to_vec()),
        (None, None) => return Ok(None),
    };
    let value = match api_version {
        ApiVersion::TypedFfi if text.is_empty() => Attribute::Dictionary(Attributes::default()),
        ApiVersion::TypedFfi => text::read_attribute(text)
            .map_err(|_| at.unsupported("whose `backend_config` is no dictionary of MLIR"))?,
        ApiVersion::Original | ApiVersion::StatusReturning | ApiVersion::StatusReturningUnified => {
            Attribute::String(bytes)
        }
    };
    Ok(Some(("backend_config", value)))
}
fn version(version: ApiVersion) -> i64 {
    match version {
        ApiVersion::Original => 1,
        ApiVersion::StatusReturning => 2,
        ApiVersion::StatusReturningUnified => 3,
        ApiVersion::TypedFfi => 4,
    }
}
fn aliases(aliases: &OutputOperandAliasing) -> Attribute {
    let one = |alias: &hlo::op::value::OutputOperandAlias| {
        let fields = named([
            ("operand_index", integer(alias.operand)),
            ("operand_tuple_indices", list(alias.operand_index.0.to_vec())),
            ("output_tuple_indices", list(alias.output_index.0.to_vec())),
        ]);
        Attribute::Dialect("stablehlo.output_operand_alias".into(), fields)
    };
    Attribute::Array(aliases.0.iter().map(one).collect())
}
/// Returns the layouts of arrays, from the fastest dimension to the slowest.
fn layouts(shapes: &[Shape]) -> Attribute {
    let order = |array: &ArrayShape| array.layout.minor_to_major.to_vec();
    let one = |shape: &Shape| {
        let order = shape.array().map(order).unwrap_or_default();
        let dims = [Dim::Static(u64::try_from(order.len()).unwrap_or(0))];
        let ty = Tensor { dims: dims.into(), element: Err("index".into()) };
        let bytes = order.iter().flat_map(|dim| dim.to_le_bytes()).collect();
        Attribute::Dense(dense::splat_if_equal(ty, bytes, 8))
    };
    Attribute::Array(shapes.iter().map(one).collect())
}
