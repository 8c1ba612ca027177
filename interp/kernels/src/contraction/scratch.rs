//! The memory that a contraction works in.
use super::algorithm::ResolvedDotAlgorithm;
use super::operands::is_narrow;
use super::{TermRun, blocked, job, native_blocks, small, vector};
use hlo::{ArrayShape, ElementType};
use num::index::saturating_count;
use num::parallel::threads;

/// The numbers of sums, and of the products of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub batches: usize,
    pub rows: usize,
    pub columns: usize,
    pub terms: usize,
}

impl ResolvedDotAlgorithm {
    /// Returns the bytes that sums of products of two arrays take beside these and the result, at
    /// most: elements in the form in which products are formed, packed panels of columns, and for
    /// each thread a row.
    pub(crate) fn scratch(
        self,
        (lhs, rhs): (&ArrayShape, &ArrayShape),
        to: ElementType,
        extent: Extent,
    ) -> usize {
        let sum = self.sum_type().unwrap_or(to);
        let form = form(lhs.ty, rhs.ty, sum);
        let both_whole = is_whole(lhs.ty) && is_whole(rhs.ty);
        let is_narrow = self.is_narrow((lhs.ty, rhs.ty), to);
        // The engine `fast` widens elements of bf16 when it packs them.
        let is_bf16 = [lhs.ty, rhs.ty] == [ElementType::Bf16; 2] && form == ElementType::F32;
        let widens = !is_bf16 || self.copies() > 0 || !self.is_native(to);
        let forms = |array: &ArrayShape| {
            if !widens {
                return 0;
            }
            let whole = size_of::<i64>() + if is_narrow { size_of::<i32>() } else { 0 };
            let own = if both_whole { whole } else { converted(array.ty, form) };
            let bytes = self.copies().saturating_mul(size_of::<f32>()).saturating_add(own);
            saturating_count(&array.dims).saturating_mul(bytes)
        };
        // Complex numbers are real ones of twice the terms and columns.
        let parts = if form.is_complex() { 2 } else { 1 };
        let Extent { batches, rows, columns, terms: own_terms } = extent;
        let (columns, copies) = (columns.saturating_mul(parts), self.product_count() * parts);
        let terms = own_terms.saturating_mul(copies);
        let is_native = self.is_native(to);
        let is_compensated = !both_whole && !is_native && form.component() == ElementType::F64;
        let packs = if is_compensated { rows.max(columns) > 1 } else { rows.min(columns) > 1 };
        let work = rows.saturating_mul(columns).saturating_mul(terms);
        let is_shared = job::is_shared(batches, work);
        let (packed, line) = match packs {
            true => (
                blocked::column_bytes::<f64>(columns, terms),
                blocked::row_bytes::<f64>(rows, terms, if is_compensated { 2 } else { 1 }),
            ),
            false => (0, vector::bytes(terms)),
        };
        let runs = own_terms.saturating_mul(2 * size_of::<TermRun>());
        let line = line.saturating_add(runs).max(job::row_bytes(columns, terms));
        let tasks = match (is_shared, packs) {
            (true, true) => blocked::tasks(rows),
            (true, false) => usize::MAX,
            (false, _) => batches,
        };
        let blocks = packed
            .saturating_mul(if is_shared { 1 } else { threads().min(batches) })
            .saturating_add(line.saturating_mul(threads().min(tasks)));
        let small = small::bytes([batches, rows, columns, terms]).saturating_mul(threads());
        let native_blocks = match packs && (both_whole || is_native) {
            true => native_blocks::bytes::<f64>([batches, rows, columns, terms]),
            false => 0,
        };
        // The offsets of parts, and the right operand with its products with i.
        let lists = [terms, terms, batches, batches, rows, columns];
        let lists = if copies > 1 { lists.into_iter().fold(0, usize::saturating_add) } else { 0 };
        let turned = if parts > 1 { 2 * form.storage_bytes() } else { 0 };
        // The first parts of products, where sums of all parts may not be finite.
        let results = match self.product_count() {
            1 => 0,
            _ => to.storage_bytes() + size_of::<f32>(),
        };
        let sums = rows.saturating_mul(columns).saturating_mul(batches);
        let own = [
            forms(lhs),
            forms(rhs),
            blocks.max(native_blocks).max(small),
            sums.saturating_mul(results),
            lists.saturating_mul(size_of::<usize>()),
            saturating_count(&rhs.dims).saturating_mul(turned),
        ];
        own.into_iter().fold(0, usize::saturating_add)
    }
}

impl ResolvedDotAlgorithm {
    /// Returns whether sums of products are formed modulo 2^32.
    fn is_narrow(self, (lhs, rhs): (ElementType, ElementType), to: ElementType) -> bool {
        is_whole(lhs) && is_whole(rhs) && self.sum_type().is_none() && is_narrow(to)
    }
    /// Returns whether sums of products are formed in tiles of packed words.
    fn is_blocked(self, (lhs, rhs): (ElementType, ElementType), to: ElementType) -> bool {
        let form = form(lhs, rhs, to);
        let is_native = self.is_native(to) && !form.is_complex();
        let is_float = !(is_whole(lhs) && is_whole(rhs));
        self.is_narrow((lhs, rhs), to) || is_float && (is_native || form == ElementType::F32)
    }
    /// Returns whether sums of products of elements of these types can be formed in lines.
    pub(crate) fn has_lines(self, types: (ElementType, ElementType), to: ElementType) -> bool {
        self.product_count() == 1 && self.is_blocked(types, self.sum_type().unwrap_or(to))
    }
}

/// Returns whether the type has integers or booleans.
fn is_whole(ty: ElementType) -> bool {
    !ty.is_float() && !ty.is_complex()
}

/// Returns the bytes of an element while it is brought into a form, the steps on the way included.
fn converted(ty: ElementType, form: ElementType) -> usize {
    let (own, wanted) = (ty.storage_bytes(), form.storage_bytes());
    let is_wide = form.component() == ElementType::F64;
    let single = size_of::<f32>();
    let double = size_of::<f64>();
    let real = if is_wide { double } else { single };
    if ty == form {
        return 0;
    }
    if ty.is_complex() {
        return wanted;
    }
    // As single or whole numbers, as doubles or singles, and as complex numbers: two of these at a
    // time.
    let first = if is_whole(ty) {
        double
    } else if own < single {
        single
    } else {
        0
    };
    let second = if first == real || own == real { 0 } else { real };
    let third = if form.is_complex() { wanted } else { 0 };
    first.saturating_add(second).max(second.max(first).saturating_add(third))
}

/// Returns the type whose numbers products are formed of. Integers take as much as f32 does, or f64
/// does, with a float.
fn form(lhs: ElementType, rhs: ElementType, to: ElementType) -> ElementType {
    let is_double = |ty: ElementType| match ty.is_float() || ty.is_complex() {
        true => ty.component() == ElementType::F64,
        false => ty.bits() > 16,
    };
    let compensated = is_double(lhs) || is_double(rhs) || to.component() == ElementType::F64;
    match (lhs.is_complex() || rhs.is_complex(), compensated) {
        (false, false) => ElementType::F32,
        (false, true) => ElementType::F64,
        (true, false) => ElementType::C64,
        (true, true) => ElementType::C128,
    }
}
