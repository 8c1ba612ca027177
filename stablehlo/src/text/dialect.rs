//! Attributes of dialects: `#stablehlo<comparison_direction EQ>`, `#stablehlo.gather<...>`,
//! `#sdy.sharding<...>`.
use super::Parser;
use crate::attributes::{integer, named};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Fields};
use hlo::Span;
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses an attribute that begins with `#`: one of a dialect, or an alias.
    pub(super) fn dialect_attribute(&mut self) -> Result<Attribute> {
        let start = self.cursor.start();
        let name = self.cursor.suffix("#", "an attribute")?;
        let span = self.cursor.span_from(start);
        if let Some((dialect, _)) = name.split_once('.') {
            return self.attribute_of(dialect, name, start);
        }
        if self.cursor.peek_here() != Some(b'<') {
            return self.attribute_alias(name, span);
        }
        // `#dialect<name body>` is `#dialect.name<body>`.
        let open = self.cursor;
        self.cursor.expect("<")?;
        let Some(word) = self.cursor.identifier() else {
            self.cursor = open;
            return self.opaque(name, start);
        };
        let full = match name {
            "mhlo" => format!("stablehlo.{word}"),
            _ => format!("{name}.{word}"),
        };
        if matches!(self.cursor.peek(), Some(b'<' | b'{' | b'[' | b'(' | b'"')) {
            let value = self.attribute_of(name, &full, start)?;
            self.cursor.expect(">")?;
            return Ok(value);
        }
        match self.cursor.identifier() {
            Some(value) if name == "vhlo" => {
                let span = self.cursor.span_from(start);
                let word = word.strip_suffix("_v1").unwrap_or(word);
                let value = super::vhlo::keyword(word, value, span)?;
                self.cursor.expect(">")?;
                Ok(value)
            }
            Some(value) if self.cursor.eat(">") => {
                Ok(Attribute::Dialect(full.into(), Fields::Keyword(value.into())))
            }
            _ => {
                self.cursor = open;
                self.opaque(name, start)
            }
        }
    }
    /// Parses the body of the attribute with this full name.
    fn attribute_of(&mut self, dialect: &str, name: &str, start: usize) -> Result<Attribute> {
        match dialect {
            "stablehlo" | "chlo" => self.named_attribute(name),
            "mhlo" => self.named_attribute(&name.replacen("mhlo.", "stablehlo.", 1)),
            "vhlo" => self.vhlo_attribute(name.rsplit('.').next().unwrap_or_default(), start),
            "sdy" => self.sharding_attribute(name, start),
            _ => self.opaque(name, start),
        }
    }
    /// Keeps an attribute of another dialect as its text.
    pub(super) fn opaque(&mut self, name: &str, start: usize) -> Result<Attribute> {
        if matches!(self.cursor.peek_here(), Some(b'<')) {
            self.balanced()?;
        }
        Ok(Attribute::Dialect(name.into(), Fields::Keyword(self.cursor.since(start).into())))
    }
    /// Parses `<body>` of an attribute of StableHLO.
    pub(super) fn named_attribute(&mut self, name: &str) -> Result<Attribute> {
        let fields = match name.rsplit('.').next() {
            Some("conv") => self.convolution_attribute()?,
            Some("mesh") => self.mesh_attribute()?,
            Some("sub_axis_info") => {
                self.cursor.expect("<")?;
                let fields = self.sub_axis_info()?;
                self.cursor.expect(">")?;
                fields
            }
            _ => self.fields()?,
        };
        Ok(Attribute::Dialect(name.into(), fields))
    }
    /// Parses `<KEYWORD>` or `<name = value, ...>`.
    pub(super) fn fields(&mut self) -> Result<Fields> {
        let before = self.cursor;
        self.cursor.expect("<")?;
        if let Some(word) = self.cursor.identifier()
            && self.cursor.eat(">")
        {
            return Ok(Fields::Keyword(word.into()));
        }
        self.cursor = before;
        self.cursor.expect("<")?;
        self.named_fields()
    }
    /// Parses `name = value, ...>`; a comma may stand before the bracket.
    fn named_fields(&mut self) -> Result<Fields> {
        let mut named: Vec<(SmolStr, Attribute)> = Vec::new();
        let mut names = rustc_hash::FxHashSet::default();
        while !self.cursor.eat(">") {
            let start = self.cursor.start();
            let name = self.cursor.word("the name of a field")?;
            if !names.insert(name) {
                let code = Code::Duplicate { kind: "field", name: name.to_owned() };
                return Err(Error::from(code).at(self.cursor.span_from(start)));
            }
            self.cursor.expect("=")?;
            named.push((SmolStr::new(name), self.field(name)?));
            if !self.cursor.eat(",") {
                self.cursor.expect(">")?;
                break;
            }
        }
        let mut fields = Attributes(named);
        crate::normal::sort(&mut fields);
        Ok(Fields::Named(fields))
    }
    /// Parses the value of a field.
    fn field(&mut self, name: &str) -> Result<Attribute> {
        match (self.cursor.peek(), name) {
            (Some(b'('), _) => {
                Ok(Attribute::Dialect("stablehlo.sub_axis_info".into(), self.sub_axis_info()?))
            }
            (Some(b'['), "axes") => self.attribute(),
            (Some(b'['), _) => self.cursor.integers("[", "]").map(Attribute::Integers),
            _ => self.attribute(),
        }
    }
    /// Parses `(2)4`: the size before, and the size of, a part of an axis.
    fn sub_axis_info(&mut self) -> Result<Fields> {
        self.cursor.expect("(")?;
        let before = self.cursor.integer("a size")?;
        self.cursor.expect(")")?;
        let size = self.cursor.integer("a size")?;
        Ok(named([("pre_size", integer(before)), ("size", integer(size))]))
    }
    /// Parses `<axes=[<name = "x", size = 2>], device_ids=dense<...>>`.
    fn mesh_attribute(&mut self) -> Result<Fields> {
        self.cursor.expect("<")?;
        self.cursor.expect("axes")?;
        self.cursor.expect("=")?;
        let axes = self.items("[", "]", |parser| {
            if parser.cursor.peek() == Some(b'<') {
                return parser.named_attribute("stablehlo.mesh_axis");
            }
            parser.attribute()
        })?;
        let mut fields = vec![(SmolStr::new_static("axes"), Attribute::Array(axes))];
        if self.cursor.eat(",") {
            self.cursor.expect("device_ids")?;
            self.cursor.expect("=")?;
            fields.push((SmolStr::new_static("device_ids"), self.attribute()?));
        }
        self.cursor.expect(">")?;
        Ok(Fields::Named(Attributes(fields)))
    }

    /// Parses `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`, or the fields after `raw`.
    fn convolution_attribute(&mut self) -> Result<Fields> {
        self.cursor.expect("<")?;
        if self.cursor.eat_word("raw") {
            return self.named_fields();
        }
        let fields = self.convolution_dimensions()?;
        self.cursor.expect(">")?;
        Ok(fields)
    }
    /// Parses `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn convolution_dimensions(&mut self) -> Result<Fields> {
        let mut fields = Vec::with_capacity(9);
        for (side, names) in [
            ("input", [("b", "batch"), ("f", "feature")]),
            ("kernel", [("i", "input_feature"), ("o", "output_feature")]),
            ("output", [("b", "batch"), ("f", "feature")]),
        ] {
            match side {
                "kernel" => self.cursor.expect("x")?,
                "output" => self.cursor.expect("->")?,
                _ => {}
            }
            let (letters, spatial) = self.dimension_letters(names.map(|(letter, _)| letter))?;
            for ((_, name), index) in names.iter().zip(letters) {
                fields.push((format!("{side}_{name}_dimension").into(), integer(index)));
            }
            fields
                .push((format!("{side}_spatial_dimensions").into(), Attribute::Integers(spatial)));
        }
        Ok(Fields::Named(Attributes(fields)))
    }
    /// Parses `[b, 0, 1, f]`: returns the places of the two letters, and of the numbers.
    fn dimension_letters(&mut self, letters: [&str; 2]) -> Result<([i64; 2], Vec<i64>)> {
        let start = self.cursor.start();
        let mut places = [None; 2];
        let mut spatial = Vec::new();
        let mut index = 0;
        self.items("[", "]", |parser| {
            match parser.cursor.identifier() {
                Some(word) => match letters.iter().position(|letter| *letter == word) {
                    Some(which) if places[which].is_none() => places[which] = Some(index),
                    _ => return Err(dimensions_error(&letters, parser.cursor.span_from(start))),
                },
                None => spatial.push((parser.cursor.integer::<i64>("a dimension")?, index)),
            }
            index += 1;
            Ok(())
        })?;
        let span = self.cursor.span_from(start);
        spatial.sort_unstable();
        let numbered = spatial.iter().zip(0..).all(|((number, _), expected)| *number == expected);
        match places {
            [Some(first), Some(second)] if numbered => {
                Ok(([first, second], spatial.into_iter().map(|(_, index)| index).collect()))
            }
            _ => Err(dimensions_error(&letters, span)),
        }
    }
}

fn dimensions_error(letters: &[&str; 2], span: Span) -> Error {
    let [first, second] = letters;
    let message = format!(
        "expected `{first}`, `{second}` and the numbers from 0, each once, such as `[{first}, 0, 1, {second}]`"
    );
    Error::from(Code::AttributeValue { message }).at(span)
}
