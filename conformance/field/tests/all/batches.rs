//! Functions of matrices over batches: each problem of a batch is computed alone.
use super::{as_a_whole, parsed};
use field::{Answer, equal};

fn answer(first: &str, second: &str) -> Answer {
    equal(&parsed(first), &parsed(second), &as_a_whole()).unwrap()
}

fn whole(target: &str) -> String {
    format!(
        "ENTRY e {{
           x = f32[4,3,3] parameter(0)
           c = (f32[4,3,3], s32[4]) custom-call(x), custom_call_target=\"{target}\", backend_config={{uplo = 76 : ui8}}
           ROOT r = f32[4,3,3] get-tuple-element(c), index=0
         }}"
    )
}

/// Returns the same in two halves, the second of which begins at a matrix.
fn halves(target: &str, second: i64) -> String {
    let half = |name: &str, from: i64| {
        format!(
            "{name}0 = f32[2,3,3] slice(x), slice={{[{from}:{}], [0:3], [0:3]}}
             {name}1 = (f32[2,3,3], s32[2]) custom-call({name}0), custom_call_target=\"{target}\", backend_config={{uplo = 76 : ui8}}
             {name} = f32[2,3,3] get-tuple-element({name}1), index=0 ",
            from + 2
        )
    };
    format!(
        "ENTRY e {{ x = f32[4,3,3] parameter(0) {} {}
           ROOT r = f32[4,3,3] concatenate(a, b), dimensions={{0}} }}",
        half("a", 0),
        half("b", second)
    )
}

#[test]
fn a_batch_of_decompositions_is_computed_in_parts() {
    let target = "lapack_spotrf_ffi";
    let found = answer(&whole(target), &halves(target, 2));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    let found = answer(&whole(target), &halves(target, 1));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
    let one = whole(target)
        .replace(
            "x = f32[4,3,3] parameter(0)",
            "y = f32[4,3,3] parameter(0) x = f32[2,2,3,3] reshape(y)",
        )
        .replace("(f32[4,3,3], s32[4])", "(f32[2,2,3,3], s32[2,2])")
        .replace("ROOT r = f32[4,3,3] get", "g = f32[2,2,3,3] get")
        .replace("index=0", "index=0 ROOT r = f32[4,3,3] reshape(g)");
    assert!(matches!(answer(&whole(target), &one), Answer::Equal(_)));
}

#[test]
fn of_other_functions_it_is_not_known() {
    let found = answer(&whole("mine"), &halves("mine", 2));
    assert!(matches!(found, Answer::Open(_)), "{found:?}");
}
