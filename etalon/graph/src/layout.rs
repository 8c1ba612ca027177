//! The boxes and edges of a folded computation, placed by `dagre`.
use super::category::Category;
use super::fold::Item;
use super::model::{Flow, Model, Node};
use super::text::{shortened, width};
use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};
use std::collections::{BTreeMap, BTreeSet};

/// The height of a line of text, and the most characters of one.
const LINE: f64 = 15.0;
const CHARACTERS: usize = 44;
/// The most characters at an edge.
const LABEL: usize = 26;
/// The most boxes that an array has edges to.
const USERS: usize = 5;
/// A picture of more edges has none that cross more rows.
const FEW: usize = 12;
const ROWS: usize = 3;

/// A computation as a picture.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) boxes: Vec<Drawn>,
    pub(super) edges: Vec<Place>,
    /// The number of edges that are left out, because they cross many rows.
    pub(super) far: usize,
}

/// A box: an instruction or a group.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) lines: Vec<String>,
    pub(super) title: String,
    /// The category of an instruction; of a group, that of collectives if it has any.
    pub(super) category: Option<Category>,
    pub(super) is_group: bool,
    pub(super) is_root: bool,
}

/// An edge.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) label: String,
    /// The center of its label.
    pub(super) at: Option<(f64, f64)>,
    pub(super) is_control: bool,
}

impl Drawing {
    pub(super) fn of(model: &Model, computation: usize) -> Self {
        let flow = &model.computations[computation];
        let mut boxes: Vec<Drawn> =
            flow.items.iter().map(|item| drawn(model, flow, item)).collect();
        let options = GraphOptions { directed: true, multigraph: true, compound: false };
        let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
        for (number, drawn) in boxes.iter().enumerate() {
            let (width, height) = (drawn.width, drawn.height);
            let label = NodeLabel { width, height, ..NodeLabel::default() };
            graph.set_node(number.to_string(), Some(label));
        }
        let mut edges = edges(flow);
        let all = edges.len();
        leave_out_far(&mut edges, boxes.len());
        let far = all - edges.len();
        let edges: Vec<(Ends, String)> =
            edges.into_iter().map(|(ends, values)| (ends, label(flow, ends, &values))).collect();
        for (number, ((from, to, _), label)) in edges.iter().enumerate() {
            let label = EdgeLabel {
                width: width(label),
                height: 12.0,
                labelpos: LabelPos::Center,
                ..EdgeLabel::default()
            };
            graph.set_edge(
                from.to_string(),
                to.to_string(),
                Some(label),
                Some(&number.to_string()),
            );
        }
        let options = LayoutOptions {
            nodesep: 18.0,
            edgesep: 12.0,
            ranksep: 34.0,
            ..LayoutOptions::default()
        };
        dagre::layout(&mut graph, Some(options));
        for (number, drawn) in boxes.iter_mut().enumerate() {
            if let Some(placed) = graph.node(&number.to_string()) {
                drawn.x = placed.x.unwrap_or_default() - drawn.width / 2.0;
                drawn.y = placed.y.unwrap_or_default() - drawn.height / 2.0;
            }
        }
        let edges = edges.into_iter().enumerate().filter_map(
            |(number, ((from, to, is_control), label))| {
                let placed =
                    graph.edge(&from.to_string(), &to.to_string(), Some(&number.to_string()))?;
                let points = placed.points.iter().map(|point| (point.x, point.y)).collect();
                Some(Place { points, label, at: placed.x.zip(placed.y), is_control })
            },
        );
        let mut drawing = Self { width: 0.0, height: 0.0, edges: edges.collect(), boxes, far };
        drawing.measure();
        drawing
    }

    /// Sets the size of the picture.
    fn measure(&mut self) {
        for drawn in &self.boxes {
            self.width = self.width.max(drawn.x + drawn.width);
            self.height = self.height.max(drawn.y + drawn.height);
        }
        for edge in &self.edges {
            let label = edge.at.map(|(x, y)| (x + width(&edge.label) / 2.0, y));
            for (x, y) in edge.points.iter().copied().chain(label) {
                self.width = self.width.max(x);
                self.height = self.height.max(y);
            }
        }
    }
}

/// The boxes that an edge connects, and whether it is a control dependence.
type Ends = (usize, usize, bool);

/// Returns the edges between boxes, each with the instructions whose values it carries.
fn edges(flow: &Flow) -> BTreeMap<Ends, BTreeSet<usize>> {
    let mut place = vec![None; flow.nodes.len()];
    for (number, item) in flow.items.iter().enumerate() {
        item.each(&mut |index| place[index] = Some(number));
    }
    let hubs = hubs(flow, &place);
    let mut edges: BTreeMap<Ends, BTreeSet<usize>> = BTreeMap::new();
    for (index, node) in flow.nodes.iter().enumerate() {
        let Some(to) = place[index] else { continue };
        let operands = node.operands.iter().filter(|&&operand| !hubs[operand]);
        let operands = operands.map(|&operand| (operand, false));
        for (other, is_control) in operands.chain(node.before.iter().map(|&other| (other, true))) {
            let Some(from) = place[other].filter(|&from| from != to) else { continue };
            edges.entry((from, to, is_control)).or_default().insert(other);
        }
    }
    edges
}

/// Leaves out edges over many rows where there are many, such as those from the forward to the backward pass.
fn leave_out_far(edges: &mut BTreeMap<Ends, BTreeSet<usize>>, boxes: usize) {
    if edges.len() <= FEW {
        return;
    }
    let mut rows = vec![0; boxes];
    for _ in 0..boxes {
        for &(from, to, _) in edges.keys() {
            rows[to] = rows[to].max(rows[from] + 1);
        }
    }
    edges.retain(|&(from, to, _), _| rows[to] - rows[from] <= ROWS);
}

/// Returns for each instruction whether its array is that of a group of inputs, or used by more than five boxes. Edges of such
/// a value would cover the picture.
fn hubs(flow: &Flow, place: &[Option<usize>]) -> Vec<bool> {
    let mut users: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); flow.nodes.len()];
    for (index, node) in flow.nodes.iter().enumerate() {
        for &operand in &node.operands {
            users[operand].extend(place[index]);
        }
    }
    let is_hub = |(users, node): (&BTreeSet<usize>, &Node)| {
        users.len() > USERS && !node.shape.starts_with('(')
    };
    let mut hubs: Vec<bool> = users.iter().zip(&flow.nodes).map(is_hub).collect();
    for item in &flow.items {
        if matches!(item, Item::Group(group) if group.is_inputs) {
            item.each(&mut |index| hubs[index] = true);
        }
    }
    hubs
}

/// Returns the text at an edge: the shape of the value, or how many values there are.
fn label(flow: &Flow, (_, _, is_control): Ends, values: &BTreeSet<usize>) -> String {
    match values.first() {
        _ if is_control => "control".to_owned(),
        Some(&one) if values.len() == 1 => shortened(&flow.nodes[one].shape, LABEL),
        _ => format!("{} values", values.len()),
    }
}

fn drawn(model: &Model, flow: &Flow, item: &Item) -> Drawn {
    let (lines, title, category) = match item {
        Item::Node(index) => {
            let node = &flow.nodes[*index];
            let lines = vec![node.name.clone(), calls(model, node), node.shape.clone()];
            (lines, format!("{} = {} {}", node.name, node.shape, node.text), Some(node.category))
        }
        Item::Group(group) => {
            let (count, ops) = group.detail.split_once(": ").unwrap_or((&group.detail, ""));
            let lines = vec![group.label.clone(), count.to_owned(), ops.to_owned()];
            let mut communicates = None;
            item.each(&mut |index| {
                let category = flow.nodes[index].category;
                communicates =
                    communicates.or((category == Category::Collective).then_some(category));
            });
            (lines, format!("{}\n{}", group.label, group.detail), communicates)
        }
    };
    let lines: Vec<String> = lines.iter().map(|line| shortened(line, CHARACTERS)).collect();
    let widest = lines.iter().map(|line| width(line)).fold(60.0, f64::max);
    let height = lines.iter().fold(9.0, |height, _| height + LINE);
    let is_group = matches!(item, Item::Group(_));
    let is_root = !is_group && *item == Item::Node(flow.root);
    Drawn {
        x: 0.0,
        y: 0.0,
        width: widest + 18.0,
        height,
        lines,
        title,
        category,
        is_group,
        is_root,
    }
}

/// Returns the opcode and the computations that the instruction calls.
pub(super) fn calls(model: &Model, node: &Node) -> String {
    let names = node.callees.iter().map(|&callee| model.computations[callee].name.as_str());
    match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => node.opcode.name().to_owned(),
        names => format!("{} ({names})", node.opcode.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_edges_are_left_out_of_pictures_with_many() {
        let chain_with_far_edge = |boxes: usize| {
            let mut edges: BTreeMap<Ends, BTreeSet<usize>> =
                (1..boxes).map(|to| ((to - 1, to, false), BTreeSet::new())).collect();
            edges.insert((0, boxes - 1, false), BTreeSet::new());
            leave_out_far(&mut edges, boxes);
            edges.len()
        };
        // A chain of n boxes has n - 1 edges, beside the far one.
        assert_eq!(chain_with_far_edge(6), 6);
        assert_eq!(chain_with_far_edge(20), 19);
    }
}
