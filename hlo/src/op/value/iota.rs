//! `[2,4]<=[4,2]T(1,0)`: device numbers counted off along dimensions that are then transposed.
use crate::diag::Code;
use crate::text::print::push_int;
use crate::text::{Cursor, pattern};
use crate::{Dims, Error, Result, Span};

/// The numbers from 0 in the shape `reshape`, transposed, and read in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IotaDims {
    /// Sizes before the transposition.
    pub reshape: Dims,
    /// Order of the dimensions; absent of a single dimension.
    pub transpose: Option<Dims>,
}

/// More devices than any text means.
const DEVICE_LIMIT: i64 = 1 << 31;

impl IotaDims {
    /// Reads `[4,2]T(1,0)`.
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        let ((reshape, transpose), length) =
            pattern::iota(c.rest()).ok_or_else(|| c.wanted("`[sizes]T(order)`"))?;
        let span = Span::new(start, start + length);
        let wrong = |message: &str| {
            Err(Error::from(Code::AttributeValue { message: message.to_owned() }).at(span))
        };
        match &transpose {
            None if reshape.len() > 1 => return wrong("several sizes need an order, T(...)"),
            Some(_) if reshape.len() < 2 => return wrong("one size has no order T(...)"),
            Some(order) if !crate::Layout { minor_to_major: order.clone(), tail: None }.is_permutation(reshape.len()) => {
                return wrong("T(...) must list every dimension once");
            }
            _ => {}
        }
        let count = reshape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        if count.is_none_or(|n| n > DEVICE_LIMIT) {
            return wrong("more devices than any machine has");
        }
        c.skip(length);
        Ok(Self { reshape, transpose }.canonical())
    }
    /// Sizes and strides of the numbers, the slowest first; dimensions of size 1 are left out. `None` if there are no
    /// numbers.
    fn steps(&self) -> Option<Vec<(i64, i64)>> {
        let mut stride = 1;
        let mut strides = vec![1; self.reshape.len()];
        for (slot, &size) in strides.iter_mut().zip(&self.reshape).rev() {
            (*slot, stride) = (stride, stride * size);
        }
        let all: Vec<_> = self.reshape.iter().copied().zip(strides).collect();
        let in_order = match &self.transpose {
            Some(order) => {
                let step = |&d: &i64| usize::try_from(d).ok().and_then(|d| all.get(d)).copied();
                order.iter().map(step).collect::<Option<Vec<_>>>()?
            }
            None => all,
        };
        (stride > 0).then(|| in_order.into_iter().filter(|&(size, _)| size > 1).collect())
    }
    /// The inverse of [`IotaDims::steps`], with as few dimensions as will do.
    fn from_steps(steps: &[(i64, i64)]) -> Self {
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for &(size, stride) in steps {
            match merged.last_mut() {
                Some((outer, outer_stride)) if *outer_stride == size * stride => {
                    (*outer, *outer_stride) = (*outer * size, stride);
                }
                _ => merged.push((size, stride)),
            }
        }
        if merged.len() < 2 {
            let size = merged.first().map_or(1, |&(size, _)| size);
            return Self { reshape: Dims::from_slice(&[size]), transpose: None };
        }
        let mut slowest: Vec<(i64, i64)> = merged.clone();
        slowest.sort_unstable_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        let position = |step: &(i64, i64)| (0..).zip(&slowest).find(|(_, s)| *s == step);
        let order = merged.iter().filter_map(position).map(|(d, _)| d).collect();
        Self { reshape: slowest.iter().map(|&(size, _)| size).collect(), transpose: Some(order) }
    }
    /// The same numbers with as few dimensions as will do, as XLA keeps them.
    fn canonical(self) -> Self {
        match self.steps() {
            Some(steps) => Self::from_steps(&steps),
            None => self,
        }
    }
    /// The numbers of an array of sizes `dims` once its dimensions are put into `order`; `None` if they cannot be
    /// counted off.
    pub(crate) fn transposed(&self, dims: &[i64], order: &[usize]) -> Option<Self> {
        let mut steps = self.steps()?.into_iter();
        let mut by_dim = Vec::new();
        let mut part = None;
        for &dim in dims {
            let (mut left, mut found) = (dim, Vec::new());
            while left > 1 {
                let (size, stride): (i64, i64) = part.take().or_else(|| steps.next())?;
                if left % size == 0 {
                    left /= size;
                    found.push((size, stride));
                } else if size % left == 0 {
                    let inner = size / left;
                    found.push((left, stride * inner));
                    part = Some((inner, stride));
                    left = 1;
                } else {
                    return None;
                }
            }
            by_dim.push(found);
        }
        let steps: Vec<_> = order.iter().filter_map(|&d| by_dim.get(d)).flatten().copied().collect();
        Some(Self::from_steps(&steps))
    }
    pub(crate) fn print(&self, out: &mut String) {
        let list = |out: &mut String, dims: &[i64]| {
            for (i, &d) in dims.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                push_int(out, d);
            }
        };
        out.push('[');
        list(out, &self.reshape);
        out.push(']');
        if let Some(order) = &self.transpose {
            out.push_str("T(");
            list(out, order);
            out.push(')');
        }
    }
    /// The numbers in order.
    pub fn expand(&self) -> Vec<i64> {
        let rank = self.reshape.len();
        let order: Vec<usize> = match &self.transpose {
            Some(order) => order.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect(),
            None => (0..rank).collect(),
        };
        let mut strides = vec![1i64; rank];
        for d in (1..rank).rev() {
            strides[d - 1] = strides[d] * self.reshape[d];
        }
        let mut numbers = vec![0];
        for d in order {
            let steps = (0..self.reshape[d]).map(|i| i * strides[d]).collect::<Vec<_>>();
            numbers = numbers.iter().flat_map(|&n| steps.iter().map(move |s| n + s)).collect();
        }
        numbers
    }
}
