//! `[4,2]T(1,0)`: a list of device ids as the transpose of an iota.
use super::fields::bad;
use crate::text::grammar::{
    Parsed, Parser, checked, cut, expecting, int, list, opt, preceded, token,
};
use crate::text::{Cursor, number::push_ints};
use crate::{Dims, IndexSpace, Result};
use std::borrow::Cow;

/// The limit on the number of ids, so that their number and each of them fit everywhere.
pub(crate) const IDS_LIMIT: i64 = 1 << 31;

/// 0, 1, 2, .. reshaped to some sizes, then transposed, then flattened.
///
/// Stored in the shortest form, as in XLA: without dimensions of size 1, and with neighbors merged
/// that stay neighbors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IotaDims {
    reshape: Dims,
    transpose: Option<Dims>,
}

/// The sizes `r` of `[r,..]` and the permutation `p` of `T(p,..)`.
type IotaParts = (Vec<i64>, Option<Vec<i64>>);

impl IotaDims {
    /// Returns the list for these sizes, where `transpose` has the dimension at each position.
    /// There is a `transpose` exactly if there are two sizes or more.
    pub fn new(reshape: &[i64], transpose: Option<&[i64]>) -> Result<Self> {
        if reshape.is_empty() {
            return Err(bad("an iota needs at least one size").with_help("write `<=[8]`"));
        }
        count(reshape)?;
        let identity: Dims = (0i64..).take(reshape.len()).collect();
        let order = match transpose {
            Some(_) if reshape.len() == 1 => {
                let error = bad("an iota of one dimension must not have a permutation `T(..)`");
                return Err(error.with_help(format!("write `[{}]`", reshape[0])));
            }
            None if reshape.len() > 1 => {
                let error = bad("an iota of several dimensions needs a permutation `T(..)`");
                return Err(error.with_help("for ids in order, write one size: `<=[8]`"));
            }
            Some(order) => Cow::Borrowed(order),
            None => Cow::Owned(identity.to_vec()),
        };
        let mut sorted = Dims::from_slice(&order);
        sorted.sort_unstable();
        if sorted != identity {
            let mut message = "`T(".to_owned();
            push_ints(&mut message, &order);
            message.push_str(")` does not name each dimension once");
            return Err(bad(message));
        }
        Ok(shortest(reshape, &order))
    }
    /// Returns the ids 0 to `count - 1` in order.
    pub fn ordered(count: i64) -> Result<Self> {
        Self::new(&[count], None)
    }

    /// Returns the sizes.
    pub fn reshape(&self) -> &[i64] {
        &self.reshape
    }
    /// Returns the permutation of the dimensions; `None` if the ids are in order.
    pub fn transpose(&self) -> Option<&[i64]> {
        self.transpose.as_deref()
    }
    /// Returns the number of ids.
    pub fn count(&self) -> i64 {
        self.reshape.iter().product()
    }
    /// Returns the ids.
    pub fn expand(&self) -> Vec<i64> {
        let strides = self.reshape.strides();
        let Some(order) = &self.transpose else { return offsets(&self.reshape, &strides) };
        let permute = |of: &[i64]| -> Dims {
            order.iter().filter_map(|&dim| of.get(usize::try_from(dim).ok()?).copied()).collect()
        };
        offsets(&permute(&self.reshape), &permute(&strides))
    }

    /// Parses `[4,2]T(1,0)`.
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let what = "the sizes of an iota, such as `[4,2]T(1,0)`";
        c.parse(expecting(what, None, Self::grammar))
    }
    /// Parses `<=[4,2]T(1,0)`.
    pub(crate) fn parse_tail(c: &mut Cursor<'_>) -> Result<Self> {
        let what = "`<=` and the sizes of an iota, such as `<=[4,2]T(1,0)`";
        c.parse(expecting(what, None, checked(preceded(token("<="), Self::parts), Self::of)))
    }
    pub(super) fn grammar(input: Cursor<'_>) -> Parsed<'_, Self> {
        checked(Self::parts, Self::of).parse(input)
    }
    /// Parses the sizes and the permutation.
    fn parts(input: Cursor<'_>) -> Parsed<'_, IotaParts> {
        let order = preceded(token("T"), cut(list('(', int, ')')));
        (list('[', int, ']'), opt(order)).parse(input)
    }
    fn of((reshape, transpose): IotaParts) -> Result<Self> {
        Self::new(&reshape, transpose.as_deref())
    }
    /// Writes `[4,2]T(1,0)`.
    pub(crate) fn print(&self, out: &mut String) {
        out.push('[');
        push_ints(out, &self.reshape);
        out.push(']');
        if let Some(order) = &self.transpose {
            out.push_str("T(");
            push_ints(out, order);
            out.push(')');
        }
    }
    /// Writes `<=[4,2]T(1,0)`.
    pub(crate) fn print_tail(&self, out: &mut String) {
        out.push_str("<=");
        self.print(out);
    }
}

/// Drops sizes of 1 and merges dimensions that are adjacent before and after.
fn shortest(reshape: &[i64], order: &[i64]) -> IotaDims {
    // The remaining dimensions, each with its size, and their order.
    let left: Vec<_> = (0i64..).zip(reshape).filter(|&(_, &size)| size != 1).collect();
    let place = |dim: &i64| left.iter().position(|(other, _)| other == dim);
    let order: Vec<_> = order.iter().filter_map(place).collect();
    // Runs of adjacent dimensions: the first of them, the size of all.
    let mut runs: Vec<(usize, i64)> = Vec::new();
    for (i, &dim) in order.iter().enumerate() {
        let size = *left[dim].1;
        match runs.last_mut() {
            Some((_, product)) if order[i - 1] + 1 == dim => *product *= size,
            _ => runs.push((dim, size)),
        }
    }
    let mut sorted = runs.clone();
    sorted.sort_unstable();
    if sorted.len() < 2 {
        let all = sorted.first().map_or(1, |&(_, size)| size);
        return IotaDims { reshape: Dims::from_slice(&[all]), transpose: None };
    }
    let place = |run: &(usize, i64)| {
        (0i64..).zip(&sorted).find(|(_, other)| *other == run).map(|(place, _)| place)
    };
    let transpose = Some(runs.iter().filter_map(place).collect());
    IotaDims { reshape: sorted.iter().map(|&(_, size)| size).collect(), transpose }
}

/// Returns the product of the sizes, if each is positive and there are not too many ids.
pub(super) fn count(sizes: &[i64]) -> Result<i64> {
    if let Some(size) = sizes.iter().find(|&&size| size < 1) {
        return Err(bad(format!("`{size}` is not a number of devices")));
    }
    let product = sizes.iter().try_fold(1i64, |all, &size| all.checked_mul(size));
    product.filter(|&product| product <= IDS_LIMIT).ok_or_else(|| {
        let mut message = "`".to_owned();
        push_ints(&mut message, sizes);
        message.push_str("` are more than 2^31 ids");
        bad(message)
    })
}

/// Returns the offsets of all elements of an array with these sizes and strides, in row-major
/// order.
pub(super) fn offsets(sizes: &[i64], strides: &[i64]) -> Vec<i64> {
    let mut offsets = Vec::new();
    sizes.offsets(0, strides, |at| offsets.push(at));
    offsets
}

#[cfg(test)]
mod tests {
    use super::super::fields::{beginning, value_tests};
    use super::*;

    value_tests!(IotaDims);

    #[test]
    fn printed_in_the_shortest_form() {
        for (text, printed) in [
            ("[8]", "[8]"),
            ("[4,2]T(1,0)", "[4,2]T(1,0)"),
            ("[ 4 , 2 ] T ( 1 , 0 )", "[4,2]T(1,0)"),
            ("[4,2]T(0,1)", "[8]"),
            ("[1,8]T(0,1)", "[8]"),
            ("[1,1]T(1,0)", "[1]"),
            ("[2,2,2]T(2,0,1)", "[4,2]T(1,0)"),
            ("[2,2,2]T(0,2,1)", "[2,2,2]T(0,2,1)"),
            ("[2,1,3,5]T(3,0,1,2)", "[6,5]T(1,0)"),
            ("[2,1,3,5]T(3,0,2,1)", "[6,5]T(1,0)"),
        ] {
            assert_eq!(round_trip(text), printed, "{text}");
            let expand = |text| super::super::fields::read(text, IotaDims::parse).unwrap().expand();
            assert_eq!(expand(text), expand(printed), "{text}");
        }
    }
    #[test]
    fn ids_are_those_of_the_transposed_count() {
        let ids =
            |sizes: &[i64], order: &[i64]| IotaDims::new(sizes, Some(order)).unwrap().expand();
        assert_eq!(ids(&[4, 2], &[1, 0]), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(ids(&[2, 2, 2], &[2, 0, 1]), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(ids(&[2, 3, 2], &[0, 2, 1]), [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]);
        assert_eq!(IotaDims::ordered(3).unwrap().expand(), [0, 1, 2]);
    }
    #[test]
    fn iota_order_is_optional() {
        let length = |text| beginning(text, IotaDims::parse).map(|(_, length)| length);
        assert_eq!((length("[8])"), length("[4,]")), (Some(3), None));
        let length = |text| beginning(text, IotaDims::parse_tail).map(|(_, length)| length);
        assert_eq!(length("<=[4,2]T(1,0)}"), Some(13));
        assert_eq!(length("<= [ 4 , 2 ] T( 1, 0 )"), Some(22));
        assert_eq!(length("< =[4]"), None);
    }
    #[test]
    fn rejections() {
        for (text, message) in [
            ("[4,2]", "an iota of several dimensions needs a permutation `T(..)`"),
            ("[8]T(0)", "an iota of one dimension must not have a permutation `T(..)`"),
            ("[4,2]T(1,1)", "`T(1,1)` does not name each dimension once"),
            ("[4,2]T(0)", "`T(0)` does not name each dimension once"),
            ("[]", "an iota needs at least one size"),
            ("[0]", "`0` is not a number of devices"),
            ("[2147483649]", "`2147483649` are more than 2^31 ids"),
            ("[4294967296,4294967296]T(1,0)", "`4294967296,4294967296` are more than 2^31 ids"),
        ] {
            assert_eq!(rejected(text), (text, message.to_owned(), rejected(text).2), "{text}");
        }
        assert_eq!(rejected("4").0, "4");
    }
}
