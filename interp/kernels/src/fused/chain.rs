//! Pairs of short operations, and rotations of words, become one part: a value that only the next
//! operation reads is not stored in a tile.
use super::{FusedFn, FusedPart, Output, Register};
use num::loops::{Short, Then, VectorLoop, Word, chain_loop, rotation_loop};
use smallvec::SmallVec;

/// A part that computes the values of parts before it, too.
struct Join {
    from: SmallVec<[usize; 3]>,
    function: VectorLoop,
    /// The registers as they were before.
    operands: SmallVec<[Register; 3]>,
    /// Whether it is a rotation, which may be joined itself.
    is_rotation: bool,
}

/// Returns the parts with some joined, and the results by their new registers. `first` is the
/// register of the first part.
pub(super) fn chained(
    first: usize,
    parts: &[FusedPart],
    results: Vec<Output>,
) -> (Vec<FusedPart>, Vec<Output>) {
    let joins = joins(first, parts, &results);
    let mut is_joined = vec![false; parts.len()];
    joins.iter().flatten().flat_map(|join| &join.from).for_each(|&from| is_joined[from] = true);
    // The registers that stand for those of before. None stands for a value that is not stored.
    let mut registers: Vec<Register> = (0..first).collect();
    let mut next = first;
    for is_joined in &is_joined {
        registers.push(if *is_joined { usize::MAX } else { next });
        next += usize::from(!is_joined);
    }
    let chained = (0..parts.len()).filter(|&number| !is_joined[number]).map(|number| {
        let FusedPart { function, operands, width } = &parts[number];
        let (function, operands) = match &joins[number] {
            Some(join) => (FusedFn::Loop(join.function.clone()), &join.operands),
            None => (function.clone(), operands),
        };
        let operands = operands.iter().map(|&operand: &Register| registers[operand]).collect();
        FusedPart { function, operands, width: *width }
    });
    let results = results.into_iter().map(|result| match result {
        Output::Array(register) => Output::Array(registers[register]),
        Output::Rows { of, first, method } => Output::Rows { of: registers[of], first, method },
    });
    (chained.collect(), results.collect())
}

/// Returns for each part the parts that it is joined with: those whose values no other part reads.
/// No part is in two pairs.
fn joins(first: usize, parts: &[FusedPart], results: &[Output]) -> Vec<Option<Join>> {
    let mut readers = vec![0_usize; first + parts.len()];
    for part in parts {
        let operands = part.operands.iter().enumerate();
        let distinct = operands.filter(|(k, operand)| !part.operands[..*k].contains(operand));
        distinct.for_each(|(_, &operand)| readers[operand] += 1);
    }
    for result in results {
        let (Output::Array(of) | Output::Rows { of, .. }) = result;
        readers[*of] += 1;
    }
    let free = |operand: Register| operand.checked_sub(first).filter(|_| readers[operand] == 1);
    let mut joins: Vec<Option<Join>> = Vec::with_capacity(parts.len());
    for part in parts {
        let join = pair(part, parts, &joins, free);
        let join = join.or_else(|| rotation(part, parts, free));
        joins.push(join.or_else(|| rotation_and_xor(part, &joins, free)));
    }
    joins
}

/// Returns a short operation and the one that computes its operand.
fn pair(
    part: &FusedPart,
    parts: &[FusedPart],
    joins: &[Option<Join>],
    free: impl Fn(Register) -> Option<usize>,
) -> Option<Join> {
    let second = part.function.short()?;
    part.operands.iter().enumerate().find_map(|(k, &operand)| {
        let from = free(operand).filter(|&from| joins[from].is_none())?;
        let short = parts[from].function.short()?;
        let then = match part.operands.iter().all(|&other| other == operand) {
            true if second == Short::Multiply => Then::Square,
            true => return None,
            false => second.after(k),
        };
        let others = part.operands.iter().filter(|&&other| other != operand);
        Some(Join {
            from: SmallVec::from_slice(&[from]),
            function: chain_loop(short, then),
            operands: parts[from].operands.iter().chain(others).copied().collect(),
            is_rotation: false,
        })
    })
}

/// Returns the rotation that ends with a part: both shifts of a word, combined.
fn rotation(
    part: &FusedPart,
    parts: &[FusedPart],
    free: impl Fn(Register) -> Option<usize>,
) -> Option<Join> {
    let (Some(Word::Or), &[a, b]) = (part.function.word(), part.operands.as_slice()) else {
        return None;
    };
    let (a, b) = (free(a)?, free(b)?);
    let is = |part: usize, word| parts[part].function.word() == Some(word);
    let (left, right) = if is(a, Word::Left) { (a, b) } else { (b, a) };
    let (&[x, by], &[y, back]) = (&parts[left].operands[..], &parts[right].operands[..]) else {
        return None;
    };
    (is(left, Word::Left) && is(right, Word::Right) && x == y).then(|| Join {
        from: SmallVec::from_slice(&[left, right]),
        function: rotation_loop(),
        operands: SmallVec::from_slice(&[x, by, back]),
        is_rotation: true,
    })
}

/// Returns a rotation, combined with another word.
fn rotation_and_xor(
    part: &FusedPart,
    joins: &[Option<Join>],
    free: impl Fn(Register) -> Option<usize>,
) -> Option<Join> {
    part.function.word().filter(|&word| word == Word::Xor)?;
    let &[a, b] = part.operands.as_slice() else { return None };
    [(a, b), (b, a)].into_iter().filter(|_| a != b).find_map(|(rotated, other)| {
        let or = free(rotated)?;
        let join = joins[or].as_ref().filter(|join| join.is_rotation)?;
        Some(Join {
            from: join.from.iter().copied().chain([or]).collect(),
            function: rotation_loop(),
            operands: join.operands.iter().copied().chain([other]).collect(),
            is_rotation: false,
        })
    })
}

impl FusedFn {
    fn short(&self) -> Option<Short> {
        match self {
            Self::Loop(function) => function.short,
            Self::Numbers(_) => None,
        }
    }
    fn word(&self) -> Option<Word> {
        match self {
            Self::Loop(function) => function.word,
            Self::Numbers(_) => None,
        }
    }
}
