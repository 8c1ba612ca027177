//! The graph as Graphviz text.
use super::{Edges, Graph};
use crate::dot::quoted;
use std::fmt::{self, Write};

/// Returns the graph as Graphviz text: a circle for each device, a box for each group, an arrow for
/// each pair.
pub fn dot(graph: &Graph) -> String {
    let mut out = String::new();
    write(&mut out, graph).expect("writing to a string does not fail");
    out
}

fn write(out: &mut String, graph: &Graph) -> fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&graph.title))?;
    writeln!(out, "  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];")?;
    for (k, name) in graph.nodes.iter().enumerate() {
        writeln!(out, "  n{k} [shape=circle, label={}];", quoted(name))?;
    }
    for (i, op) in graph.ops.iter().enumerate() {
        let label = quoted(&format!("{}\n{}", op.name, op.description()));
        match &op.edges {
            Edges::Groups(groups) => {
                for (g, members) in groups.iter().enumerate() {
                    writeln!(out, "  op{i}g{g} [shape=box, label={label}];")?;
                    for k in members {
                        writeln!(out, "  n{k} -> op{i}g{g} [dir=none];")?;
                    }
                }
            }
            Edges::Arrows(arrows) => {
                for (from, to) in arrows {
                    writeln!(out, "  n{from} -> n{to} [label={label}];")?;
                }
            }
            Edges::Channel(_) => writeln!(out, "  op{i} [shape=note, label={label}];")?,
        }
    }
    writeln!(out, "}}")
}
