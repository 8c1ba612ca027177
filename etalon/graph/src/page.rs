//! The dataflow as a page of HTML that needs no server and no other file.
use super::category::Category;
use super::changes::Changes;
use super::devices;
use super::fold::Item;
use super::layout::levels;
use super::level::{Edge, Level, Link, Place, Port};
use super::measure::{At, Measured};
use super::model::{Flow, Model};
use super::node::Node;
use super::text::{base64, escaped};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::BufWriter;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The scripts of one graph, which become the body of a function: a page may have two.
const GRAPH: [&str; 5] = [
    include_str!("page/model.js"),
    include_str!("page/layout.js"),
    include_str!("page/view.js"),
    include_str!("page/panel.js"),
    include_str!("page/input.js"),
];
/// The scripts of the page, before those of a graph and behind them.
const BEFORE: &str = include_str!("page/dom.js");
const BEHIND: [&str; 3] =
    [include_str!("page/lanes.js"), include_str!("page/two.js"), include_str!("page/main.js")];

/// Returns the page of a module, with what a run measured.
pub fn html(model: &Model, measured: &Measured) -> String {
    page(&model.name, &data(model, measured, &|_| None))
}

/// Returns the page of a module with a lane for each device beside the dataflow: an op that connects devices is selected in
/// both.
pub fn html_of_devices(model: &Model, devices: &devices::Graph) -> String {
    let mut data = data(model, &Measured::default(), &|_| None);
    data["devices"] = json!(devices::svg(devices));
    page(&devices.title, &data)
}

/// Returns the page of two modules beside each other, with what has changed. Each has a name, such as
/// that of its file.
pub fn html_of_two(models: [&Model; 2], names: [&str; 2], changes: &Changes) -> String {
    let none = Measured::default();
    let side = |side: usize| data(models[side], &none, &|at| changes.of(side, at));
    let data = json!({ "names": names, "sides": [side(0), side(1)], "changes": changes.listed });
    page(&names.join(" → "), &data)
}

fn page(title: &str, data: &Value) -> String {
    let script = [
        "'use strict';\n",
        BEFORE,
        "function graphOf(DATA, parent, hooks) {\n",
        &GRAPH.concat(),
        "}\n",
        &BEHIND.concat(),
    ];
    // In the order of the template; what was put in is not searched for other places.
    let parts = [
        ("/*TITLE*/", escaped(title)),
        ("/*STYLE*/", STYLE.to_owned()),
        ("/*DATA*/", packed(data)),
        ("/*SCRIPT*/", script.concat()),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).expect("the template has each place");
        page.extend([before, &part]);
        rest = after;
    }
    page + rest
}

/// Returns data as a text that may stand in a script of a page: compressed, since a module has the same words in most instructions, and
/// two modules beside each other have most instructions twice.
fn packed(data: &Value) -> String {
    // Many words at once: the encoder clears its buffer for each of them.
    let mut encoder = BufWriter::new(GzEncoder::new(Vec::new(), Compression::default()));
    let written = serde_json::to_writer(&mut encoder, data);
    written.expect("data has names as keys, and memory takes all of it");
    let packed = encoder.into_inner().ok().and_then(|encoder| encoder.finish().ok());
    base64(&packed.expect("memory takes all of it"))
}

/// Returns what is known of an instruction besides what its module says.
type Known<'a> = dyn Fn(At) -> Option<&'a Value> + 'a;

fn data(model: &Model, measured: &Measured, known: &Known<'_>) -> Value {
    let computations = model.computations.iter().enumerate();
    let computations: Vec<Value> = computations
        .map(|(index, flow)| computation(model, flow, measured, known, index))
        .collect();
    let categories = Category::ALL.iter().map(|category| category.look()).map(|look| {
        json!({ "key": look.key, "label": look.label, "fill": look.fill, "line": look.line })
    });
    json!({
        "module": model.name,
        "entry": model.entry,
        "categories": categories.collect::<Vec<_>>(),
        "timed": measured.is_timed(),
        "valued": measured.has_values(),
        "found": measured.has_findings(),
        "note": measured.note,
        "computations": computations,
    })
}

fn computation(
    model: &Model,
    flow: &Flow,
    measured: &Measured,
    known: &Known<'_>,
    index: usize,
) -> Value {
    let nodes = flow.nodes.iter().enumerate();
    let node = |(at, one)| node(one, measured, known((index, at)), (index, at));
    let nodes: Vec<Value> = nodes.map(node).collect();
    let items: Vec<Value> = flow.items.iter().map(item).collect();
    let levels: Map<String, Value> =
        levels(model, flow).iter().map(|(path, one)| (path.clone(), level(one))).collect();
    json!({ "name": flow.name, "root": flow.root, "nodes": nodes, "items": items, "levels": levels })
}

/// Returns where a level has its boxes and edges as long as all are folded.
fn level(Level { boxes, ports, edges, far, hubs }: &Level) -> Value {
    let rounded = |x: f64| (x * 10.0).round() / 10.0;
    let point = |(x, y): (f64, f64)| [rounded(x), rounded(y)];
    let place = |place: &Place| {
        let Place { x, y, width, height } = *place;
        [x, y, width, height].map(rounded)
    };
    let port = |Port { text, index }: &Port| json!({ "text": text, "index": index });
    let link = |Link { from, to, is_control, values }: &Link| json!({ "from": from, "to": to, "control": is_control, "values": values });
    let edge = |Edge { link: of, points, label, at }: &Edge| {
        let mut edge = link(of);
        edge["label"] = json!(label);
        edge["points"] = points.iter().map(|&at| point(at)).collect();
        edge["at"] = json!(at.map(point));
        edge
    };
    json!({
        "boxes": boxes.iter().map(place).collect::<Vec<_>>(),
        "ports": ports.iter().map(port).collect::<Vec<_>>(),
        "edges": edges.iter().map(edge).collect::<Vec<_>>(),
        "far": far.iter().map(link).collect::<Vec<_>>(),
        "hubs": hubs,
    })
}

/// Returns an instruction without the fields that are empty.
fn node(node: &Node, measured: &Measured, known: Option<&Value>, at: At) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value, is_empty: bool| {
        if !is_empty {
            fields.insert(key.to_owned(), value);
        }
    };
    put("name", json!(node.name), false);
    put("op", json!(node.opcode.name()), false);
    put("cat", json!(node.category.index()), false);
    put("shape", json!(node.shape), false);
    put("text", json!(node.text), false);
    put("line", json!(node.line), false);
    put("in", json!(node.operands), node.operands.is_empty());
    put("before", json!(node.before), node.before.is_empty());
    put("calls", json!(node.callees), node.callees.is_empty());
    put("path", json!(node.op_name), node.op_name.is_empty());
    put("source", json!(node.source), node.source.is_empty());
    put("hidden", json!(1), !node.is_constant);
    let time = measured.time(at);
    put("time", time.clone(), time.is_null());
    let value = measured.value(at);
    put("value", value.clone(), value.is_null());
    let finding = measured.finding(at);
    put("finding", finding.clone(), finding.is_null());
    if let Some(known) = known.and_then(Value::as_object) {
        fields.extend(known.clone());
    }
    Value::Object(fields)
}

fn item(item: &Item) -> Value {
    match item {
        Item::Node(index) => json!(index),
        Item::Group(group) => json!({
            "label": group.label,
            "detail": group.detail,
            "inputs": group.is_inputs,
            "items": group.items.iter().map(self::item).collect::<Vec<_>>(),
        }),
    }
}
