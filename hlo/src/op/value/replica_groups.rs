//! `replica_groups=`: a list of lists, numbers counted off, or axes of a mesh.
use super::{AxisRef, IotaDims, Mesh};
use crate::diag::Code;
use crate::text::Cursor;
use crate::text::print::push_int;
use crate::{Error, Result, Span};

/// Which devices work together. Printed in the spelling it was read in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReplicaGroups {
    /// `{{0,1},{2,3}}`; empty for one group of all.
    List(Vec<Vec<i64>>),
    /// `[2,4]<=[8]`: groups, devices in each, and the order they are counted off in.
    Iota(i64, i64, IotaDims),
    /// `mesh['x'=2,'y'=4] {'y'}`
    Mesh(Mesh, Vec<AxisRef>),
}

impl Default for ReplicaGroups {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl ReplicaGroups {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        let groups = match c.peek() {
            Some(b'{') => Self::List(c.list(b'{', b'}', Cursor::ints)?),
            Some(b'[') => {
                let sizes = c.list(b'[', b']', Cursor::size)?;
                c.expect_token("<=")?;
                let iota = IotaDims::parse(c)?;
                let span = c.span_from(start);
                let wrong = |message: String| Err(Error::from(Code::AttributeValue { message }).at(span));
                let [groups, size] = *sizes else {
                    return wrong("replica groups are counted off as [groups,size]".to_owned());
                };
                let count = iota.reshape.iter().product::<i64>();
                if groups.checked_mul(size) != Some(count) {
                    return wrong(format!("{groups} groups of {size} are not {count} devices"));
                }
                Self::Iota(groups, size, iota)
            }
            _ if matches!(c.peek_word(), Some("mesh" | "maximal_mesh")) => {
                let mesh = Mesh::parse(c)?;
                let axes = c.list(b'{', b'}', AxisRef::parse)?;
                mesh.groups(&axes).map_err(|e| e.at(c.span_from(start)))?;
                Self::Mesh(mesh, axes)
            }
            _ => return Err(c.wanted("`{{0,1},...}`, `[groups,size]<=[...]` or `mesh[...]`")),
        };
        Ok(groups)
    }
    pub(crate) fn print(&self, out: &mut String) {
        match self {
            Self::List(groups) => {
                out.push('{');
                for (i, group) in groups.iter().enumerate() {
                    out.push_str(if i > 0 { ",{" } else { "{" });
                    for (j, &id) in group.iter().enumerate() {
                        out.push_str(if j > 0 { "," } else { "" });
                        push_int(out, id);
                    }
                    out.push('}');
                }
                out.push('}');
            }
            Self::Iota(groups, size, iota) => {
                out.push('[');
                push_int(out, *groups);
                out.push(',');
                push_int(out, *size);
                out.push_str("]<=");
                iota.print(out);
            }
            Self::Mesh(mesh, axes) => {
                mesh.print(out);
                out.push_str(" {");
                for (i, axis) in axes.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    axis.print(out);
                }
                out.push('}');
            }
        }
    }
    /// The groups as lists.
    pub fn expand(&self) -> Vec<Vec<i64>> {
        match self {
            Self::List(groups) => groups.clone(),
            Self::Iota(_, size, iota) => {
                let size = usize::try_from(*size).unwrap_or(1).max(1);
                iota.expand().chunks(size).map(<[i64]>::to_vec).collect()
            }
            Self::Mesh(mesh, axes) => mesh.groups(axes).expect("checked when it was read"),
        }
    }
    /// Whether there is no list: then all devices are one group.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::List(groups) if groups.is_empty())
    }
}

/// `{0,0,1,1}`: the group of each replica, of texts of 2018.
pub(crate) fn by_replica(c: &mut Cursor<'_>) -> Result<Vec<Vec<i64>>> {
    c.blank();
    let start = c.offset();
    let ids = c.ints()?;
    let count = ids.iter().max().map_or(0, |&m| m.saturating_add(1));
    let wrong = || {
        let message = "each replica is given the number of its group".to_owned();
        Error::from(Code::AttributeValue { message }).at(Span::new(start, start + 1))
    };
    let count = usize::try_from(count).ok().filter(|&n| n <= ids.len()).ok_or_else(wrong)?;
    let mut groups = vec![Vec::new(); count];
    for (replica, &group) in (0..).zip(&ids) {
        let slot = usize::try_from(group).ok().and_then(|g| groups.get_mut(g));
        slot.ok_or_else(wrong)?.push(replica);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Result<Vec<Vec<i64>>> {
        let groups = ReplicaGroups::parse(&mut Cursor::new(text))?;
        let mut out = String::new();
        groups.print(&mut out);
        assert_eq!(out, text);
        Ok(groups.expand())
    }

    #[test]
    fn expands_as_xla_does() {
        let g = |text| groups(text).unwrap();
        assert_eq!(g("mesh['x'=2,'y'=4] {'x'}"), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(g("mesh['x'=2,'y'=4] {'y'}"), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(g("mesh['x'=2,'y'=4] {'y','x'}"), [[0, 4, 1, 5, 2, 6, 3, 7]]);
        assert_eq!(g("mesh['x'=8] {'x':(2)2}"), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(g("mesh['x'=4] {'x':(1)2}"), [[0, 2], [1, 3]]);
        assert_eq!(g("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}"), [[0, 1], [2, 3]]);
        assert_eq!(g("mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}"), [[3, 1], [2, 0]]);
        assert_eq!(g("[2,4]<=[4,2]T(1,0)"), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(g("[4,2]<=[2,2,2]T(2,0,1)"), [[0, 2], [4, 6], [1, 3], [5, 7]]);
        assert_eq!(g("{{0,1},{2,3}}"), [[0, 1], [2, 3]]);
        assert!(g("{}").is_empty());
    }

    #[test]
    fn refuses_what_does_not_fit() {
        for bad in ["[8]<=[8]", "[2,4]<=[4,2]", "[2,4]<=[8]T(0)", "[2,3]<=[8]", "mesh['x'=2] {'z'}", "3"] {
            assert!(ReplicaGroups::parse(&mut Cursor::new(bad)).is_err(), "{bad}");
        }
    }
}
