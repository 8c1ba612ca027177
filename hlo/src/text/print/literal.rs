//! Prints literals: on one line as XLA prints them, and as a summary.
use super::array_shape;
use crate::literal::Array;
use crate::text::number::{element, push_int};
use crate::{ArrayShape, IndexSpace, Literal};
use std::fmt;

/// Prints the value on one line, as in `constant(...)`; with the shape of each array before it if
/// `shapes`.
pub(crate) fn print(out: &mut String, value: &Literal, shapes: bool) {
    match value {
        Literal::Array(value) => array(out, value, shapes),
        Literal::Tuple(elements) => {
            out.push_str("( ");
            for (i, element) in elements.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                print(out, element, shapes);
            }
            out.push_str(" )");
        }
        Literal::Token => out.push_str("token[]"),
    }
}

fn array(out: &mut String, value: &Array, shapes: bool) {
    let shape = value.shape();
    if shapes {
        array_shape(out, shape, true);
        out.push(' ');
    }
    Rows { out, shape, bytes: value.bytes(), at: 0 }.level(0);
}

impl fmt::Display for Literal {
    /// Prints the value with shapes: `f32[2]{0} {1, 2}`, `( s32[] 1, f32[] 2 )`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        print(&mut text, self, true);
        f.write_str(&text)
    }
}
impl fmt::Display for Array {
    /// Prints the value with its shape: `f32[2]{0} {1, 2}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        array(&mut text, self, true);
        f.write_str(&text)
    }
}
impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary(SHOWN))
    }
}
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        summarize_array(&mut text, self, SHOWN, 0);
        f.write_str(&text)
    }
}

/// The printer of the nested braces of an array, consuming its elements.
struct Rows<'o, 'l> {
    out: &'o mut String,
    shape: &'l ArrayShape,
    bytes: &'l [u8],
    at: usize,
}

impl Rows<'_, '_> {
    fn element(&mut self) {
        let width = self.shape.ty.storage_bytes();
        let bytes = &self.bytes[self.at..self.at + width];
        element(self.out, self.shape.ty, bytes, self.shape.rank() > 0);
        self.at += width;
    }

    fn level(&mut self, d: usize) {
        let rank = self.shape.rank();
        if d == rank {
            self.element();
            return;
        }
        let size = self.shape.dims[d];
        let innermost = d + 1 == rank;
        // Rows of at most one element, and arrays of one dimension, have no blanks inside their
        // braces.
        let close = innermost && (rank == 1 || size <= 1);
        self.out.push_str(if close { "{" } else { "{ " });
        for i in 0..size {
            if i > 0 {
                self.out.push_str(", ");
            }
            if !innermost && rank > 3 && d + 2 < rank {
                self.commented(d, i);
            } else {
                self.level(d + 1);
            }
        }
        self.out.push_str(if close { "}" } else { " }" });
    }

    /// Prints a slice of an array of more than three dimensions, with its index: `{ /*i0=1*/ ...
    /// }`.
    fn commented(&mut self, d: usize, index: i64) {
        self.out.push_str("{ /*i");
        push_int(self.out, i64::try_from(d).unwrap_or(0));
        self.out.push('=');
        push_int(self.out, index);
        self.out.push_str("*/");
        let (inner, rank) = (d + 1, self.shape.rank());
        for i in 0..self.shape.dims[inner] {
            self.out.push_str(if i > 0 { ", " } else { " " });
            if inner + 2 < rank {
                self.commented(inner, i);
            } else {
                self.level(inner + 1);
            }
        }
        self.out.push_str(" }");
    }
}

impl Literal {
    /// Returns a summary of the value: one line per row, long dimensions elided in the middle, at
    /// most about `limit` elements.
    pub fn summary(&self, limit: usize) -> String {
        let mut out = String::new();
        summarize(&mut out, self, limit, 0);
        out
    }
}

/// Elements that a debug print shows.
const SHOWN: usize = 100;
/// Elements printed at either end of an elided dimension.
const EDGE: usize = 3;

fn summarize(out: &mut String, value: &Literal, limit: usize, indent: usize) {
    match value {
        Literal::Array(array) => summarize_array(out, array, limit, indent),
        Literal::Tuple(elements) => {
            out.push('(');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ",\n" } else { "\n" });
                out.push_str(&" ".repeat(indent + 2));
                summarize(out, element, limit, indent + 2);
            }
            out.push(')');
        }
        Literal::Token => out.push_str("token[]"),
    }
}

fn summarize_array(out: &mut String, array: &Array, limit: usize, indent: usize) {
    let shape = array.shape();
    array_shape(out, shape, false);
    if shape.rank() < 2 {
        out.push(' ');
    }
    let strides = shape.dims.strides();
    // Rows without elements count, too: there can be any number of them.
    let count = match (shape.dims.first(), strides.first()) {
        (Some(&size), Some(stride)) => stride.saturating_mul(size.max(1)),
        (None, _) | (_, None) => 1,
    };
    let elide = usize::try_from(count).is_ok_and(|count| count > limit);
    part(out, array, &strides, 0, 0, elide, indent);
}

fn part(
    out: &mut String,
    value: &Array,
    strides: &[i64],
    d: usize,
    base: usize,
    elide: bool,
    indent: usize,
) {
    let shape = value.shape();
    let Some(&size) = shape.dims.get(d) else {
        let width = shape.ty.storage_bytes();
        let bytes = &value.bytes()[base * width..(base + 1) * width];
        element(out, shape.ty, bytes, shape.rank() > 0);
        return;
    };
    let (size, stride) =
        (usize::try_from(size).unwrap_or(0), usize::try_from(strides[d]).unwrap_or(usize::MAX));
    let innermost = d + 1 == shape.rank();
    let separator = match innermost {
        true => ", ".to_owned(),
        false => format!(",\n{}", " ".repeat(indent + d + 1)),
    };
    if !innermost && d == 0 {
        out.push('\n');
        out.push_str(&" ".repeat(indent));
    }
    out.push('{');
    // Not iterated: arrays without elements can have any number of rows.
    let hidden = if elide && size > 2 * EDGE { EDGE..size - EDGE } else { size..size };
    for i in (0..hidden.start).chain(hidden.end..size) {
        if i > 0 {
            out.push_str(&separator);
        }
        if i > 0 && i == hidden.end {
            out.push_str("...");
            out.push_str(&separator);
        }
        part(
            out,
            value,
            strides,
            d + 1,
            base.saturating_add(i.saturating_mul(stride)),
            elide,
            indent,
        );
    }
    out.push('}');
}
