//! Makes the value types attribute values.
use super::{
    ApiVersion, ComparisonType, ConvDims, ConvolutionKind, CustomCallSchedule, Direction,
    DotAlgorithm, FftType, FusionKind, OperandPrecision, OutputOperandAliasing, PaddingConfig,
    PaddingType, RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceRanges, SparsityConfig,
    Transpose, Window,
};
use crate::ir::ComputationId;
use crate::op::{AttrValue, AttrWriter};
use crate::text::print::push_int;
use crate::text::{Parser, literal, print, shape};
use crate::{Literal, Result, Shape};

/// Types that read themselves from a cursor and print themselves into a string.
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
    FftType FusionKind OperandPrecision OutputOperandAliasing PaddingConfig PaddingType
    RandomAlgorithm RandomDistribution ReplicaGroups SliceRanges SparsityConfig Transpose Window
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
        if p.cursor.eat(b'}') { Ok(items) } else { Err(p.cursor.wanted("`,` or `}`")) }
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        // Computations written out in place each start a line, and so does the brace after them.
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
        self.iter().for_each(|item| item.each_callee(visit));
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        self.iter_mut().for_each(|item| item.each_callee_mut(visit));
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
        self.iter().for_each(|item| item.each_callee(visit));
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        self.iter_mut().for_each(|item| item.each_callee_mut(visit));
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
        print::typed_literal(out.out, self);
    }
}
