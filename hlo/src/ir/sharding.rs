//! `sharding={...}`: how a value is spread over devices.
use crate::diag::Code;
use crate::op::value::mesh::{axes, push_axes};
use crate::op::value::{AxisRef, IotaDims, Mesh};
use crate::text::print::{push_int, push_ints, separator};
use crate::text::{Cursor, balanced};
use crate::{Error, Result, Span};

/// How a value is spread over devices. Printed as it was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharding {
    /// One for each leaf of a tuple.
    Tuple(Vec<Sharding>),
    /// Of a single value, by tiles.
    Single(Box<SingleSharding>),
    /// Of a single value, by the axes of a mesh.
    Named(Box<NamedSharding>),
}

/// `{replicated}`, `{maximal device=3}`, `{devices=[2,2]<=[4] ...}`
#[derive(Debug, Clone, PartialEq)]
pub struct SingleSharding {
    /// What each device has.
    pub kind: ShardingKind,
    /// `shard_as 1` or `shard_like 2`.
    pub group: Option<ShardGroup>,
    /// Where it comes from: each entry as it stands.
    pub metadata: Vec<String>,
}

/// What each device has of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum ShardingKind {
    /// All of it.
    Replicated,
    /// Nothing is known.
    Unknown,
    /// The program says.
    Manual,
    /// A part of a sum.
    Unreduced,
    /// One device has all of it.
    Maximal(i64),
    /// A tile.
    Tiled {
        /// Tiles in each dimension, then those of `last_tile_dims`.
        tiles: Vec<i64>,
        /// Which device has which tile.
        devices: TileDevices,
        /// The last number of tiles says how often each is repeated.
        last_tile_dim_replicate: bool,
        /// What the last numbers of tiles are for.
        last_tile_dims: Vec<String>,
    },
}

/// Which device has which tile.
#[derive(Debug, Clone, PartialEq)]
pub enum TileDevices {
    /// One after the other.
    List(Vec<i64>),
    /// Counted off.
    Iota(IotaDims),
}

/// Values that are to be spread alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardGroup {
    /// `shard_as`
    As(i64),
    /// `shard_like`
    Like(i64),
}

/// `{mesh['a'=2,'b'=4], [{'a'}, {'b', ?}], replicated={...}, ...}`
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSharding {
    /// The devices.
    pub mesh: Mesh,
    /// For each dimension the axes it is divided along, and whether more may be added.
    pub dims: Option<Vec<(Vec<AxisRef>, bool)>>,
    /// `replicated`, `manual`, `unreduced=max{'a'}` and the like: name, reduction, axes.
    pub rest: Vec<NamedPart>,
    /// Where it comes from, as it stands.
    pub metadata: Option<String>,
}

/// One part after the dimensions of a named sharding.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPart {
    /// `replicated`, `manual` or `unreduced`.
    pub name: String,
    /// `sum`, `max` or `min`.
    pub reduction: Option<String>,
    /// The axes it holds for; all if absent.
    pub axes: Option<Vec<AxisRef>>,
}

#[cold]
fn wrong(message: impl Into<String>, span: Span) -> Error {
    Error::from(Code::AttributeValue { message: message.into() }).at(span)
}

impl Sharding {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        if !matches!(c.peek(), Some(b'{' | b'}')) {
            return Self::body(c);
        }
        let parts = c.list_rest(b'}', |c| {
            c.expect(b'{')?;
            Self::body(c)
        })?;
        Ok(Self::Tuple(parts))
    }

    /// The inside of one sharding and its closing brace.
    fn body(c: &mut Cursor<'_>) -> Result<Self> {
        match c.peek_word() {
            Some("mesh" | "maximal_mesh") => {
                NamedSharding::parse(c).map(|s| Self::Named(Box::new(s)))
            }
            _ => SingleSharding::parse(c).map(|s| Self::Single(Box::new(s))),
        }
    }

    /// A single sharding of a tuple is meant for each of its leaves.
    pub(crate) fn expand_to_leaves(self, leaves: usize) -> Self {
        match self {
            Self::Tuple(_) => self,
            Self::Single(_) | Self::Named(_) => Self::Tuple(vec![self; leaves]),
        }
    }

    pub(crate) fn print(&self, out: &mut String, metadata: bool) {
        match self {
            Self::Tuple(parts) => {
                out.push('{');
                for (i, part) in parts.iter().enumerate() {
                    separator(out, i);
                    part.print(out, metadata);
                }
                out.push('}');
            }
            Self::Single(single) => single.print(out, metadata),
            Self::Named(named) => named.print(out, metadata),
        }
    }
}

/// What has been read of a single sharding so far.
#[derive(Default)]
struct Items {
    words: Vec<&'static str>,
    device: Option<i64>,
    tiles: Vec<i64>,
    devices: Option<TileDevices>,
    last_tile_dims: Vec<String>,
    group: Option<ShardGroup>,
    metadata: Vec<String>,
}

/// Words that say what each device has; the first that is there counts.
const WORDS: [&str; 6] =
    ["replicated", "maximal", "manual", "unknown", "unreduced", "last_tile_dim_replicate"];

impl SingleSharding {
    fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let start = c.offset();
        let mut items = Items::default();
        // Texts of 2018 write the shape of a tile first.
        if crate::text::shape::at_shape(c) {
            crate::text::shape::shape(c)?;
        }
        while !c.eat(b'}') {
            items.item(c)?;
        }
        items.finish(c.span_from(start))
    }

    fn print(&self, out: &mut String, metadata: bool) {
        out.push('{');
        match &self.kind {
            ShardingKind::Replicated => out.push_str("replicated"),
            ShardingKind::Unknown => out.push_str("unknown"),
            ShardingKind::Manual => out.push_str("manual"),
            ShardingKind::Unreduced => out.push_str("unreduced"),
            ShardingKind::Maximal(device) => {
                out.push_str("maximal device=");
                push_int(out, *device);
            }
            ShardingKind::Tiled { tiles, devices, last_tile_dim_replicate, last_tile_dims } => {
                out.push_str("devices=[");
                push_ints(out, tiles);
                out.push(']');
                match devices {
                    TileDevices::List(list) => push_ints(out, list),
                    TileDevices::Iota(iota) => iota.print_tail(out),
                }
                if *last_tile_dim_replicate {
                    out.push_str(" last_tile_dim_replicate");
                }
                if !last_tile_dims.is_empty() {
                    out.push_str(" last_tile_dims={");
                    out.push_str(&last_tile_dims.join(", "));
                    out.push('}');
                }
            }
        }
        match self.group {
            Some(ShardGroup::As(id)) => {
                out.push_str(" shard_as ");
                push_int(out, id);
            }
            Some(ShardGroup::Like(id)) => {
                out.push_str(" shard_like ");
                push_int(out, id);
            }
            None => {}
        }
        match self.metadata.as_slice() {
            [one] if metadata => {
                out.push_str(" metadata=");
                out.push_str(one);
            }
            [] => {}
            several if metadata => {
                out.push_str(" metadata={");
                out.push_str(&several.join(", "));
                out.push('}');
            }
            _ => {}
        }
        out.push('}');
    }
}

impl Items {
    fn item(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let (word, span) = c.word("a part of a sharding or `}`")?;
        if let Some(known) = WORDS.into_iter().find(|&w| w == word) {
            self.words.push(known);
            return Ok(());
        }
        match word {
            "shard_as" => self.group = Some(ShardGroup::As(c.int()?)),
            "shard_like" => self.group = Some(ShardGroup::Like(c.int()?)),
            "device" | "devices" | "last_tile_dims" | "metadata" => {
                c.expect(b'=')?;
                self.value(c, word)?;
            }
            _ => {
                let error = wrong(format!("`{word}` is no part of a sharding"), span);
                return Err(match crate::diag::nearest(word, WORDS) {
                    Some(near) => error.with_help(format!("did you mean `{near}`?")),
                    None => error,
                });
            }
        }
        Ok(())
    }

    fn value(&mut self, c: &mut Cursor<'_>, key: &str) -> Result<()> {
        match key {
            "device" => self.device = Some(c.size()?),
            "devices" => {
                self.tiles = c.list(b'[', b']', Cursor::size)?;
                self.devices = Some(if c.eat_token("<=") {
                    TileDevices::Iota(IotaDims::parse(c)?)
                } else {
                    let mut list = vec![c.size()?];
                    while c.eat(b',') {
                        list.push(c.size()?);
                    }
                    TileDevices::List(list)
                });
            }
            "last_tile_dims" => {
                self.last_tile_dims = c.list(b'{', b'}', |c| {
                    let (word, span) = c.word("a kind of subgroup")?;
                    let known = ["maximal", "replicated", "manual", "unreduced"].contains(&word);
                    known
                        .then(|| word.to_owned())
                        .ok_or_else(|| wrong(format!("`{word}` is no kind of subgroup"), span))
                })?;
            }
            _ => {
                let mut ahead = *c;
                let several = ahead.eat(b'{') && ahead.peek() == Some(b'{');
                self.metadata = match several {
                    true => c.list(b'{', b'}', |c| balanced::raw_dict(c).map(str::to_owned))?,
                    false => vec![balanced::raw_dict(c)?.to_owned()],
                };
            }
        }
        Ok(())
    }

    fn finish(self, span: Span) -> Result<SingleSharding> {
        let has = |word: &str| self.words.contains(&word);
        let word = WORDS.into_iter().take(5).find(|w| has(w));
        let tiled = self.devices.is_some() || self.device.is_some();
        let kind = match word {
            Some("maximal") => match (self.device, &self.devices) {
                (Some(device), None) => ShardingKind::Maximal(device),
                _ => return Err(wrong("`maximal` takes one device, `device=N`", span)),
            },
            Some(word) if tiled => return Err(wrong(format!("`{word}` lists no devices"), span)),
            Some("replicated") => ShardingKind::Replicated,
            Some("manual") => ShardingKind::Manual,
            Some("unknown") => ShardingKind::Unknown,
            Some(_) => ShardingKind::Unreduced,
            None => self.tiled(has("last_tile_dim_replicate"), span)?,
        };
        Ok(SingleSharding { kind, group: self.group, metadata: self.metadata })
    }

    fn tiled(&self, last_tile_dim_replicate: bool, span: Span) -> Result<ShardingKind> {
        let Some(devices) = self.devices.clone() else {
            return Err(wrong(
                "a sharding says `replicated`, `maximal`, `manual` or `devices=[...]`",
                span,
            ));
        };
        let wanted = self.tiles.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        let found = match &devices {
            TileDevices::List(list) => i64::try_from(list.len()).ok(),
            TileDevices::Iota(iota) => Some(iota.count()),
        };
        if wanted != found {
            let found = found.unwrap_or(0);
            return Err(wrong(
                format!("{:?} tiles do not go to {found} devices", self.tiles),
                span,
            ));
        }
        if matches!(&devices, TileDevices::List(list) if list.len() < 2) {
            return Err(wrong("tiles go to more than one device; one is `maximal device=N`", span));
        }
        Ok(ShardingKind::Tiled {
            tiles: self.tiles.clone(),
            devices,
            last_tile_dim_replicate,
            last_tile_dims: self.last_tile_dims.clone(),
        })
    }
}

impl NamedSharding {
    fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mesh = Mesh::parse(c)?;
        let mut named = Self { mesh, dims: None, rest: Vec::new(), metadata: None };
        while c.eat(b',') {
            if c.peek() == Some(b'[') {
                named.dims = Some(c.list(b'[', b']', Self::dim)?);
                continue;
            }
            let (word, span) = c.word("`[`, `replicated`, `unreduced`, `manual` or `metadata`")?;
            match word {
                "metadata" => {
                    c.expect(b'=')?;
                    named.metadata = Some(balanced::raw_dict(c)?.to_owned());
                }
                "replicated" | "unreduced" | "manual" => {
                    let mut part = NamedPart { name: word.to_owned(), reduction: None, axes: None };
                    if c.eat(b'=') {
                        part.reduction = c.eat_word().map(|(word, _)| word.to_owned());
                        if c.peek() == Some(b'{') {
                            part.axes = Some(axes(c)?);
                        }
                    }
                    named.rest.push(part);
                }
                _ => return Err(wrong(format!("`{word}` is no part of a named sharding"), span)),
            }
        }
        c.expect(b'}')?;
        Ok(named)
    }

    /// `{'a', 'b', ?}`
    fn dim(c: &mut Cursor<'_>) -> Result<(Vec<AxisRef>, bool)> {
        c.expect(b'{')?;
        let (mut axes, mut open) = (Vec::new(), false);
        while !c.eat(b'}') {
            if !axes.is_empty() {
                c.expect(b',')?;
            }
            if c.eat(b'?') {
                open = true;
                c.expect(b'}')?;
                break;
            }
            axes.push(AxisRef::parse(c)?);
        }
        Ok((axes, open))
    }

    fn print(&self, out: &mut String, metadata: bool) {
        out.push('{');
        self.mesh.print(out);
        if let Some(dims) = &self.dims {
            out.push_str(", [");
            for (i, (axes, open)) in dims.iter().enumerate() {
                out.push_str(if i > 0 { ", {" } else { "{" });
                for (j, axis) in axes.iter().enumerate() {
                    out.push_str(if j > 0 { ", " } else { "" });
                    axis.print(out);
                }
                match (open, axes.is_empty()) {
                    (true, true) => out.push('?'),
                    (true, false) => out.push_str(", ?"),
                    (false, _) => {}
                }
                out.push('}');
            }
            out.push(']');
        }
        for part in &self.rest {
            out.push_str(", ");
            out.push_str(&part.name);
            if part.reduction.is_some() || part.axes.is_some() {
                out.push('=');
            }
            out.push_str(part.reduction.as_deref().unwrap_or_default());
            if let Some(axes) = &part.axes {
                push_axes(out, axes);
            }
        }
        if let Some(text) = self.metadata.as_ref().filter(|_| metadata) {
            out.push_str(", metadata=");
            out.push_str(text);
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> Result<String> {
        let mut c = Cursor::new(text);
        let sharding = Sharding::parse(&mut c)?;
        c.expect_end("the end")?;
        let mut out = String::new();
        sharding.print(&mut out, true);
        Ok(out)
    }

    #[test]
    fn every_form_comes_back() {
        let forms = [
            "{replicated}",
            "{manual}",
            "{unknown}",
            "{unreduced}",
            "{maximal device=3}",
            "{devices=[2,2]0,1,2,3}",
            "{devices=[2,2]<=[4]}",
            "{devices=[2,2]<=[2,2]T(1,0)}",
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
            "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
            "{devices=[1,2,2]0,1,2,3 last_tile_dims={manual} shard_as 1}",
            "{replicated shard_like 2}",
            "{replicated metadata={op_name=\"a}b\"}}",
            "{{replicated}, {maximal device=0}}",
            "{}",
            "{mesh['a'=2,'b'=4], [{'a'}, {'b', ?}], replicated={'b'}}",
            "{mesh['a'=2], replicated}",
            "{maximal_mesh[device_id=5]}",
        ];
        for form in forms {
            assert_eq!(again(form).unwrap(), form);
        }
        assert_eq!(again("{device=3 maximal}").unwrap(), "{maximal device=3}");
        assert_eq!(
            again("{s32[5,6] devices=[2,3]0,1,2,3,4,5}").unwrap(),
            "{devices=[2,3]0,1,2,3,4,5}"
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let bad = [
            "{replicated device=0}",
            "{maximal}",
            "{devices=[2,2]0,1,2}",
            "{devices=[1]0}",
            "{replicatd}",
            "{devices=[2,2]<=[2,2]}",
            "{replicated",
        ];
        for text in bad {
            assert!(again(text).is_err(), "{text}");
        }
    }
}
