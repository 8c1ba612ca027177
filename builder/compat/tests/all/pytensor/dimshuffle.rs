//! `DimShuffle`: the documented examples, what is refused, derivatives.
use crate::support::run;
use builder::Builder;
use builder_compat::new_order;
use builder_compat::pytensor::{Axis, Cotangent, DimShuffle, Tensor};

#[test]
fn the_documented_examples() {
    let cases: [(&str, &[Axis], &[i64]); 10] = [
        ("f32[20,30,40]", &new_order!["x", 2, "x", 0, 1], &[1, 40, 1, 20, 30]),
        ("f32[1,20]", &new_order![1], &[20]),
        ("f32[]", &new_order!["x"], &[1]),
        ("f32[2,3]", &new_order![0, 1], &[2, 3]),
        ("f32[2,3]", &new_order![1, 0], &[3, 2]),
        ("f32[5]", &new_order!["x", 0], &[1, 5]),
        ("f32[5]", &new_order![0, "x"], &[5, 1]),
        ("f32[2,3,4]", &new_order![2, 0, 1], &[4, 2, 3]),
        ("f32[2,3]", &new_order![0, "x", 1], &[2, 1, 3]),
        ("f32[2,3]", &new_order![1, "x", 0], &[3, 1, 2]),
    ];
    for (shape, order, expected) in cases {
        let b = Builder::new("m");
        let x = b.parameter(0, shape, "x");
        let op = DimShuffle::new(x.rank().unwrap(), order).unwrap();
        assert_eq!(op.apply(x).dims().unwrap(), expected, "{shape} {op}");
    }
}

#[test]
fn elements_go_where_their_dimensions_go() {
    let b = Builder::new("shuffled");
    let x = b.parameter(0, "s32[2,1,3]", "x");
    let op = DimShuffle::new(3, &new_order![2, x, 0]).unwrap();
    let y = op.apply(x);
    let back = op.pullback(y, y, Cotangent::Disconnected);
    assert!(back.is_disconnected());
    assert_eq!(op.shuffle(), [2, 0]);
    assert_eq!(op.dropped(), [1]);
    assert_eq!(op.augment(), [1]);
    assert_eq!(
        run(&b, y, &["s32[2,1,3] {{{1, 2, 3}}, {{4, 5, 6}}}"]),
        "s32[3,1,2]{2,1,0} { { { 1, 4 } }, { { 2, 5 } }, { { 3, 6 } } }"
    );
    assert_eq!(op.to_string(), "DimShuffle{order=[2,x,0]}");
}

#[test]
fn derivatives_are_shuffled_too() {
    let b = Builder::new("shuffled");
    let x = b.parameter(0, "f32[2,1,3]", "x");
    let n = b.parameter(1, "s8[2,1,3]", "n");
    let op = DimShuffle::new(3, &new_order![2, 'x', 0]).unwrap();
    let y = op.apply(x);
    let back = op.pullback(x, y, y).value().unwrap();
    let again = op.pushforward(x, y, x).value().unwrap();
    let all = b.tuple(&[back, again]);
    let argument = "f32[2,1,3] {{{1, 2, 3}}, {{4, 5, 6}}}";
    assert_eq!(
        run(&b, all, &[argument, "s8[2,1,3] {{{0, 0, 0}}, {{0, 0, 0}}}"]),
        "( f32[2,1,3]{2,1,0} { { { 1, 2, 3 } }, { { 4, 5, 6 } } }, \
         f32[3,1,2]{2,1,0} { { { 1, 4 } }, { { 2, 5 } }, { { 3, 6 } } } )"
    );
    let zeros = op.pullback(n, op.apply(n), y).value().unwrap();
    assert_eq!(zeros.shape().unwrap().to_string(), "f64[2,1,3]{2,1,0}");
    assert!(op.pushforward(x, y, Cotangent::Disconnected).is_disconnected());
}

#[test]
fn orders_that_mean_nothing_are_refused() {
    let message = |ndim, order: &[Axis]| DimShuffle::new(ndim, order).unwrap_err().to_string();
    assert!(
        message(2, &new_order![0, 2]).contains("new_order[1] is 2, the input has 2 dimensions")
    );
    assert!(message(2, &new_order![1, 'x', 1]).contains("dimension 1 of the input is named twice"));
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2,1]", "x");
    let refused = |op: DimShuffle, x: Tensor<'_>| op.make_node(&x).unwrap_err().to_string();
    let error = refused(DimShuffle::new(1, &new_order![0]).unwrap(), x.into());
    assert!(error.contains("takes an input of 1 dimensions, this has 2"), "{error}");
    let error = refused(DimShuffle::new(2, &new_order![1]).unwrap(), x.into());
    assert!(error.contains("drops dimension 0, of size 2, which is not broadcastable"), "{error}");
    // A dimension of size 1 that is not known to be one is not dropped.
    let unknown = Tensor::from(x).with_broadcastable(&[false, false]).unwrap();
    let error = refused(DimShuffle::new(2, &new_order![0]).unwrap(), unknown);
    assert!(error.contains("drops dimension 1, of size 1, which is not broadcastable"), "{error}");
    b.status().unwrap();
    // Applied to a value, the mistake is kept, with its line.
    let line = line!() + 1;
    let y = DimShuffle::new(2, &new_order![1]).unwrap().apply(x);
    assert!(!y.is_valid());
    let error = b.status().unwrap_err();
    assert_eq!(error.location().map(|l| (l.file(), l.line())), Some((file!(), line)));
}

#[test]
fn patterns_go_along() {
    let b = Builder::new("m");
    let x = Tensor::from(b.parameter(0, "f32[1,1,2]", "x"));
    let x = x.with_broadcastable(&[true, false, false]).unwrap();
    let y = DimShuffle::new(3, &new_order![2, 'x', 1]).unwrap().make_node(&x).unwrap();
    assert_eq!(y.broadcastable().unwrap(), [false, true, false]);
}
