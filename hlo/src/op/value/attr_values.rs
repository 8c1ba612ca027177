//! Implementations of `AttrValue` for the value types.
use super::{
    ApiVersion, ComparisonType, ConvDims, ConvSparsity, ConvolutionKind, CustomCallSchedule,
    Direction, DotAlgorithm, FftType, FusionKind, OperandPrecision, OutputOperandAliasing,
    PaddingConfig, PaddingType, RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceRanges,
    Transpose, Window,
};
use crate::diag::Code;
use crate::ir::ComputationId;
use crate::op::{AttrValue, AttrWriter, check};
use crate::text::Cursor;
use crate::text::grammar::{int, list};
use crate::text::number::push_int;
use crate::text::{Parser, literal, print, shape};
use crate::{Error, Literal, Result, Shape, Span};

/// Types that are parsed from a cursor and printed to a string.
macro_rules! values {
    ($($ty:ident)*) => {
        $(impl AttrValue for $ty {
            fn parse(p: &mut Parser<'_>) -> Result<Self> {
                $ty::parse(&mut p.cursor)
            }
            fn print(&self, out: &mut AttrWriter<'_>) {
                $ty::print(self, out.out);
            }
        })*
    };
}
values! {
    ApiVersion ComparisonType ConvDims ConvolutionKind CustomCallSchedule Direction DotAlgorithm
    FftType FusionKind OutputOperandAliasing PaddingConfig PaddingType
    RandomAlgorithm RandomDistribution SliceRanges ConvSparsity Transpose Window
}

impl AttrValue for ReplicaGroups {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        Self::parse(&mut p.cursor)
    }
    fn parse_old(p: &mut Parser<'_>) -> Result<Self> {
        let mut ahead = p.cursor;
        let by_number = ahead.eat(b'{') && ahead.peek().is_some_and(|b| b.is_ascii_digit());
        if by_number {
            by_replica(&mut p.cursor).map(Self::List)
        } else {
            Self::parse(&mut p.cursor)
        }
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        Self::print(self, out.out);
    }
}

/// Parses `{0,0,1,1}`: the group of each replica, from texts of 2018.
fn by_replica(c: &mut Cursor<'_>) -> Result<Vec<Vec<i64>>> {
    c.blank();
    let start = c.offset();
    let ids = c.parse(list('{', int, '}'))?;
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
    let is_equal = groups.windows(2).all(|two| two[0].len() == two[1].len());
    check(is_equal, "groups_equal", || "the groups have different sizes".to_owned())
        .map_err(|e| e.at(c.span_from(start)))?;
    Ok(groups)
}

impl AttrValue for OperandPrecision {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        let precision = Self::parse(&mut p.cursor)?;
        // A list of defaults is not printed.
        Ok(if precision.all_default() { Self::default() } else { precision })
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        Self::print(self, out.out);
    }
}
impl AttrValue for i64 {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        p.cursor.int()
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        push_int(out.out, *self);
    }
}
impl AttrValue for bool {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        p.cursor.bool()
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        out.out.push_str(if *self { "true" } else { "false" });
    }
}
impl<T: AttrValue> AttrValue for Vec<T> {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        p.cursor.expect(b'{')?;
        let mut items = Self::new();
        if p.cursor.eat(b'}') {
            return Ok(items);
        }
        loop {
            items.push(T::parse(p)?);
            if !p.cursor.eat(b',') {
                break;
            }
        }
        if p.cursor.eat(b'}') { Ok(items) } else { Err(p.cursor.expected("`,` or `}`")) }
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        // Computations printed in place each start a line, and so does the brace after them.
        let bodies = T::IS_COMPUTATION && out.printer.bodies_in_place();
        out.out.push('{');
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.out.push_str(if bodies { "," } else { T::SEPARATOR });
            }
            item.print(out);
        }
        out.out.push_str(if bodies { "\n}" } else { "}" });
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        for item in self {
            item.each_callee(visit);
        }
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        for item in self {
            item.each_callee_mut(visit);
        }
    }
}
impl<T: AttrValue> AttrValue for Option<T> {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        T::parse(p).map(Some)
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        if let Some(value) = self {
            value.print(out);
        }
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        if let Some(item) = self {
            item.each_callee(visit);
        }
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        if let Some(item) = self {
            item.each_callee_mut(visit);
        }
    }
}
impl AttrValue for ComputationId {
    const IS_COMPUTATION: bool = true;
    const SEPARATOR: &'static str = ", ";
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        p.computation_ref()
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        out.printer.computation_ref(out.out, *self, out.indent);
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        visit(*self);
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        visit(self);
    }
}
impl AttrValue for Shape {
    const SEPARATOR: &'static str = ", ";
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        shape::shape(&mut p.cursor)
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        print::shape(out.out, self, true);
    }
}
impl AttrValue for Literal {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        literal::typed_literal(&mut p.cursor)
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        print::literal(out.out, self, true);
    }
}
