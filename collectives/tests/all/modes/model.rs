//! The result of each op on each device: a formula for each element, from the specification.
//!
//! Device `d` holds, as its operand `k`, the array with `x(d, k, i, j)` in row `i` and column `j`:
//! no two elements are equal, so that a misplaced element is detected.
use hlo::Literal;

/// A program's operands and results.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) opcode: &'static str,
    /// Shapes.
    pub(crate) operands: Vec<String>,
    /// Shapes.
    pub(crate) results: Vec<String>,
    /// The arguments of each device.
    pub(crate) inputs: Vec<Vec<Literal>>,
    /// The elements of each result, for each device.
    pub(crate) expected: Vec<Vec<Vec<i32>>>,
}

/// An op with the attributes that the group mode does not determine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    AllReduce { arity: usize },
    ReduceScatter { arity: usize, dim: usize },
    AllGather { arity: usize, dim: usize },
    AllToAll { dim: usize },
    AllToAllOfTuple,
    Broadcast,
    BroadcastFromRoot,
    Ragged,
    RaggedUpdates,
}

/// Returns the element of a device's operand.
pub(crate) fn x(device: usize, operand: usize, row: usize, column: usize) -> i32 {
    number(100_000 * device + 10_000 * operand + 100 * row + column)
}

fn number(n: usize) -> i32 {
    i32::try_from(n).expect("small")
}

/// Returns the elements of an array, row after row.
pub(crate) fn table(size: [usize; 2], element: impl Fn(usize, usize) -> i32) -> Vec<i32> {
    (0..size[0])
        .flat_map(|i| (0..size[1]).map(move |j| (i, j)))
        .map(|(i, j)| element(i, j))
        .collect()
}

pub(crate) fn array(size: [usize; 2], element: impl Fn(usize, usize) -> i32) -> Literal {
    let dims = size.map(|n| i64::from(number(n)));
    Literal::from_slice(&dims, &table(size, element))
}

pub(crate) fn shape(size: [usize; 2]) -> String {
    format!("s32[{},{}]", size[0], size[1])
}

/// A block of the arrays: two rows of three.
pub(crate) const BLOCK: [usize; 2] = [2, 3];

/// Returns the sizes of `count` blocks along a dimension.
fn blocks(dim: usize, count: usize) -> [usize; 2] {
    let mut size = BLOCK;
    size[dim] *= count;
    size
}
/// Returns the block along a dimension that contains an element, and the element's index in it.
fn within(dim: usize, i: usize, j: usize) -> (usize, usize, usize) {
    match dim {
        0 => (i / BLOCK[0], i % BLOCK[0], j),
        _ => (j / BLOCK[1], i, j % BLOCK[1]),
    }
}
/// Returns the element of block `block` along a dimension.
fn of_block(device: usize, operand: usize, dim: usize, block: usize, [i, j]: [usize; 2]) -> i32 {
    match dim {
        0 => x(device, operand, block * BLOCK[0] + i, j),
        _ => x(device, operand, i, block * BLOCK[1] + j),
    }
}

/// The number of rows that a device sends to a member of its group: 0, 1 or 2.
fn rows(device: usize, place: usize) -> usize {
    (device + place) % 3
}
/// The number of rows of an update that a device sends: 0 or 1.
fn update(device: usize, place: usize, update: usize) -> usize {
    (device + place + update) % 2
}

impl Kind {
    /// Attributes other than those of the group mode.
    pub(crate) fn attributes(self) -> String {
        match self {
            Self::AllReduce { .. } => ", to_apply=add".to_owned(),
            Self::ReduceScatter { dim, .. } => format!(", dimensions={{{dim}}}, to_apply=add"),
            Self::AllGather { dim, .. } | Self::AllToAll { dim } => {
                format!(", dimensions={{{dim}}}")
            }
            Self::BroadcastFromRoot => ", has_dynamic_root=true".to_owned(),
            Self::AllToAllOfTuple | Self::Broadcast | Self::Ragged | Self::RaggedUpdates => {
                String::new()
            }
        }
    }
    fn opcode(self) -> &'static str {
        match self {
            Self::AllReduce { .. } => "all-reduce",
            Self::ReduceScatter { .. } => "reduce-scatter",
            Self::AllGather { .. } => "all-gather",
            Self::AllToAll { .. } | Self::AllToAllOfTuple => "all-to-all",
            Self::Broadcast | Self::BroadcastFromRoot => "collective-broadcast",
            Self::Ragged | Self::RaggedUpdates => "ragged-all-to-all",
        }
    }
    /// Returns the number of results, in groups of `n`.
    fn results(self, n: usize) -> usize {
        match self {
            Self::AllReduce { arity }
            | Self::ReduceScatter { arity, .. }
            | Self::AllGather { arity, .. } => arity,
            Self::AllToAllOfTuple => n,
            Self::BroadcastFromRoot => 2,
            Self::AllToAll { .. } | Self::Broadcast | Self::Ragged | Self::RaggedUpdates => 1,
        }
    }
    /// Returns sizes of an operand and of a result, in groups of `n`.
    fn sizes(self, n: usize) -> ([usize; 2], [usize; 2]) {
        match self {
            Self::AllReduce { .. }
            | Self::Broadcast
            | Self::BroadcastFromRoot
            | Self::AllToAllOfTuple => (BLOCK, BLOCK),
            Self::ReduceScatter { dim, .. } => (blocks(dim, n), BLOCK),
            Self::AllGather { dim, .. } => (BLOCK, blocks(dim, n)),
            Self::AllToAll { dim } => (blocks(dim, n), blocks(dim, n)),
            Self::Ragged | Self::RaggedUpdates => (blocks(0, n), blocks(0, n)),
        }
    }
    /// Returns the lists that follow the arrays, of the member at `place`: the elements and sizes
    /// of each.
    fn lists(self, group: &[usize], place: usize) -> Vec<(Vec<usize>, String)> {
        let (n, own) = (group.len(), group[place]);
        let places = || 0..n;
        match self {
            // The last for the first operand, the first for the second.
            Self::BroadcastFromRoot => vec![(vec![n - 1, 0], "2".to_owned())],
            Self::Ragged => [
                places().map(|q| 2 * q).collect(),
                places().map(|q| rows(own, q)).collect(),
                places().map(|_| 2 * place).collect(),
                places().map(|p| rows(group[p], place)).collect(),
            ]
            .map(|list: Vec<usize>| (list, n.to_string()))
            .into(),
            Self::RaggedUpdates => [
                places().flat_map(|q| [2 * q, 2 * q + 1]).collect(),
                places().flat_map(|q| [update(own, q, 0), update(own, q, 1)]).collect(),
                places().flat_map(|_| [2 * place + 1, 2 * place]).collect(),
                places()
                    .flat_map(|p| [update(group[p], place, 0), update(group[p], place, 1)])
                    .collect(),
            ]
            .map(|list: Vec<usize>| (list, format!("{n},2")))
            .into(),
            Self::AllReduce { .. }
            | Self::ReduceScatter { .. }
            | Self::AllGather { .. }
            | Self::AllToAll { .. }
            | Self::AllToAllOfTuple
            | Self::Broadcast => Vec::new(),
        }
    }
    /// Returns element `[i, j]` of result `k` of the member at `place`.
    fn expected(self, group: &[usize], place: usize, k: usize, [i, j]: [usize; 2]) -> i32 {
        match self {
            Self::AllReduce { .. } => group.iter().map(|&m| x(m, k, i, j)).sum(),
            Self::ReduceScatter { dim, .. } => {
                group.iter().map(|&m| of_block(m, k, dim, place, [i, j])).sum()
            }
            Self::AllGather { dim, .. } => {
                let (block, i, j) = within(dim, i, j);
                x(group[block], k, i, j)
            }
            Self::AllToAll { dim } => {
                let (block, i, j) = within(dim, i, j);
                of_block(group[block], k, dim, place, [i, j])
            }
            Self::AllToAllOfTuple => x(group[k], place, i, j),
            Self::Broadcast => x(group[0], k, i, j),
            Self::BroadcastFromRoot => x(group[[group.len() - 1, 0][k]], k, i, j),
            Self::Ragged => {
                let (sender, row) = (group[i / 2], i % 2);
                match row < rows(sender, place) {
                    true => x(sender, 0, 2 * place + row, j),
                    false => x(group[place], 1, i, j),
                }
            }
            Self::RaggedUpdates => {
                // The first update of a sender goes to the second of its two rows here.
                let (sender, u) = (group[i / 2], 1 - i % 2);
                match update(sender, place, u) {
                    0 => x(group[place], 1, i, j),
                    _ => x(sender, 0, 2 * place + u, j),
                }
            }
        }
    }

    /// Returns the program for these groups; of `all-reduce`, they may be of several sizes.
    pub(crate) fn case(self, groups: &[Vec<usize>], grid: (usize, usize)) -> Case {
        let n = groups[0].len();
        let (operand, result) = self.sizes(n);
        let arrays = match self {
            Self::Ragged | Self::RaggedUpdates => 2,
            _ => self.results(n),
        };
        let mut operands = vec![shape(operand); arrays];
        operands
            .extend(self.lists(&groups[0], 0).into_iter().map(|(_, dims)| format!("s32[{dims}]")));
        let (mut inputs, mut expected) =
            (vec![Vec::new(); grid.0 * grid.1], vec![Vec::new(); grid.0 * grid.1]);
        for group in groups {
            for (place, &device) in group.iter().enumerate() {
                inputs[device] =
                    (0..arrays).map(|k| array(operand, |i, j| x(device, k, i, j))).collect();
                inputs[device].extend(self.lists(group, place).into_iter().map(|(list, dims)| {
                    let dims: Vec<i64> =
                        dims.split(',').map(|n| n.parse().expect("a size")).collect();
                    Literal::from_slice(&dims, &list.into_iter().map(number).collect::<Vec<i32>>())
                }));
                expected[device] = (0..self.results(n))
                    .map(|k| table(result, |i, j| self.expected(group, place, k, [i, j])))
                    .collect();
            }
        }
        let results = vec![shape(result); self.results(n)];
        Case { opcode: self.opcode(), operands, results, inputs, expected }
    }
}
