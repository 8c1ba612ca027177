//! Sorts, largest elements, normalization, scans, devices.
use super::gradient::{check, inputs, pulled};
use super::make;
use crate::{Builder, Value};
use hlo::op::value::{Float, Pairs, Reducer, ReplicaGroups};
use hlo::op::{
    AllGather, AllReduce, AllToAll, BatchNormGrad, BatchNormInference, BatchNormTraining,
    CollectivePermute, ReduceScatter, Scan, Sort, TopK,
};
use hlo::{ElementType, Literal};

fn literal(text: &str) -> Literal {
    text.parse().expect("a literal")
}
fn sort<'b>(x: &[Value<'b>], dim: i64, less: impl FnOnce(&[Value<'b>]) -> Value<'b>) -> Value<'b> {
    let b = x[0].builder();
    let mut scalars = Vec::new();
    for x in x {
        let scalar = hlo::Shape::scalar(x.element_type().expect("an array"));
        scalars.extend([scalar.clone(), scalar]);
    }
    let to_apply = b.trace("less", &scalars, less).expect("a comparator");
    make(Sort { dimensions: Some(vec![dim]), is_stable: false, to_apply: Some(to_apply) }, x, "")
}
type Combine = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;

#[test]
fn sorts() {
    let x = inputs(&["f64[3,5]", "f64[3,5]", "f64[3,5]"], -1.0, 1.0);
    for dim in [0, 1] {
        check(&format!("sort_{dim}"), &x[..1], |_, x| {
            sort(&[x[0].sin()], dim, |p| p[0].lt(p[1])).exp()
        });
        check(&format!("sort_many_{dim}"), &x, |b, x| {
            let keys = (x[0] * 4.0).round_nearest_even().convert_element_type(ElementType::S32);
            let all = sort(&[keys, x[0], x[1] * x[2], x[0]], dim, |p| {
                p[0].gt(p[1]) | (p[0].eq(p[1]) & p[2].lt(p[3]))
            });
            b.tuple(&[
                all.get_tuple_element(1).sin(),
                all.get_tuple_element(2),
                all.get_tuple_element(3),
            ])
        });
    }
    check("sort_one", &inputs(&["f64[1]"], 0.0, 1.0), |_, x| {
        sort(&[x[0]], 0, |p| p[0].lt(p[1])).sin()
    });
}

#[test]
fn sorts_as_in_jax() {
    // `jax.vjp` of `lax.sort((keys, values), num_keys=1)` and `lax.top_k(keys, 2)`, JAX 0.10.2.
    let x = [literal("f64[4] {3, 1, 2, 1}"), literal("f64[4] {0, 1, 2, 3}")];
    let c = literal("(f64[4] {1, 2, 3, 4}, f64[4] {10, 20, 30, 40})");
    let found = pulled("sort_jax", &x, &c, &|_, x| sort(x, 0, |p| p[0].lt(p[1])));
    assert_eq!(found, literal("(f64[4] {4, 1, 3, 2}, f64[4] {40, 10, 30, 20})"));
    let found = pulled("topk_jax", &x[..1], &literal("f64[2] {1, 2}"), &|_, x| {
        make(TopK { k: 2, largest: true, is_stable: true }, x, "").get_tuple_element(0)
    });
    assert_eq!(found, literal("(f64[4] {1, 0, 2, 0})"));
}

#[test]
fn largest_elements() {
    let x = inputs(&["f64[3,5]"], -1.0, 1.0);
    for (largest, k) in [(true, 2), (false, 3), (true, 5)] {
        check(&format!("topk_{k}"), &x, |_, x| {
            make(TopK { k, largest, is_stable: true }, &[x[0].sin()], "").get_tuple_element(0)
        });
    }
}

#[test]
fn normalization() {
    let (epsilon, feature_index) = (Float(0.125), 1);
    let x = inputs(&["f64[4,3,2]", "f64[3]", "f64[3]"], -1.0, 1.0);
    check("norm_training", &x, |_, x| make(BatchNormTraining { epsilon, feature_index }, x, ""));
    let mut x = x;
    x.extend(inputs(&["f64[3]"], -1.0, 1.0));
    x.extend(inputs(&["f64[3]"], 0.5, 1.5));
    check("norm_inference", &x, |_, x| make(BatchNormInference { epsilon, feature_index }, x, ""));
    let x = [x[0].clone(), x[1].clone(), x[2].clone(), x[4].clone(), x[0].clone()];
    check("norm_grad", &x, |_, x| make(BatchNormGrad { epsilon, feature_index }, x, ""));
    // The gradient of the op is the pull-back of training, at training's statistics.
    let at = inputs(&["f64[4,2]", "f64[2]", "f64[2]"], -1.0, 1.0);
    let mut with = at.clone();
    with.extend(inputs(&["f64[2,3]", "f64[4,2]"], -1.0, 1.0).into_iter().skip(1));
    let b = Builder::new("norm_both");
    let p: Vec<Value<'_>> = with.iter().map(|x| b.input("x", x.shape())).collect();
    let trained = make(BatchNormTraining { epsilon, feature_index }, &p[..3], "");
    let pulled = b.tuple(&b.vjp(trained.get_tuple_element(0), &p[..3], p[3]));
    let of = |i| trained.get_tuple_element(i);
    let direct =
        make(BatchNormGrad { epsilon, feature_index }, &[p[0], p[1], of(1), of(2), p[3]], "");
    let both = super::evaluate_on(&b, b.tuple(&[pulled, direct]), &with);
    let both: Vec<Vec<f64>> = both
        .elements()
        .expect("two")
        .iter()
        .map(|t| t.leaves().into_iter().flat_map(super::gradient::components).collect())
        .collect();
    for (x, y) in both[0].iter().zip(&both[1]) {
        assert!((x - y).abs() < 1e-13, "{both:?}");
    }
}

#[test]
fn scans() {
    // A recurrence with a weight that stays: outputs and last carry.
    let x = inputs(&["f64[2,5]", "f64[2]", "f64[3]"], 0.2, 0.9);
    for is_reverse in [false, true] {
        check(&format!("scan_{is_reverse}"), &x, |b, x| {
            let f = b.computation("step", &["f64[2]", "f64[2]", "f64[3]"], |p| {
                let total = p[2].reduce(0.0, |a, c| a + c, &[0]);
                let next = (p[0] * p[1]).sin() + total;
                b.tuple(&[next.exp(), next * 0.5, p[2] * 0.9])
            });
            let to_apply = f.id_in(b).expect("made above");
            let op = Scan {
                dimensions: vec![1],
                num_carries: 2,
                is_reverse,
                is_associative: false,
                to_apply,
            };
            make(op, x, "(f64[2,5], f64[2], f64[3])")
        });
    }
    // Only the carry of a sum; steps that count with integers; no input at all.
    check("scan_sum", &x[..1], |b, x| {
        let f = b.computation("step", &["f64[2]", "s32[]", "f64[2]"], |p| {
            let n = p[1].convert_element_type(ElementType::F64);
            b.tuple(&[p[1] + 1, p[2] + p[0] * n])
        });
        let to_apply = f.id_in(b).expect("made above");
        let op = Scan {
            dimensions: vec![1],
            num_carries: 2,
            is_reverse: false,
            is_associative: false,
            to_apply,
        };
        let zero = b.constant([0.0, 0.0]);
        make(op, &[x[0], b.constant(1), zero], "(s32[], f64[2])").get_tuple_element(1)
    });
    check("scan_no_input", &x[1..2], |b, x| {
        let f = b.computation("step", &["f64[2]"], |p| b.tuple(&[p[0], p[0].sin()]));
        let to_apply = f.id_in(b).expect("made above");
        let op = Scan {
            dimensions: vec![0],
            num_carries: 1,
            is_reverse: false,
            is_associative: false,
            to_apply,
        };
        make(op, &[x[0]], "(f64[4,2], f64[2])")
    });
}

#[test]
fn one_device_alone() {
    // Groups of one: what each op gives is what it takes, so that every rule can be tried; their
    // shapes are those of groups.
    let x = inputs(&["f64[4,2]", "f64[3]"], -1.0, 1.0);
    let groups = || ReplicaGroups::List(vec![vec![0]]);
    let add = |b: &Builder| b.combiner("add", ElementType::F64, |x, y| x + y).expect("a combiner");
    check("all_reduce", &x, |b, x| {
        let op = AllReduce {
            channel_id: None,
            replica_groups: groups(),
            constrain_layout: false,
            use_global_device_ids: false,
            mode: hlo::op::value::Ignored,
            barrier: hlo::op::value::Ignored,
            to_apply: Reducer(Some(add(b))),
        };
        make(op, &[x[0].sin(), x[1].exp()], "")
    });
    let extrema: [Combine; 2] = [|x, y| x.max(y), |x, y| x.min(y)];
    for combine in extrema {
        check("all_reduce_extremum", &x[..1], |b, x| {
            let to_apply = b.combiner("extremum", ElementType::F64, combine).expect("a combiner");
            let op = AllReduce {
                channel_id: Some(5),
                replica_groups: groups(),
                constrain_layout: false,
                use_global_device_ids: false,
                mode: hlo::op::value::Ignored,
                barrier: hlo::op::value::Ignored,
                to_apply: Reducer(Some(to_apply)),
            };
            make(op, &[x[0].sin()], "")
        });
    }
    check("all_gather", &x[..1], |_, x| {
        let op = AllGather {
            channel_id: Some(3),
            replica_groups: groups(),
            constrain_layout: false,
            dimensions: vec![0],
            use_global_device_ids: false,
        };
        make(op, &[x[0].sin()], "f64[4,2]")
    });
    check("reduce_scatter", &x[..1], |b, x| {
        let op = ReduceScatter {
            channel_id: None,
            replica_groups: groups(),
            constrain_layout: false,
            use_global_device_ids: false,
            dimensions: vec![0],
            to_apply: add(b),
        };
        make(op, &[x[0].sin()], "f64[4,2]")
    });
    check("all_to_all", &x[..1], |_, x| {
        let op = AllToAll {
            channel_id: None,
            replica_groups: groups(),
            dimensions: vec![0],
            constrain_layout: false,
        };
        make(op, &[x[0].sin()], "f64[4,2]")
    });
    check("permute", &x[..1], |_, x| {
        let pairs = Pairs(vec![(0, 0)]);
        let op =
            CollectivePermute { channel_id: None, source_target_pairs: pairs, slice_sizes: vec![] };
        make(op, &[x[0].sin()], "")
    });
}

#[test]
fn the_way_back_between_devices() {
    // A ring of three: the cotangent goes the other way round, on a channel of its own.
    let b = Builder::new("ring");
    let (x, c) = (b.parameter(0, "f64[2]", "x"), b.parameter(1, "f64[2]", "c"));
    let pairs = Pairs(vec![(0, 1), (1, 2), (2, 0)]);
    let op =
        CollectivePermute { channel_id: Some(7), source_target_pairs: pairs, slice_sizes: vec![] };
    let pulled = b.vjp(make(op, &[x], ""), &[x], c)[0];
    let text = b.build(pulled).expect("built").module().to_string();
    assert!(text.contains("source_target_pairs={{1,0},{2,1},{0,2}}"), "{text}");
    assert!(text.contains("channel_id=8"), "{text}");
    // Blocks gathered from two devices go back as sums of blocks.
    let b = Builder::new("gather");
    let (x, c) = (b.parameter(0, "f64[2]", "x"), b.parameter(1, "f64[4]", "c"));
    let op = AllGather {
        channel_id: None,
        replica_groups: ReplicaGroups::List(vec![vec![0, 1]]),
        constrain_layout: false,
        dimensions: vec![0],
        use_global_device_ids: false,
    };
    let pulled = b.vjp(make(op, &[x], "f64[4]"), &[x], c)[0];
    let text = b.build(pulled).expect("built").module().to_string();
    assert!(text.contains("f64[2]{0} reduce-scatter("), "{text}");
}
