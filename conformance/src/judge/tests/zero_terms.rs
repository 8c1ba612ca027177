//! Tests of sums with terms that are certainly 0, and of sums of squares.
use super::Verdict::{Agrees, Differs, NotTested, WithinBound};
use super::rules::verdicts;

const ADD: &str = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";

/// A list of zeros in which some elements have other values.
fn sparse(count: usize, others: &[(usize, f32)]) -> String {
    let value = |i| others.iter().find(|&&(at, _)| at == i).map_or(0.0, |&(_, value)| value);
    let all: Vec<String> = (0..count).map(|i| format!("{:?}", value(i))).collect();
    format!("{{{}}}", all.join(", "))
}

#[test]
fn a_row_with_a_single_one_picks_an_element() {
    let dot = "ENTRY e { x = f32[100] parameter(0) t = f32[100] parameter(1)
        ROOT d = f32[] dot(x, t), lhs_contracting_dims={0}, rhs_contracting_dims={0},
          operand_precision={highest,highest} }";
    let table: Vec<String> =
        (0..100u16).map(|i| format!("{:?}", 1.0 / (f32::from(i) + 3.0))).collect();
    let table = format!("f32[100] {{{}}}", table.join(", "));
    let picked = |value: f32| format!("f32[100] {}", sparse(100, &[(7, value)]));
    verdicts(
        dot,
        &[&picked(1.0), &table],
        &[("f32[] 0.1", Agrees), ("f32[] 0.10000001", Differs), ("f32[] 0.09999999", Differs)],
    );
    // A product that is rounded may be so in several steps.
    verdicts(
        dot,
        &[&picked(0.7), &table],
        &[("f32[] 0.07", Agrees), ("f32[] 0.07000001", WithinBound), ("f32[] 0.07000002", Differs)],
    );
}

#[test]
fn zeros_round_no_partial_sum() {
    let sum = format!(
        "{ADD} ENTRY e {{ x = f32[1000] parameter(0) z = f32[] constant(0)
        ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=add }}"
    );
    let terms = |terms: &[(usize, f32)]| format!("f32[1000] {}", sparse(1000, terms));
    let small = f32::EPSILON / 2.0;
    verdicts(
        &sum,
        &[&terms(&[(3, 1.0), (500, small), (900, small)])],
        // Two small terms are lost, or are added first.
        &[("f32[] 1", WithinBound), ("f32[] 1.0000001", Agrees), ("f32[] 1.000001", Differs)],
    );
    verdicts(&sum, &[&terms(&[(3, 0.1)])], &[("f32[] 0.1", Agrees), ("f32[] 0.10000001", Differs)]);
    // A denormal may be flushed.
    verdicts(&sum, &[&terms(&[(3, 1e-40)])], &[("f32[] 0", NotTested), ("f32[] 2e-40", Differs)]);
}

#[test]
fn a_term_of_more_digits_than_the_sum_is_rounded() {
    let sum = "add { a = f32[] parameter(0) b = f32[] parameter(1) s = f32[] add(a, b)
        c = bf16[] convert(s) ROOT d = f32[] convert(c) }
        ENTRY e { x = f32[4] parameter(0) z = f32[] constant(0)
        ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
    verdicts(
        sum,
        &["f32[4] {0, 1.001, 0, 0}"],
        &[("f32[] 1", Agrees), ("f32[] 1.0078125", WithinBound), ("f32[] 1.1", Differs)],
    );
}

#[test]
fn a_product_of_an_array_with_itself_is_a_sum_of_squares() {
    let mean = format!(
        "{ADD} ENTRY e {{ x = f32[10] parameter(0) z = f32[] constant(0) ten = f32[] constant(10)
        s = f32[] reduce(x, z), dimensions={{0}}, to_apply=add m = f32[] divide(s, ten)
        b = f32[10] broadcast(m), dimensions={{}} d = f32[10] subtract(x, b)"
    );
    let own = format!(
        "{mean} p = f32[] dot(d, d), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
        ROOT r = f32[] sqrt(p) }}"
    );
    let x = ["f32[10] {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}"];
    verdicts(
        &own,
        &x,
        &[("f32[] nan", Differs), ("f32[] -1e-9", Differs), ("f32[] 1e-9", WithinBound)],
    );
    // Of a matrix and its transpose, the elements of the diagonal.
    let gram = format!(
        "{mean} a = f32[5,2] reshape(d) t = f32[2,5] transpose(a), dimensions={{1,0}}
        p = f32[5,5] dot(a, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
        c = f32[1,2] slice(p), slice={{[1:2], [0:2]}} ROOT r = f32[1,2] sqrt(c) }}"
    );
    verdicts(
        &gram,
        &x,
        &[("f32[1,2] {{1e-9, nan}}", Differs), ("f32[1,2] {{nan, 1e-9}}", WithinBound)],
    );
}

#[test]
fn updates_of_zero_round_nothing() {
    let sums = format!(
        "{ADD} ENTRY e {{ t = f32[2] parameter(0) i = s32[6,1] parameter(1) u = f32[6] parameter(2)
        ROOT s = f32[2] scatter(t, i, u), update_window_dims={{}}, inserted_window_dims={{0}},
          scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add }}"
    );
    verdicts(
        &sums,
        &[
            "f32[2] {0, 0}",
            "s32[6,1] {{0}, {0}, {0}, {0}, {1}, {1}}",
            "f32[6] {0, .1, 0, 0, .1, .2}",
        ],
        &[
            ("f32[2] {.1, .3}", Agrees),
            ("f32[2] {.1, .30000004}", Differs),
            ("f32[2] {.10000001, .3}", Differs),
        ],
    );
}
