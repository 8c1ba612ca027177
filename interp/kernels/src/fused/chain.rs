//! Pairs of short operations become one part: a value that only the next operation reads is not
//! stored in a tile.
use super::{FusedFn, FusedPart, Output, Register};
use num::loops::{Short, Then, chain_loop};

/// A part and the one that computes its operand.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    first: Short,
    then: Then,
}

/// Returns the parts with pairs joined, and the results by their new registers. `first` is the
/// register of the first part.
pub(super) fn chained(
    first: usize,
    parts: &[FusedPart],
    results: Vec<Output>,
) -> (Vec<FusedPart>, Vec<Output>) {
    let pairs = pairs(first, parts, &results);
    let mut is_joined = vec![false; parts.len()];
    pairs.iter().flatten().for_each(|pair| is_joined[pair.from] = true);
    // The registers that stand for those of before. None stands for a value that is not stored.
    let mut registers: Vec<Register> = (0..first).collect();
    let mut next = first;
    for is_joined in &is_joined {
        registers.push(if *is_joined { usize::MAX } else { next });
        next += usize::from(!is_joined);
    }
    let chained = (0..parts.len()).filter(|&number| !is_joined[number]).map(|number| {
        let FusedPart { function, operands, width } = &parts[number];
        let (function, operands) = match pairs[number] {
            Some(Pair { from, first: short, then }) => {
                let others = operands.iter().filter(|&&operand| operand != first + from);
                let operands = parts[from].operands.iter().chain(others).copied().collect();
                (FusedFn::Loop(chain_loop(short, then)), operands)
            }
            None => (function.clone(), operands.clone()),
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

/// Returns for each part the part that it is joined with. No part is in two pairs.
fn pairs(first: usize, parts: &[FusedPart], results: &[Output]) -> Vec<Option<Pair>> {
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
    let mut pairs: Vec<Option<Pair>> = Vec::with_capacity(parts.len());
    for part in parts {
        let pair = part.function.short().and_then(|second| {
            part.operands.iter().enumerate().find_map(|(k, &operand)| {
                let from = operand.checked_sub(first)?;
                let short = parts[from].function.short()?;
                let then = match part.operands.iter().all(|&other| other == operand) {
                    true if second == Short::Multiply => Then::Square,
                    true => return None,
                    false => second.after(k),
                };
                let is_free = readers[operand] == 1 && pairs[from].is_none();
                is_free.then_some(Pair { from, first: short, then })
            })
        });
        pairs.push(pair);
    }
    pairs
}

impl FusedFn {
    fn short(&self) -> Option<Short> {
        match self {
            Self::Loop(function) => function.short,
            Self::Numbers(_) => None,
        }
    }
}
