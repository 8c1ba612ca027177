//! Dots.
use super::gradient::{check, gradients, inputs, twice};
use super::make;
use crate::Builder;
use hlo::op::value::{OperandPrecision, Precision};
use hlo::op::{Dot, RaggedDot, ScaledDot};

fn dot(batch: [&[i64]; 2], contracting: [&[i64]; 2]) -> Dot {
    Dot {
        lhs_batch_dims: batch[0].to_vec(),
        lhs_contracting_dims: contracting[0].to_vec(),
        rhs_batch_dims: batch[1].to_vec(),
        rhs_contracting_dims: contracting[1].to_vec(),
        ..Dot::default()
    }
}

#[test]
fn dots() {
    let vectors = inputs(&["f64[4]", "f64[4]"], -1.0, 1.0);
    check("dot_vectors", &vectors, |_, x| make(dot([&[], &[]], [&[0], &[0]]), x, ""));
    let matrices = inputs(&["f64[2,3]", "f64[3,4]"], -1.0, 1.0);
    check("dot_matrices", &matrices, |_, x| make(dot([&[], &[]], [&[1], &[0]]), x, "").sin());
    let outer = inputs(&["f64[2,3]", "f64[4]"], -1.0, 1.0);
    check("dot_outer", &outer, |_, x| make(dot([&[], &[]], [&[], &[]]), x, "").sin());
    let complex = inputs(&["c128[2,3]", "c128[3,4]"], -1.0, 1.0);
    check("dot_complex", &complex, |_, x| make(dot([&[], &[]], [&[1], &[0]]), x, ""));
    let square = inputs(&["f64[3,3]"], -1.0, 1.0);
    check("dot_itself", &square, |_, x| make(dot([&[], &[]], [&[0], &[0]]), &[x[0], x[0]], ""));
}

#[test]
fn dots_with_every_kind_of_dimension_in_any_place() {
    // Sizes tell dimensions apart: batch 2 and 3, contracted 4, 5 and 6, left over 7, 8 and 9.
    let x = inputs(&["f64[7,5,3,4,2,6]", "f64[6,2,8,4,5,3,9]"], -1.0, 1.0);
    let op = || dot([&[4, 2], &[1, 5]], [&[3, 5, 1], &[3, 0, 4]]);
    check("dot_all", &x, |_, x| make(op(), x, ""));
    let x = inputs(&["f64[2,3,4]", "f64[4,2,3]"], -1.0, 1.0);
    check("dot_scalars", &x, |_, x| make(dot([&[0, 1], &[1, 2]], [&[2], &[0]]), x, "").sin());
}

#[test]
fn sums_in_a_wider_type() {
    let b = Builder::new("dot_wide");
    let (x, y) = (b.parameter(0, "bf16[2,3]", "x"), b.parameter(1, "bf16[3]", "y"));
    let op = dot([&[], &[]], [&[1], &[0]]);
    let product = make(op, &[x, y], "f32[2]");
    let loss = (product * product).reduce(0.0, |a, c| a + c, &[0]);
    let gradients = b.grad(loss, &[x, y]);
    let arguments = ["bf16[2,3] {{1, 2, 3}, {4, 5, 6}}", "bf16[3] {1, 1, 2}"];
    let arguments = arguments.map(|text| text.parse().expect("a literal"));
    let result = super::evaluate_on(&b, b.tuple(&gradients), &arguments);
    // The products are 9 and 21: twice them times y, and their sum over the rows of x.
    let expected =
        "( bf16[2,3]{1,0} { { 18, 18, 36 }, { 42, 42, 84 } }, bf16[3]{0} {186, 246, 306} )";
    assert_eq!(result.to_string(), expected);
}

#[test]
fn each_operand_keeps_its_precision() {
    let b = Builder::new("dot_precision");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let precision = OperandPrecision(vec![Precision::High, Precision::Highest]);
    let op = Dot { operand_precision: precision, ..dot([&[], &[]], [&[0], &[0]]) };
    let gradients = b.grad(make(op, &[x, y], ""), &[x, y]);
    let module = b.build(b.tuple(&gradients)).expect("a module").module().to_string();
    assert!(module.contains("operand_precision={highest,high}"), "{module}");
    let unused = gradients_of_nothing();
    assert_eq!(unused, [vec![0.0; 0], vec![0.0; 0]]);
}

/// Of arrays without elements.
fn gradients_of_nothing() -> Vec<Vec<f64>> {
    let x = inputs(&["f64[0]", "f64[0]"], 0.0, 1.0);
    gradients("dot_nothing", &x, |_, x| make(dot([&[], &[]], [&[0], &[0]]), x, ""))
}

fn ragged(op: Dot, ragged: i64, groups: &[i64]) -> RaggedDot {
    RaggedDot {
        lhs_batch_dims: op.lhs_batch_dims,
        lhs_contracting_dims: op.lhs_contracting_dims,
        rhs_batch_dims: op.rhs_batch_dims,
        rhs_contracting_dims: op.rhs_contracting_dims,
        lhs_ragged_dims: vec![ragged],
        rhs_group_dims: groups.to_vec(),
        ..RaggedDot::default()
    }
}

#[test]
fn dots_of_groups() {
    // Two rows are in no group. Sizes that are negative or too large count as 0 or as what is left.
    for sizes in ["s32[3] {2, 0, 3}", "u8[3] {1, 255, 3}", "s64[3] {-4, 6, 9223372036854775807}"] {
        let sizes: hlo::Literal = sizes.parse().expect("a literal");
        let with = |shapes: &[&str]| [inputs(shapes, -1.0, 1.0), vec![sizes.clone()]].concat();
        let op = || ragged(dot([&[], &[]], [&[1], &[1]]), 0, &[0]);
        check("ragged_rows", &with(&["f64[7,2]", "f64[3,2,4]"]), |_, x| make(op(), x, "").sin());
        let op = || ragged(dot([&[1], &[2]], [&[2, 3], &[0, 3]]), 0, &[1]);
        check("ragged_rows_of_batches", &with(&["f64[7,2,3,4]", "f64[3,3,2,4]"]), |_, x| {
            make(op(), x, "").sin()
        });
        let op = || ragged(dot([&[], &[]], [&[0], &[0]]), 0, &[]);
        check("ragged_sum", &with(&["f64[7,2]", "f64[7,4]"]), |_, x| make(op(), x, "").sin());
        let op = || ragged(dot([&[1], &[0]], [&[0, 2], &[2, 1]]), 0, &[]);
        check("ragged_sum_of_batches", &with(&["f64[7,2,3,5]", "f64[2,3,7]"]), |_, x| {
            make(op(), x, "").sin()
        });
        let op = || ragged(dot([&[0], &[1]], [&[2], &[0]]), 0, &[]);
        check("ragged_batch", &with(&["f64[7,2,3]", "f64[3,7]"]), |_, x| make(op(), x, "").sin());
    }
    // Sizes for each batch.
    let sizes: hlo::Literal = "s32[2,3] {{2, 0, 3}, {1, 1, 5}}".parse().expect("a literal");
    let x = [inputs(&["f64[2,7,2]", "f64[2,3,2,4]"], -1.0, 1.0), vec![sizes]].concat();
    let op = || ragged(dot([&[0], &[0]], [&[2], &[2]]), 1, &[1]);
    check("ragged_sizes_of_batches", &x, |_, x| make(op(), x, "").sin());
    twice("ragged_2", &x, |_, x| make(op(), x, "").sin().reduce_sum(&[0, 1, 2]));
}

#[test]
fn dots_of_scaled_blocks() {
    let op = || ScaledDot {
        lhs_contracting_dims: vec![1],
        rhs_contracting_dims: vec![0],
        ..ScaledDot::default()
    };
    let x = inputs(&["f64[2,6]", "f64[6,4]", "f64[1,3]", "f64[2,4]"], -1.0, 1.0);
    check("scaled", &x, |_, x| make(op(), x, "").sin());
    let x = inputs(&["f64[2,6]", "f64[6,4]", "f64[1,1]", "f64[6,1]"], -1.0, 1.0);
    check("scaled_whole", &x, |_, x| make(op(), x, "").sin());
    twice("scaled_2", &x, |_, x| make(op(), x, "").sin().reduce_sum(&[0, 1]));
}
