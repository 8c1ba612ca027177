//! The dataflow as Graphviz text.
use super::layout::calls;
use super::model::{Flow, Model};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Returns the computations as Graphviz text: a cluster for each, and a dashed arrow for each call.
pub fn dot(model: &Model, only: Option<usize>) -> String {
    let mut out = String::new();
    write(&mut out, model, only).expect("writing to a string does not fail");
    out
}

fn write(out: &mut String, model: &Model, only: Option<usize>) -> fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&model.name))?;
    writeln!(
        out,
        "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];"
    )?;
    for (number, flow) in model.computations.iter().enumerate() {
        if only.is_none_or(|only| only == number) {
            cluster(out, model, (number, flow))?;
        }
    }
    if only.is_none() {
        for (number, flow) in model.computations.iter().enumerate() {
            for (index, node) in flow.nodes.iter().enumerate() {
                for callee in node.callees.iter().collect::<BTreeSet<_>>() {
                    let root = model.computations[*callee].root;
                    writeln!(out, "  c{callee}n{root} -> c{number}n{index} [style=dashed];")?;
                }
            }
        }
    }
    writeln!(out, "}}")
}

fn cluster(out: &mut String, model: &Model, (number, flow): (usize, &Flow)) -> fmt::Result {
    writeln!(out, "  subgraph cluster{number} {{\n    label={};", quoted(&flow.name))?;
    for (index, node) in flow.nodes.iter().enumerate() {
        let label = quoted(&format!("{}\n{}\n{}", node.name, calls(model, node), node.shape));
        let look = node.category.look();
        let root = if index == flow.root { ", penwidth=3" } else { "" };
        writeln!(
            out,
            "    c{number}n{index} [label={label}, fillcolor=\"{}\", color=\"{}\"{root}];",
            look.fill, look.line
        )?;
    }
    for (index, node) in flow.nodes.iter().enumerate() {
        for &operand in &node.operands {
            let shape = quoted(&flow.nodes[operand].shape);
            writeln!(out, "    c{number}n{operand} -> c{number}n{index} [label={shape}];")?;
        }
        for other in &node.before {
            writeln!(out, "    c{number}n{other} -> c{number}n{index} [style=dotted];")?;
        }
    }
    writeln!(out, "  }}")
}

/// Returns a Graphviz string, with escaped quotes, backslashes and newlines.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd\te"), r#""a\"b\\c\nd e""#);
    }
}
