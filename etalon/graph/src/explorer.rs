//! The dataflow as JSON for Google's Model Explorer: a graph for each computation, with groups as
//! namespaces.
use super::fold::Item;
use super::measure::Measured;
use super::model::{Flow, Model};
use super::node::Node;
use serde_json::{Value, json};

/// Returns the collection of graphs that Model Explorer opens.
pub fn model_explorer(model: &Model, measured: &Measured) -> String {
    let mut order: Vec<usize> = (0..model.computations.len()).collect();
    // The first graph is the one that is shown.
    order.sort_by_key(|&number| (number != model.entry, number));
    let graphs = order.into_iter().map(|number| graph(model, measured, number));
    json!({ "label": model.name, "graphs": graphs.collect::<Vec<_>>() }).to_string()
}

fn graph(model: &Model, measured: &Measured, number: usize) -> Value {
    let flow = &model.computations[number];
    let mut namespaces = vec![String::new(); flow.nodes.len()];
    flow.items.iter().for_each(|item| name(item, "", &mut namespaces));
    // A constant is in the group of its first user.
    for index in (0..flow.nodes.len()).rev() {
        for &operand in flow.nodes[index].operands.iter().filter(|&&o| flow.nodes[o].is_constant) {
            let namespace = namespaces[index].clone();
            namespaces[operand] = namespace;
        }
    }
    let nodes = flow.nodes.iter().enumerate().map(|(index, node)| {
        let namespace = std::mem::take(&mut namespaces[index]);
        self::node(model, flow, measured, ((number, index), node, namespace))
    });
    json!({ "id": flow.name, "nodes": nodes.collect::<Vec<_>>() })
}

/// Writes the namespace of each instruction of an item.
fn name(item: &Item, outer: &str, namespaces: &mut [String]) {
    match item {
        Item::Node(index) => outer.clone_into(&mut namespaces[*index]),
        Item::Group(group) => {
            // A slash would begin another group.
            let own = group.label.replace('/', "|");
            let path = if outer.is_empty() { own } else { format!("{outer}/{own}") };
            group.items.iter().for_each(|item| name(item, &path, namespaces));
        }
    }
}

fn node(
    model: &Model,
    flow: &Flow,
    measured: &Measured,
    (at, node, namespace): ((usize, usize), &Node, String),
) -> Value {
    let look = node.category.look();
    let edges = node.operands.iter().enumerate().map(|(position, &operand)| {
        json!({
            "sourceNodeId": flow.nodes[operand].name,
            "sourceNodeOutputId": "0",
            "targetNodeInputId": position.to_string(),
        })
    });
    let callees = node.callees.iter().map(|&callee| model.computations[callee].name.as_str());
    let mut attributes = vec![
        attribute("name", &node.name),
        attribute("text", &node.text),
        attribute("op_name", &node.op_name),
        attribute("source", &node.source),
        attribute("line", &node.line.to_string()),
    ];
    for (key, value) in [("time", measured.time(at)), ("value", measured.value(at))] {
        for (part, value) in value.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            attributes.push(attribute(&format!("{key} {part}"), &value));
        }
    }
    attributes.retain(|attribute| attribute["value"] != "");
    let shape = json!([{ "key": "shape", "value": node.shape }]);
    json!({
        "id": node.name,
        "label": node.opcode.name(),
        "namespace": namespace,
        "subgraphIds": callees.collect::<Vec<_>>(),
        "attrs": attributes,
        "incomingEdges": edges.collect::<Vec<_>>(),
        "outputsMetadata": [{ "id": "0", "attrs": shape }],
        "style": { "backgroundColor": look.fill, "borderColor": look.line },
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": value })
}
