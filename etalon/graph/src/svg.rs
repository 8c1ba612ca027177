//! The dataflow as an SVG picture: the entry computation folded, or one computation.
use super::category::Category;
use super::layout::{Drawing, Drawn};
use super::level::Edge;
use super::model::Model;
use super::text::{escaped, shortened, width};
use std::fmt::{self, Write};

/// The space around the picture, the height of its title, and of a row of the legend.
const MARGIN: f64 = 16.0;
const TITLE: f64 = 60.0;
const ROW: f64 = 20.0;
/// The space for the legend beside the picture.
const LEGEND: f64 = 250.0;

/// Returns the picture of a computation, or of the entry computation.
pub fn svg(model: &Model, computation: Option<usize>) -> String {
    let computation = computation.unwrap_or(model.entry);
    let drawing = Drawing::of(model, computation);
    let mut out = String::new();
    write(&mut out, model, computation, &drawing).expect("writing to a string does not fail");
    out
}

fn write(out: &mut String, model: &Model, computation: usize, drawing: &Drawing) -> fmt::Result {
    let flow = &model.computations[computation];
    let used: Vec<Category> = Category::ALL
        .into_iter()
        .filter(|category| flow.nodes.iter().any(|node| node.category == *category))
        .collect();
    let rows = u32::try_from(used.len()).map_or(0.0, f64::from) + 5.0;
    let width = drawing.width + LEGEND + 3.0 * MARGIN;
    let height = TITLE + MARGIN + drawing.height.max(rows * ROW);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    let title = format!("{}, computation {}", model.name, flow.name);
    writeln!(out, "<title>{}</title>", escaped(&title))?;
    writeln!(
        out,
        "<style>.label {{ fill: #6b7580; font-size: 10px; text-anchor: middle }} .edge {{ fill: none; stroke: #7b8794 }} .sub {{ fill: #4b5563; font-size: 11px }}</style>"
    )?;
    writeln!(
        out,
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\" fill=\"#7b8794\"/></marker></defs>"
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    let constants = flow.nodes.iter().filter(|node| node.is_constant).count();
    let mut count = format!("{} instructions", flow.nodes.len());
    if constants > 0 {
        write!(count, ", of which {constants} constants are not drawn")?;
    }
    writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">{}</text>\
         <text x=\"{MARGIN}\" y=\"40\" class=\"sub\">{count}</text>",
        escaped(&shortened(&title, 100)),
    )?;
    writeln!(out, "<g transform=\"translate({MARGIN},{TITLE})\">")?;
    for edge in &drawing.edges {
        write_edge(out, edge)?;
    }
    for drawn in &drawing.boxes {
        write_box(out, drawn)?;
    }
    // Above all edges: no line strikes a label through.
    for edge in &drawing.edges {
        write_label(out, edge)?;
    }
    writeln!(
        out,
        "</g>\n<g transform=\"translate({:.0},{TITLE})\">",
        drawing.width + 2.0 * MARGIN
    )?;
    legend(out, &used, drawing.far)?;
    writeln!(out, "</g>\n</svg>")
}

fn legend(out: &mut String, used: &[Category], far: usize) -> fmt::Result {
    let mut y = 10.0;
    for category in used {
        let look = category.look();
        writeln!(
            out,
            "<rect x=\"0\" y=\"{y}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\
             <text x=\"20\" y=\"{}\">{}</text>",
            look.fill,
            look.line,
            y + 10.0,
            escaped(look.label)
        )?;
        y += ROW;
    }
    let mut notes = vec![
        "dashed box: several instructions".to_owned(),
        "thick border: the result".to_owned(),
        "no edges: values with more than 5 users".to_owned(),
    ];
    if far > 0 {
        notes.push(format!("{far} edges over more than 3 rows are not drawn"));
    }
    for note in notes {
        writeln!(out, "<text x=\"0\" y=\"{}\" class=\"sub\">{note}</text>", y + 10.0)?;
        y += ROW;
    }
    Ok(())
}

fn write_edge(out: &mut String, edge: &Edge) -> fmt::Result {
    let [first, rest @ ..] = edge.points.as_slice() else { return Ok(()) };
    write!(out, "<path class=\"edge\" marker-end=\"url(#arrow)\"")?;
    if edge.link.is_control {
        write!(out, " stroke-dasharray=\"3 3\"")?;
    }
    write!(out, " d=\"M{:.1},{:.1}", first.0, first.1)?;
    for (at, point) in rest.iter().enumerate() {
        match rest.get(at + 1) {
            // Between two bends the curve goes through their middle.
            Some(next) if at + 2 < rest.len() => {
                let middle = (f64::midpoint(point.0, next.0), f64::midpoint(point.1, next.1));
                write!(out, "Q{:.1},{:.1} {:.1},{:.1}", point.0, point.1, middle.0, middle.1)?;
            }
            Some(last) => {
                write!(out, "Q{:.1},{:.1} {:.1},{:.1}", point.0, point.1, last.0, last.1)?;
            }
            None if rest.len() == 1 => write!(out, "L{:.1},{:.1}", point.0, point.1)?,
            None => {}
        }
    }
    writeln!(out, "\"><title>{}</title></path>", escaped(&edge.label))
}

fn write_label(out: &mut String, edge: &Edge) -> fmt::Result {
    let Some((x, y)) = edge.at else { return Ok(()) };
    // Its letters have 10 px, those of boxes 12.
    let wide = width(&edge.label) * 10.0 / 12.0 + 4.0;
    writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"13\" fill=\"white\"/><text class=\"label\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
        x - wide / 2.0,
        y - 6.5,
        y + 3.0,
        escaped(&edge.label)
    )
}

fn write_box(out: &mut String, drawn: &Drawn) -> fmt::Result {
    let Drawn { x, y, width, height, .. } = drawn;
    let (fill, line) = match drawn.category {
        Some(category) => (category.look().fill, category.look().line),
        None => ("#ffffff", "#868e96"),
    };
    let dashes = if drawn.is_group { " stroke-dasharray=\"6 3\"" } else { "" };
    let stroke = if drawn.is_root { 3.0 } else { 1.5 };
    writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" \
         fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{stroke}\"{dashes}/>",
        escaped(&drawn.title)
    )?;
    let mut at = y + 17.0;
    for (number, line) in drawn.lines.iter().enumerate() {
        let class = if number > 0 { " class=\"sub\"" } else { "" };
        writeln!(out, "<text x=\"{:.1}\" y=\"{at:.1}\"{class}>{}</text>", x + 9.0, escaped(line))?;
        at += 15.0;
    }
    writeln!(out, "</g>")
}
