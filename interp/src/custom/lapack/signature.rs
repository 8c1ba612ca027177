//! Signatures of LAPACK routines as short texts, and the check of a call against them.
//!
//! `"T[m,n] I[n] -> T[m,n] T[p]"`: a matrix of the routine's own type and a vector of s32, and its
//! results. `T` is the routine's type, `R` the real type of its width, `C` the complex one, `I` is
//! s32. Sizes are letters; equal letters are equal sizes; letter is; `p` is the smaller of `m` and
//! `n`, and `q` is `n - 1`. Every array may have the same further dimensions in front: they count
//! independent problems.
use super::super::StatedCall;
use super::number::{LapackFloat, Matrix};
use crate::{Error, Result};
use hlo::literal::Native;
use hlo::{Array, ArrayShape, Dims, ElementType, Scalar};
use num::array::array_shapes;
use num::index::to_usize;
use num::single::to_f32;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// One array of a signature.
#[derive(Debug, Clone, Copy)]
struct SignatureArray {
    kind: char,
    sizes: &'static str,
}

impl SignatureArray {
    fn all(list: &'static str) -> impl Iterator<Item = Self> {
        list.split_whitespace().map(|word| {
            let (kind, sizes) = word.split_once('[').unwrap_or((word, ""));
            Self { kind: kind.chars().next().unwrap_or('T'), sizes: sizes.trim_end_matches(']') }
        })
    }
    fn letters(self) -> impl DoubleEndedIterator<Item = char> {
        self.sizes.chars().filter(char::is_ascii_lowercase)
    }
    fn rank(self) -> usize {
        self.letters().count()
    }
    fn ty(self, own: ElementType) -> ElementType {
        let wide = own.component() == ElementType::F64;
        match self.kind {
            'I' => ElementType::S32,
            'R' => own.component(),
            'C' if wide => ElementType::C128,
            'C' => ElementType::C64,
            _ => own,
        }
    }
    fn shown(self, own: ElementType) -> String {
        let sizes: String = self.letters().flat_map(|c| [',', c]).collect();
        format!("{}[..{sizes}]", self.ty(own))
    }
}

/// What each problem has of an array: a matrix, a vector of one column, or a scalar.
#[derive(Debug, Clone, Copy)]
struct Part {
    ty: ElementType,
    rows: usize,
    cols: usize,
}

/// The shapes of a call, which match the signature.
#[derive(Debug)]
pub(super) struct CheckedShapes {
    operands: Vec<Part>,
    results: Vec<Part>,
    pub(super) sizes: BTreeMap<char, usize>,
    /// The number of independent problems.
    pub(super) batch: usize,
}

impl CheckedShapes {
    /// Checks a call of a routine of type `own`.
    pub(super) fn new(
        call: &StatedCall<'_>,
        signature: &'static str,
        own: ElementType,
    ) -> Result<Self> {
        let (takes, gives) = signature.split_once("->").unwrap_or((signature, ""));
        let mismatch = || {
            let list = |slots: &'static str| -> String {
                SignatureArray::all(slots).map(|s| s.shown(own)).collect::<Vec<_>>().join(", ")
            };
            call.mismatch(&format!("({}) -> ({})", list(takes), list(gives)))
        };
        let operands: Option<Vec<&ArrayShape>> = call.operands.iter().map(|o| o.array()).collect();
        let arrays: Vec<&ArrayShape> =
            operands.ok_or_else(mismatch)?.into_iter().chain(array_shapes(call.shape)).collect();
        let slots: Vec<SignatureArray> =
            SignatureArray::all(takes).chain(SignatureArray::all(gives)).collect();
        let takes_count = SignatureArray::all(takes).count();
        if slots.len() != arrays.len() || call.operands.len() != takes_count {
            return Err(mismatch());
        }
        let mut sizes = BTreeMap::new();
        let mut front: Option<Dims> = None;
        let mut operands = Vec::with_capacity(slots.len());
        for (slot, array) in slots.iter().zip(&arrays) {
            if array.ty != slot.ty(own) || array.rank() < slot.rank() {
                return Err(mismatch());
            }
            let (batch, own_dims) = array.dims.split_at(array.rank() - slot.rank());
            if front.get_or_insert_with(|| batch.into()).as_slice() != batch {
                return Err(mismatch());
            }
            for (letter, &size) in slot.letters().zip(own_dims) {
                if *sizes.entry(letter).or_insert(to_usize(size)) != to_usize(size) {
                    return Err(mismatch());
                }
            }
            let side = |k: usize| own_dims.get(k).map_or(1, |&size| to_usize(size));
            operands.push(Part { ty: array.ty, rows: side(0), cols: side(1) });
        }
        let size = |letter: char| sizes.get(&letter).copied();
        let smaller = size('m').zip(size('n')).map(|(m, n)| m.min(n));
        let less = size('n').map(|n| n.saturating_sub(1));
        if size('p').is_some_and(|p| smaller != Some(p))
            || size('q').is_some_and(|q| less != Some(q))
        {
            return Err(mismatch());
        }
        column_major(call, &slots[..takes_count])?;
        let batch = front.unwrap_or_default().iter().map(|&d| to_usize(d)).product();
        let results = operands.split_off(takes_count);
        Ok(Self { operands, results, sizes, batch })
    }
}

/// Parts of results, and how many elements of each have been given.
pub(super) type Places<'a> = SmallVec<[(&'a mut [u8], usize); 4]>;

/// Some problems of a call.
pub(super) struct CheckedCall<'a> {
    pub(super) shapes: &'a CheckedShapes,
    pub(super) operands: &'a [&'a Array],
    /// The parts of the results, which are to be written.
    pub(super) results: Places<'a>,
}

impl<'a> CheckedCall<'a> {
    /// Returns the number of elements that a result has for each problem.
    fn count(&self, result: usize) -> usize {
        let Part { rows, cols, .. } = self.shapes.results[result];
        rows * cols
    }
    /// Returns the elements of an operand of one problem.
    pub(super) fn elements<S: Native>(&self, operand: usize, problem: usize) -> &'a [S] {
        let elements: &[S] = bytemuck::cast_slice(self.operands[operand].bytes());
        let Part { rows, cols, .. } = self.shapes.operands[operand];
        &elements[problem * rows * cols..(problem + 1) * rows * cols]
    }
    /// Returns the place of the next problem's part of a result, which is to be written.
    pub(super) fn place<S: Native>(&mut self, result: usize) -> &mut [S] {
        let count = self.count(result);
        let (array, given) = &mut self.results[result];
        if count == 0 {
            // A part of nothing is not aligned.
            return &mut [];
        }
        let first = *given;
        *given += count;
        &mut bytemuck::cast_slice_mut(array)[first..*given]
    }
    /// Returns the size of this letter.
    pub(super) fn size(&self, letter: char) -> usize {
        self.shapes.sizes.get(&letter).copied().unwrap_or(0)
    }
    /// Returns an operand of one problem as a matrix.
    pub(super) fn matrix<N: LapackFloat>(&self, operand: usize, problem: usize) -> Matrix<N> {
        let Part { ty, rows, cols } = self.shapes.operands[operand];
        let data = if ty == ElementType::F32 {
            self.elements(operand, problem).iter().map(|&x: &f32| N::real(x.into())).collect()
        } else if ty == ElementType::F64 {
            self.elements(operand, problem).iter().map(|&x| N::real(x)).collect()
        } else {
            let own = problem * rows * cols..(problem + 1) * rows * cols;
            own.map(|i| N::read(self.operands[operand].get(i))).collect()
        };
        Matrix { rows, cols, data }
    }
    /// Returns an operand of one problem as integers.
    pub(super) fn integers(&self, operand: usize, problem: usize) -> Vec<i32> {
        self.elements(operand, problem).to_vec()
    }
    /// Appends the next problem's part of a result.
    pub(super) fn give(&mut self, result: usize, elements: impl IntoIterator<Item = Scalar>) {
        let (array, given) = &mut self.results[result];
        let ty = self.shapes.results[result].ty;
        let slots = array.chunks_exact_mut(ty.storage_bytes()).skip(*given);
        for (element, slot) in elements.into_iter().zip(slots) {
            element.write(ty, slot);
            *given += 1;
        }
    }
    /// Appends the next problem's part of a result.
    pub(super) fn give_numbers<N: LapackFloat>(&mut self, result: usize, numbers: &[N]) {
        let ty = self.shapes.results[result].ty;
        if ty == ElementType::F32 {
            let slots = self.place::<f32>(result).iter_mut();
            slots.zip(numbers).for_each(|(slot, x)| *slot = to_f32(x.re()));
        } else if ty == ElementType::F64 {
            let slots = self.place::<f64>(result).iter_mut();
            slots.zip(numbers).for_each(|(slot, x)| *slot = x.re());
        } else {
            self.give(result, numbers.iter().map(|x| x.scalar()));
        }
    }
    /// Appends the next problem's part of a result, all of it `with`.
    pub(super) fn fill(&mut self, result: usize, with: f64) {
        let count = self.count(result);
        let complex = self.shapes.results[result].ty.is_complex();
        let value = if complex { Scalar::Complex(with, with) } else { Scalar::Float(with) };
        self.give(result, std::iter::repeat_n(value, count));
    }
    /// Returns how many results there are.
    pub(super) fn results_count(&self) -> usize {
        self.shapes.results.len()
    }
    /// Returns the numbers of the results that are floats.
    pub(super) fn float_results(&self) -> Vec<usize> {
        let is_float = |&i: &usize| self.shapes.results[i].ty != ElementType::S32;
        (0..self.shapes.results.len()).filter(is_float).collect()
    }
}

/// Rejects matrices whose stated layout is row-major: the routine reads them in column-major order,
/// and would read their transposes. Without a stated layout they are taken to be column-major.
fn column_major(call: &StatedCall<'_>, slots: &[SignatureArray]) -> Result<()> {
    let Some(constraints) = &call.op.operand_layout_constraints else { return Ok(()) };
    for (i, (slot, shape)) in slots.iter().zip(constraints).enumerate() {
        let Some(array) = shape.array().filter(|_| slot.rank() == 2) else { continue };
        let rank = num::index::to_i64(array.rank());
        let expected: Dims = [rank - 2, rank - 1].into_iter().chain((0..rank - 2).rev()).collect();
        if array.layout.minor_to_major != expected {
            let list: Vec<String> = expected.iter().map(ToString::to_string).collect();
            return Err(Error::unsupported(format!(
                "custom call `{}` expects operand {i} in column-major layout {{{}}}, found {shape}",
                call.op.custom_call_target.0,
                list.join(","),
            )));
        }
    }
    Ok(())
}
