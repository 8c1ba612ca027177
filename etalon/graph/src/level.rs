//! One level of a picture: the boxes of some items, what comes from outside, and the edges between
//! them, with their places.
use super::arrange::{Arc, arrange};
use super::fold::{Item, places};
use super::model::Flow;
use super::text::{shortened, width};
use std::collections::{BTreeMap, BTreeSet};

/// The most characters at an edge.
const LABEL: usize = 26;
/// The most boxes that an array has edges to.
const USERS: usize = 5;
/// A level of more edges has none that cross more rows.
const FEW: usize = 12;
const ROWS: i64 = 3;
/// The most boxes of values from outside.
const PORTS: usize = 6;

/// The boxes of the instructions of a level.
type Places = BTreeMap<usize, usize>;

/// The boxes of a level and the edges between them.
#[derive(Debug)]
pub(super) struct Level {
    /// The boxes of the items, then those of the ports.
    pub(super) boxes: Vec<Place>,
    pub(super) ports: Vec<Port>,
    pub(super) edges: Vec<Edge>,
    /// The edges that are left out, because they cross many rows.
    pub(super) far: Vec<Link>,
    /// The instructions whose values have no edges, because many boxes use them.
    pub(super) hubs: Vec<usize>,
}

/// The center and the size of a box.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The source of values from outside of the level.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) text: String,
    /// The instruction, or the first one of several.
    pub(super) index: usize,
}

/// The boxes that an edge connects, and the instructions whose values it carries.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_control: bool,
    pub(super) values: BTreeSet<usize>,
}

/// A link that is drawn.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) link: Link,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) label: String,
    /// The center of its label.
    pub(super) at: Option<(f64, f64)>,
}

impl Level {
    /// Returns the level of these items, whose boxes have these sizes.
    pub(super) fn of(flow: &Flow, items: &[Item], mut sizes: Vec<(f64, f64)>) -> Self {
        let place = places(items);
        let hubs = hubs(flow, items, &place);
        let (mut links, ports) = links(flow, items.len(), &place, &hubs);
        sizes.extend(ports.iter().map(|port| (width(&port.text) + 18.0, 24.0)));
        let far = leave_out_far(&mut links, items.len(), sizes.len());
        let edges = links.into_iter().map(|link| {
            let label = label(flow, &link);
            Edge { link, points: Vec::new(), label, at: None }
        });
        let center = |(width, height)| Place { x: 0.0, y: 0.0, width, height };
        let boxes = sizes.into_iter().map(center).collect();
        let hubs = hubs.into_iter().collect();
        let mut level = Self { boxes, ports, edges: edges.collect(), far, hubs };
        level.place();
        level
    }

    /// Places the boxes and the edges.
    fn place(&mut self) {
        let sizes: Vec<(f64, f64)> = self.boxes.iter().map(|one| (one.width, one.height)).collect();
        let items = self.boxes.len() - self.ports.len();
        let arc = |Edge { link, label, .. }: &Edge| Arc {
            from: link.from,
            to: link.to,
            weight: if link.from < items { 2 } else { 1 },
            label: width(label),
        };
        let arranged = arrange(&sizes, &self.edges.iter().map(arc).collect::<Vec<_>>());
        for (place, at) in self.boxes.iter_mut().zip(arranged.boxes) {
            (place.x, place.y) = at;
        }
        for (edge, (points, label)) in self.edges.iter_mut().zip(arranged.edges) {
            edge.at = points.get(label).copied();
            edge.points = points;
        }
    }
}

/// Returns the links between the boxes of a level, and the ports that the values from outside come
/// from.
fn links(
    flow: &Flow,
    items: usize,
    place: &Places,
    hubs: &BTreeSet<usize>,
) -> (Vec<Link>, Vec<Port>) {
    let mut links: BTreeMap<(usize, usize, bool), BTreeSet<usize>> = BTreeMap::new();
    let mut outside: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (&index, &to) in place {
        let node = &flow.nodes[index];
        let is_drawn =
            |operand: &usize| !hubs.contains(operand) && !flow.nodes[*operand].is_constant;
        for &operand in node.operands.iter().filter(|&operand| is_drawn(operand)) {
            match place.get(&operand) {
                Some(&from) if from == to => {}
                Some(&from) => {
                    links.entry((from, to, false)).or_default().insert(operand);
                }
                None => {
                    outside.entry(operand).or_default().insert(to);
                }
            }
        }
        for &other in &node.before {
            if let Some(&from) = place.get(&other).filter(|&&from| from != to) {
                links.entry((from, to, true)).or_default().insert(other);
            }
        }
    }
    let single = if outside.len() > PORTS { PORTS - 1 } else { PORTS };
    let mut ports: Vec<Port> = Vec::new();
    for (number, (&operand, users)) in outside.iter().enumerate() {
        if number < single {
            let text = format!("from {}", flow.nodes[operand].name);
            ports.push(Port { text, index: operand });
        } else if number == single {
            let text = format!("{} more values from outside", outside.len() - single);
            ports.push(Port { text, index: operand });
        }
        let from = items + ports.len() - 1;
        for &to in users {
            links.entry((from, to, false)).or_default().insert(operand);
        }
    }
    let link = |((from, to, is_control), values)| Link { from, to, is_control, values };
    (links.into_iter().map(link).collect(), ports)
}

/// Takes out the links over many rows where there are many links, such as those from the forward to
/// the backward pass. The first boxes are `items`, the others are ports.
fn leave_out_far(links: &mut Vec<Link>, items: usize, boxes: usize) -> Vec<Link> {
    if links.len() <= FEW {
        return Vec::new();
    }
    let mut rows = vec![0i64; boxes];
    for _ in 0..items {
        let before = rows.clone();
        for &Link { from, to, .. } in links.iter().filter(|link| link.from < items) {
            rows[to] = rows[to].max(rows[from] + 1);
        }
        if rows == before {
            break;
        }
    }
    // A port is above its first user.
    for port in items..boxes {
        let users = links.iter().filter(|link| link.from == port).map(|link| rows[link.to]);
        rows[port] = users.min().unwrap_or_default() - 1;
    }
    let (far, near) =
        std::mem::take(links).into_iter().partition(|link| rows[link.to] - rows[link.from] > ROWS);
    *links = near;
    far
}

/// Returns the instructions whose array is that of a group of inputs, or used by more than five
/// boxes. Edges of such a value would cover the picture.
fn hubs(flow: &Flow, items: &[Item], place: &Places) -> BTreeSet<usize> {
    let mut users: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (&index, &user) in place {
        for &operand in &flow.nodes[index].operands {
            users.entry(operand).or_default().insert(user);
        }
    }
    let is_hub = |index: usize, users: &BTreeSet<usize>| {
        users.len() > USERS && !flow.nodes[index].shape.starts_with('(')
    };
    users.retain(|&index, users| is_hub(index, users));
    let mut hubs: BTreeSet<usize> = users.into_keys().collect();
    for item in items {
        if matches!(item, Item::Group(group) if group.is_inputs) {
            item.each(&mut |index| {
                hubs.insert(index);
            });
        }
    }
    hubs
}

/// Returns the text at an edge: the shape of the values, or how many there are.
fn label(flow: &Flow, link: &Link) -> String {
    let shapes: BTreeSet<&str> =
        link.values.iter().map(|&index| flow.nodes[index].shape.as_str()).collect();
    match (shapes.first(), link.values.len()) {
        _ if link.is_control => "control".to_owned(),
        (Some(shape), 1) => shortened(shape, LABEL),
        (Some(shape), count) if shapes.len() == 1 => {
            shortened(&format!("{count} × {shape}"), LABEL)
        }
        (_, count) => format!("{count} values"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_edges_are_left_out_of_pictures_with_many() {
        let link = |from, to| Link { from, to, is_control: false, values: BTreeSet::new() };
        let chain_with_far_edge = |boxes: usize| {
            let mut links: Vec<Link> = (1..boxes).map(|to| link(to - 1, to)).collect();
            links.push(link(0, boxes - 1));
            // A port beside the last box.
            links.push(link(boxes, boxes - 1));
            let far = leave_out_far(&mut links, boxes, boxes + 1);
            (links.len(), far.len())
        };
        // A chain of n boxes has n - 1 edges, beside the far one and that of the port.
        assert_eq!(chain_with_far_edge(6), (7, 0));
        assert_eq!(chain_with_far_edge(20), (20, 1));
    }
}
