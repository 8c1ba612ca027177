//! Names of groups: what their instructions have in common that others have not.
use super::category::Category;
use super::node::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Between the first and the last name of a group.
const BETWEEN: &str = " … ";

/// Returns how much an op tells of what a group does; 0 is most.
pub(super) fn rank(category: Category) -> usize {
    match category {
        Category::Collective | Category::Transfer | Category::Custom => 0,
        Category::Sum | Category::Control => 1,
        Category::Array | Category::Random => 2,
        Category::Elementwise => 3,
        Category::Movement => 4,
        Category::Value => 5,
    }
}

/// Returns the digits of a number in groups of three.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Numbers equal labels: each group has one of its own.
pub(super) fn numbered<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for label in labels.clone() {
        counts.entry(label).or_default()[1] += 1;
    }
    let number = |label| {
        let [at, all] = counts.entry(label).or_default();
        *at += 1;
        if *all > 1 { format!("{label} ({at} of {all})") } else { label.to_owned() }
    };
    labels.map(number).collect()
}

/// Returns the names of the scopes of an instruction, from the outside in.
fn scopes(node: &Node) -> Vec<&str> {
    let mut parts: Vec<&str> = node.op_name.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    parts
}

/// Returns what names have in common that differ in a number: `layer` of `layer_0`, `layer_1`.
pub(super) fn stem<'a>(names: &[&'a str]) -> Option<&'a str> {
    let of = |name: &'a str| {
        let end = |c: char| c.is_ascii_digit() || "_-. ".contains(c);
        name.trim_end_matches(end)
    };
    let first = of(names.first()?);
    (!first.is_empty() && names.iter().all(|name| of(name) == first)).then_some(first)
}

/// Returns whether two sorted lists have four of five elements in common.
pub(super) fn are_similar<T: Ord>(a: &[T], b: &[T]) -> bool {
    let (mut at, mut same) = (0, 0);
    for one in a {
        while b.get(at).is_some_and(|other| other < one) {
            at += 1;
        }
        if b.get(at) == Some(one) {
            (at, same) = (at + 1, same + 1);
        }
    }
    5 * same >= 4 * a.len().max(b.len())
}

/// Names groups of a level.
pub(super) struct Namer<'n> {
    nodes: &'n [Node],
    /// The scopes of all instructions of the level.
    common: Vec<&'n str>,
    /// How often each opcode is at the level.
    counts: BTreeMap<&'static str, usize>,
}

impl<'n> Namer<'n> {
    /// Takes the instructions of the level.
    pub(super) fn new(nodes: &'n [Node], level: &[usize]) -> Self {
        let mut counts = BTreeMap::new();
        for &index in level {
            *counts.entry(nodes[index].opcode.name()).or_insert(0) += 1;
        }
        Self { nodes, common: common(nodes, level), counts }
    }

    /// Returns the name of a group of instructions, which are in order: their scope, or their lines in a source file, or the opcodes
    /// that are rarest elsewhere, or the names of the first and the last one.
    pub(super) fn name(&self, group: &[usize]) -> String {
        let found = self.of_scopes(group).or_else(|| self.of_sources(group));
        found.or_else(|| self.of_opcodes(group)).unwrap_or_else(|| {
            let name = |index: Option<&usize>| index.map_or("", |&index| &self.nodes[index].name);
            between(name(group.first()), name(group.last()))
        })
    }

    fn of_scopes(&self, group: &[usize]) -> Option<String> {
        let own = common(self.nodes, group);
        if let Some(inner) = own.get(self.common.len()..).filter(|inner| !inner.is_empty()) {
            return Some(inner.join("/"));
        }
        // The scopes below those of all, in order.
        let below = |&index: &usize| scopes(&self.nodes[index]).get(self.common.len()).copied();
        let mut names = group.iter().filter_map(below);
        let first = names.next()?;
        let last = names.next_back().unwrap_or(first);
        (first != last).then(|| between(first, last))
    }

    fn of_sources(&self, group: &[usize]) -> Option<String> {
        let place = |&index: &usize| {
            let (file, line) = self.nodes[index].source.rsplit_once(':')?;
            Some((file.rsplit('/').next()?, line.parse::<usize>().ok()?))
        };
        let places: BTreeSet<(&str, usize)> = group.iter().filter_map(place).collect();
        let (&(file, first), &(other, last)) = (places.first()?, places.last()?);
        match (file == other, first == last) {
            (true, true) => Some(format!("{file}:{first}")),
            (true, false) => Some(format!("{file}:{first}–{last}")),
            (false, _) => None,
        }
    }

    fn of_opcodes(&self, group: &[usize]) -> Option<String> {
        const SHOWN: usize = 2;
        /// Elementwise ops and movement are everywhere.
        const TELLING: usize = 2;
        let telling = group.iter().map(|&index| &self.nodes[index]);
        let telling = telling.filter(|node| rank(node.category) <= TELLING);
        let rarest: BTreeSet<(usize, &str)> = telling
            .map(|node| {
                (self.counts.get(node.opcode.name()).copied().unwrap_or(0), node.opcode.name())
            })
            .collect();
        let names: Vec<&str> = rarest.into_iter().take(SHOWN).map(|(_, name)| name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

fn between(first: &str, last: &str) -> String {
    if first == last { first.to_owned() } else { format!("{first}{BETWEEN}{last}") }
}

/// Returns the scopes that all instructions with a name are in.
fn common<'n>(nodes: &'n [Node], group: &[usize]) -> Vec<&'n str> {
    let named = group.iter().map(|&index| &nodes[index]).filter(|node| !node.op_name.is_empty());
    let all = named.map(scopes);
    let same = |mut a: Vec<&'n str>, b: Vec<&'n str>| {
        let count = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        a.truncate(count);
        a
    };
    all.reduce(same).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    fn names(body: &str, groups: &[&[usize]]) -> Vec<String> {
        let text = format!("HloModule m\nENTRY e {{\n{body}}}\n");
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let model = Model::of(&verified, &text);
        let nodes = &model.computations[0].nodes;
        let all: Vec<usize> = (0..nodes.len()).collect();
        let namer = Namer::new(nodes, &all);
        groups.iter().map(|group| namer.name(group)).collect()
    }

    #[test]
    fn groups_have_names_of_scopes_sources_or_ops() {
        let line = |name: &str, op: &str, metadata: &str| {
            format!("  {name} = f32[2] {op}, metadata={{{metadata}}}\n")
        };
        let scoped = [
            line("p", "parameter(0)", ""),
            line("a", "negate(p)", "op_name=\"jit(f)/net/attn/neg\""),
            line("b", "tanh(a)", "op_name=\"jit(f)/net/attn/tanh\""),
            line("ROOT c", "abs(b)", "op_name=\"jit(f)/net/mlp/abs\""),
        ];
        assert_eq!(names(&scoped.concat(), &[&[1, 2], &[1, 2, 3]]), ["attn", "attn … mlp"]);
        let sources = [
            line("p", "parameter(0)", ""),
            line("a", "negate(p)", "source_file=\"/x/model.py\" source_line=12"),
            line("ROOT b", "tanh(a)", "source_file=\"/x/model.py\" source_line=48"),
        ];
        assert_eq!(names(&sources.concat(), &[&[1, 2], &[2]]), ["model.py:12–48", "model.py:48"]);
        let plain = "  p = f32[2] parameter(0)\n  a = f32[2] negate(p)\n  c = f32[2] reverse(a), dimensions={0}\n  d = f32[] dot(c, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n  ROOT b = f32[] tanh(d)\n";
        assert_eq!(names(plain, &[&[1, 2, 3, 4], &[1, 2]]), ["dot", "a … c"]);
    }

    #[test]
    fn equal_labels_are_numbered() {
        let labels = ["dot", "gather", "dot"];
        assert_eq!(numbered(labels.into_iter()), ["dot (1 of 2)", "gather", "dot (2 of 2)"]);
    }

    #[test]
    fn long_numbers_have_groups_of_three_digits() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn numbers_at_the_end_are_no_part_of_a_stem() {
        assert_eq!(stem(&["layer_0", "layer_11"]), Some("layer"));
        assert_eq!(stem(&["attn.1", "mlp.1"]), None);
        assert_eq!(stem(&["0", "1"]), None);
    }
}
