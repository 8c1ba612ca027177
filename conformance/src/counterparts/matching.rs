//! Which nodes of two lists are counterparts of each other.
use super::list::Node;
use hlo::Opcode;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The most times that counterparts are sought among the neighbors of those found last.
const ROUNDS: usize = 20;

/// The nodes of two modules, and the counterpart of each.
pub(super) struct Matching<'n> {
    pub(super) lists: [&'n [Node]; 2],
    pub(super) others: [Vec<Option<usize>>; 2],
    /// The nodes among which counterparts are sought.
    ranges: [Range<usize>; 2],
}

/// What happens to nodes of the same key if there are several of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Several {
    LeftOut,
    /// They are counterparts in their order, if there are as many on both sides.
    InOrder,
    /// They are counterparts in their order, and the rest has none.
    First,
}

/// Returns whether a node computes a value, or puts values together.
fn computes(number: usize, node: &Node) -> bool {
    node.source == number
}

/// Returns a name without the number at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_')
}

impl<'n> Matching<'n> {
    pub(super) fn new(
        lists: [&'n [Node]; 2],
        others: [Vec<Option<usize>>; 2],
        ranges: [Range<usize>; 2],
    ) -> Self {
        Self { lists, others, ranges }
    }

    /// Matches all nodes: first those that compute the same by the same instructions, then those
    /// that the names and the neighbors tell, at last those that only rename values.
    pub(super) fn run(&mut self, roots: [usize; 2]) {
        type Named<'n> = (&'n str, Opcode, &'n str, &'n str);
        self.by_key(Several::LeftOut, |_, _, node| Some((node.hash, node.name.as_str())));
        self.by_key(Several::First, |_, _, node| Some(node.hash));
        self.results(roots);
        self.by_key(Several::LeftOut, |_, _, node| -> Option<Named<'_>> {
            Some((&node.name, node.opcode, &node.shape, &node.op_name))
        });
        self.by_neighbors(true);
        let of_frontend = |_: &Self, _, node: &'n Node| {
            let key = (node.op_name.as_str(), node.opcode, node.shape.as_str());
            Some(key).filter(|_| !node.op_name.is_empty())
        };
        for several in [Several::LeftOut, Several::InOrder] {
            self.by_key(several, of_frontend);
            self.by_neighbors(true);
        }
        self.by_key(Several::LeftOut, |_, _, node| {
            Some((node.name.as_str(), node.opcode, node.shape.as_str()))
        });
        self.by_neighbors(true);
        // Compilers number names anew: `exp.1` becomes `exp.2`.
        for several in [Several::LeftOut, Several::InOrder] {
            self.by_key(several, |_, _, node| {
                Some((stem(&node.name), node.opcode, node.shape.as_str()))
            });
            self.by_neighbors(true);
        }
        self.by_key(Several::LeftOut, |_, _, node| Some((node.name.as_str(), node.opcode)));
        self.by_neighbors(true);
        self.by_key(Several::LeftOut, |_, _, node| Some((node.opcode, node.shape.as_str())));
        let controls = |opcode| matches!(opcode, Opcode::While | Opcode::Conditional);
        self.by_key(Several::InOrder, |_, _, node| Some(node.opcode).filter(|&op| controls(op)));
        self.by_neighbors(true);
        self.by_key(Several::LeftOut, |_, _, node| Some((node.name.as_str(), node.shape.as_str())));
        self.by_neighbors(false);
    }

    /// Matches results, and the elements of results that are tuples.
    fn results(&mut self, roots: [usize; 2]) {
        let sources = [0, 1].map(|side| self.lists[side][roots[side]].source);
        let nodes = [0, 1].map(|side: usize| &self.lists[side][sources[side]]);
        let mut pairs = vec![sources];
        if nodes.iter().all(|node| node.opcode == Opcode::Tuple)
            && nodes[0].operands.len() == nodes[1].operands.len()
        {
            let elements = nodes[0].operands.iter().zip(&nodes[1].operands);
            pairs.extend(elements.map(|(&first, &second)| {
                [self.lists[0][first].source, self.lists[1][second].source]
            }));
        }
        for [first, second] in pairs {
            let nodes = [&self.lists[0][first], &self.lists[1][second]];
            if nodes[0].opcode == nodes[1].opcode {
                self.put_free([first, second]);
            }
        }
    }

    fn put(&mut self, pair: [usize; 2]) {
        self.others[0][pair[0]] = Some(pair[1]);
        self.others[1][pair[1]] = Some(pair[0]);
    }

    fn is_free(&self, pair: [usize; 2]) -> bool {
        [0, 1].iter().all(|&side| {
            self.others[side][pair[side]].is_none() && self.ranges[side].contains(&pair[side])
        })
    }

    /// Matches nodes of the same key that have no counterpart; returns whether there are any.
    fn by_key<K: Hash + Eq>(
        &mut self,
        several: Several,
        key: impl Fn(&Self, (usize, usize), &'n Node) -> Option<K>,
    ) -> bool {
        self.by_key_among(several, computes, key)
    }

    fn by_key_among<K: Hash + Eq>(
        &mut self,
        several: Several,
        is_sought: impl Fn(usize, &Node) -> bool,
        key: impl Fn(&Self, (usize, usize), &'n Node) -> Option<K>,
    ) -> bool {
        let mut keyed: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
        for side in 0..2 {
            for number in self.ranges[side].clone() {
                let node = &self.lists[side][number];
                let is_open = self.others[side][number].is_none() && is_sought(number, node);
                if let Some(key) = is_open.then(|| key(self, (side, number), node)).flatten() {
                    keyed.entry(key).or_default()[side].push(number);
                }
            }
        }
        let mut found = false;
        for [first, second] in keyed.into_values() {
            let is_taken = match several {
                Several::LeftOut => first.len() == 1 && second.len() == 1,
                Several::InOrder => first.len() == second.len(),
                Several::First => true,
            };
            for (first, second) in first.into_iter().zip(second).filter(|_| is_taken) {
                self.put([first, second]);
                found = true;
            }
        }
        found
    }

    /// Returns the nodes whose values a node takes, as numbers of the second side. `None` if one has
    /// no counterpart.
    fn values(&self, side: usize, node: &Node) -> Option<Vec<usize>> {
        let value = |&number: &usize| self.value(side, number);
        node.operands.iter().map(value).collect()
    }

    /// Returns the node that computes a value, as a number of the second side.
    fn value(&self, side: usize, number: usize) -> Option<usize> {
        let source = self.lists[side][number].source;
        if side == 0 { self.others[0][source] } else { Some(source) }
    }

    /// Matches what counterparts take at the same place, and what takes counterparts, until there is
    /// nothing more. Of other opcodes only if asked for.
    fn by_neighbors(&mut self, of_same_opcode: bool) {
        for _ in 0..ROUNDS {
            let above = self.by_user(of_same_opcode);
            let below = self.by_key(Several::InOrder, |this, (side, _), node| {
                let values = this.values(side, node).filter(|values| !values.is_empty())?;
                Some((node.opcode, node.shape.as_str(), values))
            });
            if !above && !below {
                break;
            }
        }
    }

    /// Matches the operands of instructions with counterparts, from the last on: those at the same
    /// place, of the same shape.
    fn by_user(&mut self, of_same_opcode: bool) -> bool {
        let mut found = false;
        for number in self.ranges[1].clone().rev() {
            let Some(other) = self.others[1][number] else { continue };
            let users = [&self.lists[0][other], &self.lists[1][number]];
            if users[0].opcode != users[1].opcode
                || users[0].operands.len() != users[1].operands.len()
            {
                continue;
            }
            for (&first, &second) in users[0].operands.iter().zip(&users[1].operands) {
                let pair = [self.lists[0][first].source, self.lists[1][second].source];
                let nodes = [&self.lists[0][pair[0]], &self.lists[1][pair[1]]];
                let is_alike = nodes[0].shape == nodes[1].shape
                    && (!of_same_opcode || nodes[0].opcode == nodes[1].opcode)
                    && nodes.iter().all(|node| node.opcode != Opcode::Parameter);
                if is_alike && self.is_free(pair) {
                    self.put(pair);
                    found = true;
                }
            }
        }
        found
    }

    /// Matches calls, fusions and elements of tuples, by the values that they name.
    pub(super) fn renamings(&mut self) {
        let renames =
            |number, node: &Node| !computes(number, node) && node.opcode != Opcode::Parameter;
        for several in [Several::LeftOut, Several::InOrder] {
            self.by_key_among(several, renames, |this, (side, number), node| {
                Some((node.name.as_str(), node.opcode, this.value(side, number)?))
            });
            self.by_key_among(several, renames, |this, (side, number), node| {
                Some((node.opcode, this.value(side, number)?))
            });
            self.by_key_among(several, renames, |_, _, node| {
                Some((node.name.as_str(), node.opcode, node.shape.as_str()))
            });
        }
    }

    /// Matches two nodes if they have no counterparts.
    pub(super) fn put_free(&mut self, pair: [usize; 2]) {
        if self.is_free(pair) {
            self.put(pair);
        }
    }
}
