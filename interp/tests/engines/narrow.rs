//! Slices of large values, of which only a part is computed.
use crate::{agree, compiled};
use interp::{Engine, RunOptions};
use std::fmt::Write as _;

/// Runs a module in both engines; that it returns what is written.
fn case(body: &str, expected: &str) {
    assert_eq!(agree(&format!("ENTRY e {{ {body} }}")).to_string(), expected, "{body}");
}

/// A dimension of so many elements makes a value large.
const N: i64 = 1 << 18;

#[test]
fn ops_that_move_elements() {
    case(
        &format!(
            "p = s32[3] parameter(0) b = s32[2,3,{N}] broadcast(p), dimensions={{1}}
          ROOT s = s32[1,2,2] slice(b), slice={{[1:2], [0:3:2], [7:1000:900]}}"
        ),
        "s32[1,2,2]{2,1,0} { { { -3, -3 }, { 3, 3 } } }",
    );
    case(
        &format!("i = s32[{N},2] iota(), iota_dimension=0 t = s32[2,{N}] transpose(i), dimensions={{1,0}}
          r = s32[2,{N}] reverse(t), dimensions={{1}} ROOT s = s32[1,3] slice(r), slice={{[1:2], [0:7:3]}}"),
        "s32[1,3]{1,0} { { 262143, 262140, 262137 } }",
    );
    case(
        &format!(
            "i = u8[{}] iota(), iota_dimension=0 s = u8[1000] slice(i), slice={{[250:3250:3]}}
          ROOT t = u8[3] slice(s), slice={{[1:8:3]}}",
            4 * N
        ),
        "u8[3]{0} {253, 6, 15}",
    );
}

#[test]
fn concatenations_take_what_overlaps() {
    let operands = format!(
        "i = s32[{N}] iota(), iota_dimension=0 p = s32[5] parameter(0) c = s32[{}] concatenate(i, p, i, i), dimensions={{0}}",
        3 * N + 5
    );
    for (start, stride, count, expected) in [
        (N - 2, 1, 9, "{262142, 262143, -3, 0, 3, 6, 9, 0, 1}"),
        (N - 1, 4, 3, "{262143, 6, 2}"),
        (N + 1, 1, 2, "{0, 3}"),
        (2 * N + 5, 1, 1, "{0}"),
    ] {
        let limit = start + (count - 1) * stride + 1;
        case(
            &format!(
                "{operands} ROOT s = s32[{count}] slice(c), slice={{[{start}:{limit}:{stride}]}}"
            ),
            &format!("s32[{count}]{{0}} {expected}"),
        );
    }
}

#[test]
fn pads_keep_their_padding() {
    let operands = |padding: &str, size: i64| {
        format!(
            "p = s32[4] parameter(0) v = s32[] constant(-7) q = s32[{size}] pad(p, v), padding={padding}"
        )
    };
    for (padding, size, slice, count, expected) in [
        // -7 -7 -3 -7 -7 0 -7 -7 3 -7 -7 6 -7 ...
        (format!("2_{N}_2"), N + 12, "[1:9]", 8, "{-7, -3, -7, -7, 0, -7, -7, 3}"),
        (format!("2_{N}_2"), N + 12, "[2:12:3]", 4, "{-3, 0, 3, 6}"),
        (format!("2_{N}_2"), N + 12, "[0:12:5]", 3, "{-7, 0, -7}"),
        (format!("2_{N}_2"), N + 12, "[6:8]", 2, "{-7, -7}"),
        (format!("-1_{N}"), N + 3, "[0:5]", 5, "{0, 3, 6, -7, -7}"),
        (format!("{N}_-2"), N + 2, "[262142:262146]", 4, "{-7, -7, -3, 0}"),
    ] {
        case(
            &format!(
                "{} ROOT s = s32[{count}] slice(q), slice={{{slice}}}",
                operands(&padding, size)
            ),
            &format!("s32[{count}]{{0}} {expected}"),
        );
    }
}

#[test]
fn elementwise_chains_with_scalars() {
    case(
        &format!("i = s32[{N}] iota(), iota_dimension=0 f = f32[{N}] convert(i) h = f32[] constant(0.5)
          b = f32[{N}] broadcast(h), dimensions={{}} m = f32[{N}] multiply(f, b) z = f32[] constant(2)
          c = f32[{N}] clamp(h, m, z) l = pred[{N}] compare(c, b), direction=GT k = f32[{N}] copy(c)
          w = f32[{N}] select(l, k, f) n = f32[{N}] negate(w) ROOT s = f32[6] slice(n), slice={{[0:6]}}"),
        "f32[6]{0} {-0, -1, -1, -1.5, -2, -2}",
    );
}

#[test]
fn dynamic_slices_at_constants_are_clamped() {
    case(
        &format!("i = s32[{N},3] iota(), iota_dimension=0 a = s32[] constant(2000000) b = s32[] constant(-5)
          ROOT s = s32[2,1] dynamic-slice(i, a, b), dynamic_slice_sizes={{2,1}}"),
        "s32[2,1]{1,0} { {262142}, {262143} }",
    );
}

#[test]
fn values_with_other_users() {
    // Two slices and a sum over all; and a slice that is most of the value.
    let text = format!(
        "add {{ a = s32[] parameter(0) c = s32[] parameter(1) ROOT d = s32[] add(a, c) }}
        ENTRY e {{ p = s32[2] parameter(0) b = s32[2,{N}] broadcast(p), dimensions={{0}} z = s32[] constant(0)
          s = s32[2,1] slice(b), slice={{[0:2], [5:6]}} t = s32[1,2] slice(b), slice={{[1:2], [6:8]}}
          u = s32[2,{M}] slice(b), slice={{[0:2], [1:{N}]}} v = s32[2,1] slice(u), slice={{[0:2], [9:10]}}
          r = s32[2] reduce(b, z), dimensions={{1}}, to_apply=add
          ROOT x = (s32[2,1], s32[1,2], s32[2], s32[2,1]) tuple(s, t, r, v) }}",
        M = N - 1
    );
    let expected = "( s32[2,1]{1,0} { {-3}, {0} }, s32[1,2]{1,0} { { 0, 0 } }, \
        s32[2]{0} {-786432, 0}, s32[2,1]{1,0} { {-3}, {0} } )";
    assert_eq!(agree(&text).to_string(), expected);
}

#[test]
fn shared_values_are_narrowed_once() {
    // Each value is used twice by the next one: without sharing there would be 2^60 steps.
    let mut body = format!("i = u32[{N}] iota(), iota_dimension=0 ");
    let mut last = "i".to_owned();
    for k in 0..60 {
        let _ =
            write!(body, "x{k} = u32[{N}] xor({last}, {last}) y{k} = u32[{N}] add(x{k}, {last}) ");
        last = format!("y{k}");
    }
    let _ = write!(body, "ROOT s = u32[3] slice({last}), slice={{[7:10]}}");
    let text = format!("ENTRY e {{ {body} }}");
    let executable = compiled(&text, Engine::Exact);
    let result = executable.execute(&[], &RunOptions::default().max_memory(1 << 20)).unwrap();
    assert_eq!(result.to_string(), "u32[3]{0} {7, 8, 9}");
}

/// Values that would not fit the memory of any machine.
#[test]
fn what_is_not_needed_takes_no_memory() {
    for (body, expected) in [
        (
            "p = f32[100000] parameter(0) b = f32[100000,100000] broadcast(p), dimensions={0} m = f32[100000,100000] multiply(b, b)
             ROOT s = f32[2,2] slice(m), slice={[0:2], [99998:100000]}",
            "f32[2,2]{1,0} { { 9, 9 }, { 0, 0 } }",
        ),
        (
            "p = f32[1] parameter(0) unused = s64[10000000000000] iota(), iota_dimension=0 ROOT n = f32[1] negate(p)",
            "f32[1]{0} {3}",
        ),
        (
            "p = f32[1] parameter(0) i = s64[10000000000000] iota(), iota_dimension=0
             ROOT s = s64[2] slice(i), slice={[5:10000000000000:9999999999990]}",
            "s64[2]{0} {5, 9999999999995}",
        ),
    ] {
        let text = format!("ENTRY e {{ {body} }}");
        let executable = compiled(&text, Engine::Exact);
        let parameters = executable.module().entry().program_shape().parameters;
        let argument = crate::ramp(parameters[0].array().unwrap(), 1);
        let options = RunOptions::default().max_memory(1 << 20);
        let result = executable.execute(&[argument], &options).unwrap();
        assert_eq!(result.to_string(), expected, "{body}");
        assert!(executable.planned_bytes() < 1 << 20);
    }
}

#[test]
fn places_are_those_of_the_whole_value() {
    let text = format!(
        "ENTRY e {{ i = f32[{N},1] iota(), iota_dimension=0 k = f32[] constant(1000)
          b = f32[{N},1] broadcast(k), dimensions={{}} d = f32[{N},1] subtract(i, b) l = f32[{N},1] log(d)
          ROOT s = f32[3,1] slice(l), slice={{[991:1002:5], [0:1]}} }}"
    );
    let executable = compiled(&text, Engine::Exact);
    let error = executable.execute(&[], &RunOptions::default().check_nan(true)).unwrap_err();
    assert!(error.to_string().contains("`log` computes NaN at [991,0]"), "{error}");
    let plan = executable.plan().to_string();
    assert!(plan.contains("; kernel, part [991:1002:5, 0:1]"), "{plan}");
}
