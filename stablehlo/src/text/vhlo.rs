//! VHLO as text: its attributes and types, as those of StableHLO that they stand for.
use super::Parser;
use super::parsed_op::ParsedOp;
use super::region::Argument;
use crate::attributes::{integer, named};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Fields, Region, Type};
use crate::{element, ops, vhlo};
use hlo::{ElementType, Span};
use smol_str::SmolStr;

/// The versions of the API of custom calls, by their numbers.
const API_VERSIONS: [&str; 5] = [
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
];

#[cold]
fn newer(kind: &str, name: &str, span: Span) -> Error {
    let message = format!("{kind} `{name}` of VHLO is unknown: the program is newer than Etalon");
    Error::from(Code::Version { message }).at(span)
}

impl<'a> Parser<'a> {
    /// Parses `@name(%a: type) -> (type) { ... }`.
    pub(super) fn vhlo_function(&mut self, body: &mut ParsedOp) -> Result<()> {
        let name = self.symbol_name()?;
        body.set("sym_name", Attribute::String(name.as_bytes().to_vec()));
        let arguments: Vec<Argument<'a>> = self.items("(", ")", Self::argument)?;
        self.cursor.expect("->")?;
        let results = self.result_types()?;
        let types = arguments.iter().map(|argument| argument.ty.clone()).collect();
        body.set("function_type", Attribute::Type(Type::Function(types, results)));
        let region = self.function_body(arguments, body)?;
        body.regions.push(region);
        Ok(())
    }

    /// Parses the body of an attribute with this name after the dialect.
    pub(super) fn vhlo_attribute(&mut self, name: &str, start: usize) -> Result<Attribute> {
        let span = self.cursor.span_from(start);
        let Some(name) = name.strip_suffix("_v1") else {
            return Err(newer("attribute", name, span));
        };
        let dialect = |name: &str| SmolStr::new(format!("stablehlo.{name}"));
        match name {
            "result_accuracy" | "sub_axis_info" | "axis_ref" | "mesh_axis" | "mesh" => {
                let fields = self.fields()?;
                return Ok(Attribute::Dialect(dialect(name), fields));
            }
            "replica_group_mesh_axes" => {
                let mut fields = self.fields()?;
                if let Fields::Named(fields) = &mut fields
                    && let Some((_, mesh)) = fields.0.iter_mut().find(|(name, _)| name == "mesh")
                {
                    vhlo::symbol(mesh);
                }
                return Ok(Attribute::Dialect(dialect(name), fields));
            }
            _ => {}
        }
        self.cursor.expect("<")?;
        let value = match name {
            "array" | "bool" | "integer" | "tensor" => self.attribute()?,
            "dict" => Attribute::Dictionary(self.vhlo_dictionary()?),
            "float" => self.number_attribute()?,
            "string" => Attribute::String(self.string("a string")?),
            "type" => Attribute::Type(self.ty()?),
            "output_operand_alias" => self.vhlo_alias()?,
            _ => {
                let word = self.cursor.word("a keyword")?;
                keyword(name, word, span)?
            }
        };
        self.cursor.expect(">")?;
        Ok(value)
    }
    /// Parses `{#vhlo.string_v1<"name"> = value, ...}`.
    fn vhlo_dictionary(&mut self) -> Result<Attributes> {
        let entries = self.items("{", "}", |parser| {
            let start = parser.cursor.start();
            let Attribute::String(name) = parser.attribute()? else {
                let message = "the name of an attribute must be a string".to_owned();
                let span = parser.cursor.span_from(start);
                return Err(Error::from(Code::AttributeValue { message }).at(span));
            };
            parser.cursor.expect("=")?;
            Ok((SmolStr::new(String::from_utf8_lossy(&name)), parser.attribute()?))
        })?;
        let mut attributes = Attributes(entries);
        crate::normal::sort(&mut attributes);
        Ok(attributes)
    }
    /// Parses `outputTupleIndices = [0], operandIndex = 0, operandTupleIndices = []`, in any order.
    fn vhlo_alias(&mut self) -> Result<Attribute> {
        let (mut output, mut operand, mut part) = (Vec::new(), 0, Vec::new());
        loop {
            let name = self.cursor.word("the name of a field")?;
            self.cursor.expect("=")?;
            match name {
                "outputTupleIndices" => output = self.cursor.integers("[", "]")?,
                "operandTupleIndices" => part = self.cursor.integers("[", "]")?,
                _ => operand = self.cursor.integer("the number of an operand")?,
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        let fields = named([
            ("operand_index", integer(operand)),
            ("operand_tuple_indices", Attribute::Integers(part)),
            ("output_tuple_indices", Attribute::Integers(output)),
        ]);
        Ok(Attribute::Dialect("stablehlo.output_operand_alias".into(), fields))
    }

    /// Parses the body of a type with this name after the dialect.
    pub(super) fn vhlo_type(&mut self, name: &str, start: usize) -> Result<Type> {
        let span = self.cursor.span_from(start);
        let Some(name) = name.strip_suffix("_v1") else {
            return Err(newer("type", name, span));
        };
        Ok(match name {
            "tensor" => self.tensor()?,
            "complex" => self.complex()?,
            "token" => Type::Token,
            "tuple" => Type::Tuple(self.type_list("<", ">")?),
            "unranked_tensor" => {
                self.cursor.expect("<")?;
                let element = self.ty()?;
                self.cursor.expect(">")?;
                element::unranked(&element)
            }
            "func" => {
                self.cursor.expect("<")?;
                self.cursor.expect("(")?;
                let operands = self.vhlo_types()?;
                self.cursor.expect(")")?;
                self.cursor.expect("->")?;
                let results = self.vhlo_types()?;
                self.cursor.expect(">")?;
                Type::Function(operands, results)
            }
            "bool" => element::scalar("i1"),
            // The name that VHLO has for it.
            "tf31" => element::scalar("tf32"),
            "witness" => element::scalar("!shape.witness"),
            "future" | "quant" | "quant_per_axis" | "buffer" => {
                self.balanced()?;
                let name = match name {
                    "future" => "!stablehlo.future",
                    "buffer" => "memref",
                    _ => "!quant.uniform",
                };
                let text = self.cursor.since(start);
                let body = text.find('<').map_or("", |at| &text[at..]);
                Type::Other(SmolStr::new(format!("{name}{body}")))
            }
            name if element::is_scalar(name) => element::scalar(name),
            name => return Err(newer("type", name, span)),
        })
    }
    /// Parses `type, type` or `()`.
    fn vhlo_types(&mut self) -> Result<Vec<Type>> {
        match self.cursor.peek() {
            Some(b'(') => self.type_list("(", ")"),
            Some(b')') => Ok(Vec::new()),
            _ => self.types(),
        }
    }
}

/// Names the terminator of a function as `func` does: VHLO has one `return` for all regions.
pub(super) fn name_return(region: &mut Region) {
    if let Some(last) = region.ops.last_mut().filter(|last| last.name == "stablehlo.return") {
        last.name = SmolStr::new_static("func.return");
    }
}

/// Brings an op of VHLO, which has this name after the dialect, into the form of StableHLO; returns
/// its name there.
pub(super) fn convert(name: &str, attributes: &mut Attributes, span: Span) -> Result<SmolStr> {
    let Some((row, _)) = ops::of_vhlo(name) else { return Err(newer("op", name, span)) };
    let error = |message| Error::from(Code::AttributeValue { message }).at(span);
    vhlo::convert(row, attributes, &error)?;
    Ok(SmolStr::new_static(row.name))
}
/// Returns an enum's value.
pub(super) fn keyword(name: &str, word: &str, span: Span) -> Result<Attribute> {
    if name == "api_version"
        && let Some((_, number)) = API_VERSIONS.iter().zip(0..).find(|(known, _)| **known == word)
    {
        return Ok(Attribute::Integer(number, Type::Element(ElementType::S32)));
    }
    let known = vhlo::ENUMS.iter().any(|(_, known, words)| {
        *known == name && words.iter().any(|known| *known == word && !word.is_empty())
    });
    if !known {
        return Err(newer("attribute", &format!("{name} {word}"), span));
    }
    let name = SmolStr::new(format!("stablehlo.{name}"));
    Ok(Attribute::Dialect(name, Fields::Keyword(word.into())))
}
