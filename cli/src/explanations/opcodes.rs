//! Opcodes: what each computes, its properties, its rules, and an example.
use super::{entries, entry, labels};
use hlo::Opcode;
use hlo::op::{Accuracy, Arity, AsyncRole, ShapeText};
use std::fmt::Write as _;

const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");

/// A page of the specification.
#[derive(Clone, Copy)]
struct Page {
    name: &'static str,
    /// The comment at the start of the file.
    text: &'static str,
}

/// Explains an opcode; `asked` is its name, an older one, or that of another system.
pub(crate) fn explain(opcode: Opcode, asked: &str) -> String {
    let mut text = opcode.name().to_owned();
    if Opcode::from_name(asked).is_some_and(|_| asked != opcode.name()) {
        let _ = write!(text, " (`{asked}` in older texts)");
    } else if asked != opcode.name() {
        let _ = write!(text, " (what `{asked}` becomes in HLO)");
    }
    text.push_str("\n\n");
    let page = page(opcode);
    text.push_str(&meaning(opcode, page));
    text.push('\n');
    properties(&mut text, opcode);
    rules(&mut text, opcode);
    if let Some(example) = entry("example", opcode.name()) {
        // Only ops of queues have no test with a result.
        let title = match example.contains("// out") {
            true => "Example, which `etalon test` runs:",
            false => {
                "Example, for `etalon run`: --infeed has the values that it takes, --output gets those that it gives:"
            }
        };
        let _ = write!(text, "\n{title}\n\n{example}\n");
    }
    links(&mut text, opcode, page);
    text
}

/// Returns the page whose first line has the opcode, or that of the elementwise ops, whose table has it.
fn page(opcode: Opcode) -> Option<Page> {
    let quoted = format!("`{opcode}`");
    let pages = entries("page").map(|(name, text)| Page { name, text });
    let (mut of_title, mut of_table) = (None, None);
    for page in pages {
        let title = page.text.split_once(": ").map_or("", |(title, _)| title);
        let is_row = |line: &str| line.starts_with("| `") && line.contains(&quoted);
        if title.contains(&quoted) && !title.contains('\n') {
            of_title = Some(page);
        } else if page.text.lines().any(is_row) {
            of_table = Some(page);
        }
    }
    of_title.or(of_table)
}

/// Returns a page that the pages of opcodes refer to by its name, such as `products`.
pub(crate) fn of_page(name: &str) -> Option<String> {
    let text = entry("page", name).filter(|_| name != "mod")?;
    Some(format!("{name}\n\n{text}\n"))
}

fn meaning(opcode: Opcode, page: Option<Page>) -> String {
    let quoted = format!("`{opcode}`");
    match page {
        Some(Page { text, .. }) => {
            let row = text.lines().find(|line| line.starts_with("| `") && line.contains(&quoted));
            row.map_or_else(|| format!("{text}\n"), |row| of_row(row, text))
        }
        // Without a page, the tests have a comment.
        None => of_role(opcode)
            .or_else(|| Some(format!("{}\n", entry("about", opcode.name())?)))
            .unwrap_or_default(),
    }
}

/// Returns the formula of a page of elementwise ops, and what its table says about one.
fn of_row(row: &str, page: &str) -> String {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let [_, ops, result, edges, ..] = cells.as_slice() else { return page.to_owned() };
    let formula = page.lines().find(|line| line.starts_with("`result[")).unwrap_or_default();
    let mut text = format!("{formula}\n\n{ops}: {result}\n");
    if !edges.is_empty() {
        let _ = writeln!(text, "Edge cases: {edges}");
    }
    text
}

/// Returns what a part of an asynchronous operation does.
fn of_role(opcode: Opcode) -> Option<String> {
    Some(match opcode.async_role()? {
        AsyncRole::Start(Some(started)) if started != opcode => {
            format!("Starts `{started}`, which runs until the result is consumed.\n")
        }
        AsyncRole::Start(_) => return None,
        AsyncRole::Update(start) => {
            format!("Passes on the operation that `{start}` has started.\n")
        }
        AsyncRole::Done(start) => {
            format!("Waits for the operation that `{start}` has started, and returns its result.\n")
        }
    })
}

fn properties(text: &mut String, opcode: Opcode) {
    let operands = match opcode.arity() {
        Arity::Fixed(n) => n.to_string(),
        Arity::Any => "any number".to_owned(),
    };
    let _ = writeln!(text, "operands:     {operands}");
    if let Some(types) = opcode.types() {
        let _ = writeln!(text, "types:        {types}");
    }
    let shape = match opcode.shape_text() {
        ShapeText::Stated => "required",
        ShapeText::Inferred => "optional: inferred if omitted",
        ShapeText::Forced => "computed from the operands; the text is ignored",
    };
    let _ = writeln!(text, "result shape: {shape}");
    if !opcode.attributes().is_empty() {
        let _ = writeln!(text, "attributes:   {}", opcode.attributes().join(", "));
    }
    let accuracy = match opcode.accuracy() {
        Accuracy::Exact => "exact".to_owned(),
        Accuracy::Ulp(n) => format!("other backends may differ by {n} units in the last place"),
        Accuracy::Order => "other backends may add in a different order".to_owned(),
        Accuracy::Random => "only the distribution is specified".to_owned(),
    };
    let _ = writeln!(text, "accuracy:     {accuracy}");
}

/// Lists the rules of its operands, attributes and result, each with the message of a module that breaks it.
fn rules(text: &mut String, opcode: Opcode) {
    let mut examples = labels::examples();
    examples.retain(|_, broken| broken.opcode == Some(opcode));
    let width = examples.keys().map(|label| label.len()).max().unwrap_or(0);
    if !examples.is_empty() {
        text.push_str(
            "\nRules, each with the error of a module that breaks it (`etalon explain LABEL`):\n\n",
        );
    }
    let mut sorted: Vec<_> = examples.into_iter().collect();
    // `slice_c10` comes after `slice_c9`.
    sorted.sort_by_key(|(label, _)| {
        let name = label.trim_end_matches(|c: char| c.is_ascii_digit());
        (name, label[name.len()..].parse::<u32>().ok())
    });
    for (label, broken) in sorted {
        let _ = writeln!(text, "{label:width$}  {}", labels::message(&broken));
    }
}

fn links(text: &mut String, opcode: Opcode, page: Option<Page>) {
    text.push_str("\nSee also:\n");
    if let Some(Page { name, .. }) = page {
        let _ = writeln!(text, "{REPOSITORY}/interp/spec/src/{name}.rs");
    }
    if let Some(op) = page.and_then(|page| of_stablehlo(page.text, opcode)) {
        let _ = writeln!(text, "https://openxla.org/stablehlo/spec#{op}");
    }
    text.push_str("https://openxla.org/xla/operation_semantics\n");
}

/// Returns the name of the op in `StableHLO`, which the page names as its source.
fn of_stablehlo(page: &str, opcode: Opcode) -> Option<String> {
    let (_, source) = page.split_once("Source: ")?;
    let (_, list) = source.split_once("StableHLO,")?;
    let list = list.split(';').next()?;
    let own = opcode.name().replace('-', "_");
    if list.contains("the op of each name") {
        return Some(own);
    }
    let names: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let same = names.iter().find(|name| **name == own).copied();
    same.or(names.first().copied().filter(|_| names.len() == 1)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_opcode_has_a_meaning() {
        for &opcode in Opcode::ALL {
            let page = page(opcode);
            assert!(!meaning(opcode, page).trim().is_empty(), "{opcode}");
        }
        let infeed = explain(Opcode::Infeed, "infeed");
        assert!(infeed.contains("infeed(t)\n}") && !infeed.contains("E0407"), "{infeed}");
    }

    #[test]
    fn pages_tables_and_roles() {
        let dot = explain(Opcode::Dot, "dot");
        for part in [
            "sum over k",
            "dot_general_c10",
            "HloModule dot_",
            "spec#dot_general",
            "spec/src/dot.rs",
        ] {
            assert!(dot.contains(part), "{part}: {dot}");
        }
        let tanh = explain(Opcode::Tanh, "tanh");
        assert!(
            tanh.contains("hyperbolic cosine, sine and tangent")
                && !tanh.contains("count-leading-zeros")
        );
        assert!(
            explain(Opcode::AllGatherDone, "all-gather-done")
                .contains("`all-gather-start` has started")
        );
        assert!(explain(Opcode::While, "while").contains("v = body(v)"));
    }
}
