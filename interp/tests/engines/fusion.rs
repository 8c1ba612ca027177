//! Fused steps: chains of elementwise ops with reductions of runs, read through conversions,
//! broadcasts and slices.
use super::agree;
use super::small_loops::agree_with_code;
use interp::Engine;
use proptest::prelude::*;
use std::fmt::Write as _;

/// Normalizes rows: a chain that ends in reductions, and one that reads their results.
fn normalized(ty: &str, wide: &str, dims: (usize, usize), reducer: &str, first: &str) -> String {
    let (rows, inner) = dims;
    let whole = format!("{wide}[{rows},{inner}]");
    format!(
        "fold {{ a = {wide}[] parameter(0) b = {wide}[] parameter(1) ROOT c = {wide}[] {reducer}(a, b) }}
         ENTRY e {{ x = {ty}[{rows},{inner}] parameter(0) v = {ty}[{inner}] parameter(1)
           w = {whole} convert(x) z = {wide}[] constant({first})
           s = {wide}[{rows}] reduce(w, z), dimensions={{1}}, to_apply=fold
           d = {whole} broadcast(s), dimensions={{0}} c = {whole} subtract(w, d) q = {whole} multiply(c, c)
           t = {wide}[{rows}] reduce(q, z), dimensions={{1}}, to_apply=fold
           u = {wide}[{rows},1] reshape(t) f = {wide}[{rows},1] add(u, u) g = {wide}[{rows}] reshape(f)
           h = {whole} broadcast(g), dimensions={{0}} i = {whole} maximum(q, h)
           j = {wide}[{inner}] convert(v) k = {whole} broadcast(j), dimensions={{1}} l = {whole} add(i, k)
           m = {ty}[{rows},{inner}] convert(l)
           ROOT o = ({ty}[{rows},{inner}], {wide}[{rows}], {whole}) tuple(m, t, c) }}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rows_are_reduced_where_they_are_computed(
        rows in prop::sample::select(vec![1usize, 2, 3, 40]),
        inner in prop::sample::select(vec![1usize, 2, 3, 7, 255, 512, 513, 700, 4096, 4097]),
        types in prop::sample::select(vec![
            ("bf16", "f32"), ("f16", "f32"), ("f32", "f32"), ("f32", "f64"), ("bf16", "bf16"), ("s8", "f32"), ("u8", "s32"),
            ("s32", "s32"), ("f8e4m3fn", "f32"),
        ]),
        reducer in prop::sample::select(vec!["add", "maximum", "minimum", "multiply"]),
        first in prop::sample::select(vec!["0", "1", "-3"]),
    ) {
        agree(&normalized(types.0, types.1, (rows, inner), reducer, first));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    /// Many of them are reduced beside one another.
    #[test]
    fn short_rows_are_reduced_where_they_are_computed(
        rows in prop::sample::select(vec![5usize, 257, 1301]),
        inner in prop::sample::select(vec![2usize, 3, 4, 7, 16, 31, 33, 50, 96, 97]),
        types in prop::sample::select(vec![
            ("bf16", "f32"), ("f32", "f64"), ("bf16", "bf16"), ("s8", "s8"), ("u8", "s32"), ("s32", "s64"),
        ]),
        reducer in prop::sample::select(vec!["add", "maximum", "multiply"]),
        first in prop::sample::select(vec!["0", "1", "3"]),
    ) {
        agree(&normalized(types.0, types.1, (rows, inner), reducer, first));
    }
    /// A row for all rows, and matrices for all matrices, are the same in each tile.
    #[test]
    fn operands_that_repeat(
        dims in prop::sample::select(vec![
            (9usize, 5usize, 128usize), (40, 2, 3), (700, 3, 2), (3, 700, 1), (5, 4, 300), (4, 3, 1000), (3, 2, 1024), (3, 2, 1025), (1, 40, 100),
        ]),
        ty in prop::sample::select(vec!["f32", "bf16", "s8", "f64", "u16", "c64"]),
        is_reduced in any::<bool>(),
    ) {
        let (a, b, c) = dims;
        let whole = format!("{ty}[{a},{b},{c}]");
        let zero = if ty == "c64" { "(0, 0)" } else { "0" };
        let reduced = if is_reduced { "reduce(q, z), dimensions={2}, to_apply=sum" } else { "slice(q), slice={[0:1],[0:1],[0:1]}" };
        let result = if is_reduced { format!("{ty}[{a},{b}]") } else { format!("{ty}[1,1,1]") };
        agree(&format!(
            "sum {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] add(a, b) }}
             ENTRY e {{ x = {whole} parameter(0) u = {ty}[{c}] parameter(1) v = {ty}[{b},{c}] parameter(2) w = {ty}[{a}] parameter(3)
               t = {ty}[{b}] parameter(4) z = {ty}[] constant({zero})
               k = {whole} broadcast(u), dimensions={{2}} l = {whole} broadcast(v), dimensions={{1,2}}
               m = {whole} broadcast(w), dimensions={{0}} n = {whole} broadcast(t), dimensions={{1}}
               o = {whole} add(x, k) p = {whole} subtract(o, l) h = {whole} add(p, m) q = {whole} subtract(h, n)
               s = {result} {reduced} ROOT r = ({whole}, {result}) tuple(q, s) }}"
        ));
    }
}

/// Steps of short operations over the values before them, of which some are read twice, reduced, or
/// results.
fn chain(dims: (usize, usize), steps: &[(usize, usize, usize)]) -> String {
    let (rows, inner) = dims;
    let whole = format!("f32[{rows},{inner}]");
    let mut values: Vec<String> = ["w", "y", "b", "c", "d"].map(String::from).to_vec();
    let mut body = String::new();
    for (number, &(op, a, b)) in steps.iter().enumerate() {
        let op = ["add", "subtract", "multiply", "subtract", "multiply", "maximum"][op];
        // Mostly the value before, as in models.
        let [a, b] = [a, b].map(|k| values[values.len() - 1 - k % values.len()].clone());
        write!(body, "v{number} = {whole} {op}({a}, {b}) ").unwrap();
        values.push(format!("v{number}"));
    }
    let (last, some) = (&values[values.len() - 1], &values[values.len() - 1 - steps[0].0 % 3]);
    format!(
        "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
         ENTRY e {{ x = bf16[{rows},{inner}] parameter(0) w = {whole} convert(x) y = {whole} parameter(1)
           p = f32[] parameter(2) b = {whole} broadcast(p), dimensions={{}} q = f32[{rows}] parameter(3)
           c = {whole} broadcast(q), dimensions={{0}} r = f32[{inner}] parameter(4)
           d = {whole} broadcast(r), dimensions={{1}} {body}
           z = f32[] constant(0) s = f32[{rows}] reduce({last}, z), dimensions={{1}}, to_apply=sum
           ROOT o = ({whole}, f32[{rows}]) tuple({some}, s) }}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn chains_of_short_operations(
        rows in prop::sample::select(vec![1usize, 2, 9]),
        inner in prop::sample::select(vec![1usize, 15, 257, 512, 1040, 2048]),
        steps in prop::collection::vec((0usize..6, 0usize..6, 0usize..6), 1..9),
    ) {
        agree(&chain((rows, inner), &steps));
    }
}

#[test]
fn reductions_of_computed_values() {
    let sum = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
    // Several reductions of one value, with runs of the same and of different sizes; a first value
    // that is computed.
    for body in [
        "y = f32[4,6,8] negate(x) r = f32[4,6] reduce(y, p), dimensions={2}, to_apply=sum
           s = f32[4] reduce(y, p), dimensions={1,2}, to_apply=sum ROOT t = (f32[4,6], f32[4]) tuple(r, s)",
        "y = f32[4,6,8] negate(x) q = f32[] exponential(p) r = f32[4,6] reduce(y, q), dimensions={2}, to_apply=sum
           s = f32[4,6] reduce(x, q), dimensions={2}, to_apply=sum ROOT t = (f32[4,6], f32[4,6], f32[4,6,8]) tuple(r, s, y)",
        "y = f32[4,6,8] negate(x) r = f32[] reduce(y, p), dimensions={0,1,2}, to_apply=sum
           b = f32[4,6,8] broadcast(r), dimensions={} ROOT t = f32[4,6,8] add(b, y)",
        "y = f32[4,6,8] negate(x) r = f32[8] reduce(y, p), dimensions={0,1}, to_apply=sum
           b = f32[4,6,8] broadcast(r), dimensions={2} ROOT t = f32[4,6,8] add(b, y)",
        "b = bf16[] convert(p) y = f32[4,6,8] negate(x) c = f32[] convert(b)
           r = f32[4,6] reduce(y, c), dimensions={2}, to_apply=sum ROOT t = (f32[4,6], f32[]) tuple(r, c)",
        "b = bf16[4,6,8] convert(x) c = f32[4,6,8] convert(b) r = f32[4,6] reduce(c, p), dimensions={2}, to_apply=sum
           s = f32[4,6,8] slice(c), slice={[0:4], [0:6], [0:8]} y = f32[4,6,8] clamp(p, s, p) ROOT t = (f32[4,6], f32[4,6,8]) tuple(r, y)",
    ] {
        agree(&format!("{sum} ENTRY e {{ x = f32[4,6,8] parameter(0) p = f32[] parameter(1) {body} }}"));
    }
}

#[test]
fn products_of_transposed_arrays() {
    for (x, y, dims) in [
        (
            "dimensions={1,0}",
            "dimensions={0,1}",
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ),
        (
            "dimensions={0,1}",
            "dimensions={1,0}",
            "lhs_contracting_dims={0}, rhs_contracting_dims={1}",
        ),
        (
            "dimensions={1,0}",
            "dimensions={1,0}",
            "lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        ),
    ] {
        let text = format!(
            "ENTRY e {{ p = f32[5,5] parameter(0) q = f32[5,5] parameter(1) x = f32[5,5] transpose(p), {x}
             y = f32[5,5] transpose(q), {y} d = f32[5,5] dot(x, y), {dims} ROOT t = (f32[5,5], f32[5,5]) tuple(d, y) }}"
        );
        agree(&text);
    }
    // Batch dimensions, and free dimensions of which the order changes.
    for permutation in ["0,1,2,3", "0,2,1,3", "3,0,1,2", "2,3,0,1", "1,3,0,2", "0,3,2,1"] {
        for dims in [
            "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}",
            "lhs_contracting_dims={1,3}, rhs_contracting_dims={3,1}",
            "lhs_batch_dims={2,1}, rhs_batch_dims={1,3}, lhs_contracting_dims={3}, rhs_contracting_dims={2}",
        ] {
            let rank = if dims.contains("{2,1}") || dims.contains("{1,3}") {
                "3,3,3,3"
            } else {
                "3,3,3,3,3"
            };
            agree(&format!(
                "ENTRY e {{ p = f32[3,3,3,3] parameter(0) q = f32[3,3,3,3] parameter(1)
                 x = f32[3,3,3,3] transpose(p), dimensions={{{permutation}}} y = f32[3,3,3,3] transpose(q), dimensions={{{permutation}}}
                 ROOT d = f32[{rank}] dot(x, y), {dims} }}"
            ));
        }
    }
}

/// Values of several widths before a reduction of runs that are longer than a tile.
#[test]
fn runs_of_values_of_several_widths() {
    for inner in [512, 513, 768, 1500] {
        for (narrow, wide) in [("bf16", "f32"), ("s8", "f32"), ("f32", "f64"), ("u8", "s32")] {
            let (n, w) = (format!("{narrow}[3,{inner}]"), format!("{wide}[3,{inner}]"));
            agree(&format!(
                "sum {{ a = {wide}[] parameter(0) b = {wide}[] parameter(1) ROOT c = {wide}[] add(a, b) }}
                 ENTRY e {{ x = {n} parameter(0) y = {n} parameter(1) z = {wide}[] constant(0)
                   d = {n} subtract(x, y) p = {n} multiply(d, d) q = {n} add(p, x) v = {w} convert(q) u = {w} multiply(v, v)
                   r = {wide}[3] reduce(v, z), dimensions={{1}}, to_apply=sum s = {wide}[3] reduce(u, z), dimensions={{1}}, to_apply=sum
                   ROOT t = ({wide}[3], {wide}[3]) tuple(r, s) }}"
            ));
        }
    }
}

/// A chain that is longer than a group, and a reshape to more dimensions in its middle.
#[test]
fn reshapes_between_groups() {
    let ops = |from: &str, name: &str, shape: &str, count: usize| -> String {
        let link = |i: usize| {
            let operand = if i == 0 { from.to_owned() } else { format!("{name}{}", i - 1) };
            format!("{name}{i} = {shape} negate({operand})")
        };
        (0..count).map(link).collect::<Vec<_>>().join(" ")
    };
    for before in 40..60 {
        let last = before - 1;
        agree(&format!(
            "ENTRY e {{ x = f32[6] parameter(0) {} r = f32[2,3] reshape(a{last}) {} ROOT t = f32[2,3] add(b3, r) }}",
            ops("x", "a", "f32[6]", before),
            ops("r", "b", "f32[2,3]", 4)
        ));
        // The reshaped value is a result, like the values before and after it.
        agree(&format!(
            "ENTRY e {{ x = f32[6] parameter(0) {} r = f32[2,3] reshape(a{last}) w = f32[2,3] abs(r)
               ROOT t = (f32[6], f32[2,3], f32[2,3]) tuple(a{last}, r, w) }}",
            ops("x", "a", "f32[6]", before),
        ));
    }
}

#[test]
fn conversions_of_conversions() {
    for (a, b, c) in [
        ("bf16", "f32", "f64"),
        ("s8", "s16", "s32"),
        ("pred", "u8", "f32"),
        ("u8", "f32", "f64"),
        ("f16", "f32", "f64"),
    ] {
        agree(&format!(
            "sum {{ a = {c}[] parameter(0) b = {c}[] parameter(1) ROOT c = {c}[] add(a, b) }}
             ENTRY e {{ x = {a}[4,8] parameter(0) v = {a}[8] parameter(1) y = {b}[4,8] convert(x) z = {c}[4,8] convert(y)
               w = {c}[4,8] add(z, z) i = {c}[] constant(0) s = {c}[4] reduce(z, i), dimensions={{1}}, to_apply=sum
               k = {b}[8] convert(v) l = {b}[4,8] broadcast(k), dimensions={{1}} m = {c}[4,8] convert(l) n = {c}[4,8] add(w, m)
               ROOT t = ({c}[4,8], {c}[4]) tuple(n, s) }}"
        ));
    }
}

/// Rotations of words, by amounts that are scalars, rows, columns or arrays; some shifts are read
/// twice, or are results.
#[test]
fn rotations_of_words() {
    let shapes = [("1,1", "1", "1"), ("1,7", "1", "7"), ("3,700", "3", "700"), ("5,0", "5", "0")];
    let amounts = [
        "b = SHAPE broadcast(s), dimensions={} c = SHAPE broadcast(t), dimensions={}",
        "b = SHAPE broadcast(s), dimensions={} c = SHAPE broadcast(column), dimensions={0}",
        "b = SHAPE broadcast(row), dimensions={1} c = SHAPE broadcast(t), dimensions={}",
        "k = TY[] constant(31) b = SHAPE broadcast(k), dimensions={} c = SHAPE add(y, b)",
    ];
    let ends = [
        "r = SHAPE or(left, right) ROOT o = SHAPE xor(r, y)",
        "r = SHAPE or(right, left) q = SHAPE xor(y, r) ROOT o = SHAPE add(q, y)",
        "r = SHAPE or(right, left) q = SHAPE xor(r, r) ROOT o = SHAPE add(q, r)",
        "r = SHAPE or(left, right) q = SHAPE xor(r, left) ROOT o = (SHAPE, SHAPE) tuple(q, r)",
        "r = SHAPE or(left, right) q = SHAPE add(r, y) p = SHAPE xor(y, q)
         ROOT o = (SHAPE, SHAPE) tuple(p, right)",
        "l = SHAPE or(left, right) m = SHAPE xor(l, y) n = SHAPE shift-left(m, b)
         k2 = SHAPE shift-right-logical(m, c) r = SHAPE or(n, k2) q = SHAPE xor(r, m)
         ROOT o = SHAPE xor(q, l)",
    ];
    for ty in ["u32", "s32", "u64"] {
        for (dims, rows, inner) in shapes {
            for (amount, end) in amounts.iter().flat_map(|a| ends.map(|end| (a, end))) {
                let text = format!(
                    "ENTRY e {{ x = SHAPE parameter(0) y = SHAPE parameter(1) s = TY[] parameter(2)
                       t = TY[] parameter(3) row = TY[{inner}] parameter(4)
                       column = TY[{rows}] parameter(5) {amount}
                       left = SHAPE shift-left(x, b) right = SHAPE shift-right-logical(x, c) {end} }}"
                );
                agree(&text.replace("SHAPE", &format!("{ty}[{dims}]")).replace("TY", ty));
            }
        }
    }
}

/// Chains of every type, with rows, columns and scalars.
#[test]
fn chains_of_every_type() {
    for &ty in hlo::ElementType::ALL {
        let ops: &[&str] = match ty.class() {
            hlo::Class::Pred => &["and", "xor", "maximum"],
            hlo::Class::Signed | hlo::Class::Unsigned => {
                &["add", "multiply", "divide", "remainder"]
            }
            hlo::Class::Float => &["add", "multiply", "divide", "power"],
            hlo::Class::Complex => &["add", "multiply", "divide", "subtract"],
        };
        let wide = if ty.is_complex() { "c128" } else { "c64" };
        let end = match ty.is_complex() {
            true => {
                "im = PART imag(b) re = PART real(a) ni = PART negate(im) h = SHAPE complex(re, ni)
                     e = SHAPE exponential(h) n = PART abs(e)"
            }
            false => "h = SHAPE copy(a) e = SHAPE maximum(h, b) n = PART convert(e)",
        };
        for (rows, inner) in [(1, 1), (3, 5), (2, 300), (40, 33), (0, 4)] {
            for op in ops {
                let text = format!(
                    "ENTRY f {{ x = SHAPE parameter(0) row = TY[{inner}] parameter(1)
                       column = TY[{rows}] parameter(2) s = TY[] parameter(3)
                       r = SHAPE broadcast(row), dimensions={{1}} c = SHAPE broadcast(column), dimensions={{0}}
                       t = SHAPE broadcast(s), dimensions={{}} a = SHAPE {op}(x, r) b = SHAPE {op}(t, a)
                       {end} k = pred[{rows},{inner}] compare(e, c), direction=EQ
                       w = WIDE convert(e) v = WIDE add(w, w) g = SHAPE select(k, h, e)
                       ROOT o = (SHAPE, PART, WIDE) tuple(g, n, v) }}"
                );
                let part = ty.component().name();
                let part = if ty.is_complex() { part } else { "f32" };
                let dims = format!("[{rows},{inner}]");
                agree(
                    &text
                        .replace("SHAPE", &format!("{ty}{dims}"))
                        .replace("PART", &format!("{part}{dims}"))
                        .replace("WIDE", &format!("{wide}{dims}"))
                        .replace("TY", ty.name()),
                );
            }
        }
    }
}

/// Rows are reduced where they are computed, from arrays in the block and beside it; what a walk moves
/// is changed before and after it is read.
#[test]
fn rows_of_computed_values() {
    for (ty, columns) in [("f32", 200), ("f32", 1030), ("bf16", 130), ("s32", 300), ("f64", 129)] {
        let (whole, rows) = (format!("{ty}[8,{columns}]"), format!("{ty}[8]"));
        let shape = format!("(s32[], {whole}, {whole}, {rows}, {ty}[{columns}])");
        let text = format!(
            "sum {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] add(a, b) }}
             most {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] maximum(a, b) }}
             condition {{ t = {shape} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(4)
               ROOT l = pred[] compare(i, n), direction=LT }}
             body {{ t = {shape} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               x = {whole} get-tuple-element(t), index=1 k = {whole} get-tuple-element(t), index=2
               v = {rows} get-tuple-element(t), index=3 w = {ty}[{columns}] get-tuple-element(t), index=4 z = {ty}[] constant(1)
               b = {whole} broadcast(v), dimensions={{0}} c = {whole} broadcast(w), dimensions={{1}} o = {ty}[1] reshape(z)
               u = {ty}[{columns}] dynamic-update-slice(w, o, i) e = {whole} broadcast(u), dimensions={{1}}
               f = {whole} multiply(x, k) g = {whole} subtract(f, b) h = {whole} add(g, c)
               m = {rows} reduce(h, z), dimensions={{1}}, to_apply=most n = {whole} broadcast(m), dimensions={{0}}
               d = {whole} subtract(h, n) s = {rows} reduce(d, z), dimensions={{1}}, to_apply=sum
               p = pred[8,{columns}] compare(d, e), direction=LT q = {whole} select(p, d, e)
               r = {ty}[8,1] slice(q), slice={{[0:8],[1:2]}} y = {whole} dynamic-update-slice(q, r, i, i)
               ROOT a = {shape} tuple(j, y, k, s, u) }}
             ENTRY main {{ i = s32[] constant(0) x = {whole} parameter(0) k = {whole} parameter(1) v = {rows} parameter(2)
               w = {ty}[{columns}] parameter(3) t = {shape} tuple(i, x, k, v, w)
               ROOT r = {shape} while(t), condition=condition, body=body }}"
        );
        agree(&text);
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}
