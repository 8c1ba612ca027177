//! Attributes of Shardy: meshes and shardings.
use super::Parser;
use crate::attributes::{REDUCTIONS, Unreduced, axis, dimension, mesh, mesh_axis, named, sharding};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Fields};

impl Parser<'_> {
    /// Parses an attribute in the short form of its place, or as any attribute: `#sdy.mesh<...>`,
    /// an alias.
    pub(super) fn short_or_full(
        &mut self,
        short: impl FnOnce(&mut Self) -> Result<Attribute>,
    ) -> Result<Attribute> {
        if self.cursor.peek() == Some(b'#') { self.attribute() } else { short(self) }
    }
    /// Parses the body of an attribute of Shardy with this full name.
    pub(super) fn sharding_attribute(&mut self, name: &str, start: usize) -> Result<Attribute> {
        match name {
            "sdy.mesh" => self.sharding_mesh(),
            "sdy.mesh_axis" => self.sharding_mesh_axis(),
            "sdy.sharding" => self.sharding(),
            "sdy.sharding_per_value" => {
                self.cursor.expect("<")?;
                let shardings = self.shardings()?;
                self.cursor.expect(">")?;
                Ok(shardings)
            }
            "sdy.dimension_sharding" => self.dimension_sharding(),
            "sdy.axis_ref" => self.sharding_axis(),
            "sdy.sub_axis_info" => self.sharding_part(),
            "sdy.manual_axes" => self.manual_axes(),
            "sdy.axis_ref_list" => self.axis_list(),
            "sdy.list_of_axis_ref_lists" => self.axis_lists(),
            "sdy.all_to_all_param" => self.all_to_all_parameter(),
            "sdy.all_to_all_param_list" => self.all_to_all_parameters(),
            // A rule says how shardings propagate; the op means the same without it.
            "sdy.op_sharding_rule" => {
                self.balanced()?;
                let fields = Fields::Named(Attributes::default());
                Ok(Attribute::Dialect(name.into(), fields))
            }
            _ => {
                if self.cursor.peek_here() == Some(b'{') {
                    self.balanced()?;
                }
                self.opaque(name, start)
            }
        }
    }
    /// Parses `[<@mesh, [{"x"}]>, ...]`.
    fn shardings(&mut self) -> Result<Attribute> {
        let shardings = self.items("[", "]", |parser| parser.short_or_full(Self::sharding))?;
        let fields = named([("shardings", Attribute::Array(shardings))]);
        Ok(Attribute::Dialect("sdy.sharding_per_value".into(), fields))
    }
    /// Parses `{"x", "y"}`.
    fn manual_axes(&mut self) -> Result<Attribute> {
        let axes = self.items("{", "}", |parser| {
            parser.string("the name of an axis").map(Attribute::String)
        })?;
        let fields = named([("axes", Attribute::Array(axes))]);
        Ok(Attribute::Dialect("sdy.manual_axes".into(), fields))
    }
    /// Parses `<["x"=2, "y"=4], device_ids=[0, 1]>`.
    fn sharding_mesh(&mut self) -> Result<Attribute> {
        self.cursor.expect("<")?;
        let axes = self.items("[", "]", |parser| parser.short_or_full(Self::sharding_mesh_axis))?;
        let devices = if self.cursor.eat(",") {
            self.cursor.expect("device_ids")?;
            self.cursor.expect("=")?;
            self.cursor.integers("[", "]")?
        } else {
            Vec::new()
        };
        self.cursor.expect(">")?;
        Ok(Attribute::Dialect("sdy.mesh".into(), mesh(axes, devices)))
    }
    fn sharding_mesh_axis(&mut self) -> Result<Attribute> {
        let name = self.string("the name of an axis")?;
        self.cursor.expect("=")?;
        Ok(mesh_axis(name, self.cursor.integer("a size")?))
    }
    /// Parses `<@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"z"}, unreduced=max{"w"}>`.
    fn sharding(&mut self) -> Result<Attribute> {
        self.cursor.expect("<")?;
        let mesh = if self.cursor.eat_word("mesh") || self.cursor.peek() == Some(b'#') {
            self.short_or_full(Self::sharding_mesh)?
        } else {
            Attribute::Symbol(self.symbol()?)
        };
        self.cursor.expect(",")?;
        let dimensions =
            self.items("[", "]", |parser| parser.short_or_full(Self::dimension_sharding))?;
        let (mut replicated, mut unreduced) = (Vec::new(), Unreduced::default());
        while self.cursor.eat(",") {
            if self.cursor.eat_word("replicated") {
                self.cursor.expect("=")?;
                replicated = self.axes()?;
            } else {
                self.cursor.expect("unreduced")?;
                // An early form has no sign: `unreduced{"w"}`.
                if self.cursor.eat("=") {
                    unreduced.reduction = self.reduction();
                }
                unreduced.axes = self.axes()?;
            }
        }
        self.cursor.expect(">")?;
        let fields = sharding(mesh, dimensions, replicated, unreduced);
        Ok(Attribute::Dialect("sdy.sharding".into(), fields))
    }
    /// Parses `sum`, `max` or `min`, if it is there.
    pub(super) fn reduction(&mut self) -> Option<&'static str> {
        REDUCTIONS.into_iter().find(|word| self.cursor.eat_word(word))
    }
    fn dimension_sharding(&mut self) -> Result<Attribute> {
        let mut closed = true;
        let mut axes = Vec::new();
        self.items("{", "}", |parser| {
            if parser.cursor.eat("?") {
                closed = false;
            } else {
                axes.push(parser.short_or_full(Self::sharding_axis)?);
            }
            Ok(())
        })?;
        let mut ahead = self.cursor;
        let priority = ahead.identifier().and_then(|word| word.strip_prefix('p')?.parse().ok());
        if priority.is_some() {
            self.cursor = ahead;
        }
        Ok(dimension(axes, closed, priority))
    }
    /// Parses `{"x", "y":(1)2}`.
    fn axes(&mut self) -> Result<Vec<Attribute>> {
        self.items("{", "}", |parser| parser.short_or_full(Self::sharding_axis))
    }
    /// Parses `"x"` or `"x":(1)2`.
    fn sharding_axis(&mut self) -> Result<Attribute> {
        let name = self.string("the name of an axis")?;
        if !self.cursor.eat(":") {
            return Ok(axis(name, None));
        }
        let start = self.cursor.start();
        match self.short_or_full(Self::sharding_part)? {
            Attribute::Integers(part) if part.len() == 2 => {
                Ok(axis(name, Some((part[0], part[1]))))
            }
            _ => {
                let message = "a part of an axis is `(size before)size`".to_owned();
                let span = self.cursor.span_from(start);
                Err(Error::from(Code::AttributeValue { message }).at(span))
            }
        }
    }
    /// Parses `(1)2`.
    fn sharding_part(&mut self) -> Result<Attribute> {
        self.cursor.expect("(")?;
        let before = self.cursor.integer("a size")?;
        self.cursor.expect(")")?;
        Ok(Attribute::Integers(vec![before, self.cursor.integer("a size")?]))
    }
    fn axis_list(&mut self) -> Result<Attribute> {
        self.axes().map(Attribute::Array)
    }
    /// Parses `[{"x"}, {}]`.
    fn axis_lists(&mut self) -> Result<Attribute> {
        self.items("[", "]", |parser| parser.short_or_full(Self::axis_list)).map(Attribute::Array)
    }
    /// Parses `{"x"}: 0->1`.
    fn all_to_all_parameter(&mut self) -> Result<Attribute> {
        let axes = self.axes()?;
        self.cursor.expect(":")?;
        let source = self.cursor.integer("a dimension")?;
        self.cursor.expect("->")?;
        let target = self.cursor.integer("a dimension")?;
        let dims = Attribute::Integers(vec![source, target]);
        Ok(Attribute::Array(vec![Attribute::Array(axes), dims]))
    }
    fn all_to_all_parameters(&mut self) -> Result<Attribute> {
        let all = self.items("[", "]", |parser| parser.short_or_full(Self::all_to_all_parameter));
        all.map(Attribute::Array)
    }
    /// Parses an attribute of Shardy in the short form that ops have it in.
    pub(super) fn sharding_parameter(&mut self, kind: &str) -> Result<Attribute> {
        match kind {
            "mesh" => self.sharding_mesh(),
            "sharding" => self.sharding(),
            "shardings" => self.shardings(),
            "axes" => self.manual_axes(),
            "axis_list" => self.axis_list(),
            "axis_lists" => self.axis_lists(),
            _ => self.all_to_all_parameters(),
        }
    }
}
