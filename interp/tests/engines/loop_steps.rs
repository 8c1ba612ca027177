//! Steps of loops over small arrays: custom calls, updates of arrays, small products.
use super::small_loops::agree_with_code;
use super::{agree, canonical, compiled, ramp, run};
use interp::{Engine, RunOptions};

/// A custom call and a sort are steps of the loop, with the results that they have in frames.
#[test]
fn custom_calls_are_steps() {
    let text = "before { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
      less { t = (s32[], f32[3,3]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(9)
        ROOT l = pred[] compare(i, n), direction=LT }
      next { t = (s32[], f32[3,3]) parameter(0) i = s32[] get-tuple-element(t), index=0 x = f32[3,3] get-tuple-element(t), index=1
        one = s32[] constant(1) j = s32[] add(i, one) y = f32[3,3] sort(x), dimensions={1}, to_apply=before
        q = (f32[3,3], f32[3]) custom-call(y), custom_call_target=\"lapack_sgeqrf_ffi\"
        z = f32[3,3] get-tuple-element(q), index=0 ROOT r = (s32[], f32[3,3]) tuple(j, z) }
      ENTRY main { i = s32[] constant(0) x = f32[3,3] parameter(0) t = (s32[], f32[3,3]) tuple(i, x)
        ROOT w = (s32[], f32[3,3]) while(t), condition=less, body=next }";
    let exact = compiled(text, Engine::Exact);
    assert!(exact.plan().to_string().contains("while (small arrays)"));
    let arguments =
        [ramp(exact.module().entry().program_shape().parameters[0].array().unwrap(), 1)];
    let [program, frames] = [false, true].map(|nan| {
        let found = run(&exact, &arguments, &RunOptions::default().check_nan(nan));
        (canonical(&found.result), found.steps)
    });
    assert_eq!(program, frames);
    agree_with_code(text, Engine::Fast);
}

/// A scatter of rows into an array that the loop carries, and that is too large for a block: it is
/// changed where it is. One that is also read by the scatter, or after it, is copied.
#[test]
fn updates_of_large_arrays() {
    let module = |indices: &str, update: &str, next: &str| {
        format!(
            "add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
             less {{ t = (s32[], f32[256,100]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(9)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = (s32[], f32[256,100]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               x = f32[256,100] get-tuple-element(t), index=1 b = s32[7] broadcast(i), dimensions={{}} n = s32[7] iota(), iota_dimension=0
               m = s32[7] multiply(n, n) k = s32[7] add(b, {indices}) u = f32[7] convert(n) {update}
               s = f32[256,100] scatter(x, k, v), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
               {next} ROOT r = (s32[], f32[256,100]) tuple(j, y) }}
             ENTRY main {{ i = s32[] constant(0) x = f32[256,100] parameter(0) t = (s32[], f32[256,100]) tuple(i, x)
               ROOT w = (s32[], f32[256,100]) while(t), condition=less, body=next }}"
        )
    };
    let rows = "v = f32[7,100] broadcast(u), dimensions={0}";
    let own = "v = f32[7,100] slice(x), slice={[1:8], [0:100]}";
    let whole = "y = f32[256,100] copy(s)";
    let twice = "y = f32[256,100] scatter(s, n, v), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
    let before = "z = f32[7,100] slice(x), slice={[9:16], [0:100]} y = f32[256,100] scatter(s, n, z), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
    for (indices, update, next, is_small) in [
        ("n", rows, whole, true),
        // Some are outside of the array.
        ("m", rows, twice, true),
        ("n", own, twice, true),
        ("n", rows, before, false),
    ] {
        let text = module(indices, update, next);
        let plan = compiled(&text, Engine::Exact).plan().to_string();
        assert_eq!(plan.contains("while (small arrays)"), is_small, "{text}\n{plan}");
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}

/// Arrays without elements are operands of steps: a sum of nothing, an update with nothing.
#[test]
fn empty_operands() {
    let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
      less { t = (s32[], f32[3], f32[3,0]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(9)
        ROOT l = pred[] compare(i, n), direction=LT }
      next { t = (s32[], f32[3], f32[3,0]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
        x = f32[3] get-tuple-element(t), index=1 e = f32[3,0] get-tuple-element(t), index=2 u = f32[0] slice(x), slice={[1:1]}
        d = f32[3] dot(e, u), lhs_contracting_dims={1}, rhs_contracting_dims={0} v = f32[3] dynamic-update-slice(x, u, i)
        z = f32[] constant(0.5) r = f32[3] reduce(e, z), dimensions={1}, to_apply=add k = f32[3] concatenate(u, v), dimensions={0}
        p = f32[3] pad(u, z), padding=1_2 a = f32[3] add(d, k) b = f32[3] add(r, p) y = f32[3] add(a, b)
        m = f32[40,40] broadcast(z), dimensions={} f = f32[0,40] slice(m), slice={[2:2], [0:40]}
        g = f32[40,40] dot(f, f), lhs_contracting_dims={0}, rhs_contracting_dims={0} h = f32[1,3] slice(g), slice={[1:2], [4:7]}
        k2 = f32[3] reshape(h) q = f32[3] add(y, k2) ROOT s = (s32[], f32[3], f32[3,0]) tuple(j, q, e) }
      ENTRY main { i = s32[] constant(0) x = f32[3] parameter(0) e = f32[3,0] parameter(1) t = (s32[], f32[3], f32[3,0]) tuple(i, x, e)
        ROOT w = (s32[], f32[3], f32[3,0]) while(t), condition=less, body=next }";
    assert!(compiled(text, Engine::Exact).plan().to_string().contains("while (small arrays)"));
    agree_with_code(text, Engine::Exact);
    agree_with_code(text, Engine::Fast);
}

/// Small products in a loop: sums that the bound decides, ties, sums of zeros, infinities and NaN.
#[test]
fn small_products() {
    let rows = [
        "1, 5.9604645e-08, 0, 0",
        "1, 5.9604645e-08, 1e-30, 0",
        "3, 1, 2, -0.5",
        "1e30, -1e30, 1, 0",
        "-0, -0, 0, 0",
        "inf, 1, 1, 1",
        "nan, 1, 1, 1",
        "3e38, 3e38, 0, 0",
        "1e-30, 1e-30, -1e-30, 2e-45",
    ];
    for (kind, results) in [("f32[4]", 1), ("f32[4,2]", 2), ("f32[4,9]", 9)] {
        let count = rows.len();
        let all = rows.map(|row| format!("{{{row}}}")).join(", ");
        let shape = if results == 1 { "f32[]".to_owned() } else { format!("f32[{results}]") };
        let text = format!(
            "less {{ t = (s32[], {shape}, f32[{count},{results}]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant({count})
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = (s32[], {shape}, f32[{count},{results}]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               z = s32[] constant(0) rows = f32[{count},4] constant({{{all}}}) u = f32[1,4] dynamic-slice(rows, i, z), dynamic_slice_sizes={{1,4}} r = f32[4] reshape(u)
               o = f32[] constant(1) m = {kind} broadcast(o), dimensions={{}} k = {kind} iota(), iota_dimension=0 h = f32[] constant(0.25) hs = {kind} broadcast(h), dimensions={{}}
               w = {kind} multiply(k, hs) zero = f32[] constant(0) y = {shape} get-tuple-element(t), index=1
               d = {shape} dot(r, m), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}} e = {shape} dot(r, w), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
               a = {shape} add(d, e) s = f32[1,{results}] reshape(a) f = f32[{count},{results}] get-tuple-element(t), index=2
               g = f32[{count},{results}] dynamic-update-slice(f, s, i, z) ROOT q = (s32[], {shape}, f32[{count},{results}]) tuple(j, d, g) }}
             ENTRY main {{ i = s32[] constant(0) x = {shape} parameter(0) f = f32[{count},{results}] parameter(1)
               t = (s32[], {shape}, f32[{count},{results}]) tuple(i, x, f)
               ROOT w = (s32[], {shape}, f32[{count},{results}]) while(t), condition=less, body=next }}"
        );
        assert!(compiled(&text, Engine::Exact).plan().to_string().contains("while (small arrays)"));
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}

/// What a loop computes alike in each round is computed before it: also in a loop inside, and in one
/// without a round, whose value stays.
#[test]
fn invariants_of_loops() {
    for (rounds, inside) in [(0, 0), (1, 2), (3, 0), (3, 2), (40, 3)] {
        let state = "(s32[], f32[40], f32[40], f32[20,4], f32[80])";
        let text = format!(
            "few {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant({inside})
               ROOT l = pred[] compare(i, n), direction=LT }}
             inner {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               a = f32[40] get-tuple-element(t), index=1 b = f32[40] get-tuple-element(t), index=2
               w = f32[20,4] get-tuple-element(t), index=3 x = f32[80] get-tuple-element(t), index=4
               c = f32[80] concatenate(a, b), dimensions={{0}} d = f32[80] multiply(c, c) v = f32[80] reshape(w) e = f32[80] add(d, v)
               y = f32[80] subtract(e, x) ROOT r = {state} tuple(j, a, b, w, y) }}
             less {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant({rounds})
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               a = f32[40] get-tuple-element(t), index=1 w = f32[20,4] get-tuple-element(t), index=3 x = f32[80] get-tuple-element(t), index=4
               m = f32[4,20] transpose(w), dimensions={{1,0}} s = f32[1,20] slice(m), slice={{[1:2], [0:20]}} p = f32[20] reshape(s)
               z = f32[] constant(0.5) q = f32[40] pad(p, z), padding=7_13 u = f32[40] add(q, a) k = s32[] constant(0)
               o = {state} tuple(k, u, a, w, x) l = {state} while(o), condition=few, body=inner y = f32[80] get-tuple-element(l), index=4
               f = f32[] convert(i) g = f32[80] broadcast(f), dimensions={{}} h = f32[80] add(y, g) n = f32[40] negate(u)
               ROOT r = {state} tuple(j, a, n, w, h) }}
             ENTRY main {{ i = s32[] constant(0) a = f32[40] parameter(0) b = f32[40] parameter(1) w = f32[20,4] parameter(2)
               x = f32[80] parameter(3) t = {state} tuple(i, a, b, w, x) ROOT r = {state} while(t), condition=less, body=next }}"
        );
        assert!(compiled(&text, Engine::Exact).plan().to_string().contains("while (small arrays)"));
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}

/// A constant that a round reads, and that is the next value of what the loop carries, stays.
#[test]
fn constants_that_are_carried() {
    for ty in ["f64", "f32", "s32", "pred"] {
        let (one, op) = if ty == "pred" { ("true", "xor") } else { ("1", "add") };
        let state = format!("(s32[], {ty}[700], {ty}[700])");
        let text = format!(
            "less {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               a = {ty}[700] get-tuple-element(t), index=2 c = {ty}[] constant({one}) v = {ty}[700] broadcast(c), dimensions={{}}
               w = {ty}[700] {op}(a, v) ROOT r = {state} tuple(j, v, w) }}
             ENTRY main {{ i = s32[] constant(0) a = {ty}[700] parameter(0) b = {ty}[700] parameter(1) t = {state} tuple(i, a, b)
               ROOT r = {state} while(t), condition=less, body=next }}"
        );
        agree_with_code(&text, Engine::Exact);
    }
}

/// An array that a walk fills, and that is then changed where it is, is read as it is.
#[test]
fn updates_of_what_is_spread() {
    for count in [200, 700] {
        let state = format!("(s32[], f32[{count}])");
        let text = format!(
            "less {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               a = f32[{count}] get-tuple-element(t), index=1 s = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={{1}} x = f32[] reshape(s)
               v = f32[{count}] broadcast(x), dimensions={{}} p = f32[90] slice(a), slice={{[7:97]}}
               u = f32[{count}] dynamic-update-slice(v, p, i) w = f32[{count}] multiply(u, a) y = f32[{count}] subtract(w, u)
               ROOT r = {state} tuple(j, y) }}
             ENTRY main {{ i = s32[] constant(0) a = f32[{count}] parameter(0) t = {state} tuple(i, a)
               ROOT r = {state} while(t), condition=less, body=next }}"
        );
        agree_with_code(&text, Engine::Exact);
    }
}

/// One copy reads a constant and an array behind it, which is the last that a round computes.
#[test]
fn padding_of_a_next_value() {
    for inner in ["m", "k"] {
        let text = format!(
            "less {{ t = (s32[], f32[4], f32[3], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0
               n = s32[] constant(20) ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = (s32[], f32[4], f32[3], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0
               one = s32[] constant(1) j = s32[] add(i, one) a = f32[4] get-tuple-element(t), index=1
               z = f32[] constant(0.5) w = f32[8] pad(a, z), padding=4_0 r = f32[8] reverse(w), dimensions={{0}}
               v = f32[4] slice(r), slice={{[0:8:2]}} m = f32[1] slice(v), slice={{[3:4]}} k = f32[1] slice(m), slice={{[0:1]}}
               y = f32[3] pad({inner}, z), padding=1_1 ROOT o = (s32[], f32[4], f32[3], f32[4]) tuple(j, a, y, v) }}
             ENTRY main {{ i = s32[] constant(0) a = f32[4] parameter(0) y = f32[3] parameter(1)
               t = (s32[], f32[4], f32[3], f32[4]) tuple(i, a, y, a)
               ROOT r = (s32[], f32[4], f32[3], f32[4]) while(t), condition=less, body=next }}"
        );
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}

/// Reductions of single elements are elementwise, with the steps that they take in frames: few
/// elements and many, of values and of constants, in any op.
#[test]
fn reductions_of_single_elements() {
    for (ty, op, count) in [
        ("f32", "add", 1),
        ("f32", "add", 300),
        ("f32", "maximum", 70),
        ("f64", "add", 9),
        ("f64", "multiply", 700),
        ("bf16", "add", 40),
        ("s32", "subtract", 33),
        ("u8", "multiply", 20),
        ("c64", "add", 5),
        ("pred", "and", 12),
    ] {
        let constant = match ty {
            "pred" => "true",
            "c64" => "(0, 0)",
            _ => "0",
        };
        let text = format!(
            "step {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}
             less {{ t = (s32[], {ty}[1,{count}], {ty}[]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(7)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = (s32[], {ty}[1,{count}], {ty}[]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
               j = s32[] add(i, one) x = {ty}[1,{count}] get-tuple-element(t), index=1 f = {ty}[] get-tuple-element(t), index=2
               z = {ty}[] constant({constant}) r = {ty}[{count}] reduce(x, z), dimensions={{0}}, to_apply=step
               y = {ty}[1,{count}] reshape(r) s = {ty}[{count}] reduce(y, f), dimensions={{0}}, to_apply=step
               w = {ty}[1,{count}] reshape(s) g = {ty}[1] slice(s), slice={{[0:1]}} h = {ty}[] reshape(g)
               ROOT r2 = (s32[], {ty}[1,{count}], {ty}[]) tuple(j, w, h) }}
             ENTRY main {{ i = s32[] constant(0) x = {ty}[1,{count}] parameter(0) f = {ty}[] parameter(1)
               t = (s32[], {ty}[1,{count}], {ty}[]) tuple(i, x, f)
               ROOT w = (s32[], {ty}[1,{count}], {ty}[]) while(t), condition=less, body=next }}"
        );
        let exact = compiled(&text, Engine::Exact);
        assert!(exact.plan().to_string().contains("while (small arrays)"), "{text}");
        let parameters = &exact.module().entry().program_shape().parameters;
        let arguments: Vec<_> =
            (1..).zip(parameters).map(|(k, shape)| ramp(shape.array().unwrap(), k)).collect();
        let [program, frames] = [false, true].map(|nan| {
            let found = run(&exact, &arguments, &RunOptions::default().check_nan(nan));
            (canonical(&found.result), found.steps)
        });
        assert_eq!(program, frames, "{text}");
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}

/// Arrays of more bytes than registers hold, which a loop inside of a loop carries and changes by
/// rows: those before are needed afterwards, or not.
#[test]
fn loops_inside_that_change_arrays() {
    let inside = "less {
          t = (s32[], f32[20,16], s32[20,1]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)
          ROOT l = pred[] compare(i, n), direction=LT }
        second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
        sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        change {
          t = (s32[], f32[20,16], s32[20,1]) parameter(0) i = s32[] get-tuple-element(t), index=0
          a = f32[20,16] get-tuple-element(t), index=1 at = s32[20,1] get-tuple-element(t), index=2
          r = f32[20,16] gather(a, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}
          d = f32[20,16] subtract(r, a)
          b = f32[20,16] scatter(a, at, d), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=TO_APPLY
          c = f32[20,16] CHANGED
          one = s32[] constant(1) j = s32[] add(i, one)
          next = s32[20,1] add(at, at)
          ROOT u = (s32[], f32[20,16], s32[20,1]) tuple(j, c, next) }";
    let outside = "go { t = (s32[], f32[20,16], f32[20,16], s32[20,1]) parameter(0) i = s32[] get-tuple-element(t), index=0
          n = s32[] constant(5) ROOT l = pred[] compare(i, n), direction=LT }
        round {
          t = (s32[], f32[20,16], f32[20,16], s32[20,1]) parameter(0) i = s32[] get-tuple-element(t), index=0
          x = f32[20,16] get-tuple-element(t), index=1 y = f32[20,16] get-tuple-element(t), index=2
          at = s32[20,1] get-tuple-element(t), index=3
          m = f32[20,16] multiply(x, y) zero = s32[] constant(0)
          s = (s32[], f32[20,16], s32[20,1]) tuple(zero, m, at)
          w = (s32[], f32[20,16], s32[20,1]) while(s), condition=less, body=change
          z = f32[20,16] get-tuple-element(w), index=1 k = s32[20,1] get-tuple-element(w), index=2
          new = f32[20,16] add(z, AFTERWARDS)
          one = s32[] constant(1) j = s32[] add(i, one)
          half = s32[20,1] subtract(k, at)
          ROOT u = (s32[], f32[20,16], f32[20,16], s32[20,1]) tuple(j, new, z, half) }
        ENTRY main {
          zero = s32[] constant(0) x = f32[20,16] parameter(0) y = f32[20,16] parameter(1) at = s32[20,1] parameter(2)
          t = (s32[], f32[20,16], f32[20,16], s32[20,1]) tuple(zero, x, y, at)
          ROOT w = (s32[], f32[20,16], f32[20,16], s32[20,1]) while(t), condition=go, body=round }";
    for (to_apply, changed, afterwards) in [
        ("second", "negate(b)", "x"),
        ("sum", "add(b, a)", "m"),
        ("sum", "copy(b)", "z"),
        ("second", "subtract(b, r)", "y"),
    ] {
        let inside = inside.replace("TO_APPLY", to_apply).replace("CHANGED", changed);
        let text = format!("{inside} {}", outside.replace("AFTERWARDS", afterwards));
        agree(&text);
        agree_with_code(&text, Engine::Exact);
        agree_with_code(&text, Engine::Fast);
    }
}
