//! Arrays of `.npz` files as arguments and results: `in0`, `in1`, ... and `out0`, `out1`, ...
//!
//! They are numbered in parameter order with tuples flattened. A token is no array: it takes no number.
use hlo::literal::npz::NpyArray;
use hlo::{Literal, Module, Shape};

/// Takes the arrays `<prefix>0`, `<prefix>1`, ... as values of these shapes.
///
/// # Errors
/// Which array is missing, or does not fit its shape.
pub fn values<'a>(
    arrays: &[NpyArray],
    prefix: &str,
    shapes: impl IntoIterator<Item = &'a Shape>,
) -> Result<Vec<Literal>, String> {
    let mut taker = Taker { arrays, prefix, next: 0 };
    shapes.into_iter().map(|shape| taker.take(shape)).collect()
}

/// The arguments of a module's entry computation.
///
/// # Errors
/// As [`values`].
pub fn arguments(arrays: &[NpyArray], module: &Module) -> Result<Vec<Literal>, String> {
    values(arrays, "in", module.entry().program_shape().parameters)
}

/// The result of a module's entry computation.
///
/// # Errors
/// As [`values`].
pub fn result(arrays: &[NpyArray], module: &Module) -> Result<Literal, String> {
    let mut taker = Taker { arrays, prefix: "out", next: 0 };
    taker.take(module.entry().result_shape())
}

/// The arrays a value is made of, with the names they have in a file.
pub fn named<'a>(value: &'a Literal, prefix: &str) -> Vec<(String, &'a Literal)> {
    let arrays = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
    arrays.enumerate().map(|(i, leaf)| (format!("{prefix}{i}"), leaf)).collect()
}

struct Taker<'a> {
    arrays: &'a [NpyArray],
    prefix: &'a str,
    next: usize,
}

impl Taker<'_> {
    fn take(&mut self, shape: &Shape) -> Result<Literal, String> {
        match shape {
            Shape::Array(array) => {
                let name = format!("{}{}", self.prefix, self.next);
                self.next += 1;
                let found = self.arrays.iter().find(|a| a.name == name);
                let found =
                    found.ok_or_else(|| format!("there is no array `{name}` for {shape}"))?;
                found.to_literal(array).map_err(|e| e.to_string())
            }
            Shape::Tuple(shapes) => {
                let elements: Result<_, String> = shapes.iter().map(|s| self.take(s)).collect();
                Ok(Literal::tuple(elements?))
            }
            Shape::Token => Ok(Literal::token()),
            Shape::Opaque | Shape::Buffer(_) => Err(format!("no array can stand for {shape}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn tuples_are_flattened_and_tokens_skipped() {
        let shape: Shape = "(f32[2], token[], (s8[], pred[1]))".parse().unwrap();
        let parts = ["f32[2] {1, 2}", "s8[] 3", "pred[1] {true}"];
        let [a, b, c] = parts.map(|t| t.parse::<Literal>().unwrap());
        let value = Literal::tuple(vec![a, Literal::token(), Literal::tuple(vec![b, c])]);
        let mut file = Cursor::new(Vec::new());
        hlo::literal::npz::write(&mut file, named(&value, "in")).unwrap();
        let arrays = hlo::literal::npz::read(file).unwrap();
        assert_eq!(
            arrays.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
            ["in0", "in1", "in2"]
        );
        assert_eq!(values(&arrays, "in", [&shape]).unwrap(), [value]);
        let error = values(&arrays, "out", [&shape]).unwrap_err();
        assert!(error.contains("`out0`"), "{error}");
    }
}
