//! The graph as an SVG picture: a vertical lane for each device, and the ops from top to bottom in
//! the order of a run.
//!
//! A group is a bar with a dot for each member, a pair is an arrow. Where these would need many
//! rows, as groups of devices that are far apart do, one row has a number in each lane. Lanes show
//! the order of ops, which a circle of nodes would not.
use super::{Communication, Edges, Graph};
use crate::text::{escaped, shortened};
use hlo::Opcode;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The largest width of the column of names, the height of the title, of a row, and of a row of the legend.
const NAMES: usize = 430;
const TITLE: usize = 44;
const ROW: usize = 18;
const LEGEND: usize = 20;
/// The most characters of a name.
const ROOM: usize = 62;
/// The largest number of rows.
const ROWS: usize = 2000;
/// An op that needs more rows than this has one of numbers.
const MANY: usize = 6;
/// The colors of opcodes.
const COLORS: [&str; 8] =
    ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#e8590c", "#0b7285", "#a61e4d", "#5c940d"];

/// A bar or an arrow, from one lane to another.
struct Mark<'a> {
    from: usize,
    to: usize,
    /// The members of a group; `None` for an arrow.
    members: Option<&'a [usize]>,
    row: usize,
}

/// The picture of a graph.
struct Picture<'g> {
    graph: &'g Graph,
    colors: BTreeMap<Opcode, &'static str>,
    /// The height of what is above the rows, and the width of a lane.
    head: usize,
    lane: usize,
    /// The width of the column of names.
    names: usize,
}

/// Returns the graph as a self-contained SVG file.
pub fn svg(graph: &Graph) -> String {
    let mut opcodes: Vec<Opcode> = graph.ops.iter().map(|op| op.opcode).collect();
    opcodes.sort_unstable();
    opcodes.dedup();
    let colors: BTreeMap<_, _> = opcodes.into_iter().zip(COLORS.into_iter().cycle()).collect();
    let lane = match graph.nodes.len() {
        0..=16 => 60,
        17..=32 => 40,
        _ => 26,
    };
    let head = TITLE + (colors.len() + 3) * LEGEND;
    let mut out = String::new();
    let lines = graph.ops.iter().flat_map(|op| [op.name.clone(), op.description()]);
    let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
    // What is turned has the legend at its left.
    let names = match graph.nodes.iter().any(|name| is_turned(lane_name(name), lane)) {
        true => NAMES,
        false => NAMES.min(longest.max(12) * 7 + 36),
    };
    let picture = Picture { graph, colors, head, lane, names };
    picture.write(&mut out).expect("writing to a string does not fail");
    out
}

/// Returns the name of a node above its lane: `devices 0 to 31` is too wide.
fn lane_name(name: &str) -> &str {
    name.trim_start_matches("devices ").trim_start_matches("device ")
}
fn is_turned(name: &str, lane: usize) -> bool {
    name.len() * 7 > lane
}

impl Picture<'_> {
    /// Returns the center of a lane, and of a row.
    fn x(&self, lane: usize) -> usize {
        self.names + lane * self.lane + self.lane / 2
    }
    fn y(&self, row: usize) -> usize {
        self.head + row * ROW + ROW / 2
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let mut body = String::new();
        let mut row = 0;
        let mut drawn = 0;
        for op in &self.graph.ops {
            let mut one = String::new();
            let rows = self.op(&mut one, op, row)?;
            if row + rows > ROWS {
                break;
            }
            body.push_str(&one);
            row += rows;
            drawn += 1;
        }
        let mut notes = Vec::new();
        if self.graph.ops.is_empty() {
            notes.push("no op of this module connects devices".to_owned());
        } else if drawn < self.graph.ops.len() {
            notes.push(format!("and {} more ops", self.graph.ops.len() - drawn));
        }
        for note in notes {
            label(&mut body, 12, self.y(row) + 4, &note, "")?;
            row += 1;
        }
        self.frame(out, row)?;
        writeln!(out, "{body}</svg>")
    }

    /// Writes the title, the legend and the lanes.
    fn frame(&self, out: &mut String, rows: usize) -> fmt::Result {
        let width = self.names + self.graph.nodes.len() * self.lane + self.lane / 2;
        let width = width.max(NAMES);
        let height = self.head + (rows + 1) * ROW;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
        )?;
        writeln!(out, "<title>{}</title>", escaped(&self.graph.title))?;
        writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
        label(out, 12, 26, &self.graph.title, " font-size=\"16\"")?;
        self.legend(out)?;
        for (k, name) in self.graph.nodes.iter().enumerate() {
            let short = lane_name(name);
            let (x, y) = (self.x(k), self.head - 10);
            let turned = match is_turned(short, self.lane) {
                true => format!(" transform=\"rotate(-60 {x} {y})\" text-anchor=\"start\""),
                false => " text-anchor=\"middle\"".to_owned(),
            };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\"{turned}>{}<title>{}</title></text>",
                escaped(short),
                escaped(name)
            )?;
            let color = if k % 8 == 0 { "#adb5bd" } else { "#e3e6ea" };
            let (top, bottom) = (self.head - 4, height - ROW / 2);
            writeln!(
                out,
                "<line x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"{color}\"/>"
            )?;
        }
        Ok(())
    }

    /// Writes the colors of opcodes, and the meaning of marks.
    fn legend(&self, out: &mut String) -> fmt::Result {
        let mut y = TITLE;
        for (opcode, color) in &self.colors {
            writeln!(
                out,
                "<rect x=\"12\" y=\"{y}\" width=\"26\" height=\"4\" rx=\"2\" fill=\"{color}\"/>"
            )?;
            let count = self.graph.ops.iter().filter(|op| op.opcode == *opcode).count();
            label(out, 48, y + 7, &format!("{opcode} ({count})"), "")?;
            y += LEGEND;
        }
        if !self.graph.ops.is_empty() {
            let notes = [
                "bar: a group, with a dot for each member; arrow: from source to target",
                "numbers: equal numbers are a group; → the target of a device",
            ];
            for note in notes {
                label(out, 12, y + 7, note, MUTED)?;
                y += LEGEND;
            }
        }
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\"{MUTED}>device</text>",
            self.names - 14,
            self.head - 10
        )
    }

    /// Writes an op from a row on, and returns the number of its rows.
    fn op(&self, out: &mut String, op: &Communication, first: usize) -> Result<usize, fmt::Error> {
        let color = self.colors.get(&op.opcode).copied().unwrap_or(COLORS[0]);
        let (marks, rows) = marks(op);
        let numbers = if rows > MANY { numbers(op) } else { None };
        let rows = if numbers.is_some() { 2 } else { rows.max(2) };
        let (name, description) = (shortened(&op.name, ROOM), op.description());
        let (computation, instruction) = op.at;
        writeln!(
            out,
            "<g data-at=\"{computation} {instruction}\"><title>{}: {}</title>",
            escaped(&op.name),
            escaped(&description)
        )?;
        if first > 0 {
            let (y, end) = (self.y(first) - ROW / 2, self.x(self.graph.nodes.len()));
            writeln!(
                out,
                "<line x1=\"12\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\" stroke=\"#eef0f2\"/>"
            )?;
        }
        label(out, 12, self.y(first) + 4, &name, "")?;
        label(out, 24, self.y(first + 1), &shortened(&description, ROOM), MUTED)?;
        match numbers {
            Some(numbers) => {
                for (lane, number) in numbers {
                    writeln!(
                        out,
                        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\" fill=\"{color}\">{number}</text>",
                        self.x(lane),
                        self.y(first) + 10
                    )?;
                }
            }
            None => {
                marks
                    .iter()
                    .try_for_each(|mark| self.mark(out, mark, self.y(first + mark.row), color))?;
            }
        }
        writeln!(out, "</g>")?;
        Ok(rows)
    }

    fn mark(&self, out: &mut String, mark: &Mark<'_>, at: usize, color: &str) -> fmt::Result {
        let Some(members) = mark.members else { return self.arrow(out, mark, at, color) };
        let line = "stroke-width=\"3\" stroke-linecap=\"round\"";
        let (a, b) = (self.x(mark.from), self.x(mark.to));
        writeln!(
            out,
            "<line x1=\"{a}\" y1=\"{at}\" x2=\"{b}\" y2=\"{at}\" stroke=\"{color}\" {line}/>"
        )?;
        for &lane in members {
            writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{at}\" r=\"5\" fill=\"{color}\"/>",
                self.x(lane)
            )?;
        }
        Ok(())
    }

    /// Draws an arrow between the centers of two lanes; a small loop if they are the same lane.
    fn arrow(&self, out: &mut String, mark: &Mark<'_>, at: usize, color: &str) -> fmt::Result {
        let (a, b) = (self.x(mark.from), self.x(mark.to));
        let stroke = format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"");
        if a == b {
            return writeln!(
                out,
                "<path d=\"M{a} {} c20 0 20 10 0 10\" {stroke}/><circle cx=\"{a}\" cy=\"{}\" r=\"4\" fill=\"{color}\"/>",
                at - 5,
                at + 5
            );
        }
        let back = if a < b { b - 9 } else { b + 9 };
        writeln!(
            out,
            "<path d=\"M{a} {at} L{back} {at}\" {stroke}/>\
             <path d=\"M{b} {at} L{back} {} L{back} {} Z\" fill=\"{color}\"/>",
            at - 5,
            at + 5
        )
    }
}

/// Returns what stands in each lane if an op is drawn as a row of numbers: that of its group, or
/// the lane of its target. A lane with several has no number.
fn numbers(op: &Communication) -> Option<BTreeMap<usize, String>> {
    let pairs: Vec<(usize, String)> = match &op.edges {
        Edges::Groups(groups) => groups
            .iter()
            .enumerate()
            .flat_map(|(number, members)| {
                members.iter().map(move |&lane| (lane, number.to_string()))
            })
            .collect(),
        Edges::Arrows(arrows) => {
            arrows.iter().map(|&(from, to)| (from, format!("→{to}"))).collect()
        }
        Edges::Channel(_) => Vec::new(),
    };
    let count = pairs.len();
    let numbers: BTreeMap<usize, String> = pairs.into_iter().collect();
    (numbers.len() == count).then_some(numbers)
}

/// Returns the marks of an op in as few rows as possible without overlap, and the number of rows.
fn marks(op: &Communication) -> (Vec<Mark<'_>>, usize) {
    let mut found: Vec<Mark<'_>> = match &op.edges {
        Edges::Groups(groups) => groups
            .iter()
            .filter_map(|members| {
                let (&from, &to) = (members.first()?, members.last()?);
                Some(Mark { from, to, members: Some(members), row: 0 })
            })
            .collect(),
        Edges::Arrows(arrows) => {
            arrows.iter().map(|&(from, to)| Mark { from, to, members: None, row: 0 }).collect()
        }
        Edges::Channel(_) => Vec::new(),
    };
    let mut rows: Vec<Vec<(usize, usize)>> = Vec::new();
    for mark in &mut found {
        let (low, high) = (mark.from.min(mark.to), mark.from.max(mark.to));
        // An arrow may end in the lane where another begins.
        let apart = |&(a, b): &(usize, usize)| match mark.members {
            Some(_) => high < a || b < low,
            None => high <= a || b <= low,
        };
        mark.row = rows.iter().position(|row| row.iter().all(apart)).unwrap_or(rows.len());
        if mark.row == rows.len() {
            rows.push(Vec::new());
        }
        rows[mark.row].push((low, high));
    }
    (found, rows.len().max(1))
}

const MUTED: &str = " font-size=\"11\" fill=\"#5c6670\"";

/// Writes a text with attributes of its style.
fn label(out: &mut String, x: usize, y: usize, text: &str, style: &str) -> fmt::Result {
    writeln!(out, "<text x=\"{x}\" y=\"{y}\"{style}>{}</text>", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn op(edges: Edges) -> Communication {
        Communication {
            at: (0, 1),
            name: "e/<r>".to_owned(),
            opcode: Opcode::AllReduce,
            bytes: Some(8),
            in_loop: false,
            edges,
        }
    }

    #[test]
    fn overlapping_marks_have_different_rows() {
        let crossing = op(Edges::Groups(BTreeSet::from([vec![0, 2], vec![1, 3], vec![4, 5]])));
        let (found, rows) = marks(&crossing);
        assert_eq!((found.iter().map(|m| m.row).collect::<Vec<_>>(), rows), (vec![0, 1, 0], 2));
        // In a ring, the arrow back is below the others.
        let ring = op(Edges::Arrows(BTreeSet::from([(0, 1), (1, 2), (2, 0)])));
        let (found, rows) = marks(&ring);
        assert_eq!((found.iter().map(|m| m.row).collect::<Vec<_>>(), rows), (vec![0, 0, 1], 2));
    }

    #[test]
    fn groups_that_need_many_rows_are_numbers() {
        let far = (0..32).map(|k| vec![k, k + 32]).collect();
        let graph = Graph {
            title: String::new(),
            nodes: (0..64).map(|k| format!("device {k}")).collect(),
            ops: vec![op(Edges::Groups(far))],
        };
        let text = svg(&graph);
        assert_eq!((text.matches(">31</text>").count(), text.matches("<circle").count()), (2, 0));
        // Two groups with the same member have no number there.
        let shared = op(Edges::Groups(BTreeSet::from([vec![0, 1], vec![1, 2]])));
        assert!(numbers(&shared).is_none());
        let shift = op(Edges::Arrows(BTreeSet::from([(0, 9), (1, 8)])));
        assert_eq!(numbers(&shift).unwrap()[&1], "→8");
    }

    #[test]
    fn names_are_escaped() {
        let graph = Graph {
            title: "a&b".to_owned(),
            nodes: vec!["device 0".to_owned()],
            ops: vec![op(Edges::Groups(BTreeSet::from([vec![0]])))],
        };
        let text = svg(&graph);
        assert!(text.contains("<title>a&amp;b</title>"), "{text}");
        assert!(text.contains(">e/&lt;r&gt;</text>"), "{text}");
        assert!(text.contains(">all-reduce, 8 bytes from each</text>"), "{text}");
    }
}
