//! Tests of reading and printing shapes.
use super::*;

/// Returns the printed form of the shape, or the error.
fn round_trip(text: &str) -> Result<String> {
    text.parse::<Shape>().map(|shape| shape.to_string())
}
/// Returns the text the error is about, with its message and help.
fn rejected(text: &str) -> (&str, String, String) {
    let error = round_trip(text).expect_err(text);
    let span = error.span().expect("a place").range();
    (&text[span], error.code().to_string(), error.help().unwrap_or_default().to_owned())
}

#[test]
fn shapes_round_trip_as_they_are() {
    for text in [
        "f32[]",
        "pred[2,3]{0,1}",
        "f8e4m3b11fnuz[7]{0}",
        "token[]",
        "opaque[]",
        "()",
        "((f32[2]{0}), token[], u32[])",
        "(f32[], s32[], s32[], s32[], s32[], /*index=5*/s32[2]{0})",
        "b(f32[2,3]{1,0})",
        "f32[0]{0}",
        "f32[?,<=3,4]{2,1,0}",
        "f32[<=0]{0}",
        "f32[]{:S(1)}",
        "f32[]{:T(128)}",
        "b(f32[]{:S(1)})",
        "f32[2,3]{1,1}",
        "f32[2,3]{0,5}",
        "f32[2]{-1:S(1)}",
        "f32[2,3]{1,0:T(8,128)S(5)SC(0:1,2)(1:2)M(1024)}",
        "f32[2,3]{1,0:T(8,*)(*,2)L(4)#(u32)*(u8)E(4)}",
        "f32[2,3]{1,0:T()}",
        "f32[2,3]{1,0:SC(0:)}",
        "f32[2,3]{1,0:S(-1)}",
        "f32[9223372036854775807,9223372036854775807]{1,0}",
    ] {
        assert_eq!(round_trip(text).as_deref(), Ok(text));
    }
}
#[test]
fn other_spellings() {
    for (text, printed) in [
        ("f32[2,3]", "f32[2,3]{1,0}"),
        ("f32 [ 2 , 3 ] {0,1}", "f32[2,3]{0,1}"),
        ("f32[2,3] { 0 , 1 : S(1) }", "f32[2,3]{0,1:S(1)}"),
        ("f32[2] /* minor */ {0}", "f32[2]{0}"),
        ("( f32[] , s32[] )", "(f32[], s32[])"),
        ("b (f32[2])", "b(f32[2]{0})"),
        ("f32[<= 3, ?]", "f32[<=3,?]{1,0}"),
        ("f32[2,3]{1,0:}", "f32[2,3]{1,0}"),
        ("f32[]{:}", "f32[]"),
        ("f32[2,3]{1,0:D(D+,C~)T(8,128)}", "f32[2,3]{1,0:T(8,128)}"),
        ("f32[2,3]{1,0:T(8) (128) S(5)}", "f32[2,3]{1,0:T(8)(128)S(5)}"),
        ("f32[2,3]{1,0:M(0)L(1)}", "error"),
        ("f32[2,3]{1,0:L(1)M(0)}", "f32[2,3]{1,0}"),
        ("f32[]{}", "f32[]"),
        ("f32[2,3]sparse{10}", "f32[2,3]{1,0}"),
        ("f32[2,3]dense{0,1}", "f32[2,3]{0,1}"),
    ] {
        assert_eq!(round_trip(text).unwrap_or_else(|_| "error".to_owned()), printed, "{text}");
    }
}
#[test]
fn a_tail_that_says_nothing_is_dropped() {
    let shape: Shape = "f32[2]{0:E(0)S(0)}".parse().unwrap();
    assert_eq!(shape.array().unwrap().layout.tail, None);
}
#[test]
fn dynamic_dimensions_are_marked() {
    let shape: Shape = "f32[2,<=3,4]".parse().unwrap();
    let array = shape.array().unwrap();
    assert_eq!(array.dynamic.as_deref(), Some(&[false, true, false][..]));
    assert_eq!(array.dims.as_slice(), [2, 3, 4]);
}
#[test]
fn a_brace_after_a_shape_may_start_something_else() {
    for text in ["f32[123] {\n x = f32[] parameter(0)", "f32[] { ROOT", "f32[2]{0} {%x"] {
        let mut c = Cursor::new(text);
        shape(&mut c).unwrap();
        assert_eq!(c.peek(), Some(b'{'), "{text}");
    }
}
#[test]
fn where_a_shape_starts() {
    for text in ["f32[2]", " ( f32[])", "b(f32[])", "token []", "f8e5m2 [2]", "f31[2]"] {
        assert!(at_shape(&Cursor::new(text)), "{text}");
    }
    for text in ["%f32", "add(x)", "b, c", "b)", "f32", "{1}", "5", ""] {
        assert!(!at_shape(&Cursor::new(text)), "{text}");
    }
}
#[test]
fn rejections_name_the_place() {
    const DIM: &str = "write a size such as `3`, a bound such as `<=3`, or `?`";
    for (text, place, message, help) in [
        ("F32[2]", "F32", "`F32` is not an element type", "did you mean `f32`?"),
        ("f32[-1]", "-1", "`-1` is not the size of a dimension", DIM),
        ("f32[<=-1]", "-1", "`-1` is not the size of a dimension", DIM),
        ("f32[<=?]", "?", "expected the size of a dimension, found `?`", DIM),
        ("f32[2,]", "]", "expected the size of a dimension, found `]`", DIM),
        ("f32[2", "", "expected `,` or `]`, found the end of the text", ""),
        (
            "f32",
            "",
            "expected `[` after `f32`, found the end of the text",
            "write `f32[]` for a scalar",
        ),
        ("(f32[],)", ")", "expected a shape, found `)`", ""),
        (
            "b(token[])",
            "token[]",
            "a buffer can hold only an array",
            "write a buffer as `b(f32[2,3])`",
        ),
        (
            "b(b(f32[]))",
            "b(f32[])",
            "a buffer can hold only an array",
            "write a buffer as `b(f32[2,3])`",
        ),
        (
            "b((f32[]))",
            "(f32[])",
            "a buffer can hold only an array",
            "write a buffer as `b(f32[2,3])`",
        ),
        (
            "token[2]",
            "token[2",
            "`token[]` must have neither dimensions nor a layout",
            "write `token[]`",
        ),
        (
            "token[]{0}",
            "token[]{",
            "`token[]` must have neither dimensions nor a layout",
            "write `token[]`",
        ),
        (
            "tuple[]",
            "tuple",
            "`tuple` is not an element type",
            "write a tuple as `(shape, ...)`, a buffer as `b(shape)`",
        ),
    ] {
        assert_eq!(rejected(text), (place, message.to_owned(), help.to_owned()), "{text}");
    }
}
#[test]
fn a_word_far_from_all_types_is_told_them() {
    let (place, message, help) = rejected("opaque_type[]");
    assert_eq!((place, message.as_str()), ("opaque_type", "`opaque_type` is not an element type"));
    assert!(help.starts_with("use one of pred s1 s2"), "{help}");
}
#[test]
fn layout_rejections_name_the_place() {
    const ORDER: &str = "write each field once, in the order D T L # * E S SC P M";
    const FASTEST: &str = "list every dimension, the fastest-varying first: `{1,0}`";
    for (text, place, message, help) in [
        ("f32[2,3]{1}", "{1}", "the layout has length 1, but the shape has rank 2", FASTEST),
        ("f32[2,3]{}", "{}", "the layout has length 0, but the shape has rank 2", FASTEST),
        (
            "f32[2,3]{:S(1)}",
            "{:S(1)}",
            "the layout has length 0, but the shape has rank 2",
            FASTEST,
        ),
        (
            "f32[]{0}",
            "{0}",
            "the layout has length 1, but the shape has rank 0",
            "write a scalar without a layout",
        ),
        ("f32[2]{0:S(5)E(4)}", "E", "the layout field `E` cannot come after `S`", ORDER),
        ("f32[2]{0:T(8)T(9)}", "T", "the layout field `T` cannot come after `T`", ORDER),
        ("f32[2]{0:L(0)}", "0", "expected at least 1, found `0`", ""),
        ("f32[2]{0:T(-1)}", "-1", "expected at least 0, found `-1`", ""),
        (
            "f32[2]{0:Q(1)}",
            "Q",
            "expected a field of a layout, found `Q`",
            "write one of the fields D T L # * E S SC P M",
        ),
        ("f32[2]{0:SC()}", ")", "expected an integer, found `)`", ""),
        (
            "f32[2]{0:P(f32[2])}",
            "P",
            "only sparse arrays can have a physical shape",
            "leave `P(..)` out: sparse arrays are no longer part of HLO",
        ),
        ("f32[2]{0;}", ";", "expected `,`, `:` or `}` in a layout, found `;`", ""),
    ] {
        assert_eq!(rejected(text), (place, message.to_owned(), help.to_owned()), "{text}");
    }
}
#[test]
fn nesting_has_a_limit() {
    let deep = format!("{}{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(round_trip(&deep).unwrap_err().code().number(), "E0116");
    let deep = format!("{}f32[]{}", "b(".repeat(5000), ")".repeat(5000));
    assert_eq!(round_trip(&deep).unwrap_err().code().number(), "E0116");
}
