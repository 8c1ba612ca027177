//! `collective-permute` along pairs of replicas or of partitions, of one and of two operands.
use super::model::{BLOCK, Case, array, shape, table, x};
use super::{check, grid};
use crate::common::mode::Mode;

/// Returns the case of sends along these pairs of devices.
fn case(pairs: &[(usize, usize)], arity: usize) -> Case {
    let devices = 0..8;
    let source = |device| pairs.iter().find(|pair| pair.1 == device).map(|pair| pair.0);
    Case {
        opcode: "collective-permute",
        operands: vec![shape(BLOCK); arity],
        results: vec![shape(BLOCK); arity],
        inputs: (devices.clone())
            .map(|d| (0..arity).map(|k| array(BLOCK, |i, j| x(d, k, i, j))).collect())
            .collect(),
        expected: devices
            .map(|d| {
                let element = |k, i, j| source(d).map_or(0, |source| x(source, k, i, j));
                (0..arity).map(|k| table(BLOCK, |i, j| element(k, i, j))).collect()
            })
            .collect(),
    }
}

#[test]
fn values_go_from_source_to_target() {
    let tables: [&[(usize, usize)]; 6] = [
        &[],
        &[(2, 2)],
        &[(0, 1), (1, 2), (2, 3), (3, 0)],
        &[(3, 0), (0, 3), (2, 1)],
        // 0 receives nothing, and 3 sends nothing.
        &[(0, 1), (1, 2), (2, 3)],
        &[(0, 3)],
    ];
    for mode in [Mode::CrossReplica, Mode::CrossPartition] {
        for ids in tables {
            let two: Vec<Vec<usize>> = ids.iter().map(|&(a, b)| vec![a, b]).collect();
            let groups = mode.devices(&two, grid(mode));
            let pairs: Vec<(usize, usize)> = groups.iter().map(|pair| (pair[0], pair[1])).collect();
            let shown: Vec<String> = ids.iter().map(|(a, b)| format!("{{{a},{b}}}")).collect();
            let attributes =
                format!("source_target_pairs={{{}}}{}", shown.join(","), mode.attributes());
            for arity in [1, 2, 3] {
                check(grid(mode), &case(&pairs, arity), &attributes);
            }
        }
    }
}
