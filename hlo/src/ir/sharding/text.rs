//! Parsing and printing of shardings.
use super::parts::{metadata, print_metadata, reduction};
use super::tiles::{Subgroup, TileDevices, Tiling};
use super::{DeviceSharding, Placement, Reduction, ShardGroup, Sharding, named};
use crate::diag::{Code, nearest};
use crate::ir::Metadata;
use crate::op::value::IotaDims;
use crate::text::grammar::{
    alt, cut, int, lift, list, map, preceded, separated_list1, size, symbol, token,
};
use crate::text::number::{push_int, push_ints};
use crate::text::print::separator;
use crate::text::{Cursor, shape};
use crate::{Error, Result, Span};

impl Sharding {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mut inner = *c;
        inner.expect(b'{')?;
        if matches!(inner.peek(), Some(b'{' | b'}')) {
            return c.parse(map(list('{', lift(DeviceSharding::parse), '}'), Self::Tuple));
        }
        DeviceSharding::parse(c).map(Self::One)
    }
    /// Prints the sharding, with its source locations if `metadata`.
    pub(crate) fn print(&self, out: &mut String, metadata: bool) {
        match self {
            Self::One(one) => one.print(out, metadata),
            Self::Tuple(parts) => {
                out.push('{');
                for (i, part) in parts.iter().enumerate() {
                    separator(out, i);
                    part.print(out, metadata);
                }
                out.push('}');
            }
        }
    }
}

impl std::fmt::Display for Sharding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.print(&mut out, true);
        f.write_str(&out)
    }
}
impl std::str::FromStr for Sharding {
    type Err = Error;
    /// Parses `{devices=[2,1]<=[2]}`.
    fn from_str(text: &str) -> Result<Self> {
        let mut cursor = Cursor::new(text);
        let sharding = Self::parse(&mut cursor)?;
        cursor.expect_end("the end of the sharding")?;
        Ok(sharding)
    }
}

/// The fields between the braces, before they are checked against each other.
#[derive(Default)]
struct Body {
    /// The flags of [`WORDS`] that are present.
    words: [bool; WORDS.len()],
    devices: Option<Vec<i64>>,
    dims: Option<Vec<i64>>,
    iota: Option<IotaDims>,
    reduction: Reduction,
    replicate_last: bool,
    subgroups: Option<Vec<Subgroup>>,
    group: Option<ShardGroup>,
    metadata: Vec<Metadata>,
    /// A text of 2018, in which the number of devices may be wrong.
    old: bool,
}

/// Words for the whole value; the first one present in this order is used, as in XLA.
const WORDS: [&str; 5] = ["replicated", "maximal", "manual", "unknown", "unreduced"];
const OTHER: [&str; 7] = [
    "last_tile_dim_replicate",
    "shard_as",
    "shard_like",
    "device",
    "devices",
    "last_tile_dims",
    "metadata",
];

impl DeviceSharding {
    fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        c.expect(b'{')?;
        if named::starts(c) {
            let (placement, metadata) = named::parse(c)?;
            c.expect(b'}')?;
            return Ok(Self { placement, group: None, metadata });
        }
        let mut body = Body { old: shape::at_shape(c), ..Body::default() };
        if body.old {
            shape::shape(c)?;
        }
        while !c.eat(b'}') {
            body.item(c)?;
        }
        let (group, metadata) = (body.group, std::mem::take(&mut body.metadata));
        let placement = body.placement().map_err(|e| e.at(c.span_from(start)))?;
        Ok(Self { placement, group, metadata })
    }

    fn print(&self, out: &mut String, metadata: bool) {
        out.push('{');
        let mut named = false;
        match &self.placement {
            Placement::Replicated => out.push_str("replicated"),
            Placement::Manual => out.push_str("manual"),
            Placement::Unknown => out.push_str("unknown"),
            Placement::Unreduced(reduction) => {
                out.push_str("unreduced");
                if let Some(name) = reduction.name() {
                    out.push('=');
                    out.push_str(name);
                }
            }
            Placement::Maximal(device) => {
                out.push_str("maximal device=");
                push_int(out, *device);
            }
            Placement::Tiled(tiling) => tiling.print(out),
            Placement::Named(sharding) => {
                sharding.print(out);
                named = true;
            }
        }
        if let Some(group) = self.group {
            let (word, number) = match group {
                ShardGroup::As(number) => (" shard_as ", number),
                ShardGroup::Like(number) => (" shard_like ", number),
            };
            out.push_str(word);
            push_int(out, number);
        }
        if metadata && !self.metadata.is_empty() {
            out.push_str(if named { ", metadata=" } else { " metadata=" });
            print_metadata(out, &self.metadata, named);
        }
        out.push('}');
    }
}

impl Body {
    fn item(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let (word, span) = c.word("a field of a sharding or `}`")?;
        let assigned = c.next_byte() == Some(b'=');
        c.skip(usize::from(assigned));
        if let (Some(slot), false) = (WORDS.iter().position(|&w| w == word), assigned) {
            self.words[slot] = true;
            return Ok(());
        }
        match (word, assigned) {
            ("unreduced", true) => {
                self.words[4] = true;
                self.reduction = reduction(c)?;
            }
            ("last_tile_dim_replicate", false) => self.replicate_last = true,
            ("shard_as", false) => self.group = Some(ShardGroup::As(c.int()?)),
            ("shard_like", false) => self.group = Some(ShardGroup::Like(c.int()?)),
            ("device", true) => {
                self.devices = Some(vec![c.int()?]);
            }
            ("devices", true) if self.dims.is_some() => {
                return Err(Error::from(Code::DuplicateAttribute { name: word.into() }).at(span));
            }
            ("devices", true) => self.tiles(c)?,
            ("last_tile_dims", true) => {
                self.subgroups = Some(c.parse(list('{', lift(subgroup), '}'))?);
            }
            ("metadata", true) => self.metadata = metadata(c)?,
            _ => return Err(unknown(word, span)),
        }
        Ok(())
    }

    /// Reads `[2,4]<=[8]` or `[2,2]0,1,2,3`.
    fn tiles(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        self.dims = Some(c.parse(list('[', size, ']'))?);
        let iota = map(preceded(token("<="), cut(lift(IotaDims::parse))), Ok);
        let listed = map(separated_list1(symbol(','), cut(int)), Err);
        match c.parse(alt((iota, listed)))? {
            Ok(iota) => self.iota = Some(iota),
            Err(devices) => self.devices = Some(devices),
        }
        Ok(())
    }

    fn placement(self) -> Result<Placement> {
        let wrong = |message: String| Err(Code::AttributeValue { message }.into());
        let word = WORDS.iter().zip(self.words).find(|(_, found)| *found).map(|(&word, _)| word);
        let listed = self.devices.is_some();
        let whole = match word {
            None => return self.tiled(),
            Some("maximal") => {
                return match self.devices.as_deref() {
                    Some(&[device]) => Ok(Placement::Maximal(device)),
                    _ => wrong("a maximal sharding names one device".to_owned()),
                };
            }
            Some("replicated") => Placement::Replicated,
            Some("manual") => Placement::Manual,
            Some("unknown") => Placement::Unknown,
            Some(_) => Placement::Unreduced(self.reduction),
        };
        match word {
            Some(word) if listed => {
                wrong(format!("a sharding that is {word} must not list devices"))
            }
            _ => Ok(whole),
        }
    }

    fn tiled(self) -> Result<Placement> {
        let wrong =
            |message: &str| Err(Code::AttributeValue { message: message.to_owned() }.into());
        let Some(dims) = self.dims else {
            let error = wrong("the sharding has neither a kind nor devices");
            return error.map_err(|e: Error| {
                e.with_help("write for example `{replicated}` or `{devices=[2,2]<=[4]}`")
            });
        };
        let devices = match (self.iota, self.devices) {
            (Some(iota), _) => TileDevices::Iota(iota),
            (None, Some(mut list)) => {
                if self.old {
                    // XLA fills up a list that is too short in this way.
                    let tiles = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
                    let tiles = tiles.and_then(|n| usize::try_from(n).ok());
                    let tiles = tiles.filter(|&n| n <= list.len().saturating_mul(64));
                    list.resize(tiles.unwrap_or(list.len()), 0);
                }
                TileDevices::List(list)
            }
            (None, None) => return wrong("the tiling has no devices"),
        };
        let subgroups = match (self.replicate_last, self.subgroups) {
            (true, Some(_)) => {
                return wrong(
                    "`last_tile_dim_replicate` and `last_tile_dims` are mutually exclusive",
                );
            }
            (true, None) => vec![Subgroup::Replicated],
            (false, subgroups) => subgroups.unwrap_or_default(),
        };
        Tiling::placement(dims, devices, subgroups)
    }
}

fn subgroup(c: &mut Cursor<'_>) -> Result<Subgroup> {
    let (word, span) = c.word("`maximal`, `manual`, `unreduced` or `replicated`")?;
    Subgroup::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| unknown(word, span))
}

#[cold]
fn unknown(word: &str, span: Span) -> Error {
    let message = format!("`{word}` is not a field of a sharding");
    let error = Error::from(Code::AttributeValue { message }).at(span);
    match nearest(word, WORDS.into_iter().chain(OTHER)) {
        Some(near) if near != word => error.with_help(format!("did you mean `{near}`?")),
        _ => error,
    }
}

impl Tiling {
    fn print(&self, out: &mut String) {
        out.push_str("devices=[");
        push_ints(out, &self.dims);
        out.push(']');
        match &self.devices {
            TileDevices::List(list) => push_ints(out, list),
            TileDevices::Iota(iota) => {
                iota.print_tail(out);
            }
        }
        match self.subgroups.as_slice() {
            [] => {}
            [Subgroup::Replicated] => out.push_str(" last_tile_dim_replicate"),
            several => {
                out.push_str(" last_tile_dims={");
                for (i, kind) in several.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    out.push_str(kind.name());
                }
                out.push('}');
            }
        }
    }
}
