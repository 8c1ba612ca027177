//! Properties for any grid, groups and values; and bitwise independence of threads and delays.

use crate::common::mode::Mode;
use crate::common::{self, run};
use hlo::Literal;
use proptest::prelude::*;
use std::fmt::Write;

/// A grid, groups on it, and the size of a block.
#[derive(Debug, Clone)]
struct Setting {
    grid: (usize, usize),
    mode: Mode,
    ids: Vec<Vec<usize>>,
    rows: usize,
    columns: usize,
    ty: &'static str,
    /// The first number from which devices derive their elements.
    seed: u32,
}

const GRIDS: [(usize, usize); 12] = [
    (1, 1),
    (2, 1),
    (1, 3),
    (2, 2),
    (4, 1),
    (6, 1),
    (3, 2),
    (2, 4),
    (3, 3),
    (1, 12),
    (4, 3),
    (12, 1),
];

/// Returns the number of ids.
fn ids(mode: Mode, (replicas, partitions): (usize, usize)) -> usize {
    match mode {
        Mode::CrossReplica | Mode::CrossReplicaAndPartition => replicas,
        Mode::CrossPartition => partitions,
        Mode::FlattenedId => replicas * partitions,
    }
}

/// Groups of equal size, in any order.
fn setting(modes: &'static [Mode]) -> impl Strategy<Value = Setting> {
    let grid = prop::sample::select(&GRIDS[..]);
    let ty = prop::sample::select(&["s32", "f32", "u8", "bf16"][..]);
    (grid, prop::sample::select(modes), ty, 1..3usize, 1..4usize, any::<u32>(), any::<usize>())
        .prop_flat_map(|(grid, mode, ty, rows, columns, seed, pick)| {
            let count = ids(mode, grid);
            let sizes: Vec<usize> =
                (1..=count).filter(|&size| count.is_multiple_of(size)).collect();
            let size = sizes[pick % sizes.len()];
            Just((0..count).collect::<Vec<usize>>()).prop_shuffle().prop_map(move |order| {
                let ids = order.chunks(size).map(<[usize]>::to_vec).collect();
                Setting { grid, mode, ids, rows, columns, ty, seed }
            })
        })
}

const REDUCING: [Mode; 3] = [Mode::CrossReplica, Mode::CrossReplicaAndPartition, Mode::FlattenedId];
const MOVING: [Mode; 2] = [Mode::CrossReplica, Mode::CrossPartition];

impl Setting {
    fn devices(&self) -> usize {
        self.grid.0 * self.grid.1
    }
    fn groups(&self) -> Vec<Vec<usize>> {
        self.mode.devices(&self.ids, self.grid)
    }
    /// Devices in a group.
    fn members(&self) -> usize {
        self.groups()[0].len()
    }
    fn shape(&self, rows: usize) -> String {
        format!("{}[{rows},{}]", self.ty, self.columns)
    }
    /// `replica_groups=` and the attributes of the mode.
    fn attributes(&self) -> String {
        let group = |ids: &Vec<usize>| {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            format!("{{{}}}", ids.join(","))
        };
        let groups: Vec<String> = self.ids.iter().map(group).collect();
        format!("replica_groups={{{}}}{}", groups.join(","), self.mode.attributes())
    }
    /// Returns the header, a computation that adds, and the entry.
    fn text(&self, entry: &str) -> String {
        let ((replicas, partitions), ty) = (self.grid, self.ty);
        format!(
            "HloModule m, replica_count={replicas}, num_partitions={partitions}
            add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}
            ENTRY e {{ {entry} }}"
        )
    }
    /// Returns a different array for each device. Floats have fractions, so that an order of sums
    /// is detectable.
    fn inputs(&self, rows: usize) -> Vec<Vec<Literal>> {
        let mut state = self.seed;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let mut element = || match self.ty {
            "s32" => format!("{}", i64::from(draw()) * 60_000 - 2_000_000_000),
            "u8" => format!("{}", draw() % 256),
            _ => format!("{}", f64::from(draw()) / 77.0 - 400.0),
        };
        let mut array = || {
            let row = |_| {
                let elements: Vec<String> = (0..self.columns).map(|_| element()).collect();
                format!("{{{}}}", elements.join(", "))
            };
            let lines: Vec<String> = (0..rows).map(row).collect();
            let text = format!("{} {{{}}}", self.shape(rows), lines.join(", "));
            text.parse().expect("an array")
        };
        (0..self.devices()).map(|_| vec![array()]).collect()
    }
    /// Returns the index of each device in its group.
    fn places(&self) -> Vec<i32> {
        let mut places = vec![0; self.devices()];
        for group in self.groups() {
            for (place, &device) in (0..).zip(&group) {
                places[device] = place;
            }
        }
        places
    }
}

/// Runs the entry; all elements of each device's result are equal, bit by bit.
fn alike(setting: &Setting, entry: &str, inputs: &[Vec<Literal>]) {
    let text = setting.text(entry);
    let results = run(&text, inputs).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for (device, result) in results.iter().enumerate() {
        let leaves = result.leaves();
        for other in &leaves[1..] {
            assert_eq!(leaves[0].bytes(), other.bytes(), "device {device}: {result}\n{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// The members' values, gathered and then added in that order, equal their `all-reduce`.
    #[test]
    fn all_reduce_is_all_gather_and_reduce(s in setting(&REDUCING)) {
        let Setting { rows, columns, ty, .. } = s.clone();
        let (n, shape, attributes) = (s.members(), s.shape(rows), s.attributes());
        let entry = format!(
            "x = {shape} parameter(0)
            y = {shape} all-reduce(x), {attributes}, to_apply=add
            w = {ty}[1,{rows},{columns}] reshape(x)
            g = {ty}[{n},{rows},{columns}] all-gather(w), {attributes}, dimensions={{0}}
            zero = {ty}[] constant(0)
            r = {shape} reduce(g, zero), dimensions={{0}}, to_apply=add
            ROOT t = ({shape}, {shape}) tuple(y, r)"
        );
        alike(&s, &entry, &s.inputs(rows));
    }

    /// Member i has block i of the `all-reduce`.
    #[test]
    fn reduce_scatter_is_a_slice_of_all_reduce(s in setting(&REDUCING)) {
        let Setting { rows, columns, .. } = s.clone();
        let (whole, block, attributes) =
            (s.shape(rows * s.members()), s.shape(rows), s.attributes());
        let entry = format!(
            "x = {whole} parameter(0) place = s32[] parameter(1)
            y = {whole} all-reduce(x), {attributes}, to_apply=add
            rows = s32[] constant({rows}) start = s32[] multiply(place, rows) zero = s32[] constant(0)
            a = {block} dynamic-slice(y, start, zero), dynamic_slice_sizes={{{rows},{columns}}}
            b = {block} reduce-scatter(x), {attributes}, dimensions={{0}}, to_apply=add
            ROOT t = ({block}, {block}) tuple(a, b)"
        );
        let mut inputs = s.inputs(rows * s.members());
        for (arguments, place) in inputs.iter_mut().zip(s.places()) {
            arguments.push(Literal::from_slice(&[], &[place]));
        }
        alike(&s, &entry, &inputs);
    }

    /// A second `all-to-all` returns the original values.
    #[test]
    fn all_to_all_is_its_own_inverse(s in setting(&MOVING)) {
        let (whole, attributes) = (s.shape(s.rows * s.members()), s.attributes());
        let entry = format!(
            "x = {whole} parameter(0)
            y = {whole} all-to-all(x), {attributes}, dimensions={{0}}
            z = {whole} all-to-all(y), {attributes}, dimensions={{0}}
            ROOT t = ({whole}, {whole}) tuple(x, z)"
        );
        alike(&s, &entry, &s.inputs(s.rows * s.members()));
    }

    /// The array form equals the tuple form of the blocks.
    #[test]
    fn all_to_all_of_blocks_is_that_of_tuples(s in setting(&MOVING)) {
        let Setting { rows, columns, .. } = s.clone();
        let n = s.members();
        let (whole, block, attributes) = (s.shape(rows * n), s.shape(rows), s.attributes());
        let mut entry = format!("x = {whole} parameter(0) y = {whole} all-to-all(x), {attributes}, dimensions={{0}} ");
        for i in 0..n {
            let (from, to) = (i * rows, (i + 1) * rows);
            write!(entry, "b{i} = {block} slice(x), slice={{[{from}:{to}], [0:{columns}]}} ").expect("a string grows");
        }
        let list = |name: &str| (0..n).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(", ");
        let blocks = vec![block.clone(); n].join(", ");
        write!(entry, "s = ({blocks}) all-to-all({}), {attributes} ", list("b")).expect("a string grows");
        for i in 0..n {
            write!(entry, "c{i} = {block} get-tuple-element(s), index={i} ").expect("a string grows");
        }
        write!(entry, "z = {whole} concatenate({}), dimensions={{0}} ROOT t = ({whole}, {whole}) tuple(y, z)", list("c"))
            .expect("a string grows");
        alike(&s, &entry, &s.inputs(rows * n));
    }

    /// A permutation followed by its inverse is the identity.
    #[test]
    fn a_permutation_and_its_inverse(s in setting(&MOVING)) {
        let shape = s.shape(s.rows);
        let order: Vec<usize> = s.ids.concat();
        let there: Vec<String> = order.iter().enumerate().map(|(a, b)| format!("{{{a},{b}}}")).collect();
        let back: Vec<String> = order.iter().enumerate().map(|(a, b)| format!("{{{b},{a}}}")).collect();
        let mode = s.mode.attributes();
        let entry = format!(
            "x = {shape} parameter(0)
            y = {shape} collective-permute(x), source_target_pairs={{{}}}{mode}
            z = {shape} collective-permute(y), source_target_pairs={{{}}}{mode}
            ROOT t = ({shape}, {shape}) tuple(x, z)",
            there.join(","),
            back.join(",")
        );
        alike(&s, &entry, &s.inputs(s.rows));
    }

    /// One thread or four, devices delayed or not: the same bits.
    #[test]
    fn neither_threads_nor_delays_matter(
        s in setting(&REDUCING),
        ops in prop::collection::vec(0..5usize, 1..6),
        late in prop::collection::vec(0..4i32, 12),
    ) {
        let rows = 2 * s.devices();
        let inputs = |delays: &[i32]| {
            let mut inputs = s.inputs(rows);
            for (arguments, &delay) in inputs.iter_mut().zip(delays) {
                arguments.push(Literal::from_slice(&[], &[delay]));
            }
            inputs
        };
        let text = chain(&s, rows, &ops);
        let on_time = inputs(&[0; 12]);
        let first = run(&text, &on_time).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            for arguments in [&on_time, &inputs(&late)] {
                let again = pool.install(|| run(&text, arguments)).expect("it ran before");
                for (a, b) in first.iter().zip(&again) {
                    prop_assert_eq!(a.bytes(), b.bytes());
                }
            }
        }
        // A random order rounds sums of floats after each value; integers are the same in any
        // order.
        let module = common::verified(&text);
        for seed in (0..3).filter(|_| ["s32", "u8"].contains(&s.ty)) {
            let program = common::program::Program::new(&module).with_seed(seed);
            let again = program.run(&inputs(&late)).expect("it ran before");
            for (a, b) in first.iter().zip(&again) {
                prop_assert_eq!(a.bytes(), b.bytes());
            }
        }
    }
}

/// Returns a chain of ops, before each of which a device may be delayed by some iterations of a
/// loop.
fn chain(s: &Setting, rows: usize, ops: &[usize]) -> String {
    let Setting { grid: (replicas, partitions), ty, .. } = *s;
    let (shape, attributes) = (s.shape(rows), s.attributes());
    let (n, block) = (s.members(), s.shape(rows / s.members()));
    let alone: Vec<String> = (0..replicas).map(|r| format!("{{{r}}}")).collect();
    let ring: Vec<String> =
        (0..replicas).map(|r| format!("{{{r},{}}}", (r + 1) % replicas)).collect();
    let (alone, ring) = (alone.join(","), ring.join(","));
    let mut entry = format!("x0 = {shape} parameter(0) late = s32[] parameter(1) ");
    for (i, op) in ops.iter().enumerate() {
        let before = format!("w{i}");
        // The loop's value is the array, so that the op cannot come before it.
        let line = match op {
            0 => format!("all-reduce({before}), {attributes}, to_apply=add"),
            1 => format!("collective-permute({before}), source_target_pairs={{{ring}}}"),
            2 => format!("all-to-all({before}), replica_groups={{}}, dimensions={{0}}"),
            3 => format!("collective-broadcast({before}), replica_groups={{}}"),
            _ => format!("all-gather(s{i}), {attributes}, dimensions={{0}}"),
        };
        let first = match op {
            4 => format!(
                "s{i} = {block} reduce-scatter({before}), {attributes}, dimensions={{0}}, to_apply=add "
            ),
            _ => String::new(),
        };
        let next = i + 1;
        write!(
            entry,
            "c{i} = (s32[], {shape}) tuple(late, x{i})
            l{i} = (s32[], {shape}) while(c{i}), condition=goes, body=waits
            w{i} = {shape} get-tuple-element(l{i}), index=1 {first}
            x{next} = {shape} {line} "
        )
        .expect("a string grows");
    }
    let last = ops.len();
    assert!(rows.is_multiple_of(n), "blocks are of one size");
    format!(
        "HloModule m, replica_count={replicas}, num_partitions={partitions}
        add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}
        more {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}
        waits {{ c = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(c), index=0
          x = {shape} get-tuple-element(c), index=1 one = s32[] constant(1) j = s32[] subtract(i, one)
          k = s32[] all-reduce(j), replica_groups={{{alone}}}, to_apply=more
          ROOT t = (s32[], {shape}) tuple(k, x) }}
        goes {{ c = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(c), index=0
          zero = s32[] constant(0) ROOT g = pred[] compare(i, zero), direction=GT }}
        ENTRY e {{ {entry} ROOT r = {shape} copy(x{last}) }}"
    )
}
