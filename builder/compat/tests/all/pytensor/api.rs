//! `Elemwise` as it is used: broadcasting, patterns, names, memory shared in place.
use crate::support::{build, run};
use builder::{Builder, Value};
use builder_compat::pytensor::{Elemwise, ScalarOp, Tensor, scalar_elemwise};
use hlo::ElementType;

#[test]
fn the_documented_examples() {
    // (operation, first, second, output)
    for (op, left, right, expected) in [
        (ScalarOp::Mul, "f64[10,5]", "f64[1,5]", "f64[10,5]{1,0}"),
        (ScalarOp::Mul, "f64[10,5]", "f64[5]", "f64[10,5]{1,0}"),
        (ScalarOp::TrueDiv, "f64[10,5]", "f64[10,1]", "f64[10,5]{1,0}"),
        (ScalarOp::IntDiv, "f64[1,5]", "f64[10,1]", "f64[10,5]{1,0}"),
    ] {
        let b = Builder::new("documented");
        let (x, y) = (b.parameter(0, left, "x"), b.parameter(1, right, "y"));
        let z = Elemwise::new(op).apply(&b, &[x, y]);
        assert_eq!(z.shape().unwrap().to_string(), expected);
        build(&b, z);
    }
    let b = Builder::new("documented");
    let x = b.parameter(0, "f64[3,4,5]", "x");
    let y = Elemwise::new(ScalarOp::Log).apply(&b, &[x]);
    assert_eq!(y.dims().unwrap(), [3, 4, 5]);
}

#[test]
fn the_output_is_known_before_it_is_computed() {
    let b = Builder::new("info");
    let x = b.parameter(0, "s8[2,1,3]", "x");
    let y = b.parameter(1, "u8[4,1]", "y");
    let info = Elemwise::new(ScalarOp::Add).get_output_info(&[x.into(), y.into()]).unwrap();
    assert_eq!((info.dtype, &info.dims[..]), (ElementType::S16, &[2, 4, 3][..]));
    assert_eq!(info.broadcastable, [false; 3]);
    assert_eq!(info.inputs[0].value().dims().unwrap(), [2, 1, 3]);
    assert_eq!(info.inputs[1].value().dims().unwrap(), [1, 4, 1]);
    assert_eq!(info.inputs[1].broadcastable().unwrap(), [true, false, true]);
    // A dimension that may be stretched in every input may be in the output.
    let row = b.parameter(2, "f32[1,3]", "row");
    let info = Elemwise::new(ScalarOp::Exp).get_output_info(&[row.into()]).unwrap();
    assert_eq!(info.broadcastable, [true, false]);
}

#[test]
fn only_broadcastable_dimensions_are_stretched() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2,3]", "x");
    let y = b.parameter(1, "f32[1,3]", "y");
    let add = Elemwise::new(ScalarOp::Add);
    let fixed = Tensor::from(y).with_broadcastable(&[false, false]).unwrap();
    let error = add.make_node(&[x.into(), fixed.clone()]).unwrap_err();
    assert_eq!(error.number(), "E0802");
    assert!(error.to_string().contains("dimension 0 is 2 and 1"), "{error}");
    assert!(error.help().unwrap().contains("with_broadcastable"), "{error}");
    // Both are 1, and one of them for good.
    let sum = add.make_node(&[fixed, y.into()]).unwrap();
    assert_eq!(sum.broadcastable().unwrap(), [false, false]);
    let short = b.parameter(2, "f32[2]", "z");
    let error = add.make_node(&[x.into(), short.into()]).unwrap_err();
    assert!(error.to_string().contains("f32[2,3] and f32[2], do not fit"), "{error}");
    // What cannot be declared.
    assert!(Tensor::from(x).with_broadcastable(&[true, false]).is_err());
    assert!(Tensor::from(x).with_broadcastable(&[false]).is_err());
    b.status().unwrap();
}

#[test]
fn mistakes_are_kept_with_their_line() {
    let refused = |make: &dyn for<'b> Fn(&'b Builder) -> Value<'b>, expected: &str| {
        let b = Builder::new("m");
        assert!(!make(&b).is_valid());
        let error = b.status().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.location().is_some_and(|l| l.file() == file!()), "{error}");
    };
    let add = Elemwise::new(ScalarOp::Add);
    refused(&|b| add.apply(b, &[]), "`add` has no inputs");
    refused(
        &|b| Elemwise::new(ScalarOp::Sub).apply(b, &[b.constant(1f32)]),
        "`sub` takes 2 inputs, found 1",
    );
    refused(
        &|b| Elemwise::new(ScalarOp::Neg).apply(b, &[b.constant(true)]),
        "`neg` does not take bool",
    );
    refused(&|b| add.apply(b, &[b.parameter(0, "bf16[2]", "x")]), "PyTensor has no type for bf16");
    refused(
        &|b| add.apply(b, &[b.parameter(0, "f32[<=2]", "x")]),
        "f32[<=2] has dimensions whose sizes vary",
    );
    refused(&|b| add.apply(b, &[b.tuple(&[])]), "expected an array");
    // A value of another builder.
    let other = Builder::new("other");
    let foreign = other.constant(1f32);
    let b = Builder::new("m");
    let _ = add.apply(&b, &[foreign]);
    assert_eq!(b.status().unwrap_err().number(), "E0803");
}

#[test]
fn operations_have_names() {
    assert_eq!(scalar_elemwise("add").unwrap().scalar_op(), ScalarOp::Add);
    assert_eq!(scalar_elemwise("sgn").unwrap().scalar_op(), ScalarOp::Sign);
    assert_eq!(
        scalar_elemwise("convert_to_int8").unwrap().scalar_op(),
        ScalarOp::Cast(ElementType::S8)
    );
    for op in ScalarOp::ALL {
        assert_eq!(ScalarOp::from_name(&op.name()), Some(*op));
    }
    let error = scalar_elemwise("exp_inplace").unwrap_err();
    assert!(error.help().unwrap().contains("inplace_pattern"), "{error}");
    assert!(scalar_elemwise("convert_to_int3").is_err());
    assert!(scalar_elemwise("frobnicate").is_err());
    let op = Elemwise::new(ScalarOp::Add).name("plus");
    assert_eq!(op.to_string(), "plus");
    assert_eq!(Elemwise::new(ScalarOp::Add).to_string(), "add");
}

fn header(b: &Builder, root: Value<'_>) -> String {
    build(b, root).module().to_string().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn in_place_outputs_share_the_memory_of_parameters() {
    let b = Builder::new("inplace");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let add = Elemwise::new(ScalarOp::Add).inplace_pattern([(0, 1)]);
    let z = add.apply(&b, &[x, y]);
    assert!(
        header(&b, z).contains("input_output_alias={ {}: (1, {}, may-alias) }"),
        "{}",
        header(&b, z)
    );
    // An element of the result; a parameter is given away once.
    let again = add.apply(&b, &[x, y]);
    let other = Elemwise::new(ScalarOp::Exp).inplace_pattern([(0, 0)]).apply(&b, &[x]);
    let all = b.tuple(&[x, z, again, other]);
    let text = header(&b, all);
    assert!(
        text.contains("input_output_alias={ {1}: (1, {}, may-alias), {3}: (0, {}, may-alias) }"),
        "{text}"
    );
    // What is not the result, or was not computed from a parameter, shares nothing.
    let last = Elemwise::new(ScalarOp::Exp).apply(&b, &[z]);
    assert!(!header(&b, last).contains("input_output_alias"));
    let sum = add.apply(&b, &[x, last]);
    assert!(!header(&b, sum).contains("input_output_alias"));
    let argument = "f32[2] {1, 2}";
    assert_eq!(run(&b, z, &[argument, "f32[2] {10, 20}"]), "f32[2]{0} {11, 22}");
}

#[test]
fn in_place_patterns_that_mean_nothing_are_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2,3]", "x");
    let row = b.parameter(1, "f32[3]", "row");
    let n = b.parameter(2, "s8[2,3]", "n");
    let refused = |pattern: (usize, usize), inputs: &[Value<'_>], expected: &str| {
        let op = Elemwise::new(ScalarOp::Add).inplace_pattern([pattern]);
        let inputs: Vec<Tensor<'_>> = inputs.iter().map(|&x| x.into()).collect();
        let error = op.make_node(&inputs).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused((0, 1), &[x, row], "cannot be computed in input 1, which is stretched");
    refused((0, 0), &[n, x], "`add` gives f32, which cannot be kept in an input of s8");
    refused((0, 2), &[x, row], "output 0 is to be computed in input 2, of 2 inputs and 1 output");
    refused((1, 0), &[x, row], "output 1 is to be computed in input 0");
}

#[test]
fn numbers_larger_than_f64_holds_are_compared_by_value() {
    // 2^53 + 1 is no f64; as floats they would be equal.
    let b = Builder::new("compared");
    let x = b.parameter(0, "s64[3]", "x");
    let y = b.parameter(1, "u64[3]", "y");
    let of = |name: &str, inputs: &[_]| scalar_elemwise(name).unwrap().apply(&b, inputs);
    let all =
        b.tuple(&[of("lt", &[x, y]), of("eq", &[x, y]), of("gt", &[y, x]), of("ge", &[x, y])]);
    assert_eq!(
        run(
            &b,
            all,
            &[
                "s64[3] {9007199254740992, -1, 5}",
                "u64[3] {9007199254740993, 18446744073709551615, 5}"
            ]
        ),
        "( pred[3]{0} {1, 1, 0}, pred[3]{0} {0, 0, 1}, pred[3]{0} {1, 1, 0}, pred[3]{0} {0, 0, 1} )"
    );
}
