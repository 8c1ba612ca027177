//! The examples of docs/broadcasting.md are what the functions do.
#![expect(clippy::unwrap_used, reason = "tests")]
use builder::{Builder, Value};
use builder_compat::max_graph;
use builder_compat::onnx;
use hlo::{ElementType, Shape};

const PAGE: &str = include_str!("../../../../docs/broadcasting.md");

/// The cells of the rows of the table under this line.
fn table(title: &str) -> Vec<[String; 6]> {
    let (_, rest) = PAGE.split_once(title).unwrap();
    let rows = rest.trim_start().lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let cells: Vec<String> = row.trim_matches('|').split('|').map(cell).collect();
        cells.try_into().unwrap()
    };
    rows.map(cells).collect()
}
fn cell(text: &str) -> String {
    text.trim().trim_matches('`').to_owned()
}

/// The shape of the sum, or the number of the error.
fn sum(l: &str, r: &str, add: impl for<'b> Fn(Value<'b>, Value<'b>) -> Value<'b>) -> String {
    let b = Builder::new("page");
    let y = add(b.parameter(0, l, "x"), b.parameter(1, r, "y"));
    match b.status() {
        Ok(()) => format!("{:#}", y.shape().unwrap()),
        Err(error) => error.number().to_owned(),
    }
}

/// `Elemwise`: lower ranks are completed with 1s on the left; in each dimension sizes are equal, or
/// 1 and known to be.
fn elemwise(l: &str, r: &str) -> String {
    let parts = |text: &str| {
        let inner = text.split_once('[').unwrap().1.trim_end_matches(']').to_owned();
        let dims = inner.split(',').filter(|dim| !dim.is_empty()).map(str::to_owned);
        dims.rev().collect::<Vec<String>>()
    };
    let (l, r) = (parts(l), parts(r));
    let mut dims = vec![];
    for at in 0..l.len().max(r.len()) {
        let size = |dims: &[String]| dims.get(at).map_or("1", String::as_str).to_owned();
        match (size(&l), size(&r)) {
            (l, r) if l == r || r == "1" => dims.push(l),
            (l, r) if l == "1" => dims.push(r),
            _ => return "E0802".to_owned(),
        }
    }
    dims.reverse();
    format!("f32[{}]", dims.join(","))
}

#[test]
fn shapes_are_as_the_page_says() {
    let rows = table("The shape of the sum of two operands:\n");
    assert_eq!(rows.len(), 12);
    for [l, r, xla, max, onnx, pytensor] in rows {
        // Rules look the same from both sides.
        for (l, r) in [(&l, &r), (&r, &l)] {
            assert_eq!(sum(l, r, |x, y| x + y), xla, "XLA: {l} {r}");
            assert_eq!(sum(l, r, |x, y| max_graph::add(x, y)), max, "MAX Graph: {l} {r}");
            assert_eq!(sum(l, r, onnx::add), onnx, "ONNX: {l} {r}");
            assert_eq!(elemwise(l, r), pytensor, "PyTensor: {l} {r}");
        }
    }
}

/// `NumPy`'s common type of two of its types: the smallest that holds both, where floats hold
/// integers of less than half their bits, and `f64` is the last resort.
fn numpy(l: ElementType, r: ElementType) -> ElementType {
    use ElementType::{F16, F32, F64, Pred, S16, S32, S64};
    if l == r || r == Pred {
        return l;
    }
    if l == Pred {
        return r;
    }
    let as_float = |ty: ElementType| match (ty.is_float(), ty.bits()) {
        (true, _) => ty,
        (false, 8) => F16,
        (false, 16) => F32,
        (false, _) => F64,
    };
    let wider = |a: ElementType, b: ElementType| if a.bits() >= b.bits() { a } else { b };
    if l.is_float() || r.is_float() {
        return wider(as_float(l), as_float(r));
    }
    if l.class() == r.class() {
        return wider(l, r);
    }
    let (unsigned, signed) = if l.class() == hlo::Class::Unsigned { (l, r) } else { (r, l) };
    let holds = match unsigned.bits() {
        8 => S16,
        16 => S32,
        32 => S64,
        _ => return F64,
    };
    wider(signed, holds)
}

#[test]
fn types_are_as_the_page_says() {
    let rows = table("The element type of the sum of two operands:\n");
    assert_eq!(rows.len(), 14);
    for [l, r, xla, max, onnx, pytensor] in rows {
        for (l, r) in [(&l, &r), (&r, &l)] {
            let sum = |add: &dyn for<'b> Fn(Value<'b>, Value<'b>) -> Value<'b>| {
                let text = sum(&format!("{l}[2]"), &format!("{r}[2]"), add);
                text.trim_end_matches("[2]").to_owned()
            };
            assert_eq!(sum(&|x, y| x + y), xla, "XLA: {l} {r}");
            assert_eq!(sum(&|x, y| max_graph::add(x, y)), max, "MAX Graph: {l} {r}");
            assert_eq!(sum(&onnx::add), onnx, "ONNX: {l} {r}");
            let ty = |name: &str| ElementType::from_name(name).unwrap();
            assert_eq!(numpy(ty(l), ty(r)).name(), pytensor, "PyTensor: {l} {r}");
        }
    }
}

/// What is said of a shape holds of the shape rule alone too.
#[test]
fn the_rule_of_max_graph_gives_the_same() {
    for [l, r, _, max, ..] in table("The shape of the sum of two operands:\n") {
        let array = |text: &str| text.parse::<Shape>().unwrap().array().unwrap().clone();
        let found = match max_graph::result_shape(&array(&l), &array(&r)) {
            Ok(shape) => format!("{shape:#}"),
            Err(error) => error.number().to_owned(),
        };
        assert_eq!(found, max, "{l} {r}");
    }
}
