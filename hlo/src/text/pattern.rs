//! The grammars without blanks: `2x3x4`, `-1_2x0_0_1`, `b01f_01io->b01f`; and the end of an iota list,
//! `<=[4,2]T(1,0)`.
//!
//! Each function parses the beginning of a text and returns the value with its length in bytes, or `None` if the text
//! does not match. The values themselves are not checked here.
use crate::Dims;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n};
use nom::character::complete::{char, digit1, multispace0};
use nom::combinator::{map, map_opt, opt, recognize};
use nom::multi::{many0, separated_list0, separated_list1};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// Low and high padding of a dimension, and interior padding if written.
pub(crate) type PadGroup = (i64, i64, Option<i64>);

/// The parts of dimension labels, separated by `_` and `->`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Labels<'a> {
    pub(crate) lhs: &'a str,
    pub(crate) rhs: &'a str,
    pub(crate) out: &'a str,
}

/// The sizes `r` of `[r,..]` and the permutation `p` of `T(p,..)`.
pub(crate) type IotaParts = (Dims, Option<Dims>);

/// `2x3x4`, or a single number, which may be negative.
pub(crate) fn sizes(text: &str) -> Option<(Dims, usize)> {
    let single = map(signed, |n| Dims::from_slice(&[n]));
    let several = map_opt((plain, many0(preceded(char('x'), plain))), |(first, rest)| {
        let mut dims = Dims::from_slice(&[first]);
        dims.extend(rest);
        Some(dims)
    });
    consumed(text, alt((several, single)))
}

/// `-1_2x0_0_1`
pub(crate) fn pads(text: &str) -> Option<(Vec<PadGroup>, usize)> {
    let interior = opt(preceded(char('_'), plain));
    let group = map((signed, char('_'), signed, interior), |(low, _, high, i)| (low, high, i));
    consumed(text, separated_list1(char('x'), group))
}

/// `b01f_01io->b01f`
pub(crate) fn dim_labels(text: &str) -> Option<(Labels<'_>, usize)> {
    let data = |c: char| c.is_ascii_digit() || matches!(c, 'b' | 'f' | '?');
    let kernel = |c: char| c.is_ascii_digit() || matches!(c, 'i' | 'o' | '?');
    let part = (
        take_while_m_n(2, usize::MAX, data),
        char('_'),
        take_while_m_n(2, usize::MAX, kernel),
        tag("->"),
        take_while_m_n(2, usize::MAX, data),
    );
    consumed(text, map(part, |(lhs, _, rhs, _, out)| Labels { lhs, rhs, out }))
}

/// `[4,2]T(1,0)`, with optional blanks.
pub(crate) fn iota(text: &str) -> Option<(IotaParts, usize)> {
    consumed(text, iota_parts)
}

/// `<=[4,2]T(1,0)`, with optional blanks.
pub(crate) fn iota_tail(text: &str) -> Option<(IotaParts, usize)> {
    consumed(text, preceded((tag("<="), multispace0), iota_parts))
}

fn iota_parts(text: &str) -> IResult<&str, IotaParts> {
    let order = preceded((multispace0, char('T'), multispace0), list('(', ')'));
    (list('[', ']'), opt(order)).parse(text)
}

fn list<'a>(open: char, close: char) -> impl FnMut(&'a str) -> IResult<&'a str, Dims> {
    move |text| {
        let item = delimited(multispace0, signed, multispace0);
        let items = map(separated_list0(char(','), item), Dims::from_vec);
        delimited((char(open), multispace0), items, char(close)).parse(text)
    }
}

fn plain(text: &str) -> IResult<&str, i64> {
    map_opt(digit1, |digits: &str| digits.parse().ok()).parse(text)
}

fn signed(text: &str) -> IResult<&str, i64> {
    map_opt(recognize((opt(char('-')), digit1)), |number: &str| number.parse().ok()).parse(text)
}

fn consumed<'a, T>(
    text: &'a str,
    mut parser: impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>>,
) -> Option<(T, usize)> {
    let (rest, value) = parser.parse(text).ok()?;
    Some((value, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(of: &[i64]) -> Dims {
        Dims::from_slice(of)
    }

    #[test]
    fn sizes_stop_where_the_pattern_does() {
        assert_eq!(sizes("2x3x4 stride"), Some((dims(&[2, 3, 4]), 5)));
        assert_eq!(sizes("7}"), Some((dims(&[7]), 1)));
        assert_eq!(sizes("-1"), Some((dims(&[-1]), 2)));
        assert_eq!(sizes("2x-3"), Some((dims(&[2]), 1)));
        assert_eq!(sizes("x2"), None);
        assert_eq!(sizes("99999999999999999999"), None);
    }
    #[test]
    fn pads_take_an_interior_where_there_is_one() {
        assert_eq!(pads("-1_2x0_0_1,"), Some((vec![(-1, 2, None), (0, 0, Some(1))], 10)));
        assert_eq!(pads("0_-3"), Some((vec![(0, -3, None)], 4)));
        assert_eq!(pads("0_0_-1"), Some((vec![(0, 0, None)], 3)));
        assert_eq!(pads("2x3"), None);
    }
    #[test]
    fn dim_labels_have_three_parts_of_two() {
        let labels = Labels { lhs: "b0f", rhs: "0io", out: "b?f" };
        assert_eq!(dim_labels("b0f_0io->b?f, x"), Some((labels, 12)));
        assert_eq!(dim_labels("bf_io->b"), None);
        assert_eq!(dim_labels("bf_bf->bf"), None);
        assert_eq!(dim_labels("bf _io->bf"), None);
    }
    #[test]
    fn iota_order_is_optional() {
        assert_eq!(iota("[8])"), Some(((dims(&[8]), None), 3)));
        let both = (dims(&[4, 2]), Some(dims(&[1, 0])));
        assert_eq!(iota_tail("<=[4,2]T(1,0)}"), Some((both.clone(), 13)));
        assert_eq!(iota_tail("<= [ 4 , 2 ] T( 1, 0 )"), Some((both, 22)));
        assert_eq!(iota_tail("< =[4]"), None);
        assert_eq!(iota("[4,]"), None);
    }
}
