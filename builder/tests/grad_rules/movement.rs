//! Slices, pads, concatenations, dynamic slices, bitcasts, barriers.
use super::gradient::{Random, check, gradients, inputs};
use super::make;
use crate::{Builder, Value};
use hlo::op::value::{PaddingConfig, PaddingDim, SliceRange, SliceRanges};
use hlo::op::{
    Bitcast, BitcastConvert, Broadcast, Concatenate, Copy, DynamicSlice, DynamicUpdateSlice,
    GetDimensionSize, OptBarrier, Pad, ReducePrecision, Reverse, Select, SetDimensionSize, Slice,
};

fn slice(ranges: &[(i64, i64, i64)]) -> Slice {
    let range = |&(start, limit, stride): &(i64, i64, i64)| SliceRange { start, limit, stride };
    Slice { ranges: SliceRanges(ranges.iter().map(range).collect()) }
}
fn pad(dims: &[(i64, i64, i64)]) -> Pad {
    let dim = |&(low, high, interior): &(i64, i64, i64)| PaddingDim { low, high, interior };
    Pad { padding: PaddingConfig { dims: dims.iter().map(dim).collect() } }
}

#[test]
fn slices() {
    let x = inputs(&["f64[7,5]"], -1.0, 1.0);
    let ranges = [(1, 7, 2), (0, 5, 1)];
    check("slice", &x, |_, x| make(slice(&ranges), &[x[0]], "f64[3,5]").sin());
    let ranges = [(0, 6, 4), (2, 3, 1)];
    check("slice_2", &x, |_, x| make(slice(&ranges), &[x[0]], "f64[2,1]").sin());
    let nothing = [(3, 3, 1), (0, 5, 2)];
    let slopes = gradients("slice_nothing", &x, |_, x| {
        make(slice(&nothing), &[x[0]], "f64[0,3]").reduce(0.0, |a, c| a + c, &[0, 1])
    });
    assert_eq!(slopes, [[0.0; 35]]);
    check("reverse", &x, |_, x| make(Reverse { dimensions: vec![1] }, &[x[0]], "").sin() * x[0]);
}

#[test]
fn pads() {
    let x = inputs(&["f64[3,4]", "f64[]"], -1.0, 1.0);
    for (i, dims) in [
        [(1, 2, 0), (0, 0, 3)],
        [(-1, 2, 1), (2, -3, 2)],
        [(-1, -1, 0), (-2, -1, 0)],
        // Interior padding is cut off too.
        [(-2, 0, 3), (0, -4, 3)],
        [(0, 0, 0), (0, 0, 0)],
    ]
    .iter()
    .enumerate()
    {
        check(&format!("pad_{i}"), &x, |_, x| make(pad(dims), &[x[0], x[1]], "").sin());
    }
    let x = ["f64[0] {}".parse().expect("a literal"), "f64[] 3".parse().expect("a literal")];
    let slopes = gradients("pad_nothing", &x, |_, x| {
        make(pad(&[(2, 1, 1)]), &[x[0], x[1]], "").reduce(0.0, |a, c| a + c, &[0])
    });
    assert_eq!(slopes, [vec![], vec![3.0]]);
}

#[test]
fn concatenations() {
    let x = inputs(&["f64[2,3]", "f64[2,1]", "f64[2,2]"], -1.0, 1.0);
    let op = || Concatenate { dimensions: vec![1] };
    check("concatenate", &x, |_, x| make(op(), x, "").sin());
    check("concatenate_twice", &x[..1], |_, x| make(op(), &[x[0], x[0]], "").sin());
    check("concatenate_fixed", &x[..1], |b, x| {
        make(op(), &[b.constant([[1f64], [2.0]]), x[0]], "").sin()
    });
}

#[test]
fn dynamic_slices_are_limited_alike_in_both_directions() {
    // The second start is limited to 2: size 5 less slice 3.
    for (i, start) in ["s32[] 1", "s32[] 9", "s32[] -4"].into_iter().enumerate() {
        let mut x = inputs(&["f64[4,5]", "f64[2,3]"], -1.0, 1.0);
        x.push(start.parse().expect("a literal"));
        let sizes = || DynamicSlice { dynamic_slice_sizes: vec![2, 3] };
        check(&format!("dynamic_slice_{i}"), &x, |_, x| {
            make(sizes(), &[x[0], x[2], x[2]], "f64[2,3]").sin() * x[1]
        });
        check(&format!("dynamic_update_{i}"), &x, |_, x| {
            make(DynamicUpdateSlice {}, &[x[0], x[1], x[2], x[2]], "f64[4,5]").sin()
        });
    }
}

#[test]
fn broadcasts_in_any_order() {
    let x = inputs(&["f64[2,3]"], -1.0, 1.0);
    let op = || Broadcast { dimensions: vec![2, 0] };
    check("broadcast_turned", &x, |_, x| make(op(), &[x[0]], "f64[3,4,2]").sin());
    let x = inputs(&["f64[2,3,4]"], -1.0, 1.0);
    let op = || Broadcast { dimensions: vec![2, 3, 0] };
    check("broadcast_cycled", &x, |_, x| make(op(), &[x[0]], "f64[4,5,2,3]").sin());
}

#[test]
fn what_gives_its_operand() {
    let x = inputs(&["f64[2,3]", "f64[4]"], -1.0, 1.0);
    check("copy", &x[..1], |_, x| make(Copy {}, &[x[0]], "").sin());
    check("barrier", &x, |b, x| {
        let both = make(OptBarrier {}, &[b.tuple(x)], "");
        b.tuple(&[both.get_tuple_element(1), both.get_tuple_element(0)])
    });
    check("bitcast", &x[..1], |_, x| make(Bitcast {}, &[x[0]], "f64[3,2]").sin());
    check("tuple_select", &x, |b, x| {
        let (left, right) = (b.tuple(x), b.tuple(&[x[0] * 2, x[1].sin()]));
        make(Select {}, &[b.constant(false), left, right], "")
    });
}

#[test]
fn roundings_round_cotangents() {
    // JAX 0.10.2: `jax.vjp` of `lax.reduce_precision(x, 5, 4)` at 1.2345 of cotangent 1.2345 is
    // 1.25.
    let x = ["f64[] 1.2345".parse().expect("a literal")];
    let op = || ReducePrecision { exponent_bits: 5, mantissa_bits: 4 };
    let slopes = gradients("precision", &x, |_, x| make(op(), &[x[0]], "f64[]") * 1.2345);
    assert_eq!(slopes, [[1.25]]);
}

#[test]
fn conversions_of_all_floats() {
    let x = [Random(3).array("f64[4]", -1.0, 1.0)];
    for ty in ["bf16", "f16", "f32", "f8e5m2"] {
        let slopes = gradients("narrow", &x, |_, x| {
            let narrow =
                x[0].convert_element_type(hlo::ElementType::from_name(ty).expect("a type"));
            narrow.convert_element_type(hlo::ElementType::F64).reduce(0.0, |a, c| a + c, &[0])
        });
        assert_eq!(slopes, [[1.0; 4]], "{ty}");
    }
}

#[track_caller]
fn refused(f: impl for<'b> Fn(&'b Builder, Value<'b>) -> Value<'b>, why: &str) {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4]", "x");
    let y = f(&b, x);
    let error = b.build(b.vjp(y, &[x], y)[0]).expect_err("it has no derivative");
    assert_eq!(error.number(), "E0808", "{error}");
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn what_has_no_derivative_says_why() {
    refused(|_, x| make(BitcastConvert {}, &[x], "bf16[4,2]"), "reads bits as another type");
    refused(|_, x| make(BitcastConvert {}, &[x], "u32[4]"), "only through `bitcast-convert`");
    refused(
        |b, x| make(SetDimensionSize { dimensions: vec![0] }, &[x, b.constant(2i32)], ""),
        "`set-dimension-size` has no derivative rule here: the size of its result is dynamic",
    );
    refused(
        |_, x| {
            let size = make(GetDimensionSize { dimensions: vec![0] }, &[x], "");
            size.convert_element_type(hlo::ElementType::F32)
        },
        "only through `get-dimension-size`, whose derivative is zero",
    );
}
