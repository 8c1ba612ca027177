//! The fields of messages as the values of attributes.
use super::message::{self, SliceDimensions, SourceTarget};
use super::{bad, limit};
use crate::ir::ComputationId;
use crate::op::value::{
    Float, Ignored, OperandPrecision, Pairs, Precision, Reducer, SliceRange, SliceRanges, Text,
};
use crate::text::strings;
use crate::{Literal, Result, Shape};
use smol_str::SmolStr;
use std::mem::take;

/// A type of attribute that a field of type `F` stores.
pub(crate) trait ProtoField<F>: Sized {
    /// Writes the field.
    fn encode(&self, field: &mut F) -> Result<()>;
    /// Reads the field and resets it. An unset field gives `default`, if its value has no meaning
    /// otherwise.
    fn decode(field: &mut F, default: Option<Self>) -> Result<Self>;
}

/// An enum of the text; `VALUES` has its words and, if a message stores a number, the numbers.
pub(crate) trait Enum: Copy + PartialEq + 'static {
    /// What it is, for messages.
    const WHAT: &'static str;
    const VALUES: &'static [(Self, &'static str, Option<i32>)];
}

impl<T: Enum> ProtoField<i32> for T {
    fn encode(&self, field: &mut i32) -> Result<()> {
        let row = T::VALUES.iter().find(|(value, ..)| value == self);
        *field = row.and_then(|&(_, _, number)| number).expect("stored as a number");
        Ok(())
    }
    fn decode(field: &mut i32, default: Option<Self>) -> Result<Self> {
        let number = take(field);
        let found = T::VALUES.iter().find(|(_, _, known)| *known == Some(number));
        match (found, default) {
            (Some(&(value, ..)), _) => Ok(value),
            (None, Some(default)) if number == 0 => Ok(default),
            (None, _) => Err(bad(format!("{number} is not a valid {}", T::WHAT))),
        }
    }
}
impl<T: Enum> ProtoField<String> for T {
    fn encode(&self, field: &mut String) -> Result<()> {
        let row = T::VALUES.iter().find(|(value, ..)| value == self);
        row.expect("every value has a word").1.clone_into(field);
        Ok(())
    }
    fn decode(field: &mut String, _: Option<Self>) -> Result<Self> {
        let word = take(field);
        let found = T::VALUES.iter().find(|(_, known, _)| *known == word);
        found
            .map(|&(value, ..)| value)
            .ok_or_else(|| bad(format!("`{word}` is not a valid {}", T::WHAT)))
    }
}
/// An empty string means that there is none.
impl<T: Enum> ProtoField<String> for Option<T> {
    fn encode(&self, field: &mut String) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.encode(field))
    }
    fn decode(field: &mut String, _: Option<Self>) -> Result<Self> {
        if field.is_empty() { Ok(None) } else { T::decode(field, None).map(Some) }
    }
}

/// Types that a message stores as they are.
macro_rules! plain {
    ($($ty:ty),*) => {
        $(impl ProtoField<$ty> for $ty {
            fn encode(&self, field: &mut $ty) -> Result<()> {
                self.clone_into(field);
                Ok(())
            }
            fn decode(field: &mut $ty, _: Option<Self>) -> Result<Self> {
                Ok(take(field))
            }
        })*
    };
}
plain!(bool, Vec<i64>);

/// Zero is the default.
impl ProtoField<Self> for i64 {
    fn encode(&self, field: &mut Self) -> Result<()> {
        *field = *self;
        Ok(())
    }
    fn decode(field: &mut Self, default: Option<Self>) -> Result<Self> {
        let value = take(field);
        Ok(default.filter(|_| value == 0).unwrap_or(value))
    }
}
impl ProtoField<i32> for i64 {
    fn encode(&self, field: &mut i32) -> Result<()> {
        *field = limit(*self)?;
        Ok(())
    }
    fn decode(field: &mut i32, _: Option<Self>) -> Result<Self> {
        Ok(take(field).into())
    }
}
/// `TriState`: unspecified, true, false.
impl ProtoField<i32> for bool {
    fn encode(&self, field: &mut i32) -> Result<()> {
        *field = if *self { 1 } else { 2 };
        Ok(())
    }
    fn decode(field: &mut i32, _: Option<Self>) -> Result<Self> {
        match take(field) {
            1 => Ok(true),
            0 | 2 => Ok(false),
            other => Err(bad(format!("{other} is not a boolean"))),
        }
    }
}
/// A number that is not positive means that there is none.
impl ProtoField<i64> for Option<i64> {
    fn encode(&self, field: &mut i64) -> Result<()> {
        *field = self.unwrap_or(0);
        Ok(())
    }
    fn decode(field: &mut i64, _: Option<Self>) -> Result<Self> {
        Ok(Some(take(field)).filter(|&number| number > 0))
    }
}
impl ProtoField<Option<i32>> for Option<i64> {
    fn encode(&self, field: &mut Option<i32>) -> Result<()> {
        *field = self.map(limit).transpose()?;
        Ok(())
    }
    fn decode(field: &mut Option<i32>, _: Option<Self>) -> Result<Self> {
        Ok(field.take().map(Into::into))
    }
}
/// One dimension of a list.
impl ProtoField<Vec<i64>> for Option<i64> {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        field.extend(self);
        Ok(())
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        match take(field).as_slice() {
            [] => Ok(None),
            &[one] => Ok(Some(one)),
            more => Err(bad(format!("expected at most one number, found {}", more.len()))),
        }
    }
}
/// The default stands for none.
impl ProtoField<Vec<i64>> for i64 {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        field.extend((*self >= 0).then_some(self));
        Ok(())
    }
    fn decode(field: &mut Vec<i64>, default: Option<Self>) -> Result<Self> {
        let one = Option::<Self>::decode(field, None)?;
        one.or(default).ok_or_else(|| bad("expected one number, found none"))
    }
}
/// No dimension means that there are none.
impl ProtoField<Vec<i64>> for Option<Vec<i64>> {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        field.extend(self.iter().flatten());
        Ok(())
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        Ok(Some(take(field)).filter(|list| !list.is_empty()))
    }
}
/// The lists one after the other; they are told apart when the operands are known.
impl ProtoField<Vec<i64>> for Vec<Vec<i64>> {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        field.extend(self.iter().flatten());
        Ok(())
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        Ok(Some(take(field)).filter(|list| !list.is_empty()).into_iter().collect())
    }
}

/// Called computations: their index, in the order XLA keeps them.
impl ProtoField<Vec<i64>> for Vec<ComputationId> {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        self.iter().try_for_each(|id| id.encode(field))
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        take(field).into_iter().map(|index| ComputationId::decode(&mut vec![index], None)).collect()
    }
}
impl ProtoField<Vec<i64>> for ComputationId {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        field.push(i64::try_from(self.index()).expect("an index fits i64"));
        Ok(())
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        Option::decode(field, None)?.ok_or_else(|| bad("it calls too few computations"))
    }
}
impl ProtoField<Vec<i64>> for Option<ComputationId> {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        self.iter().try_for_each(|id| id.encode(field))
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        if field.is_empty() {
            return Ok(None);
        }
        let index = usize::try_from(field.remove(0)).expect("an index of a computation");
        Ok(Some(ComputationId::new(index)))
    }
}
impl ProtoField<Vec<i64>> for Reducer {
    fn encode(&self, field: &mut Vec<i64>) -> Result<()> {
        self.0.encode(field)
    }
    fn decode(field: &mut Vec<i64>, _: Option<Self>) -> Result<Self> {
        Option::decode(field, None).map(Self)
    }
}
/// A field of older versions that follows from another instruction.
impl<F: Default> ProtoField<F> for Ignored {
    fn encode(&self, _: &mut F) -> Result<()> {
        Ok(())
    }
    fn decode(field: &mut F, _: Option<Self>) -> Result<Self> {
        *field = F::default();
        Ok(Self)
    }
}

impl ProtoField<Option<f32>> for Float {
    /// Leaves out 0 alone, as the C++ implementation does: -0 is no default.
    fn encode(&self, field: &mut Option<f32>) -> Result<()> {
        *field = (self.0.to_bits() != 0).then_some(self.0);
        Ok(())
    }
    fn decode(field: &mut Option<f32>, _: Option<Self>) -> Result<Self> {
        Ok(Self(take(field).unwrap_or_default()))
    }
}
impl ProtoField<Vec<u8>> for Text {
    fn encode(&self, field: &mut Vec<u8>) -> Result<()> {
        *field = strings::bytes(&self.0).into_owned();
        Ok(())
    }
    fn decode(field: &mut Vec<u8>, _: Option<Self>) -> Result<Self> {
        Ok(Self(strings::from_bytes(take(field)).into()))
    }
}
impl ProtoField<Vec<u8>> for SmolStr {
    fn encode(&self, field: &mut Vec<u8>) -> Result<()> {
        *field = strings::bytes(self).into_owned();
        Ok(())
    }
    fn decode(field: &mut Vec<u8>, _: Option<Self>) -> Result<Self> {
        Ok(strings::from_bytes(take(field)).into())
    }
}
impl ProtoField<Vec<i32>> for OperandPrecision {
    fn encode(&self, field: &mut Vec<i32>) -> Result<()> {
        for precision in &self.0 {
            let mut number = 0;
            precision.encode(&mut number)?;
            field.push(number);
        }
        Ok(())
    }
    fn decode(field: &mut Vec<i32>, _: Option<Self>) -> Result<Self> {
        let list: Result<_> = take(field).iter_mut().map(|n| Precision::decode(n, None)).collect();
        let precision = Self(list?);
        Ok(if precision.all_default() { Self::default() } else { precision })
    }
}
impl ProtoField<Vec<SourceTarget>> for Pairs {
    fn encode(&self, field: &mut Vec<SourceTarget>) -> Result<()> {
        field.extend(self.0.iter().map(|&(source, target)| SourceTarget { source, target }));
        Ok(())
    }
    fn decode(field: &mut Vec<SourceTarget>, _: Option<Self>) -> Result<Self> {
        Ok(Self(take(field).iter().map(|pair| (pair.source, pair.target)).collect()))
    }
}
impl ProtoField<Vec<SliceDimensions>> for SliceRanges {
    fn encode(&self, field: &mut Vec<SliceDimensions>) -> Result<()> {
        field.extend(self.0.iter().map(|&SliceRange { start, limit, stride }| SliceDimensions {
            start,
            limit,
            stride,
        }));
        Ok(())
    }
    fn decode(field: &mut Vec<SliceDimensions>, _: Option<Self>) -> Result<Self> {
        let range = |&SliceDimensions { start, limit, stride }| SliceRange { start, limit, stride };
        Ok(Self(take(field).iter().map(range).collect()))
    }
}
impl ProtoField<Option<Box<message::Literal>>> for Option<Literal> {
    fn encode(&self, field: &mut Option<Box<message::Literal>>) -> Result<()> {
        *field = self.as_ref().map(super::literal::encode).transpose()?.map(Box::new);
        Ok(())
    }
    fn decode(field: &mut Option<Box<message::Literal>>, _: Option<Self>) -> Result<Self> {
        field.take().map(|literal| super::literal::decode(*literal)).transpose()
    }
}
impl ProtoField<Option<Box<message::Shape>>> for Option<Shape> {
    fn encode(&self, field: &mut Option<Box<message::Shape>>) -> Result<()> {
        *field = self.as_ref().map(super::shape::encode).map(Box::new);
        Ok(())
    }
    fn decode(field: &mut Option<Box<message::Shape>>, _: Option<Self>) -> Result<Self> {
        field.take().map(|shape| super::shape::decode(&shape)).transpose()
    }
}
