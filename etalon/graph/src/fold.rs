//! Folding: the instructions of a large computation in groups, so that a picture has few boxes at
//! each level.
//!
//! Instructions of the same scope (`op_name` in their metadata) form a group. Where scopes do not
//! help, equal parts that follow each other are layers, of which a group has all. What is left is
//! grouped in runs of consecutive instructions that end where few values are live.
use super::category::Category;
use super::layers::{TIMES, repetitions};
use super::names::{self, Namer};
use super::node::Node;
use super::order::Graph;
use hlo::diag::quantity;
use std::collections::{BTreeMap, BTreeSet};

/// The most boxes at one level, and the fewest instructions in the group of a scope.
const MOST: usize = 40;
const FEWEST: usize = 8;
/// The most scopes inside of each other.
const DEPTH: usize = 12;
/// The most inputs that are drawn one by one at a level with groups.
const INPUTS: usize = 12;

/// An instruction, or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Node(usize),
    Group(Group),
}

/// Instructions that are drawn as one box until it is unfolded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) label: String,
    /// The number of its instructions, and its most telling opcodes.
    pub(super) detail: String,
    pub(super) items: Vec<Item>,
    /// Whether it has inputs only: edges would lead from it to nearly all other boxes.
    pub(super) is_inputs: bool,
}

impl Item {
    /// Calls a function with each instruction.
    pub(super) fn each(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Node(index) => visit(*index),
            Self::Group(group) => group.items.iter().for_each(|item| item.each(visit)),
        }
    }
}

/// Returns the instructions that are drawn, in groups.
pub(super) fn fold(nodes: &[Node]) -> Vec<Item> {
    let drawn: Vec<usize> = (0..nodes.len()).filter(|&i| !nodes[i].is_constant).collect();
    if drawn.len() <= MOST {
        return drawn.into_iter().map(Item::Node).collect();
    }
    let folder = Folder::new(nodes);
    let scoped = folder.scopes(&drawn);
    folder.limited(scoped, 0)
}

/// The opcode and the shape of each instruction of an item.
type Contents<'n> = Vec<(&'n str, &'n str)>;

/// The instructions of a computation in the order of the picture.
struct Folder<'n> {
    nodes: &'n [Node],
    /// The position of each instruction: an input stands before its first user.
    rank: Vec<(usize, bool, usize)>,
}

/// The instructions of a scope, and the scopes in it.
#[derive(Debug, Default)]
struct Scope {
    nodes: Vec<usize>,
    inner: BTreeMap<String, Scope>,
}

/// Returns whether an instruction takes nothing, as parameters do.
fn is_input(node: &Node) -> bool {
    node.operands.is_empty() && node.category == Category::Value
}

impl<'n> Folder<'n> {
    fn new(nodes: &'n [Node]) -> Self {
        let mut first: Vec<usize> = (0..nodes.len()).collect();
        for (index, node) in nodes.iter().enumerate().rev() {
            for &operand in node.operands.iter().filter(|&&operand| is_input(&nodes[operand])) {
                first[operand] = index;
            }
        }
        let rank = |(index, first)| (first, !is_input(&nodes[index]), index);
        Self { nodes, rank: first.into_iter().enumerate().map(rank).collect() }
    }

    /// Groups instructions by their scopes.
    fn scopes(&self, drawn: &[usize]) -> Vec<Item> {
        let mut paths: Vec<Option<Vec<&str>>> = vec![None; self.nodes.len()];
        for &index in drawn.iter().rev() {
            let node = &self.nodes[index];
            // The parameters of a program have the names of its arguments, not of scopes.
            let is_named = !node.op_name.is_empty() && !is_input(node);
            if is_named {
                paths[index] = Some(path(&node.op_name));
            }
            let Some(path) = paths[index].clone() else { continue };
            for &operand in &node.operands {
                // An instruction without a name belongs to what its users have in common.
                match &mut paths[operand] {
                    Some(other) => {
                        let same = other.iter().zip(&path).take_while(|(a, b)| a == b).count();
                        other.truncate(same);
                    }
                    none => *none = Some(path.clone()),
                }
            }
        }
        // What is computed from one value only, such as a part of a result, belongs to that.
        for &index in drawn {
            if let (None, &[operand]) = (&paths[index], self.nodes[index].operands.as_slice()) {
                let path = paths[operand].clone();
                paths[index] = path;
            }
        }
        let mut whole = Scope::default();
        for &index in drawn {
            let mut scope = &mut whole;
            for part in paths[index].clone().into_iter().flatten().take(DEPTH) {
                scope = scope.inner.entry(part.to_owned()).or_default();
            }
            scope.nodes.push(index);
        }
        self.items(whole)
    }

    fn items(&self, scope: Scope) -> Vec<Item> {
        let mut items: Vec<Item> = scope.nodes.into_iter().map(Item::Node).collect();
        let inner: Vec<(String, Vec<Item>)> =
            scope.inner.into_iter().map(|(name, scope)| (name, self.items(scope))).collect();
        let all = items.len() + inner.iter().map(|(_, items)| count(items)).sum::<usize>();
        for (name, inner) in inner {
            // A scope of nearly everything, or of little, is no group.
            let size = count(&inner);
            if size < FEWEST || size * 4 > all * 3 {
                items.extend(inner);
            } else {
                items.push(Item::Group(self.group(name, inner)));
            }
        }
        items.sort_by_key(|item| self.ends(item).0);
        items
    }

    fn name<'a>(&'a self, item: &'a Item) -> &'a str {
        match item {
            Item::Node(index) => &self.nodes[*index].name,
            Item::Group(group) => &group.label,
        }
    }

    fn is_input(&self, item: &Item) -> bool {
        match item {
            Item::Node(index) => is_input(&self.nodes[*index]),
            Item::Group(_) => false,
        }
    }

    /// Returns the ranks of the first and of the last instruction of an item.
    fn ends(&self, item: &Item) -> ((usize, bool, usize), (usize, bool, usize)) {
        let mut ends = ((usize::MAX, true, 0), (0, false, 0));
        item.each(&mut |index| {
            ends = (ends.0.min(self.rank[index]), ends.1.max(self.rank[index]));
        });
        ends
    }
}

/// Returns the scopes of a name: all of its parts but the last.
fn path(op_name: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = op_name.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    parts
}

fn count(items: &[Item]) -> usize {
    let mut count = 0;
    for item in items {
        item.each(&mut |_| count += 1);
    }
    count
}

impl Folder<'_> {
    /// Groups the items of each level until no level has too many.
    fn limited(&self, items: Vec<Item>, depth: usize) -> Vec<Item> {
        let inner = |item| match item {
            Item::Group(group) if depth < DEPTH => {
                let label = match self.parts_of(&group) {
                    Some(parts) => format!("{} ({parts})", group.label),
                    None => group.label,
                };
                Item::Group(Group { items: self.limited(group.items, depth + 1), label, ..group })
            }
            Item::Group(_) | Item::Node(_) => item,
        };
        let items = self.acyclic(items);
        let items = if depth < DEPTH { self.layers(items) } else { items };
        let mut items: Vec<Item> = items.into_iter().map(inner).collect();
        if items.len() <= MOST {
            return items;
        }
        let (inputs, mut items): (Vec<Item>, Vec<Item>) =
            items.drain(..).partition(|item| self.is_input(item));
        let inputs = if inputs.len() > INPUTS {
            let group = self.group("inputs".to_owned(), self.limited_runs(inputs));
            vec![Item::Group(Group { is_inputs: true, ..group })]
        } else {
            items.extend(inputs);
            Vec::new()
        };
        [inputs, self.limited_runs(items)].concat()
    }

    /// Puts equal parts that follow each other into a group, unless all of the level is such parts.
    fn layers(&self, items: Vec<Item>) -> Vec<Item> {
        let ordered = self.ordered(items);
        let (mut rest, computed): (Vec<Item>, Vec<Item>) =
            ordered.into_iter().partition(|item| self.is_input(item));
        let weights: Vec<usize> =
            computed.iter().map(|item| count(std::slice::from_ref(item))).collect();
        let letters = self.letters(&computed);
        let mut found = repetitions(&letters, &weights, &live(self.nodes, &computed), FEWEST);
        found.retain(|one| one.range() != (0..computed.len()));
        let mut parts: Vec<Vec<Vec<Item>>> =
            found.iter().map(|one| vec![Vec::new(); one.times]).collect();
        // The part that each instruction is in.
        let mut place = BTreeMap::new();
        for (at, item) in computed.into_iter().enumerate() {
            let of = found.iter().position(|one| one.range().contains(&at));
            let Some(of) = of else {
                rest.push(item);
                continue;
            };
            let part = (at - found[of].start) / found[of].period;
            item.each(&mut |index| {
                place.insert(index, (of, part));
            });
            parts[of][part].push(item);
        }
        // An input that one part alone uses, such as its weights, belongs to it.
        let users = if place.is_empty() { BTreeMap::new() } else { self.users_of_inputs(&place) };
        let mut outside = Vec::new();
        for item in rest {
            let own = match &item {
                Item::Node(index) => users.get(index).copied().flatten(),
                Item::Group(_) => None,
            };
            match own {
                Some((of, part)) => parts[of][part].push(item),
                None => outside.push(item),
            }
        }
        outside.extend(parts.into_iter().map(|parts| Item::Group(self.repeated(parts))));
        outside.sort_by_key(|item| self.ends(item).0);
        outside
    }

    /// Returns what the parts of a group are that are all equal: `layer × 12`.
    fn parts_of(&self, group: &Group) -> Option<String> {
        let is_part = |item: &&Item| !self.is_input(item);
        let parts: Vec<Item> = group.items.iter().filter(is_part).cloned().collect();
        let labels: Vec<&str> = parts.iter().map(|item| self.name(item)).collect();
        let letters = self.letters(&parts);
        let are_groups = parts.iter().all(|item| matches!(item, Item::Group(_)));
        let are_equal = letters.windows(2).all(|two| two[0] == two[1]);
        // A group of equal parts has their name.
        let is_named = group.label.contains('×');
        let is_layers = are_groups && are_equal && !is_named && parts.len() >= TIMES;
        is_layers.then(|| format!("{} × {}", names::stem(&labels).unwrap_or("part"), parts.len()))
    }

    /// Returns for each input that has users the part that all of them are in.
    fn users_of_inputs(
        &self,
        place: &BTreeMap<usize, (usize, usize)>,
    ) -> BTreeMap<usize, Option<(usize, usize)>> {
        let mut users: BTreeMap<usize, Option<(usize, usize)>> = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            for &operand in node.operands.iter().filter(|&&operand| is_input(&self.nodes[operand]))
            {
                let own = place.get(&index).copied();
                let all = users.entry(operand).or_insert(own);
                *all = all.filter(|_| *all == own);
            }
        }
        users
    }

    /// Returns equal numbers for items with the same instructions, and for scopes whose names differ in a number and whose
    /// instructions are nearly the same: the first and the last layer have what comes before and after all of them, too.
    fn letters(&self, items: &[Item]) -> Vec<usize> {
        let mut known: BTreeMap<(&str, Contents<'_>), usize> = BTreeMap::new();
        let letter = |item| {
            let mut all: Contents<'_> = Vec::new();
            Item::each(item, &mut |index| {
                let node = &self.nodes[index];
                if !is_input(node) {
                    all.push((node.opcode.name(), node.shape.as_str()));
                }
            });
            all.sort_unstable();
            let stem = match item {
                Item::Node(_) => None,
                Item::Group(group) => names::stem(&[&group.label]).filter(|s| *s != group.label),
            };
            let stem = stem.unwrap_or_default();
            let is_near = |((other, of), _): &(&(&str, Vec<_>), _)| {
                !stem.is_empty() && *other == stem && names::are_similar(of, &all)
            };
            let near = known.iter().find(is_near).map(|(_, letter)| *letter);
            let next = known.len();
            near.unwrap_or_else(|| *known.entry((stem, all)).or_insert(next))
        };
        items.iter().map(letter).collect()
    }

    /// Returns the group of equal parts, each of which is a group.
    fn repeated(&self, parts: Vec<Vec<Item>>) -> Group {
        let times = parts.len();
        let labels: Vec<&str> = parts.iter().flatten().map(|item| self.name(item)).collect();
        let is_single = parts.iter().all(|part| matches!(part.as_slice(), [Item::Group(_)]));
        let stem = if is_single { names::stem(&labels) } else { None };
        let label = format!("{} × {times}", stem.unwrap_or("layer"));
        let group = |(number, mut part): (usize, Vec<Item>)| {
            if let ([Item::Group(_)], Some(item)) = (part.as_slice(), part.first().cloned()) {
                return item;
            }
            part.sort_by_key(|item| self.ends(item).0);
            Item::Group(self.group(format!("layer {number}"), part))
        };
        let parts: Vec<Item> = (1..).zip(parts).map(group).collect();
        self.group(label, parts)
    }

    /// Groups consecutive items until there are few.
    fn limited_runs(&self, mut items: Vec<Item>) -> Vec<Item> {
        while items.len() > MOST {
            items = self.runs(items);
        }
        items
    }

    /// Replaces groups that depend on each other by their items, those with the largest gaps first:
    /// a scope may have the first and the last instructions of a program, and the others lie
    /// between them.
    fn acyclic(&self, mut items: Vec<Item>) -> Vec<Item> {
        loop {
            let mut groups = self.graph(&items).cyclic();
            groups.retain(|&at| matches!(items[at], Item::Group(_)));
            if groups.is_empty() {
                return items;
            }
            groups.sort_by_key(|&at| {
                let (first, last) = self.ends(&items[at]);
                count(&items[at..=at]) * 1000 / (last.0 - first.0 + 1)
            });
            // Of very many groups several at once.
            groups.truncate(groups.len().div_ceil(64));
            groups.sort_unstable();
            for at in groups.into_iter().rev() {
                if let Item::Group(group) = items.swap_remove(at) {
                    items.extend(group.items);
                }
            }
        }
    }

    /// Replaces runs of consecutive items by groups.
    fn runs(&self, items: Vec<Item>) -> Vec<Item> {
        let items = self.ordered(items);
        let live = live(self.nodes, &items);
        // About as many groups as items in a group.
        let root = items.len().isqrt();
        let (shortest, longest) =
            ((root * 2 / 3).clamp(4, MOST / 2), (root * 3 / 2).clamp(12, MOST));
        let mut runs: Vec<Vec<Item>> = Vec::new();
        let mut items = items.into_iter();
        let mut start = 0;
        while items.len() > 0 {
            let last = items.len();
            let length = if last <= longest {
                last
            } else {
                let candidates = shortest..=longest.min(last - shortest);
                // Of equal ends the last one, so that there are few groups.
                candidates.min_by_key(|&n| (live[start + n], longest - n)).unwrap_or(longest)
            };
            runs.push(items.by_ref().take(length).collect());
            start += length;
        }
        let computed: Vec<Vec<usize>> = runs.iter().map(|run| self.computed(run)).collect();
        let known: Vec<Option<String>> = runs.iter().map(|run| largest(run)).collect();
        let labels = Namer::new(self.nodes, &computed).labels(&computed, &known);
        let groups = labels.into_iter().zip(runs);
        groups.map(|(label, run)| Item::Group(self.group(label, run))).collect()
    }
}

/// Returns the label of the group that has most instructions of a run: the run is that, and little beside it.
fn largest(run: &[Item]) -> Option<String> {
    let all = count(run);
    run.iter().find_map(|item| match item {
        Item::Group(group) if 2 * count(&group.items) > all => Some(group.label.clone()),
        Item::Group(_) | Item::Node(_) => None,
    })
}

impl Folder<'_> {
    /// Returns the instructions of some items, or their inputs if there are no others.
    fn computed(&self, items: &[Item]) -> Vec<usize> {
        let mut all = Vec::new();
        for item in items {
            item.each(&mut |index| all.push(index));
        }
        all.sort_by_key(|&index| self.rank[index]);
        let is_computed = |&index: &usize| !is_input(&self.nodes[index]);
        if all.iter().any(is_computed) {
            all.retain(is_computed);
        }
        all
    }

    /// Returns the items in an order in which operands come first.
    fn ordered(&self, items: Vec<Item>) -> Vec<Item> {
        let mut graph = self.graph(&items);
        let ranks: Vec<_> = items.iter().map(|item| self.ends(item).0).collect();
        let mut ready: BTreeSet<_> = graph.sources().map(|at| (ranks[at], at)).collect();
        let mut items: Vec<Option<Item>> = items.into_iter().map(Some).collect();
        let mut order = Vec::with_capacity(items.len());
        while let Some((_, next)) = ready.pop_first() {
            order.extend(items[next].take());
            ready.extend(graph.remove(next).into_iter().map(|at| (ranks[at], at)));
        }
        // Nothing is left, since no two items depend on each other.
        order.extend(items.into_iter().flatten());
        order
    }

    /// Returns which items use which.
    fn graph(&self, items: &[Item]) -> Graph {
        let place = places(items);
        let mut graph = Graph {
            operands: vec![BTreeSet::new(); items.len()],
            users: vec![BTreeSet::new(); items.len()],
        };
        for (&index, &to) in &place {
            let node = &self.nodes[index];
            for operand in node.operands.iter().chain(&node.before) {
                if let Some(&from) = place.get(operand)
                    && from != to
                {
                    graph.operands[to].insert(from);
                    graph.users[from].insert(to);
                }
            }
        }
        graph
    }
}

/// Returns the item of each of their instructions: a module may have many levels, of few of its instructions each.
pub(super) fn places(items: &[Item]) -> BTreeMap<usize, usize> {
    let mut places = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        item.each(&mut |index| {
            places.insert(index, at);
        });
    }
    places
}

/// Returns for each position between two items how many values go from before to behind it. Inputs
/// do not count: they may be read anywhere.
fn live(nodes: &[Node], items: &[Item]) -> Vec<usize> {
    let position = places(items);
    // The last reader of each instruction.
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for (&index, &at) in &position {
        for &operand in nodes[index].operands.iter().filter(|&&o| !nodes[o].operands.is_empty()) {
            let last = last.entry(operand).or_default();
            *last = at.max(*last);
        }
    }
    let mut change = vec![0isize; items.len() + 2];
    for (index, last) in last {
        if let Some(&at) = position.get(&index).filter(|&&at| last > at) {
            change[at + 1] += 1;
            change[last + 1] -= 1;
        }
    }
    let mut sum = 0;
    let live = change.iter().map(|change| {
        sum += change;
        usize::try_from(sum).unwrap_or(0)
    });
    live.collect()
}

impl Folder<'_> {
    fn group(&self, label: String, items: Vec<Item>) -> Group {
        const SHOWN: usize = 3;
        let mut opcodes: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut all = 0;
        let mut visit = |index: usize| {
            let rank = names::rank(self.nodes[index].category);
            *opcodes.entry((rank, self.nodes[index].opcode.name())).or_insert(0) += 1;
            all += 1;
        };
        for item in &items {
            item.each(&mut visit);
        }
        let mut telling: BTreeSet<(usize, std::cmp::Reverse<usize>, &str)> = BTreeSet::new();
        for ((rank, name), count) in opcodes {
            telling.insert((rank, std::cmp::Reverse(count), name));
        }
        let telling = telling.into_iter().take(SHOWN);
        let telling: Vec<String> = telling
            .map(|(_, count, name)| format!("{} {name}", names::thousands(count.0)))
            .collect();
        let all = quantity(names::thousands(all), "instruction");
        let detail = format!("{all}: {}", telling.join(", "));
        Group { label, detail, items, is_inputs: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use std::fmt::Write;

    /// Returns the folded entry computation of a module.
    fn folded(body: &str) -> Vec<Item> {
        let text = format!("HloModule m\nENTRY e {{\n  p = f32[2] parameter(0)\n{body}}}\n");
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let mut model = Model::of(&verified, &text);
        model.computations.remove(0).items
    }

    /// Returns instructions of which each takes the one before it. The scope of each is that of its
    /// number.
    fn chain(count: usize, scope: impl Fn(usize) -> String) -> String {
        let mut body = String::new();
        for i in 0..count {
            let root = if i + 1 == count { "ROOT " } else { "" };
            let operand = if i == 0 { "p".to_owned() } else { format!("x{}", i - 1) };
            let name = format!("metadata={{op_name=\"{}\"}}", scope(i));
            writeln!(body, "  {root}x{i} = f32[2] negate({operand}), {name}").unwrap();
        }
        body
    }
    fn most(items: &[Item]) -> usize {
        let inner = items.iter().map(|item| match item {
            Item::Node(_) => 1,
            Item::Group(group) => most(&group.items),
        });
        inner.max().unwrap_or(0).max(items.len())
    }

    #[test]
    fn no_level_has_many_boxes() {
        for count in [1, 40, 41, 100, 5000] {
            let items = folded(&chain(count, |_| String::new()));
            assert!(most(&items) <= MOST, "{count}");
            // Each instruction is there once: the chain and its parameter.
            let mut all = Vec::new();
            for item in &items {
                item.each(&mut |index| all.push(index));
            }
            all.sort_unstable();
            assert_eq!(all, (0..=count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn scopes_are_groups() {
        let items = folded(&chain(60, |i| format!("jit(f)/layer{}/neg", i / 20)));
        let labels: Vec<&str> = items
            .iter()
            .map(|item| match item {
                Item::Node(_) => "",
                Item::Group(group) => group.label.as_str(),
            })
            .collect();
        // The scope of everything is no group, and the parameter belongs to its only user.
        assert_eq!(labels, ["layer0", "layer1", "layer2"]);
        let Item::Group(group) = &items[0] else { unreachable!() };
        assert_eq!(group.detail, "21 instructions: 20 negate, 1 parameter");
    }

    #[test]
    fn groups_do_not_depend_on_each_other() {
        // The first and the last ten of sixty instructions are of one scope.
        let scope = |i| match i {
            10..50 => format!("jit(f)/layer{}/neg", i / 25),
            _ => "jit(f)/ends/neg".to_owned(),
        };
        let items = folded(&chain(60, scope));
        let ends = items.iter().filter(|item| matches!(item, Item::Node(_))).count();
        assert_eq!((ends, items.len()), (21, 23));
    }

    #[test]
    fn many_inputs_are_one_group() {
        let mut body = String::new();
        for i in 0..20 {
            writeln!(body, "  q{i} = f32[2] parameter({})", i + 1).unwrap();
        }
        writeln!(body, "  y0 = f32[2] add(p, p)").unwrap();
        for i in 0..40 {
            let root = if i == 39 { "ROOT " } else { "" };
            writeln!(body, "  {root}y{} = f32[2] add(y{i}, q{})", i + 1, i % 20).unwrap();
        }
        let items = folded(&body);
        let Item::Group(group) = &items[0] else { panic!("a group") };
        assert_eq!((group.label.as_str(), group.is_inputs), ("inputs", true));
    }

    #[test]
    fn a_run_ends_where_one_value_is_live() {
        // Blocks of 12 in which each instruction also takes the first of its block.
        let mut body = String::new();
        for i in 0..120 {
            let root = if i == 119 { "ROOT " } else { "" };
            let before = if i == 0 { "p".to_owned() } else { format!("x{}", i - 1) };
            let first = if i % 12 == 0 { before.clone() } else { format!("x{}", i / 12 * 12) };
            writeln!(body, "  {root}x{i} = f32[2] add({before}, {first})").unwrap();
        }
        for item in folded(&body) {
            let mut last = 0;
            item.each(&mut |index| last = last.max(index));
            let Item::Group(group) = item else { panic!("a group") };
            // The last of a block is live alone, and so is the first of the next one. The parameter is instruction 0.
            assert!([0, 11].contains(&((last - 1) % 12)), "{}: {last}", group.label);
        }
    }

    /// Returns a model of some layers between an embedding and a loss, with weights.
    fn model(layers: usize, scope: impl Fn(usize) -> String) -> String {
        let outside = "metadata={op_name=\"jit(f)/ends/op\"}";
        let mut body = format!("  h = f32[2] exponential(p), {outside}\n");
        let mut last = "h".to_owned();
        for i in 0..layers {
            let ops = ["negate", "tanh", "sine", "cosine", "abs", "sqrt", "log", "negate"];
            let scope = format!("metadata={{op_name=\"{}\"}}", scope(i));
            writeln!(body, "  w{i} = f32[2] parameter({})", i + 1).unwrap();
            writeln!(body, "  m{i} = f32[2] multiply({last}, w{i}), {scope}").unwrap();
            last = format!("m{i}");
            for (k, op) in ops.iter().enumerate() {
                writeln!(body, "  a{i}_{k} = f32[2] {op}({last}), {scope}").unwrap();
                last = format!("a{i}_{k}");
            }
        }
        writeln!(body, "  ROOT r = f32[2] floor({last}), {outside}").unwrap();
        body
    }

    fn labels(items: &[Item]) -> Vec<&str> {
        let groups = items.iter().filter_map(|item| match item {
            Item::Node(_) => None,
            Item::Group(group) => Some(group.label.as_str()),
        });
        groups.collect()
    }

    #[test]
    fn a_scope_of_layers_says_so() {
        let body =
            model(12, |i| format!("jit(f)/net/block_{i}/op")).replace("jit(f)/ends", "jit(f)");
        // What is outside of the scope is no small part of the module.
        let before = chain(60, |_| "jit(f)/before/neg".to_owned()).replace("ROOT ", "");
        let items = folded(&(before + &body.replace("exponential(p)", "exponential(x59)")));
        assert!(labels(&items).contains(&"net (block × 12)"), "{:?}", labels(&items));
    }

    #[test]
    fn equal_layers_are_one_group() {
        for (scope, label, first) in
            [("", "layer × 12", "layer 1"), ("jit(f)/block_#/op", "block × 12", "block_0")]
        {
            let items = folded(&model(12, |i| scope.replace('#', &i.to_string())));
            assert_eq!(labels(&items), [label]);
            let Item::Group(all) = items.iter().find(|i| matches!(i, Item::Group(_))).unwrap()
            else {
                unreachable!()
            };
            assert_eq!((labels(&all.items)[0], all.items.len()), (first, 12));
            // With its weights.
            let Item::Group(one) = &all.items[3] else { panic!("a layer") };
            assert_eq!(count(&one.items), 10, "{}", one.detail);
        }
    }

    #[test]
    fn constants_are_not_drawn() {
        let items = folded(
            "  c = f32[] constant(2)\n  b = f32[2] broadcast(c), dimensions={}\n  ROOT r = f32[2] add(p, b)\n",
        );
        assert_eq!(items, [Item::Node(0), Item::Node(3)]);
    }
}
