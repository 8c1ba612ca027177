//! Convolutions.
#![expect(clippy::unreadable_literal, reason = "numbers as JAX prints them")]
use super::gradient::{check, inputs, pulled};
use super::make;
use crate::Value;
use hlo::op::Convolution;
use hlo::op::value::{ConvDims, ConvolutionKind, Window, WindowDim};
use hlo::{Dims, Op};

/// `01bf`: spatial dimensions by number, of the input, the kernel (`i`, `o`) and the result.
fn labels(text: [&str; 3]) -> ConvDims {
    let at = |text: &str, c: char| i64::try_from(text.find(c).expect("a label")).expect("small");
    let spatial = |text: &str| -> Dims {
        ('0'..='9').filter(|&c| text.contains(c)).map(|c| at(text, c)).collect()
    };
    let [lhs, rhs, out] = text;
    ConvDims {
        lhs_batch: at(lhs, 'b'),
        lhs_feature: at(lhs, 'f'),
        lhs_spatial: spatial(lhs),
        rhs_input_feature: at(rhs, 'i'),
        rhs_output_feature: at(rhs, 'o'),
        rhs_spatial: spatial(rhs),
        out_batch: at(out, 'b'),
        out_feature: at(out, 'f'),
        out_spatial: spatial(out),
    }
}
fn convolution(text: [&str; 3], dims: Vec<WindowDim>, groups: [i64; 2]) -> Convolution {
    Convolution {
        window: Window { dims },
        feature_group_count: groups[0],
        batch_group_count: groups[1],
        ..Convolution::new(labels(text))
    }
}
fn conv<'b>(op: &Convolution, x: &[Value<'b>]) -> Value<'b> {
    make(Op::Convolution(Box::new(op.clone())), x, "")
}
/// Size, stride, padding, dilations of input and kernel.
pub(super) fn dim(
    size: i64,
    stride: i64,
    pads: (i64, i64),
    dilations: [i64; 2],
    reversal: bool,
) -> WindowDim {
    WindowDim {
        size,
        stride,
        pad_low: pads.0,
        pad_high: pads.1,
        lhs_dilation: dilations[0],
        rhs_dilation: dilations[1],
        reversal,
    }
}

#[test]
fn windows_of_all_kinds() {
    let plain = ["bf0", "oi0", "bf0"];
    for (i, window) in [
        dim(3, 1, (0, 0), [1, 1], false),
        dim(3, 2, (1, 2), [1, 1], false),
        dim(3, 2, (2, 1), [2, 2], false),
        dim(3, 3, (2, 1), [1, 2], true),
        dim(3, 2, (-1, 3), [3, 1], true),
        dim(3, 1, (-2, -1), [2, 1], false),
        dim(3, 4, (0, 0), [1, 1], false),
        dim(3, 1, (5, 6), [1, 2], false),
    ]
    .into_iter()
    .enumerate()
    {
        let x = inputs(&["f64[2,3,7]", "f64[4,3,3]"], -1.0, 1.0);
        let op = convolution(plain, vec![window], [1, 1]);
        check(&format!("conv_{i}"), &x, |_, x| conv(&op, x));
    }
}

#[test]
fn groups_and_labels_of_all_kinds() {
    let dims = || vec![dim(2, 2, (1, 0), [2, 1], false), dim(3, 1, (0, 2), [1, 2], true)];
    let x = inputs(&["f64[5,6,2,4]", "f64[2,6,3,2]"], -1.0, 1.0);
    let op =
        convolution(["01bf", "io10", "f1b0"], vec![dims()[0].clone(), dims()[1].clone()], [2, 1]);
    // Kernel `io10`: 2 input features for each of 2 groups, 6 output features, 3 by 2 in space.
    check("conv_features", &x, |_, x| conv(&op, x));
    let x = inputs(&["f64[4,3,6,5]", "f64[3,2,3,4]"], -1.0, 1.0);
    let op = convolution(["bf10", "i01o", "0bf1"], dims(), [1, 2]);
    check("conv_batches", &x, |_, x| conv(&op, x));
    let x = inputs(&["f64[3,5,4]", "f64[2,1,8]"], -1.0, 1.0);
    let op = convolution(["b0f", "0io", "b0f"], vec![dim(2, 1, (0, 0), [1, 1], false)], [4, 1]);
    check("conv_depthwise", &x, |_, x| conv(&op, x).sin());
    let x = inputs(&["c128[2,3,5]", "c128[4,3,2]"], -1.0, 1.0);
    let op = convolution(["bf0", "oi0", "bf0"], vec![dim(2, 2, (1, 1), [1, 1], false)], [1, 1]);
    check("conv_complex", &x, |_, x| conv(&op, x));
    let x = inputs(&["f64[2,3]", "f64[3,4]"], -1.0, 1.0);
    check("conv_no_space", &x, |_, x| conv(&convolution(["bf", "io", "bf"], vec![], [1, 1]), x));
    let x = inputs(&["f64[2,3,5]", "f64[4,3,2]"], -1.0, 1.0);
    check("conv_second", &x, |b, x| {
        let loss = conv(&op, x).sin().reduce(0.0, |a, c| a + c, &[0, 1, 2]);
        b.tuple(&b.grad(loss, x))
    });
}

#[test]
fn a_convolution_that_is_said_to_be_a_gradient() {
    let x = inputs(&["f64[2,3,5]", "f64[4,3,3]"], -1.0, 1.0);
    let mut op = convolution(["bf0", "oi0", "bf0"], vec![dim(3, 2, (1, 0), [1, 1], false)], [1, 1]);
    op.convolution_kind = ConvolutionKind::Dgrad;
    check("conv_dgrad", &x, |_, x| conv(&op, x));
}

#[test]
fn a_grouped_convolution_as_in_jax() {
    let numbers = |shape: &str, of: fn(f64) -> f64| {
        let all: Vec<String> = (1..13).map(|n| of(f64::from(n)).to_string()).collect();
        let mut literal: hlo::Literal =
            format!("f64[12] {{{}}}", all.join(", ")).parse().expect("a literal");
        let shape: hlo::Shape = shape.parse().expect("a shape");
        literal =
            hlo::Literal::from_bytes(shape.array().expect("an array").clone(), literal.bytes())
                .expect("12 numbers");
        literal
    };
    let x = [numbers("f64[1,2,6]", |n| n / 4.0), numbers("f64[4,1,3]", |n| n / 3.0 - 1.0)];
    let op = convolution(["bf0", "oi0", "bf0"], vec![dim(3, 2, (2, 1), [2, 2], false)], [2, 1]);
    let all: Vec<String> = (1..21).map(|n| n.to_string()).collect();
    let flat: hlo::Literal = format!("f64[20] {{{}}}", all.join(", ")).parse().expect("a literal");
    let shape = "f64[1,4,5]".parse::<hlo::Shape>().expect("a shape");
    let c = hlo::Literal::from_bytes(shape.array().expect("an array").clone(), flat.bytes())
        .expect("20 numbers");
    let found = pulled("conv_jax", &x, &c, &|_, x| conv(&op, x));
    // `jax.vjp` of
    // `lax.conv_general_dilated(l, r, (2,), [(2, 1)], (2,), (2,), feature_group_count=2)`, JAX
    // 0.10.2.
    let found: Vec<Vec<f64>> =
        found.elements().expect("two").iter().map(super::gradient::components).collect();
    near(&found[0], &JAX_INPUT);
    near(&found[1], &JAX_KERNEL);
}
fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= 1e-13 * y.abs().max(1.0), "{found:?}, expected {expected:?}");
    }
}
const JAX_INPUT: [f64; 12] = [
    4.666666666666665,
    10.666666666666664,
    11.666666666666664,
    12.666666666666663,
    13.999999999999998,
    10.0,
    116.66666666666666,
    194.66666666666669,
    207.66666666666663,
    220.66666666666666,
    163.33333333333334,
    90.0,
];
const JAX_KERNEL: [f64; 12] =
    [10.0, 13.75, 17.5, 22.5, 32.5, 42.5, 116.0, 148.75, 165.0, 158.5, 205.0, 227.5];
