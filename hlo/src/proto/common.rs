//! The attributes that every instruction may have.
use super::message::{
    self, FrontendAttributes, OriginalValueElement, ParameterReplication, RawAttribute, Statistic,
    StatisticsViz,
};
use super::{ProtoField, bad, metadata, sharding};
use crate::diag::quantity;
use crate::ir::{
    self, BackendConfig, CommonAttrs, Metadata, OriginArray, OriginalValue, RawAttr, Statistics,
};
use crate::text::strings;
use crate::{Result, Shape};
use std::mem::take;

/// Writes everything but the control predecessors, which need the ids of instructions.
pub(super) fn encode(common: &CommonAttrs, proto: &mut message::Instruction) -> Result<()> {
    let CommonAttrs {
        sharding,
        frontend_attributes,
        control: _,
        statistics,
        parameter_replication,
        result_accuracy,
        origin,
        metadata,
        backend_config,
        unknown,
        unknown_fields: _,
    } = common;
    proto.sharding = sharding.as_ref().map(sharding::encode).transpose()?.map(Box::new);
    proto.frontend_attributes = frontend_attributes.as_ref().map(encode_frontend);
    proto.statistics_viz = statistics.as_ref().map(|statistics| StatisticsViz {
        stat_index_to_visualize: statistics.visualizing_index,
        statistics: (statistics.values.iter())
            .map(|(name, value)| Statistic { stat_name: name.to_string(), stat_val: *value })
            .collect(),
    });
    proto.parameter_replication = (parameter_replication.clone())
        .map(|replicated_at_leaf_buffers| ParameterReplication { replicated_at_leaf_buffers });
    result_accuracy.encode(&mut proto.result_accuracy)?;
    proto.original_value = origin.as_ref().map(encode_origin);
    proto.metadata = metadata.as_ref().map(metadata::encode).map(Box::new);
    if let Some(config) = backend_config {
        proto.backend_config = config.bytes().into_owned();
    }
    proto.unknown_attributes =
        encode_raw(unknown.iter().map(|raw| (raw.name.as_str(), raw.value.as_str())));
    Ok(())
}

/// Reads what [`encode`] writes.
pub(super) fn decode(proto: &mut message::Instruction, shape: &Shape) -> Result<CommonAttrs> {
    let frontend = proto.frontend_attributes.take().and_then(decode_frontend);
    let statistics = proto.statistics_viz.take().map(|statistics| Statistics {
        visualizing_index: statistics.stat_index_to_visualize,
        values: (statistics.statistics.into_iter())
            .map(|Statistic { stat_name, stat_val }| (stat_name.into(), stat_val))
            .collect(),
    });
    let metadata = proto.metadata.take().map(|metadata| metadata::decode(&metadata)).transpose()?;
    let backend_config = strings::from_bytes(take(&mut proto.backend_config));
    Ok(CommonAttrs {
        sharding: proto.sharding.take().map(|sharding| sharding::decode(&sharding)).transpose()?,
        frontend_attributes: frontend,
        control: None,
        statistics: statistics.filter(|statistics| *statistics != Statistics::default()),
        parameter_replication: proto
            .parameter_replication
            .take()
            .map(|list| list.replicated_at_leaf_buffers),
        result_accuracy: ProtoField::decode(&mut proto.result_accuracy, None)?,
        origin: proto
            .original_value
            .take()
            .map(|origin| decode_origin(&origin, shape))
            .transpose()?,
        metadata: metadata.filter(|metadata| *metadata != Metadata::default()),
        backend_config: Some(BackendConfig(backend_config)).filter(|config| !config.0.is_empty()),
        unknown: (take(&mut proto.unknown_attributes).into_iter().map(decode_raw))
            .map(|(name, value)| RawAttr { name: name.into(), value })
            .collect(),
        unknown_fields: Vec::new(),
    })
}

/// Attributes that only lenient parsing keeps; XLA does not have them.
pub(super) fn encode_raw<'a>(
    attributes: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<RawAttribute> {
    attributes
        .map(|(name, value)| RawAttribute { name: name.to_owned(), value: value.to_owned() })
        .collect()
}
pub(super) fn decode_raw(raw: RawAttribute) -> (String, String) {
    (raw.name, raw.value)
}

pub(super) fn encode_frontend(attributes: &ir::FrontendAttributes) -> FrontendAttributes {
    let pair = |(key, value): &(smol_str::SmolStr, String)| {
        (
            String::from_utf8_lossy(&strings::bytes(key)).into_owned(),
            strings::bytes(value).into_owned(),
        )
    };
    FrontendAttributes { map: attributes.0.iter().map(pair).collect() }
}
/// Returns the attributes, sorted by key; `None` if there are none.
pub(super) fn decode_frontend(proto: FrontendAttributes) -> Option<ir::FrontendAttributes> {
    let pairs = proto.map.into_iter();
    let pairs: Vec<_> = pairs
        .map(|(key, value)| (strings::from_text(&key).into(), strings::from_bytes(value)))
        .collect();
    (!pairs.is_empty()).then_some(ir::FrontendAttributes(pairs))
}

pub(super) fn encode_array(array: &OriginArray) -> message::OriginalArray {
    message::OriginalArray {
        instruction_name: strings::bytes(&array.name).into_owned(),
        shape_index: array.index.clone(),
    }
}
pub(super) fn decode_array(proto: &message::OriginalArray) -> OriginArray {
    OriginArray {
        name: strings::from_bytes(proto.instruction_name.clone()),
        index: proto.shape_index.clone(),
    }
}

/// Writes the leaves of the tree with their paths.
fn encode_origin(origin: &OriginalValue) -> message::OriginalValue {
    let (mut elements, mut is_synthetic_call) = (Vec::new(), false);
    let mut open = vec![(Vec::new(), origin)];
    while let Some((path, tree)) = open.pop() {
        match tree {
            OriginalValue::SyntheticCall => is_synthetic_call = true,
            OriginalValue::Leaf(array) => elements.push(OriginalValueElement {
                shape_index: path,
                original_array: array.as_ref().map(encode_array),
            }),
            OriginalValue::Tuple(parts) => {
                let first = open.len();
                open.extend(
                    (0i64..).zip(parts).map(|(i, part)| ([path.as_slice(), &[i]].concat(), part)),
                );
                open[first..].reverse();
            }
        }
    }
    message::OriginalValue { elements, is_synthetic_call }
}

/// Builds the tree. Tuples without leaves are not in the message: they are taken from the shape.
fn decode_origin(proto: &message::OriginalValue, shape: &Shape) -> Result<OriginalValue> {
    if proto.is_synthetic_call {
        return Ok(OriginalValue::SyntheticCall);
    }
    let depth = proto.elements.iter().map(|leaf| leaf.shape_index.len()).max().unwrap_or(0);
    if depth > Shape::NESTING_LIMIT {
        let limit = Shape::NESTING_LIMIT;
        return Err(bad(format!(
            "a leaf of an original value is {} deep; the limit is {limit}",
            quantity(depth, "tuple")
        )));
    }
    tree(&proto.elements.iter().collect::<Vec<_>>(), 0, Some(shape))
}

fn tree(
    leaves: &[&OriginalValueElement],
    depth: usize,
    shape: Option<&Shape>,
) -> Result<OriginalValue> {
    if let [leaf] = leaves
        && leaf.shape_index.len() == depth
    {
        return Ok(OriginalValue::Leaf(leaf.original_array.as_ref().map(decode_array)));
    }
    let parts = shape.and_then(Shape::tuple).unwrap_or_default();
    let mut rest = leaves;
    let mut children = Vec::new();
    for i in 0.. {
        let index = i64::try_from(i).unwrap_or(i64::MAX);
        let own =
            rest.iter().take_while(|leaf| leaf.shape_index.get(depth) == Some(&index)).count();
        let (own, others) = rest.split_at(own);
        let part = parts.get(i);
        let is_empty_tuple = part.is_some_and(|part| part.leaves().is_empty());
        if own.is_empty() && !is_empty_tuple {
            break;
        }
        rest = others;
        children.push(tree(own, depth + 1, part)?);
    }
    match rest {
        [] => Ok(OriginalValue::Tuple(children)),
        [leaf, ..] => Err(bad(format!(
            "the leaf {:?} of an original value is out of order",
            leaf.shape_index
        ))),
    }
}
