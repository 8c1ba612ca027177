//! A folded computation as a picture: its boxes with their texts, and the edges between them.
use super::category::Category;
use super::fold::Item;
use super::level::{Edge, Level};
use super::model::{Flow, Model};
use super::node::Node;
use super::text::{shortened, width};
use rayon::prelude::*;

/// The height of a line of text, and the most characters of one.
const LINE: f64 = 15.0;
const CHARACTERS: usize = 44;

/// A computation as a picture.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) boxes: Vec<Drawn>,
    pub(super) edges: Vec<Edge>,
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

impl Drawing {
    pub(super) fn of(model: &Model, computation: usize) -> Self {
        let flow = &model.computations[computation];
        let mut boxes: Vec<Drawn> =
            flow.items.iter().map(|item| drawn(model, flow, item)).collect();
        let sizes = boxes.iter().map(|drawn| (drawn.width, drawn.height)).collect();
        let level = Level::of(flow, &flow.items, sizes);
        for (drawn, place) in boxes.iter_mut().zip(&level.boxes) {
            drawn.x = place.x - drawn.width / 2.0;
            drawn.y = place.y - drawn.height / 2.0;
        }
        let Level { edges, far, .. } = level;
        let mut drawing = Self { width: 0.0, height: 0.0, boxes, edges, far: far.len() };
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

/// Returns the levels of a computation, by the path of their group: that of the whole is empty,
/// that of its first group in its third group is `2.0`. Boxes have the sizes of [`drawn`] ones.
pub(super) fn levels(model: &Model, flow: &Flow) -> Vec<(String, Level)> {
    let mut paths = vec![(String::new(), flow.items.as_slice())];
    let mut at = 0;
    while let Some((path, items)) = paths.get(at).cloned() {
        for (number, item) in items.iter().enumerate() {
            if let Item::Group(group) = item {
                let inner = match path.as_str() {
                    "" => number.to_string(),
                    outer => format!("{outer}.{number}"),
                };
                paths.push((inner, &group.items));
            }
        }
        at += 1;
    }
    let level = |(path, items): (String, &[Item])| {
        let sizes = items.iter().map(|item| drawn(model, flow, item));
        let sizes = sizes.map(|drawn| (drawn.width, drawn.height)).collect();
        (path, Level::of(flow, items, sizes))
    };
    paths.into_par_iter().map(level).collect()
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
