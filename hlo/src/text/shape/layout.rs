//! Parses layouts: `{1,0:T(8,128)S(5)}`.
use super::bad;
use crate::diag::Code;
use crate::layout::{Dims, Layout, LayoutTail, SplitConfig, Tile};
use crate::text::Cursor;
use crate::text::grammar::{
    Grammar, Parsed, Parser, alt, checked, cut, expecting, int, lift, list, many1, map, opt, peek,
    preceded, separated_list1, separated_pair, symbol, terminated, token, value,
};
use crate::text::number::push_ints;
use crate::{ElementType, Error, Result};

/// The fields after the `:`, in their required order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LayoutField {
    DimLevels,
    Tiles,
    TailPadding,
    IndexType,
    PointerType,
    ElementSize,
    MemorySpace,
    Splits,
    PhysicalShape,
    Prefix,
}
const FIELDS: [(&str, LayoutField); 10] = [
    ("D", LayoutField::DimLevels),
    ("T", LayoutField::Tiles),
    ("L", LayoutField::TailPadding),
    ("#", LayoutField::IndexType),
    ("*", LayoutField::PointerType),
    ("E", LayoutField::ElementSize),
    ("S", LayoutField::MemorySpace),
    ("SC", LayoutField::Splits),
    ("P", LayoutField::PhysicalShape),
    ("M", LayoutField::Prefix),
];

/// Returns whether a layout comes next. A `{` alone is ambiguous: it may start the body of a
/// computation.
pub(super) fn starts(c: &Cursor<'_>) -> bool {
    let mut ahead = *c;
    ahead.eat(b'{')
        && ahead.peek().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':'))
}

/// Parses the layout of an array after its dimensions, or returns the default one.
pub(super) fn after_dims(c: &mut Cursor<'_>, rank: usize) -> Result<Layout> {
    skip_sparse_mark(c)?;
    if starts(c) {
        return layout(c, rank);
    }
    // Old texts have layouts of scalars.
    if c.rest().starts_with("{}") {
        let start = c.offset();
        c.skip(2);
        if rank != 0 {
            return Err(wrong_rank(c, start, 0, rank));
        }
    }
    Ok(Layout::descending(rank))
}

/// Skips `sparse{10}` and `dense` of texts before 2020.
fn skip_sparse_mark(c: &mut Cursor<'_>) -> Result<()> {
    if c.rest().starts_with("dense{") {
        c.skip("dense".len());
    } else if c.rest().starts_with("sparse{") {
        c.skip("sparse{".len());
        c.size()?;
        c.expect(b'}')?;
    }
    Ok(())
}

fn layout(c: &mut Cursor<'_>, rank: usize) -> Result<Layout> {
    c.blank();
    let start = c.offset();
    c.expect(b'{')?;
    let minor_to_major = match c.peek() {
        Some(b':') => Dims::new(),
        _ => Dims::from_vec(c.parse(numbers)?),
    };
    let tail = after_order(c)?;
    match minor_to_major.len() {
        length if length == rank => Ok(Layout { minor_to_major, tail }),
        length => Err(wrong_rank(c, start, length, rank)),
    }
}

/// Parses the rest of a layout after the order of dimensions.
pub(super) fn after_order(c: &mut Cursor<'_>) -> Result<Option<Box<LayoutTail>>> {
    let tail = if c.eat(b':') { tail(c)? } else { None };
    if c.eat(b'}') { Ok(tail) } else { Err(c.expected("`,`, `:` or `}` in a layout")) }
}

#[cold]
fn wrong_rank(c: &Cursor<'_>, start: usize, length: usize, rank: usize) -> Error {
    let message = format!("the layout has length {length}, but the shape has rank {rank}");
    let mut example = String::new();
    push_ints(&mut example, &Layout::descending(rank).minor_to_major);
    bad(message, c.span_from(start)).with_help(match rank {
        0 => "write a scalar without a layout".to_owned(),
        _ => format!("list every dimension, the fastest-varying first: `{{{example}}}`"),
    })
}

fn numbers(input: Cursor<'_>) -> Parsed<'_, Vec<i64>> {
    separated_list1(symbol(','), cut(int)).parse(input)
}

/// Parses the text between `:` and `}`; `None` if it has only defaults.
fn tail(c: &mut Cursor<'_>) -> Result<Option<Box<LayoutTail>>> {
    let mut tail = LayoutTail::default();
    let mut last: Option<(&str, LayoutField)> = None;
    while let Some(first) = c.peek().filter(|&byte| byte != b'}') {
        let start = c.offset();
        let fits = |name: &str| name.as_bytes().first() == Some(&first);
        let found = FIELDS.iter().find(|(name, _)| fits(name) && c.eat_token(name));
        let &(name, field) = found.ok_or_else(|| {
            c.expected("a field of a layout")
                .with_help("write one of the fields D T L # * E S SC P M")
        })?;
        if let Some((before, _)) = last.filter(|&(_, last)| last >= field) {
            let message = format!("the layout field `{name}` cannot come after `{before}`");
            return Err(bad(message, c.span_from(start))
                .with_help("write each field once, in the order D T L # * E S SC P M"));
        }
        last = Some((name, field));
        read(c, field, &mut tail).map_err(|error| error.at(c.span_from(start)))?;
    }
    Ok((tail != LayoutTail::default()).then(|| Box::new(tail)))
}

fn read(c: &mut Cursor<'_>, field: LayoutField, tail: &mut LayoutTail) -> Result<()> {
    match field {
        LayoutField::DimLevels => drop(c.parse(list('(', dim_level, ')'))?),
        LayoutField::Tiles => {
            let size = alt((value(Tile::COMBINE, symbol('*')), lift(|c| at_least(c, 0))));
            let tile = map(list('(', size, ')'), |dims| Tile(Dims::from_vec(dims)));
            tail.tiles = c.parse(many1(tile))?;
        }
        LayoutField::Splits => {
            let none = value(Vec::new(), peek(symbol(')')));
            let indices = alt((none, numbers));
            let split =
                map(separated_pair(int, symbol(':'), indices), |(dimension, split_indices)| {
                    SplitConfig { dimension, split_indices }
                });
            tail.split_configs = c.parse(many1(in_parentheses(split)))?;
        }
        LayoutField::PhysicalShape => {
            let message = "only sparse arrays can have a physical shape".to_owned();
            let error = Error::from(Code::ShapeText { message });
            return Err(
                error.with_help("leave `P(..)` out: sparse arrays are no longer part of HLO")
            );
        }
        LayoutField::TailPadding => {
            tail.tail_padding_alignment = c.parse(in_parentheses(lift(|c| at_least(c, 1))))?;
        }
        LayoutField::IndexType => {
            tail.index_type = Some(c.parse(in_parentheses(lift(element_type)))?);
        }
        LayoutField::PointerType => {
            tail.pointer_type = Some(c.parse(in_parentheses(lift(element_type)))?);
        }
        LayoutField::ElementSize => tail.element_size_in_bits = c.parse(in_parentheses(int))?,
        LayoutField::MemorySpace => tail.memory_space = c.parse(in_parentheses(int))?,
        LayoutField::Prefix => {
            let bytes = c.parse(in_parentheses(lift(|c| at_least(c, 0))))?;
            tail.dynamic_shape_metadata_prefix_bytes = bytes;
        }
    }
    Ok(())
}

fn in_parentheses<'a, T>(grammar: impl Grammar<'a, T>) -> impl Grammar<'a, T> {
    preceded(symbol('('), cut(terminated(grammar, symbol(')'))))
}

/// Parses one of `D,C+`, the storage of a dimension of sparse arrays, which HLO no longer has.
fn dim_level(input: Cursor<'_>) -> Parsed<'_, ()> {
    let kind = alt((token("D"), token("C"), token("S"), token("H")));
    // Not unique, not ordered.
    let level = (expecting("`D`, `C`, `S` or `H`", None, kind), opt(symbol('+')), opt(symbol('~')));
    value((), level).parse(input)
}

fn at_least(c: &mut Cursor<'_>, least: i64) -> Result<i64> {
    c.parse(checked(int, |number| match number >= least {
        true => Ok(number),
        false => {
            let message = format!("expected at least {least}, found `{number}`");
            Err(Code::ShapeText { message }.into())
        }
    }))
}

fn element_type(c: &mut Cursor<'_>) -> Result<ElementType> {
    let (word, span) = c.word("an element type")?;
    ElementType::from_name(word).ok_or_else(|| super::unknown_type(word, span))
}
