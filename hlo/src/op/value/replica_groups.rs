//! `replica_groups=`, of the collective ops. One of three spellings, which is kept.
use super::fields::bad;
use super::{IotaDims, MeshGroups};
use crate::Result;
use crate::text::grammar::{
    Parsed, Parser, alt, checked, cut, expecting, int, lift, list, map, pair, peek, preceded, size,
    symbol, token,
};
use crate::text::{Cursor, number::push_ints};

/// Groups of replicas or devices that exchange data; empty for one group of all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReplicaGroups {
    /// `{{0,1},{2,3}}`
    List(Vec<Vec<i64>>),
    /// `[2,4]<=[4,2]T(1,0)`
    Iota(IotaTiling),
    /// `mesh['x'=2,'y'=4] {'y'}`
    Mesh(Box<MeshGroups>),
}

/// Groups of equal size, consecutive in a list of ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IotaTiling {
    group_count: i64,
    group_size: i64,
    ids: IotaDims,
}

impl Default for ReplicaGroups {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl From<Vec<Vec<i64>>> for ReplicaGroups {
    fn from(groups: Vec<Vec<i64>>) -> Self {
        Self::List(groups)
    }
}
impl From<&[&[i64]]> for ReplicaGroups {
    fn from(groups: &[&[i64]]) -> Self {
        Self::List(groups.iter().map(|group| group.to_vec()).collect())
    }
}
impl<const N: usize, const M: usize> From<[[i64; N]; M]> for ReplicaGroups {
    fn from(groups: [[i64; N]; M]) -> Self {
        Self::List(groups.iter().map(|group| group.to_vec()).collect())
    }
}
impl From<IotaTiling> for ReplicaGroups {
    fn from(tiling: IotaTiling) -> Self {
        Self::Iota(tiling)
    }
}
impl std::str::FromStr for ReplicaGroups {
    type Err = crate::Error;
    /// Parses `{{0,1},{2,3}}` or `[2,4]<=[4,2]T(1,0)`.
    fn from_str(text: &str) -> Result<Self> {
        let mut cursor = Cursor::new(text);
        let groups = Self::parse(&mut cursor)?;
        cursor.expect_end("the end of the replica groups")?;
        Ok(groups)
    }
}

impl IotaTiling {
    /// Returns `group_count` groups of `group_size`, consecutive in `ids`.
    pub fn new(group_count: i64, group_size: i64, ids: IotaDims) -> Result<Self> {
        let total = group_count.checked_mul(group_size);
        if group_count < 1 || total != Some(ids.count()) {
            let ids = ids.count();
            let message = format!("{group_count} groups of {group_size} do not hold {ids} ids");
            return Err(bad(message).with_help("make the products of both sides of `<=` equal"));
        }
        Ok(Self { group_count, group_size, ids })
    }
    /// Returns the number of groups.
    pub fn group_count(&self) -> i64 {
        self.group_count
    }
    /// Returns the number of ids in each group.
    pub fn group_size(&self) -> i64 {
        self.group_size
    }
    /// Returns the ids of all groups, one group after another.
    pub fn ids(&self) -> &IotaDims {
        &self.ids
    }
}

impl ReplicaGroups {
    /// Returns whether no group is listed, which means one group of all.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::List(groups) if groups.is_empty())
    }
    /// Returns the number of ids if they are not listed: the list may be larger than memory.
    pub fn counted(&self) -> Option<i64> {
        match self {
            Self::List(_) => None,
            Self::Iota(tiling) => Some(tiling.ids.count()),
            Self::Mesh(groups) => Some(groups.mesh().device_count()),
        }
    }
    /// Returns the groups as lists of ids; empty for one group of all.
    pub fn expand(&self) -> Vec<Vec<i64>> {
        match self {
            Self::List(groups) => groups.clone(),
            Self::Iota(tiling) => {
                let size = usize::try_from(tiling.group_size).unwrap_or(1).max(1);
                tiling.ids.expand().chunks(size).map(<[i64]>::to_vec).collect()
            }
            Self::Mesh(groups) => groups.expand(),
        }
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let listed = map(list('{', list('{', int, '}'), '}'), Self::List);
        let iota = map(preceded(peek(symbol('[')), cut(iota)), Self::Iota);
        let mesh = map(lift(MeshGroups::parse), |groups| Self::Mesh(Box::new(groups)));
        let mesh = preceded(peek(alt((token("mesh"), token("maximal_mesh")))), cut(mesh));
        let help = "write `{{0,1},{2,3}}`, `[2,4]<=[8]` or `mesh['x'=8] {'x'}`";
        c.parse(expecting("replica groups", Some(help), alt((listed, iota, mesh))))
    }
    pub(crate) fn print(&self, out: &mut String) {
        match self {
            Self::List(groups) => push_groups(out, groups),
            Self::Iota(tiling) => {
                out.push('[');
                push_ints(out, &[tiling.group_count, tiling.group_size]);
                out.push(']');
                tiling.ids.print_tail(out);
            }
            Self::Mesh(groups) => groups.print(out),
        }
    }
}

/// Parses `[2,4]<=[4,2]T(1,0)`.
fn iota(input: Cursor<'_>) -> Parsed<'_, IotaTiling> {
    let sizes = checked(list('[', size, ']'), |sizes| match *sizes {
        [count, size] => Ok((count, size)),
        _ => Err(bad(
            "expected two sizes of replica groups: the number of groups and the ids in each",
        )
        .with_help("for one group of 8, write `[1,8]<=[8]`")),
    });
    let tiling = pair(sizes, lift(IotaDims::parse_tail));
    checked(tiling, |((count, size), ids)| IotaTiling::new(count, size, ids)).parse(input)
}

/// Appends `{{0,1},{2,3}}`.
pub(crate) fn push_groups(out: &mut String, groups: &[Vec<i64>]) {
    out.push('{');
    for (i, group) in groups.iter().enumerate() {
        out.push_str(if i > 0 { ",{" } else { "{" });
        push_ints(out, group);
        out.push('}');
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::super::fields::{read, value_tests};
    use super::*;

    value_tests!(ReplicaGroups);

    #[test]
    fn the_spelling_is_kept() {
        for (text, printed) in [
            ("{}", "{}"),
            ("{{}}", "{{}}"),
            ("{{0,1}, {2}}", "{{0,1},{2}}"),
            ("[2,4]<=[8]", "[2,4]<=[8]"),
            ("[2, 4] <= [4, 2] T (1, 0)", "[2,4]<=[4,2]T(1,0)"),
            ("[4,2]<=[2,2,2]T(2,0,1)", "[4,2]<=[4,2]T(1,0)"),
            ("mesh['x'=2,'y'=4] {'y'}", "mesh['x'=2,'y'=4] {'y'}"),
        ] {
            assert_eq!(round_trip(text), printed);
        }
        assert!(ReplicaGroups::default().is_empty());
    }
    #[test]
    fn made_from_rust() {
        let listed = ReplicaGroups::List(vec![vec![0, 1], vec![2, 3]]);
        assert_eq!(ReplicaGroups::from([[0, 1], [2, 3]]), listed);
        assert_eq!(ReplicaGroups::from(&[&[0, 1][..], &[2, 3]][..]), listed);
        assert_eq!(ReplicaGroups::from(vec![vec![0, 1], vec![2, 3]]), listed);
        assert_eq!("{{0,1},{2,3}}".parse(), Ok(listed));
        let tiling = IotaTiling::new(2, 4, IotaDims::ordered(8).unwrap()).unwrap();
        assert_eq!("[2,4]<=[8]".parse(), Ok(ReplicaGroups::from(tiling)));
        assert!("{{0}} {1}".parse::<ReplicaGroups>().is_err());
    }
    #[test]
    fn expansion() {
        let groups = |text| read(text, ReplicaGroups::parse).unwrap().expand();
        assert_eq!(groups("[2,4]<=[4,2]T(1,0)"), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(groups("[4,2]<=[2,2,2]T(2,0,1)"), [[0, 2], [4, 6], [1, 3], [5, 7]]);
        assert_eq!(groups("{{3,1},{2}}"), [vec![3, 1], vec![2]]);
        assert_eq!(groups("mesh['x'=2,'y'=2] {'x'}"), [[0, 2], [1, 3]]);
        assert!(groups("{}").is_empty());
    }
    #[test]
    fn rejections() {
        for (text, place, message) in [
            ("{0,1}", "0", "expected `{`, found `0`"),
            (
                "[8]<=[8]",
                "[8]",
                "expected two sizes of replica groups: the number of groups and the ids in each",
            ),
            ("[2,4]<=[4]", "[2,4]<=[4]", "2 groups of 4 do not hold 4 ids"),
            ("[0,4]<=[4]", "[0,4]<=[4]", "0 groups of 4 do not hold 4 ids"),
            (
                "[2,4]<=[4,2]",
                "<=[4,2]",
                "an iota of several dimensions needs a permutation `T(..)`",
            ),
            (
                "[2,4]<=[8]T(0)",
                "<=[8]T(0)",
                "an iota of one dimension must not have a permutation `T(..)`",
            ),
            ("all", "all", "expected replica groups, found `all`"),
        ] {
            let (at, found, _) = rejected(text);
            assert_eq!((at, found.as_str()), (place, message), "{text}");
        }
    }
}
