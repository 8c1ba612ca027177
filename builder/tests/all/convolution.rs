//! Convolutions: padding rules, groups, dilations, labels, custom calls; and the likeliest
//! mistakes.
#![expect(clippy::unwrap_used, reason = "labels of tests")]
use crate::support::{build, refused, run};
use builder::options::{ConvOptions, Padding, WindowOptions};
use builder::{Builder, Value};
use hlo::op::value::{ConvDims, PaddingType, Precision};

fn plain() -> ConvOptions {
    ConvOptions::default()
}
fn labels(text: &str) -> ConvDims {
    text.parse().unwrap()
}
/// 1 to 5, and a kernel whose digits show which elements met.
fn digits(b: &Builder) -> (Value<'_>, Value<'_>) {
    (b.constant([[[1f32, 2., 3., 4., 5.]]]), b.constant([[[1f32, 10., 100., 1000.]]]))
}
#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(Value<'b>, Value<'b>) -> Value<'b>) {
    let b = Builder::new("refused");
    let (x, kernel) = digits(&b);
    let made = make(x, kernel);
    refused(&b, made, expected);
}

#[test]
fn padding_by_rule() {
    let b = Builder::new("conv");
    let (x, kernel) = digits(&b);
    let conv = |stride, padding| x.conv(kernel, &[stride], padding, &plain());
    // Three elements of padding: one before, two behind.
    assert_eq!(
        run(&b, conv(1, Padding::Same), &[]),
        "f32[1,1,5]{2,1,0} { { { 3210, 4321, 5432, 543, 54 } } }"
    );
    assert_eq!(
        run(&b, conv(2, Padding::Same), &[]),
        "f32[1,1,3]{2,1,0} { { { 3210, 5432, 54 } } }"
    );
    assert_eq!(run(&b, conv(1, Padding::Valid), &[]), "f32[1,1,2]{2,1,0} { { { 4321, 5432 } } }");
    // A window larger than the operand has no place.
    let none = kernel.conv(x, &[1], Padding::Valid, &plain());
    assert_eq!(none.dims().unwrap(), [1, 1, 0]);
}

#[test]
fn amounts_of_padding() {
    let same =
        |input, window, stride| Padding::Same.amounts(&[input], &[window], &[stride]).unwrap()[0];
    assert_eq!(same(5, 4, 1), (1, 2));
    assert_eq!(same(5, 3, 2), (1, 1));
    assert_eq!(same(6, 3, 2), (0, 1));
    assert_eq!(same(0, 3, 2), (0, 1));
    assert_eq!(same(5, 1, 9), (0, 0));
    assert_eq!(Padding::Valid.amounts(&[5, 6], &[4, 4], &[1, 1]).unwrap(), [(0, 0), (0, 0)]);
    assert_eq!(same(i64::MAX, i64::MAX, 1), (i64::MAX / 2, i64::MAX / 2));
    for (input, window, stride, expected) in [
        (vec![5], vec![0], vec![1], "the size 0 of the window is not positive"),
        (vec![5], vec![1], vec![-1], "the stride -1 of the window is not positive"),
        (vec![-5], vec![1], vec![1], "the size -5 is negative"),
        (
            vec![5],
            vec![1, 1],
            vec![1],
            "the window has 2 sizes and 1 stride, the operand has 1 dimension",
        ),
    ] {
        let message = Padding::Same.amounts(&input, &window, &stride).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn padding_by_numbers() {
    let b = Builder::new("conv_padding");
    let (x, kernel) = digits(&b);
    let padded = x.conv_with_general_padding(kernel, &[1], &[(2, -1)], &plain());
    assert_eq!(run(&b, padded, &[]), "f32[1,1,3]{2,1,0} { { { 2100, 3210, 4321 } } }");
}

#[test]
fn two_dimensions() {
    let b = Builder::new("conv_2d");
    let x = b.constant([[[[1f32, 2., 3.], [4., 5., 6.], [7., 8., 9.]]]]);
    let kernel = b.constant([[[[1f32, 2.], [3., 4.]]]]);
    let valid = x.conv(kernel, &[1, 1], Padding::Valid, &plain());
    assert_eq!(run(&b, valid.reshape(&[4]), &[]), "f32[4]{0} {37, 47, 67, 77}");
    let same = x.conv(kernel, &[2, 2], Padding::Same, &plain());
    assert_eq!(run(&b, same.reshape(&[4]), &[]), "f32[4]{0} {37, 21, 23, 9}");
    // The same arrays, batch and features last.
    let numbers = labels("01bf_01io->bf01");
    let (x, kernel) = (x.transpose(&[2, 3, 0, 1]), kernel.transpose(&[2, 3, 1, 0]));
    let general =
        x.conv_with_general_dimensions(kernel, &[2, 2], Padding::Same, &numbers, &plain());
    assert_eq!(run(&b, general.reshape(&[4]), &[]), "f32[4]{0} {37, 21, 23, 9}");
    let general = x.conv_general(kernel, &[1, 1], &[(0, 0), (0, 0)], &numbers, &plain());
    assert_eq!(run(&b, general.reshape(&[4]), &[]), "f32[4]{0} {37, 47, 67, 77}");
}

#[test]
fn dilations_and_reversal() {
    let b = Builder::new("dilated");
    let (x, kernel) = digits(&b);
    let two = kernel.slice_in_dim(0, 2, 1, 2);
    let dilated = |window: WindowOptions, options: &ConvOptions| {
        x.conv_general_dilated(two, &window, &labels("bf0_oi0->bf0"), options)
    };
    let holes =
        WindowOptions { base_dilations: vec![2], padding: vec![(1, 0)], ..Default::default() };
    let expected = "f32[1,1,9]{2,1,0} { { { 10, 1, 20, 2, 30, 3, 40, 4, 50 } } }";
    assert_eq!(run(&b, dilated(holes, &plain()), &[]), expected);
    let wide = WindowOptions { window_dilations: vec![3], ..Default::default() };
    assert_eq!(run(&b, dilated(wide, &plain()), &[]), "f32[1,1,2]{2,1,0} { { { 41, 52 } } }");
    // Mirrored, 10 comes first.
    let mirrored = ConvOptions { window_reversal: vec![true], ..plain() };
    let expected = "f32[1,1,4]{2,1,0} { { { 12, 23, 34, 45 } } }";
    assert_eq!(run(&b, dilated(WindowOptions::default(), &mirrored), &[]), expected);
}

#[test]
fn groups() {
    // Features 0 and 1 meet the first kernel, 2 and 3 the second.
    let b = Builder::new("groups");
    let x = (b.iota("f32[8]", 0) + 1.0).reshape(&[1, 4, 2]);
    let kernel = b.constant([[[1f32], [2.]], [[3.], [4.]]]);
    let options = ConvOptions { feature_group_count: 2, ..plain() };
    let y = x.conv(kernel, &[1], Padding::Valid, &options);
    assert_eq!(run(&b, y, &[]), "f32[1,2,2]{2,1,0} { { { 7, 10 }, { 43, 50 } } }");
    let x = x.reshape(&[4, 1, 2]);
    let options = ConvOptions { batch_group_count: 2, ..plain() };
    let y = x.conv(b.constant([[[10f32]], [[1000.]]]), &[1], Padding::Valid, &options);
    let expected =
        "f32[2,2,2]{2,1,0} { { { 10, 20 }, { 5000, 6000 } }, { { 30, 40 }, { 7000, 8000 } } }";
    assert_eq!(run(&b, y, &[]), expected);
}

#[test]
fn options_are_kept() {
    let b = Builder::new("options");
    let (x, kernel) = (b.constant([[[100i8, 100]]]), b.constant([[[1i8, 1]]]));
    let options = ConvOptions {
        preferred_element_type: Some(hlo::ElementType::S32),
        precision: [Precision::High; 2],
        ..plain()
    };
    let y = x.conv(kernel, &[1], Padding::Valid, &options);
    assert_eq!(run(&b, y, &[]), "s32[1,1,1]{2,1,0} { { {200} } }");
    let text = build(&b, y).module().to_string();
    assert!(
        text.contains("operand_precision={high,high}") && text.contains("dim_labels=bf0_oi0->bf0"),
        "{text}"
    );
}

#[test]
fn mistakes() {
    refuses("the spatial dimension 3 does not exist in the input f32[1,1,5]", |x, kernel| {
        x.conv(kernel, &[1, 1], Padding::Same, &plain())
    });
    refuses("the stride 0 of the window is not positive", |x, kernel| {
        x.conv(kernel, &[0], Padding::Same, &plain())
    });
    refuses("stride -1 of the window is not positive", |x, kernel| {
        x.conv_with_general_padding(kernel, &[-1], &[], &plain())
    });
    refuses("`padding` has 2 entries, the window 1 dimension", |x, kernel| {
        x.conv_with_general_padding(kernel, &[1], &[(0, 0), (0, 0)], &plain())
    });
    refuses("the labels are for rank 2, operand 0 is f32[1,1,5]", |x, kernel| {
        x.conv_with_general_padding(kernel, &[], &[], &plain())
    });
    refuses("feature_group_count=2 does not divide 1, the number of features", |x, kernel| {
        x.conv(kernel, &[1], Padding::Same, &ConvOptions { feature_group_count: 2, ..plain() })
    });
    refuses("feature_group_count is 0", |x, kernel| {
        x.conv(kernel, &[1], Padding::Same, &ConvOptions { feature_group_count: 0, ..plain() })
    });
    refuses("`window_reversal` has 2 entries", |x, kernel| {
        x.conv(
            kernel,
            &[1],
            Padding::Same,
            &ConvOptions { window_reversal: vec![true; 2], ..plain() },
        )
    });
    refuses("the kernel has input feature size 1, expected 5", |x, kernel| {
        x.conv_general(kernel, &[1], &[], &labels("b0f_oi0->b0f"), &plain())
    });
    refuses("lhs_dilate -2 of the window", |x, kernel| {
        let window = WindowOptions { base_dilations: vec![-2], ..Default::default() };
        x.conv_general_dilated(kernel, &window, &labels("bf0_oi0->bf0"), &plain())
    });
    refuses("E0811", |x, kernel| {
        x.conv_general(
            kernel,
            &[],
            &[],
            &Builder::create_default_conv_dimension_numbers(11),
            &plain(),
        )
    });
    let message = "b0f_oi0->b0f?".parse::<ConvDims>().map(|_| ());
    assert!(message.is_ok());
    assert!("b0f_oi0->b0f, ".parse::<ConvDims>().is_err());
}

#[test]
fn dimension_numbers_are_checked() {
    let good = Builder::create_default_conv_dimension_numbers(2);
    assert_eq!((good.lhs_batch, good.lhs_feature, &good.lhs_spatial[..]), (0, 1, &[2, 3][..]));
    assert_eq!((good.rhs_output_feature, good.rhs_input_feature), (0, 1));
    assert!(Builder::validate(&good).is_ok());
    let message = |numbers: &ConvDims| Builder::validate(numbers).unwrap_err().to_string();
    let one = message(&Builder::create_default_conv_dimension_numbers(1));
    assert!(one.contains("spatial dimensions of the input: 1"), "{one}");
    let twice = message(&ConvDims { rhs_output_feature: 2, ..good });
    assert!(twice.contains("dimension 2 of the kernel has two roles"), "{twice}");
}

#[test]
fn custom_calls_of_dynamic_sizes() {
    let b = Builder::new("dynamic_conv");
    let x = b.parameter(0, "f32[1,1,<=5]", "x");
    let kernel = b.parameter(1, "f32[1,1,3]", "kernel");
    let window = WindowOptions { padding: vec![(1, 1)], ..Default::default() };
    let numbers = labels("bf0_oi0->bf0");
    let y = x.dynamic_conv_forward(kernel, &window, &numbers, PaddingType::Same, &plain());
    assert_eq!(format!("{:#}", y.shape().unwrap()), "f32[1,1,<=5]");
    let text = build(&b, y).module().to_string();
    for expected in [
        "custom_call_target=\"DynamicConvolutionForward\"",
        "window={size=3 pad=1_1}",
        "dim_labels=bf0_oi0->bf0",
        "padding_type=PADDING_SAME",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let sizes = b.constant([1i32, 1, 5]);
    let dx =
        y.dynamic_conv_input_grad(sizes, kernel, &window, &numbers, PaddingType::Same, &plain());
    assert_eq!(dx.shape().unwrap().array().unwrap().dims.as_slice(), [1, 1, 5]);
    // The gradient of the kernel has a fixed size: 5 places of a window of 5 with 2 elements of
    // padding.
    let dk = x.dynamic_conv_kernel_grad(y, &window, &numbers, PaddingType::Same, &plain());
    assert_eq!(format!("{:#}", dk.shape().unwrap()), "f32[1,1,3]");
    let all = b.tuple(&[dx, dk]);
    let module = build(&b, all);
    let text = module.module().to_string();
    assert!(
        text.contains("\"DynamicConvolutionInputGrad\"")
            && text.contains("\"DynamicConvolutionKernelGrad\""),
        "{text}"
    );
}
