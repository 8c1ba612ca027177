//! `{0,1}`: a path into a tuple.
use crate::text::grammar::{list, map, size};
use crate::text::{Cursor, number::push_ints};
use crate::{Dims, Result, Shape};

/// A path of tuple indices; empty for the whole value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ShapeIndex(pub Dims);

impl ShapeIndex {
    /// Returns the shape at this index of `shape`, if there is one.
    pub fn of<'a>(&self, shape: &'a Shape) -> Option<&'a Shape> {
        let element = |shape: &'a Shape, i: &i64| shape.tuple()?.get(usize::try_from(*i).ok()?);
        self.0.iter().try_fold(shape, element)
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.parse(map(list('{', size, '}'), |index| Self(Dims::from_vec(index))))
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        push_ints(out, &self.0);
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(ShapeIndex);

    #[test]
    fn indices_round_trip() {
        assert_eq!(round_trip("{}"), "{}");
        assert_eq!(round_trip("{ 1 , 0 }"), "{1,0}");
        assert_eq!(rejected("{-1}").1, "`-1` is not a size");
        assert_eq!(rejected("{1,}").0, "}");
    }
    #[test]
    fn it_leads_into_tuples() {
        let shape: Shape = "(f32[], (s32[], pred[]))".parse().unwrap();
        let at =
            |index: &[i64]| ShapeIndex(Dims::from_slice(index)).of(&shape).map(Shape::to_string);
        assert_eq!(at(&[1, 1]).as_deref(), Some("pred[]"));
        assert_eq!(at(&[]).as_deref(), Some("(f32[], (s32[], pred[]))"));
        assert_eq!(at(&[0, 0]), None);
        assert_eq!(at(&[2]), None);
    }
}
