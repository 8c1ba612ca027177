//! The graph as an SVG picture: a vertical lane for each device, and the ops from top to bottom in the order of a run.
//!
//! A group is a bar with a dot for each member, a pair is an arrow. Lanes show the order of ops, which a circle of nodes would not.
use super::{Communication, Edges, Graph};
use std::fmt::{self, Write};

/// The width of the column of names, and of a lane.
const NAMES: usize = 520;
const LANE: usize = 72;
/// The height of the header, and of a row.
const HEAD: usize = 64;
const ROW: usize = 22;
/// The largest number of rows.
const ROWS: usize = 2000;
const COLORS: [&str; 6] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"];

/// A bar or an arrow, from one lane to another.
struct Mark<'a> {
    from: usize,
    to: usize,
    /// The members of a group; `None` for an arrow.
    members: Option<&'a [usize]>,
    row: usize,
}

/// Returns the graph as a self-contained SVG file.
pub(crate) fn text(graph: &Graph, title: &str) -> String {
    let mut body = String::new();
    let mut row = 0;
    let mut drawn = 0;
    for op in &graph.ops {
        let (marks, rows) = marks(op);
        if row + rows > ROWS {
            break;
        }
        op_rows(&mut body, op, &marks, row).expect("writing to a string does not fail");
        row += rows;
        drawn += 1;
    }
    let mut notes = Vec::new();
    if graph.ops.is_empty() {
        notes.push("no op of this module connects devices".to_owned());
    } else if drawn < graph.ops.len() {
        notes.push(format!("and {} more ops", graph.ops.len() - drawn));
    }
    for note in notes {
        label(&mut body, 12, y(row) + 4, &note).expect("writing to a string does not fail");
        row += 1;
    }
    let mut out = String::new();
    frame(&mut out, graph, title, row, &body).expect("writing to a string does not fail");
    out
}

fn frame(out: &mut String, graph: &Graph, title: &str, rows: usize, body: &str) -> fmt::Result {
    let width = NAMES + graph.nodes.len() * LANE + LANE / 2;
    let height = HEAD + (rows + 1) * ROW;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(out, "<title>{}</title>", escaped(title))?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    label(out, 12, 24, title)?;
    for (k, name) in graph.nodes.iter().enumerate() {
        // `devices 0 to 31` is too wide for a lane.
        let short = name.trim_start_matches("devices ").trim_start_matches("device ");
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}<title>{}</title></text>",
            x(k),
            HEAD - 12,
            escaped(short),
            escaped(name)
        )?;
        writeln!(
            out,
            "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#cccccc\"/>",
            x(k),
            HEAD - 6,
            height - ROW / 2
        )?;
    }
    writeln!(out, "{body}</svg>")
}

/// Returns the center of a lane, and of a row.
fn x(lane: usize) -> usize {
    NAMES + lane * LANE + LANE / 2
}
fn y(row: usize) -> usize {
    HEAD + row * ROW + ROW / 2
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

fn op_rows(out: &mut String, op: &Communication, marks: &[Mark<'_>], first: usize) -> fmt::Result {
    writeln!(out, "<g><title>{}: {}</title>", escaped(&op.name), escaped(&op.description()))?;
    label(out, 12, y(first) + 4, &shortened(&format!("{}  {}", op.name, op.description())))?;
    for (i, mark) in marks.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let at = y(first + mark.row);
        match mark.members {
            Some(members) => {
                let line = "stroke-width=\"3\" stroke-linecap=\"round\"";
                let (a, b) = (x(mark.from), x(mark.to));
                writeln!(
                    out,
                    "<line x1=\"{a}\" y1=\"{at}\" x2=\"{b}\" y2=\"{at}\" stroke=\"{color}\" {line}/>"
                )?;
                for &lane in members {
                    writeln!(
                        out,
                        "<circle cx=\"{}\" cy=\"{at}\" r=\"5\" fill=\"{color}\"/>",
                        x(lane)
                    )?;
                }
            }
            None => arrow(out, mark, at, color)?,
        }
    }
    writeln!(out, "</g>")
}

/// Draws an arrow between the centers of two lanes; a small loop if they are the same lane.
fn arrow(out: &mut String, mark: &Mark<'_>, at: usize, color: &str) -> fmt::Result {
    let (a, b) = (x(mark.from), x(mark.to));
    let stroke = format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"");
    if a == b {
        return writeln!(
            out,
            "<path d=\"M{a} {} c24 0 24 12 0 12\" {stroke}/><circle cx=\"{a}\" cy=\"{}\" r=\"4\" fill=\"{color}\"/>",
            at - 6,
            at + 6
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

fn label(out: &mut String, x: usize, y: usize, text: &str) -> fmt::Result {
    writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(text))
}

/// Truncates a text to the column of names. The full text is the title of the row.
fn shortened(text: &str) -> String {
    const ROOM: usize = 76;
    match text.char_indices().nth(ROOM) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn op(edges: Edges) -> Communication {
        Communication {
            name: "e/<r>".to_owned(),
            opcode: hlo::Opcode::AllReduce,
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
    fn names_are_escaped() {
        let graph = Graph {
            nodes: vec!["device 0".to_owned()],
            ops: vec![op(Edges::Groups(BTreeSet::from([vec![0]])))],
        };
        let text = text(&graph, "a&b");
        assert!(text.contains("<title>a&amp;b</title>"), "{text}");
        assert!(text.contains("e/&lt;r&gt;  all-reduce, 8 bytes from each"), "{text}");
    }
}
