//! Attributes in pretty forms with a syntax of their own.
use super::Parser;
use super::parsed_op::ParsedOp;
use crate::attributes::{keyword, matrix, named};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Type};
use hlo::ElementType;

impl Parser<'_> {
    /// Parses `, SIGNED`, if it is there.
    pub(super) fn compare_type(&mut self, body: &mut ParsedOp) -> Result<()> {
        if self.cursor.eat(",") {
            let word = self.cursor.word("`FLOAT`, `TOTALORDER`, `SIGNED` or `UNSIGNED`")?;
            body.set("compare_type", keyword("stablehlo.comparison_type", word));
        }
        Ok(())
    }
    /// Parses `, name = true`, if it is there.
    pub(super) fn optional_flag(&mut self, name: &str, body: &mut ParsedOp) -> Result<()> {
        if self.cursor.eat(",") {
            self.cursor.expect(name)?;
            self.cursor.expect("=")?;
            let value = self.cursor.eat_word("true");
            if !value {
                self.cursor.expect("false")?;
            }
            body.set(name, Attribute::Bool(value));
        }
        Ok(())
    }
    /// Parses `[start:limit:stride, ...]`.
    pub(super) fn slice_ranges(&mut self, body: &mut ParsedOp) -> Result<()> {
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.items("[", "]", |parser| {
            starts.push(parser.cursor.integer("the start of a range")?);
            parser.cursor.expect(":")?;
            limits.push(parser.cursor.integer("the limit of a range")?);
            strides.push(if parser.cursor.eat(":") {
                parser.cursor.integer("a stride")?
            } else {
                1
            });
            Ok(())
        })?;
        body.set("start_indices", Attribute::Integers(starts));
        body.set("limit_indices", Attribute::Integers(limits));
        body.set("strides", Attribute::Integers(strides));
        Ok(())
    }
    /// Parses `e5m10`.
    pub(super) fn precision_format(&mut self, body: &mut ParsedOp) -> Result<()> {
        let before = self.cursor;
        let word = self.cursor.word("a format such as `e5m10`")?;
        let parts = word.strip_prefix('e').and_then(|rest| rest.split_once('m'));
        let bits = parts.and_then(|(exponent, mantissa)| {
            Some((exponent.parse().ok()?, mantissa.parse().ok()?))
        });
        let Some((exponent, mantissa)) = bits else {
            self.cursor = before;
            return Err(self.cursor.expected("a format such as `e5m10`"));
        };
        let integer =
            |value: i32| Attribute::Integer(value.into(), Type::Element(ElementType::S32));
        body.set("exponent_bits", integer(exponent));
        body.set("mantissa_bits", integer(mantissa));
        Ok(())
    }
    /// Parses `batching_dims = [0] x [0], contracting_dims = [1] x [0]`.
    pub(super) fn dot_dimensions(&mut self, body: &mut ParsedOp) -> Result<()> {
        let pair = |parser: &mut Self| -> Result<[Attribute; 2]> {
            parser.cursor.expect("=")?;
            let left = parser.cursor.integers("[", "]")?;
            parser.cursor.expect("x")?;
            Ok([left, parser.cursor.integers("[", "]")?].map(Attribute::Integers))
        };
        let batching = if self.cursor.eat_word("batching_dims") {
            let batching = pair(self)?;
            self.cursor.expect(",")?;
            batching
        } else {
            [Attribute::Integers(Vec::new()), Attribute::Integers(Vec::new())]
        };
        self.cursor.expect("contracting_dims")?;
        let [left, right] = pair(self)?;
        let [left_batching, right_batching] = batching;
        let fields = named([
            ("lhs_batching_dimensions", left_batching),
            ("lhs_contracting_dimensions", left),
            ("rhs_batching_dimensions", right_batching),
            ("rhs_contracting_dimensions", right),
        ]);
        body.set("dot_dimension_numbers", Attribute::Dialect("stablehlo.dot".into(), fields));
        Ok(())
    }
    /// Parses `, precision = [DEFAULT, HIGH], algorithm = <...>`, each if it is there.
    pub(super) fn precision(&mut self, body: &mut ParsedOp) -> Result<()> {
        while self.cursor.eat(",") {
            if self.cursor.eat_word("algorithm") {
                self.cursor.expect("=")?;
                let algorithm = self.named_attribute("stablehlo.dot_algorithm")?;
                body.set("algorithm", algorithm);
                continue;
            }
            self.cursor.expect("precision")?;
            self.cursor.expect("=")?;
            let precision = self.items("[", "]", |parser| {
                let word = parser.cursor.word("`DEFAULT`, `HIGH` or `HIGHEST`")?;
                Ok(keyword("stablehlo.precision", word))
            })?;
            body.set("precision_config", Attribute::Array(precision));
        }
        Ok(())
    }
    /// Parses
    /// `stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [...], rhs_dilate = [...], reverse = [false, true]`,
    /// each if it is there.
    pub(super) fn window(&mut self, body: &mut ParsedOp) -> Result<()> {
        while self.cursor.peek() != Some(b'}') {
            let before = self.cursor;
            let name =
                self.cursor.word("`stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`")?;
            self.cursor.expect("=")?;
            let attribute = match name {
                "stride" => "window_strides",
                "lhs_dilate" => "lhs_dilation",
                "rhs_dilate" => "rhs_dilation",
                "reverse" => "window_reversal",
                "pad" => {
                    let padding = self.padding()?;
                    body.set("padding", padding);
                    "padding"
                }
                _ => {
                    self.cursor = before;
                    return Err(self
                        .cursor
                        .expected("`stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`"));
                }
            };
            if name != "pad" {
                let list = self.items("[", "]", |parser| {
                    Ok(match (parser.cursor.eat_word("true"), parser.cursor.eat_word("false")) {
                        (true, _) => 1,
                        (_, true) => 0,
                        _ => parser.cursor.integer("an integer")?,
                    })
                })?;
                body.set(attribute, Attribute::Integers(list));
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        Ok(())
    }
    /// Parses `[[low, high], ...]`, which is a `dense` attribute in the generic form.
    fn padding(&mut self) -> Result<Attribute> {
        let start = self.cursor.start();
        let pairs: Vec<Vec<i64>> =
            self.cursor.list("[", "]", |cursor| cursor.integers("[", "]"))?;
        if pairs.iter().any(|pair| pair.len() != 2) {
            let message = "the padding of a dimension is `[low, high]`".to_owned();
            return Err(
                Error::from(Code::AttributeValue { message }).at(self.cursor.span_from(start))
            );
        }
        Ok(matrix(&pairs, 2))
    }
}
