//! Tests of elements that open indices pick or update.
use super::Verdict::{Agrees, Differs, WithinBound};
use super::rules::verdicts;

/// Indices of which the first row is 1 and the second anything from 1 to 4, by rounding errors.
const MIDDLE: &str = "v = f32[2] parameter(1) c = f32[2] constant({1.1, 1.1})
    w = f32[2] multiply(v, c) t = f32[2] constant({0.1, 0.33})
    q = pred[2] compare(w, t), direction=LE
    zero = s32[2] constant({0, 0}) two = s32[2] constant({2, 2})
    three = s32[2] constant({3, 3}) six = s32[2] constant({6, 6})
    lo = s32[2] select(q, zero, three) hi = s32[2] select(q, three, six)
    d = s32[2] subtract(hi, lo) h = s32[2] divide(d, two) i = s32[2] add(lo, h)";

#[test]
fn an_open_row_of_indices_opens_no_other() {
    let gather = format!(
        "ENTRY e {{ m = f32[6] parameter(0) {MIDDLE} r = s32[2,1] reshape(i)
        ROOT g = f32[2,1] gather(m, r), offset_dims={{1}}, collapsed_slice_dims={{}},
          start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}} }}"
    );
    verdicts(
        &gather,
        &["f32[6] {0, 10, 20, 30, 40, 50}", "f32[2] {0, .3}"],
        &[
            ("f32[2,1] {{10}, {10}}", Agrees),
            ("f32[2,1] {{10}, {40}}", WithinBound),
            ("f32[2,1] {{20}, {10}}", Differs),
            ("f32[2,1] {{10}, {15}}", Differs),
            ("f32[2,1] {{10}, {70}}", Differs),
        ],
    );
}

#[test]
fn a_slice_at_an_unknown_start_has_elements_of_the_operand() {
    // The quotient may be of any size, so the integer is unknown.
    let slice = "ENTRY e { m = f32[40] parameter(0) x = f32[] parameter(1) c = f32[] constant(1.1)
        t = f32[] constant(0.33) y = f32[] multiply(x, c) d = f32[] subtract(y, t)
        o = f32[] constant(1) z = f32[] divide(o, d) i = s32[] convert(z)
        ROOT s = f32[2] dynamic-slice(m, i), dynamic_slice_sizes={2} }";
    let m: Vec<String> = (0..40).map(|k| (10 * k).to_string()).collect();
    let m = format!("f32[40] {{{}}}", m.join(", "));
    verdicts(
        slice,
        &[&m, "f32[] .3"],
        &[
            ("f32[2] {0, 10}", WithinBound),
            ("f32[2] {10, 20}", WithinBound),
            ("f32[2] {-1, 10}", Differs),
            ("f32[2] {10, 401}", Differs),
        ],
    );
}

#[test]
fn columns_of_an_index_vector_are_open_independently() {
    let gather = "ENTRY e { m = f32[2,2] parameter(0) v = f32[2] parameter(1)
        c = f32[2] constant({1.1, 1.1}) w = f32[2] multiply(v, c) t = f32[2] constant({.33, .33})
        q = pred[2] compare(w, t), direction=LE
        one = s32[2] constant({1, 1}) zero = s32[2] constant({0, 0}) i = s32[2] select(q, zero, one)
        ROOT g = f32[] gather(m, i), offset_dims={}, collapsed_slice_dims={0,1},
          start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1} }";
    let arguments = ["f32[2,2] {{1, 2}, {3, 4}}", "f32[2] {.3, .3}"];
    for legal in ["f32[] 2", "f32[] 3", "f32[] 4"] {
        verdicts(gather, &arguments, &[(legal, WithinBound)]);
    }
    verdicts(gather, &arguments, &[("f32[] 1", Agrees), ("f32[] 2.5", Differs)]);
}

#[test]
fn an_update_at_an_open_start_is_at_one_of_them() {
    let update = format!(
        "ENTRY e {{ m = f32[6] parameter(0) {MIDDLE} s = s32[1] slice(i), slice={{[1:2]}}
        k = s32[] reshape(s) u = f32[1] constant({{7}})
        ROOT r = f32[6] dynamic-update-slice(m, u, k) }}"
    );
    verdicts(
        &update,
        &["f32[6] {0, 10, 20, 30, 40, 50}", "f32[2] {0, .3}"],
        &[
            ("f32[6] {0, 7, 20, 30, 40, 50}", Agrees),
            ("f32[6] {0, 10, 20, 30, 7, 50}", WithinBound),
            ("f32[6] {0, 8, 20, 30, 40, 50}", Differs),
            ("f32[6] {0, 10, 7, 30, 40, 50}", Differs),
            // At no place, and at two.
            ("f32[6] {0, 10, 20, 30, 40, 50}", Differs),
            ("f32[6] {0, 7, 20, 30, 7, 50}", Differs),
        ],
    );
}

#[test]
fn a_count_with_an_open_index_is_known_elsewhere() {
    let count = format!(
        "add {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }}
        ENTRY e {{ m = s32[7] parameter(0) {MIDDLE} r = s32[2,1] reshape(i)
        u = s32[2] constant({{1, 1}})
        ROOT s = s32[7] scatter(m, r, u), update_window_dims={{}}, inserted_window_dims={{0}},
          scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add }}"
    );
    verdicts(
        &count,
        &["s32[7] {0, 0, 0, 0, 0, 0, 0}", "f32[2] {0, .3}"],
        &[
            ("s32[7] {0, 2, 0, 0, 0, 0, 0}", Agrees),
            ("s32[7] {0, 1, 0, 0, 1, 0, 0}", WithinBound),
            ("s32[7] {0, 1, 1, 0, 0, 0, 0}", Differs),
            ("s32[7] {0, 0, 0, 0, 1, 0, 0}", Differs),
            ("s32[7] {0, 1, 0, 0, 2, 0, 0}", Differs),
            // The open update is lost, or made twice.
            ("s32[7] {0, 1, 0, 0, 0, 0, 0}", Differs),
            ("s32[7] {0, 2, 0, 0, 1, 0, 0}", Differs),
        ],
    );
}

#[test]
fn a_wrapped_index_comes_from_one_number() {
    let wrapped = "ENTRY e { m = f32[5] parameter(0) x = f32[] parameter(1)
        c = f32[] constant(.1) t = f32[] constant(.07) y = f32[] multiply(x, c)
        d = f32[] subtract(y, t) f = f32[] floor(d) i = s32[] convert(f)
        z = s32[] constant(0) n = s32[] constant(5) q = pred[] compare(i, z), direction=LT
        w = s32[] add(i, n) k = s32[] select(q, w, i)
        s = f32[1] dynamic-slice(m, k), dynamic_slice_sizes={1}
        ROOT r = (s32[], f32[1]) tuple(k, s) }";
    verdicts(
        wrapped,
        &["f32[5] {0, 10, 20, 30, 40}", "f32[] .7"],
        &[
            ("(s32[] 0, f32[1] {0})", Agrees),
            ("(s32[] 4, f32[1] {40})", WithinBound),
            ("(s32[] -1, f32[1] {0})", Differs),
            ("(s32[] 5, f32[1] {40})", Differs),
            ("(s32[] 0, f32[1] {20})", Differs),
        ],
    );
    // The comparison has another user, which may compute the number again.
    let twice = wrapped
        .replace("ROOT r = (s32[], f32[1]) tuple(k, s)", "ROOT r = (s32[], pred[]) tuple(k, q)");
    verdicts(
        &twice,
        &["f32[5] {0, 10, 20, 30, 40}", "f32[] .7"],
        &[("(s32[] 5, pred[] false)", WithinBound)],
    );
}
