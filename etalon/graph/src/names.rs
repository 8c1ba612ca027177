//! Names of groups: what their instructions have in common that others have not.
use super::category::Category;
use super::node::Node;
use hlo::Opcode;
use std::collections::{BTreeMap, BTreeSet};

/// Between the first and the last name of a group.
const BETWEEN: &str = " … ";
/// The most words of a name.
const SHOWN: usize = 2;

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
fn numbered(labels: &[String]) -> Vec<String> {
    let number = |(at, label): (usize, &String)| {
        let count = |labels: &[String]| labels.iter().filter(|other| *other == label).count();
        let all = count(labels);
        if all > 1 {
            format!("{label} ({} of {all})", count(&labels[..=at]))
        } else {
            label.clone()
        }
    };
    labels.iter().enumerate().map(number).collect()
}

/// Returns what an instruction does: the name of one that runs other code says more than its opcode, which is `call` or `fusion`.
fn action(node: &Node) -> &str {
    let runs_code = [Category::Control, Category::Custom].contains(&node.category);
    let name = if runs_code { stem(&[&node.name]) } else { None };
    name.unwrap_or(node.opcode.name())
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

/// Names the groups of a level, each of which has its instructions in order.
pub(super) struct Namer<'n> {
    nodes: &'n [Node],
    /// The scopes of all instructions of the level.
    common: Vec<&'n str>,
    /// The number of groups that have each action, and of those that read each input.
    counts: BTreeMap<&'n str, usize>,
}

impl<'n> Namer<'n> {
    pub(super) fn new(nodes: &'n [Node], groups: &[Vec<usize>]) -> Self {
        let mut namer =
            Self { nodes, common: common(nodes, &groups.concat()), counts: BTreeMap::new() };
        for group in groups {
            let actions = group.iter().map(|&index| action(&nodes[index]));
            let words: BTreeSet<&str> = actions.chain(namer.inputs(group)).collect();
            for word in words {
                *namer.counts.entry(word).or_default() += 1;
            }
        }
        namer
    }

    /// Returns a label for each group. Of those with the same name each has the inputs that few others read, such as its weights.
    pub(super) fn labels(&self, groups: &[Vec<usize>], known: &[Option<String>]) -> Vec<String> {
        let name = |(group, known): (&Vec<usize>, &Option<String>)| {
            known.clone().unwrap_or_else(|| self.name(group))
        };
        let names: Vec<String> = groups.iter().zip(known).map(name).collect();
        let label = |(name, group): (&String, &Vec<usize>)| {
            let alike = names.iter().filter(|other| *other == name).count();
            match self.of_inputs(group, alike) {
                Some(inputs) => format!("{name} of {inputs}"),
                None => name.clone(),
            }
        };
        numbered(&names.iter().zip(groups).map(label).collect::<Vec<_>>())
    }

    /// Returns the name of a group: its scope, or its lines in a source file, or the actions that are rarest elsewhere, or its
    /// own inputs, or the names of the first and the last instruction.
    fn name(&self, group: &[usize]) -> String {
        let found = self.of_scopes(group).or_else(|| self.of_sources(group));
        let found = found.or_else(|| self.of_actions(group));
        // Elementwise ops on parameters that no other group reads, such as the step of an optimizer.
        let own = || self.of_inputs(group, 2).map(|inputs| format!("ops on {inputs}"));
        found.or_else(own).unwrap_or_else(|| {
            let name = |index: Option<&usize>| index.map_or("", |&index| &self.nodes[index].name);
            between(name(group.first()), name(group.last()))
        })
    }

    /// Returns the names of the parameters that a group reads.
    fn inputs(&self, group: &[usize]) -> impl Iterator<Item = &'n str> {
        let nodes = self.nodes;
        let operands = group.iter().flat_map(|&index| &nodes[index].operands);
        let inputs = operands.map(|&operand| &nodes[operand]);
        inputs.filter(|node| node.opcode == Opcode::Parameter).map(|node| node.name.as_str())
    }

    /// Returns the inputs of a group that the fewest groups read, if those are fewer than `alike` ones.
    fn of_inputs(&self, group: &[usize], alike: usize) -> Option<String> {
        let fewest = self.inputs(group).map(|input| self.counts[input]).min()?;
        let mut inputs: Vec<&str> = Vec::new();
        for input in self.inputs(group).filter(|input| self.counts[input] == fewest) {
            if inputs.len() < SHOWN && !inputs.contains(&input) {
                inputs.push(input);
            }
        }
        (fewest < alike).then(|| inputs.join(", "))
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

    fn of_actions(&self, group: &[usize]) -> Option<String> {
        /// Elementwise ops and movement are everywhere.
        const TELLING: usize = 2;
        let telling = group.iter().map(|&index| &self.nodes[index]);
        let telling = telling.filter(|node| rank(node.category) <= TELLING);
        let rarest: BTreeSet<(usize, &str)> =
            telling.map(action).map(|action| (self.counts[action], action)).collect();
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
        let called = "f { p = f32[2,2] parameter(0) ROOT n = f32[2,2] negate(p) }";
        let text = format!("HloModule m\n{called}\nENTRY e {{\n{body}}}\n");
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let model = Model::of(&verified, &text);
        let nodes = &model.computations[model.entry].nodes;
        let groups: Vec<Vec<usize>> = groups.iter().map(|group| group.to_vec()).collect();
        Namer::new(nodes, &groups).labels(&groups, &vec![None; groups.len()])
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
    fn groups_of_equal_names_have_their_own_inputs() {
        let square = "f32[2,2]";
        let dot = |name: &str, a: &str, b: &str| {
            format!(
                "  {name} = {square} dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
            )
        };
        let parameter =
            |name: &str, number: usize| format!("  {name} = {square} parameter({number})\n");
        let body = [
            parameter("x", 0),
            parameter("w1", 1),
            parameter("w2", 2),
            dot("a", "x", "w1"),
            dot("b", "a", "w2"),
            dot("c", "b", "b"),
            dot("d", "c", "c"),
            format!("  relu.1 = {square} call(d), to_apply=f\n"),
            format!("  ROOT r = {square} copy(relu.1)\n"),
        ]
        .concat();
        // Those that read no input are numbered, and a call has the name of what it calls.
        assert_eq!(
            names(&body, &[&[3], &[4], &[5], &[6], &[7, 8]]),
            ["dot of x, w1", "dot of w2", "dot (1 of 2)", "dot (2 of 2)", "relu"]
        );
        let steps = "  w = f32[2] parameter(0)\n  v = f32[2] parameter(1)\n  a = f32[2] negate(w)\n  ROOT b = f32[2] add(a, v)\n";
        assert_eq!(names(steps, &[&[2], &[3]]), ["ops on w", "ops on v"]);
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
