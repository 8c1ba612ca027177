//! Folding: the instructions of a large computation in groups, so that a picture has few boxes at
//! each level.
//!
//! Instructions of the same scope (`op_name` in their metadata) form a group. Where scopes do not
//! help, a group is a run of consecutive instructions that ends where few values are live: between
//! two layers of a model that is often one value.
use super::category::Category;
use super::node::Node;
use std::collections::{BTreeMap, BTreeSet};

/// The most boxes at one level, and the fewest instructions in the group of a scope.
const MOST: usize = 40;
const FEWEST: usize = 8;
/// The most scopes inside of each other.
const DEPTH: usize = 12;
/// The most inputs that are drawn one by one at a level with groups.
const INPUTS: usize = 12;

/// Between the names of the first and the last instruction of a run.
const BETWEEN: &str = " … ";

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
                Item::Group(Group { items: self.limited(group.items, depth + 1), ..group })
            }
            Item::Group(_) | Item::Node(_) => item,
        };
        let mut items: Vec<Item> = self.acyclic(items).into_iter().map(inner).collect();
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
        let mut grouped = Vec::new();
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
            let run: Vec<Item> = items.by_ref().take(length).collect();
            start += length;
            let computed = || run.iter().filter(|item| !self.is_input(item));
            let first = computed().next().or(run.first()).map_or("", |item| self.name(item));
            let last = computed().next_back().or(run.last()).map_or("", |item| self.name(item));
            let first = first.split(BETWEEN).next().unwrap_or(first);
            let last = last.rsplit(BETWEEN).next().unwrap_or(last);
            let label =
                if first == last { first.to_owned() } else { format!("{first}{BETWEEN}{last}") };
            grouped.push(Item::Group(self.group(label, run)));
        }
        grouped
    }
}

impl Folder<'_> {
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
        let mut place = vec![None; self.nodes.len()];
        for (at, item) in items.iter().enumerate() {
            item.each(&mut |index| place[index] = Some(at));
        }
        let mut graph = Graph {
            operands: vec![BTreeSet::new(); items.len()],
            users: vec![BTreeSet::new(); items.len()],
        };
        for (index, node) in self.nodes.iter().enumerate() {
            for &operand in node.operands.iter().chain(&node.before) {
                if let (Some(from), Some(to)) = (place[operand], place[index])
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

/// The items of a level that each item uses, and those that use it.
struct Graph {
    operands: Vec<BTreeSet<usize>>,
    users: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Returns the items that use no other.
    fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.operands.len()).filter(|&at| self.operands[at].is_empty())
    }

    /// Removes an item that uses no other. Returns those that use no other afterwards.
    fn remove(&mut self, at: usize) -> Vec<usize> {
        let mut free = Vec::new();
        for user in std::mem::take(&mut self.users[at]) {
            self.operands[user].remove(&at);
            if self.operands[user].is_empty() {
                free.push(user);
            }
        }
        free
    }

    /// Returns the items that lie on a cycle, or between two cycles.
    fn cyclic(mut self) -> Vec<usize> {
        // What follows no cycle is removed first, then what no cycle follows.
        let mut left: BTreeSet<usize> = (0..self.operands.len()).collect();
        for _ in 0..2 {
            let mut ready: Vec<usize> = self.sources().filter(|at| left.contains(at)).collect();
            while let Some(at) = ready.pop() {
                left.remove(&at);
                ready.extend(self.remove(at));
            }
            std::mem::swap(&mut self.operands, &mut self.users);
        }
        left.into_iter().collect()
    }
}

/// Returns for each position between two items how many values go from before to behind it. Inputs
/// do not count: they may be read anywhere.
fn live(nodes: &[Node], items: &[Item]) -> Vec<usize> {
    let mut position = vec![None; nodes.len()];
    for (at, item) in items.iter().enumerate() {
        item.each(&mut |index| position[index] = Some(at));
    }
    // The last reader of each instruction.
    let mut last = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let Some(at) = position[index] else { continue };
        for &operand in node.operands.iter().filter(|&&o| !nodes[o].operands.is_empty()) {
            last[operand] = last[operand].max(at);
        }
    }
    let mut change = vec![0isize; items.len() + 2];
    for (index, &last) in last.iter().enumerate() {
        if let Some(at) = position[index].filter(|&at| last > at) {
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
            let rank = match self.nodes[index].category {
                Category::Collective | Category::Transfer | Category::Custom => 0,
                Category::Sum | Category::Control => 1,
                Category::Array | Category::Random => 2,
                Category::Elementwise => 3,
                Category::Movement => 4,
                Category::Value => 5,
            };
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
        let telling: Vec<String> =
            telling.map(|(_, count, name)| format!("{} {name}", count.0)).collect();
        let detail = format!("{all} instructions: {}", telling.join(", "));
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
            let Item::Group(group) = item else { panic!("a group") };
            let last = group.label.rsplit(" … x").next().unwrap();
            // The last of a block is live alone, and so is the first of the next one.
            assert!([0, 11].contains(&(last.parse::<usize>().unwrap() % 12)), "{}", group.label);
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
