//! The mistakes people make first, and what they are told.
#![expect(clippy::unwrap_used, reason = "tests")]
use builder::{Builder, Error, Value};

/// The first mistake that building `root` runs into, without its place.
#[track_caller]
fn mistake(b: &Builder, root: Value<'_>) -> String {
    told(&b.build(root).unwrap_err())
}
fn told(error: &Error) -> String {
    let text = error.to_string();
    assert!(error.location().is_some_and(|l| l.file() == file!()), "{text}");
    let lines = text.lines().filter(|line| !line.starts_with(" --> "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A query after a mistake says what the mistake was, and where.
#[test]
fn queries_report_the_first_mistake() {
    let b = Builder::new("m");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[3]", "y"));
    let (z, line) = ((x + y).tanh(), line!());
    let w = z.reshape(&[9, 9]);
    let errors = [
        z.dims().unwrap_err(),
        z.shape().unwrap_err(),
        w.rank().unwrap_err(),
        w.element_type().unwrap_err(),
        w.array().unwrap_err(),
        w.opcode().unwrap_err(),
        w.name().unwrap_err(),
        w.handle().unwrap_err(),
        w.instruction().unwrap_err(),
        b.shapes(&[x, w]).unwrap_err(),
        b.op_to_string(w).unwrap_err(),
        b.program_shape_of(w).unwrap_err(),
        b.build(w).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.number(), "E0802", "{error}");
        assert!(error.to_string().contains("f32[2] and f32[3] do not fit"), "{error}");
        assert_eq!(error.location().map(std::panic::Location::line), Some(line));
    }
    let b = Builder::new("m");
    let f = b.computation("f", &["f32[2]", "f32[3]"], |p| p[0] + p[1]);
    assert_eq!(f.program_shape().unwrap_err().number(), "E0802");
}

#[test]
fn ranks_differ() {
    let b = Builder::new("m");
    let (x, bias) = (b.parameter(0, "f32[8,10]", "x"), b.parameter(1, "f32[10]", "bias"));
    assert_eq!(
        mistake(&b, x + bias),
        "error[E0802]: f32[10] and f32[8,10] have different ranks\n \
         = help: name the dimensions it broadcasts along: `x + bias.along(&[1])`; XLA does not align trailing dimensions"
    );
}

#[test]
fn element_types_differ() {
    let b = Builder::new("m");
    let (x, n) = (b.parameter(0, "f32[4]", "x"), b.parameter(1, "s32[4]", "n"));
    assert_eq!(
        mistake(&b, x * n),
        "error[E0301]: operands of `multiply` are f32 and s32 (binary_same_type), in `multiply(f32[4], s32[4])`\n \
         = help: types are not converted implicitly: use `convert_element_type`"
    );
}

#[test]
fn numbers_that_the_type_does_not_hold() {
    let b = Builder::new("m");
    let n = b.parameter(0, "u8[4]", "n");
    assert_eq!(
        mistake(&b, n * 0.5),
        "error[E0807]: 0.5 is not a value of u8\n \
         = help: write an integer, or convert the value to a float type"
    );
    let b = Builder::new("m");
    let n = b.parameter(0, "u8[4]", "n");
    assert_eq!(
        mistake(&b, n + 256),
        "error[E0807]: 256 is not a value of u8\n = help: use a wider type"
    );
}

#[test]
fn values_of_another_builder() {
    let (b, other) = (Builder::new("train"), Builder::new("test"));
    let (x, y) = (b.constant(1f32), other.constant(2f32));
    assert_eq!(
        mistake(&b, x + y),
        "error[E0803]: a value of builder `test` is used in builder `train`\n \
         = help: each builder makes one module: pass data between modules as arguments"
    );
}

#[test]
fn values_of_around_a_closure() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4]", "x");
    let scale = b.parameter(1, "f32[]", "scale");
    let sum = x.reduce(0.0, |a, c| a + c * scale, &[0]);
    assert_eq!(
        mistake(&b, sum),
        "error[E0804]: a value of computation `main` is used in `reducer`\n \
         = help: only loops and branches may use values from outside: pass it as an operand, or make a constant inside"
    );
}

#[test]
fn nothing_to_build() {
    let b = Builder::new("m");
    assert_eq!(
        told(&b.build_last().unwrap_err()),
        "error[E0805]: `m` has no instruction\n = help: make a value before you build"
    );
}

#[test]
fn parameter_numbers() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[]", "x");
    let y = b.parameter(0, "f32[]", "y");
    assert_eq!(
        mistake(&b, x + y),
        "error[E0801]: parameter 0 exists already\n \
         = help: parameters are numbered from 0, each number once"
    );
    let b = Builder::new("m");
    let y = b.parameter(1, "f32[]", "y");
    assert_eq!(
        mistake(&b, y),
        "error[E0203]: `main` has a parameter 1, but no parameter 0\n \
         = help: number parameters from 0 without gaps"
    );
}

#[test]
fn shapes_that_are_none() {
    let b = Builder::new("m");
    let x = b.parameter(0, "float32[4]", "x");
    assert_eq!(
        mistake(&b, x),
        "error[E0113]: `float32` is not an element type\n = help: did you mean `f32`?"
    );
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4", "x");
    assert_eq!(
        mistake(&b, x),
        "error[E0101]: expected `,` or `]`, found the end of the text\n \
         = help: a shape is written like `f32[2,3]` or `(s32[], pred[4])`, this is `f32[4`"
    );
}

#[test]
fn loops_whose_state_changes() {
    let b = Builder::new("m");
    let n =
        b.constant(0i32).while_loop(|n| n.lt(3), |n| n.convert_element_type(hlo::ElementType::F32));
    assert_eq!(
        mistake(&b, n),
        "error[E0806]: the loop's body returns f32[], its state is s32[]\n \
         = help: a loop's state keeps its shape: convert or reshape the body's result"
    );
    let b = Builder::new("m");
    let n = b.constant(0i32).while_loop(|n| n + 1, |n| n + 1);
    assert_eq!(
        mistake(&b, n),
        "error[E0806]: the loop's condition returns s32[], expected pred[]\n \
         = help: compare something: `|state| state.lt(10)`"
    );
}

#[test]
fn rows_of_different_length() {
    let b = Builder::new("m");
    let x = b.constant(vec![vec![1f32, 2.0], vec![3.0]]);
    assert_eq!(
        mistake(&b, x),
        "error[E0807]: a row has 1 element, the first 2\n \
         = help: an array has rows of one length; pad the short ones"
    );
}

#[test]
fn dimensions_that_do_not_exist() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4,5]", "x");
    assert_eq!(
        mistake(&b, x.reduce(0.0, |a, c| a + c, &[2])),
        "error[E0801]: dimension 2 does not exist in f32[4,5]"
    );
}

#[test]
fn sizes_that_do_not_multiply() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4,5]", "x");
    assert_eq!(
        mistake(&b, x.reshape(&[3, 7])),
        "error[E0301]: f32[4,5] has 20 elements, f32[3,7] has 21 (reshape_c2), in `reshape(f32[4,5])`"
    );
}

#[test]
fn arrays_where_a_tuple_is() {
    let b = Builder::new("m");
    let x = b.parameter(0, "(f32[4], s32[])", "x");
    assert_eq!(
        mistake(&b, x + 1),
        "error[E0801]: expected an array, found (f32[4], s32[])\n \
         = help: take an array out of a tuple with `get_tuple_element(i)`"
    );
}

#[test]
fn the_report_shows_the_line() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let y = x.tanh() + b.constant([1f32, 2.0, 3.0]);
    let report = b.build(y).unwrap_err().report();
    assert!(report.contains("let y = x.tanh() + b.constant([1f32, 2.0, 3.0]);"), "{report}");
}

#[test]
fn sizes_are_not_negative() {
    let b = Builder::new("m");
    let x = b.parameter(0, (hlo::ElementType::F32, &[2, -3][..]), "x");
    let error = b.build(x).unwrap_err();
    assert!(error.to_string().contains("the size -3 of f32[2,-3] is negative"), "{error}");
    let b = Builder::new("m");
    let error = b.build(b.identity_matrix(hlo::ElementType::F32, -1, 3)).unwrap_err();
    assert!(error.to_string().contains("the size -1 of s32[-1,3] is negative"), "{error}");
}

#[test]
fn places_and_counts_are_held_by_their_type() {
    let b = Builder::new("m");
    assert!(b.build(b.iota("f32[128]", 0).arg_max(hlo::ElementType::S8, 0)).is_ok());
    let error = b.build(b.iota("f32[129]", 0).arg_max(hlo::ElementType::S8, 0)).unwrap_err();
    assert_eq!(error.number(), "E0807", "{error}");
    let b = Builder::new("m");
    let (window, format) = ([1, 1, 65536], builder::pooling::TensorFormat::channels_first(1));
    let x = b.parameter(0, "f16[1,1,65536]", "x");
    let error = b.build(x.avg_pool(&window, &window, &[(0, 0)], &format, true)).unwrap_err();
    assert!(error.to_string().contains("65536 elements are more than f16 can count"), "{error}");
}
