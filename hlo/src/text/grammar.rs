//! The combinators of the small grammars inside attributes: those of nom, over a [`Cursor`].
//!
//! Parsers of tokens skip blanks and comments before the token. Dense grammars, such as `0_1x2_2`,
//! have none inside and use nom's parsers of characters. A [`Rejection`] has its place in the text;
//! it becomes an [`Error`], which takes memory, when no alternative is left.
use super::Cursor;
use crate::{Error, Result, Span};
use nom::character::complete::digit1;
use nom::error::{ErrorKind, ParseError};
use nom::{Err, IResult, Input, Needed};
use std::str::{CharIndices, Chars};

pub(crate) use nom::Parser;
pub(crate) use nom::branch::alt;
pub(crate) use nom::bytes::complete::take_while_m_n;
pub(crate) use nom::character::complete::char;
pub(crate) use nom::combinator::{cut, map, map_opt, opt, peek, value};
pub(crate) use nom::multi::{many1, separated_list1};
pub(crate) use nom::sequence::{delimited, pair, preceded, separated_pair, terminated};

/// The result of a parser: the position after the value, and the value.
pub(crate) type Parsed<'a, T> = IResult<Cursor<'a>, T, Rejection<'a>>;

/// A parser of values of type `T`.
pub(crate) trait Grammar<'a, T>:
    Parser<Cursor<'a>, Output = T, Error = Rejection<'a>>
{
}
impl<'a, T, P: Parser<Cursor<'a>, Output = T, Error = Rejection<'a>>> Grammar<'a, T> for P {}

/// The reason why a text does not match.
#[derive(Debug)]
pub(crate) enum Rejection<'a> {
    /// The character is not at the position.
    Char(Cursor<'a>, char),
    /// The token is not at the position.
    Token(Cursor<'a>, &'static str),
    /// No character that fits is at the position.
    Other(Cursor<'a>),
    /// Any other error, with its place.
    Error(Error),
}

impl<'a> ParseError<Cursor<'a>> for Rejection<'a> {
    fn from_error_kind(input: Cursor<'a>, _: ErrorKind) -> Self {
        Self::Other(input)
    }
    fn from_char(input: Cursor<'a>, char: char) -> Self {
        Self::Char(input, char)
    }
    fn append(_: Cursor<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl From<Rejection<'_>> for Error {
    #[cold]
    fn from(rejection: Rejection<'_>) -> Self {
        match rejection {
            Rejection::Char(mut at, char) => at.expected(&format!("`{char}`")),
            Rejection::Token(mut at, token) => at.expected(&format!("`{token}`")),
            Rejection::Other(mut at) => at.expected("other text"),
            Rejection::Error(error) => error,
        }
    }
}

impl<'a> Cursor<'a> {
    /// Parses a value and advances.
    pub(crate) fn parse<T>(&mut self, mut grammar: impl Grammar<'a, T>) -> Result<T> {
        match grammar.parse(*self) {
            Ok((rest, value)) => {
                *self = rest;
                Ok(value)
            }
            Err(Err::Error(rejection) | Err::Failure(rejection)) => Err(rejection.into()),
            Err(Err::Incomplete(_)) => Err(self.expected("more text")),
        }
    }
}

/// Makes a parser of a function that advances a cursor.
pub(crate) fn lift<'a, T>(
    mut read: impl FnMut(&mut Cursor<'a>) -> Result<T>,
) -> impl FnMut(Cursor<'a>) -> Parsed<'a, T> {
    move |mut input| match read(&mut input) {
        Ok(value) => Ok((input, value)),
        Err(error) => Err(Err::Error(Rejection::Error(error))),
    }
}

/// Parses an integer.
pub(crate) fn int(input: Cursor<'_>) -> Parsed<'_, i64> {
    lift(Cursor::int)(input)
}
/// Parses a size or an index: an integer that is not negative.
pub(crate) fn size(input: Cursor<'_>) -> Parsed<'_, i64> {
    lift(Cursor::size)(input)
}
/// Parses a character.
pub(crate) fn symbol<'a>(char: char) -> impl FnMut(Cursor<'a>) -> Parsed<'a, ()> {
    move |mut input| {
        input.blank();
        match input.rest().strip_prefix(char) {
            Some(_) => Ok((input.take_from(char.len_utf8()), ())),
            None => Err(Err::Error(Rejection::Char(input, char))),
        }
    }
}
/// Parses a token, which has no blanks; a word must end where the token does.
pub(crate) fn token<'a>(token: &'static str) -> impl FnMut(Cursor<'a>) -> Parsed<'a, ()> {
    move |mut input| match input.eat_token(token) {
        true => Ok((input, ())),
        false => Err(Err::Error(Rejection::Token(input, token))),
    }
}
/// Parses `open item, item, ... close`. After `open`, nothing else is tried.
pub(crate) fn list<'a, T>(
    open: char,
    item: impl Grammar<'a, T>,
    close: char,
) -> impl Grammar<'a, Vec<T>> {
    preceded(symbol(open), cut(items(item, close)))
}
/// Parses the rest of a list after its opening bracket.
pub(crate) fn items<'a, T>(item: impl Grammar<'a, T>, close: char) -> impl Grammar<'a, Vec<T>> {
    let several = separated_list1(symbol(','), cut(item));
    let mut some = alt((map(peek(symbol(close)), |()| Vec::new()), several));
    move |input| {
        let (mut rest, items) = some.parse(input)?;
        let error = match symbol(close).parse(rest) {
            Ok((end, ())) => return Ok((end, items)),
            Err(_) => rest.expected(&format!("`,` or `{close}`")),
        };
        Err(Err::Error(Rejection::Error(error)))
    }
}

/// Parses a value and its place, without blanks around it.
pub(crate) fn spanned<'a, T>(mut grammar: impl Grammar<'a, T>) -> impl Grammar<'a, (T, Span)> {
    move |mut input: Cursor<'a>| {
        input.blank();
        let (rest, value) = grammar.parse(input)?;
        Ok((rest, (value, rest.span_from(input.offset()))))
    }
}
/// Parses a value and makes another of it; its error has the place of the whole value.
pub(crate) fn checked<'a, T, U>(
    grammar: impl Grammar<'a, T>,
    mut check: impl FnMut(T) -> Result<U>,
) -> impl Grammar<'a, U> {
    let mut grammar = spanned(grammar);
    move |input| {
        let (rest, (value, span)) = grammar.parse(input)?;
        let checked = check(value).map_err(|e| Err::Failure(Rejection::Error(e.at(span))))?;
        Ok((rest, checked))
    }
}
/// Parses a value; if none begins here, the error says so, with a help line if there is one.
pub(crate) fn expecting<'a, T>(
    what: &'static str,
    help: Option<&'static str>,
    mut grammar: impl Grammar<'a, T>,
) -> impl Grammar<'a, T> {
    move |mut input: Cursor<'a>| {
        grammar.parse(input).map_err(|error| match error {
            Err::Error(_) => {
                let error = input.expected(what);
                Err::Error(Rejection::Error(match help {
                    Some(help) => error.with_help(help),
                    None => error,
                }))
            }
            Err::Failure(_) | Err::Incomplete(_) => error,
        })
    }
}

/// Parses digits.
pub(crate) fn natural(input: Cursor<'_>) -> Parsed<'_, i64> {
    map_opt(digit1, |digits: Cursor<'_>| digits.rest().parse().ok()).parse(input)
}
/// Parses digits, perhaps after a minus sign.
pub(crate) fn integer(input: Cursor<'_>) -> Parsed<'_, i64> {
    let negative = preceded(char('-'), digit1);
    let negative =
        map_opt(negative, |digits: Cursor<'_>| format!("-{}", digits.rest()).parse().ok());
    alt((negative, natural)).parse(input)
}
/// Parses a value that has no blanks inside.
pub(crate) fn dense<'a, T>(mut grammar: impl Grammar<'a, T>) -> impl Grammar<'a, T> {
    move |mut input: Cursor<'a>| {
        input.blank();
        grammar.parse(input)
    }
}
/// Parses a value, if `grammar` matches, that begins after a character.
pub(crate) fn after<'a, T>(
    char: char,
    grammar: impl Grammar<'a, T>,
) -> impl Grammar<'a, Option<T>> {
    opt(preceded(symbol(char), cut(grammar)))
}

impl<'a> Input for Cursor<'a> {
    type Item = char;
    type Iter = Chars<'a>;
    type IterIndices = CharIndices<'a>;

    fn input_len(&self) -> usize {
        self.rest().len()
    }
    fn take(&self, bytes: usize) -> Self {
        self.until(bytes)
    }
    fn take_from(&self, bytes: usize) -> Self {
        let mut rest = *self;
        rest.skip(bytes);
        rest
    }
    fn take_split(&self, bytes: usize) -> (Self, Self) {
        (self.take_from(bytes), self.take(bytes))
    }
    fn position<P: Fn(char) -> bool>(&self, predicate: P) -> Option<usize> {
        self.rest().find(predicate)
    }
    fn iter_elements(&self) -> Chars<'a> {
        self.rest().chars()
    }
    fn iter_indices(&self) -> CharIndices<'a> {
        self.rest().char_indices()
    }
    fn slice_index(&self, count: usize) -> std::result::Result<usize, Needed> {
        self.rest().slice_index(count)
    }
}
