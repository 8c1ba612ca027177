//! Variants of a given module. Instructions are changed in the module; attributes, sizes and types
//! in its text, where each attribute is a number or a word whatever the op. A variant that breaks a
//! rule is dropped, and another one is tried.
use super::{Generated, verified};
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{Instruction, InstructionId};
use hlo::op::{Binary, Op, Unary};
use hlo::text::Style;
use hlo::{ElementType, Module, Opcode};
use std::sync::Arc;

const ATTEMPTS: usize = 60;

/// Returns a variant of a module that differs in one to three places; nothing if no variant that
/// was tried is valid.
///
/// ```
/// let text = "HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] sine(x) }";
/// let module = hlo::Module::parse(text)?;
/// let variant = conformance::generate::mutated(1, &module).expect("a valid variant");
/// assert_ne!(variant.text, module.print(hlo::text::Style::Short));
/// # Ok::<(), hlo::diag::Errors>(())
/// ```
pub fn mutated(seed: u64, module: &Module) -> Option<Generated> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let original = module.print(Style::Short);
    (0..ATTEMPTS).find_map(|_| {
        let mut text = original.clone();
        for _ in 0..rng.usize(1..=3) {
            text = mutate(&mut rng, &text)?;
        }
        let module = verified(&text).ok().filter(|_| text != original)?;
        Some(Generated { text, module: Arc::new(module), seed, domains: Vec::new() })
    })
}

/// Changes one place. Returns nothing if the text is no module, as after another change.
fn mutate(rng: &mut fastrand::Rng, text: &str) -> Option<String> {
    match rng.u8(..8) {
        0 => Some(other_number(rng, text)),
        1 => Some(other_size(rng, text)),
        2 => Some(other_type(rng, text)),
        3 => Some(other_word(rng, text)),
        _ => {
            let module = Module::parse(text).ok()?;
            let mut rewriter = ModuleRewriter::new(&module);
            let ids = rewriter.computation_ids();
            let computation = rewriter.computation_mut(ids[rng.usize(..ids.len())]);
            change_instruction(rng, computation);
            Some(rewriter.finish().ok()?.print(Style::Short))
        }
    }
}

fn change_instruction(rng: &mut fastrand::Rng, computation: &mut ComputationRewriter) {
    let ids = computation.ids();
    let id = ids[rng.usize(..ids.len())];
    match rng.u8(..4) {
        0 => other_op(rng, computation.instruction_mut(id)),
        1 => {
            let operands = &mut computation.instruction_mut(id).operands;
            if operands.len() > 1 {
                let (i, j) = (rng.usize(..operands.len()), rng.usize(..operands.len()));
                operands.swap(i, j);
            }
        }
        2 => other_operand(rng, computation, id),
        _ => insert_op(rng, computation, id),
    }
}

/// Replaces an elementwise op by another one on the same types.
fn other_op(rng: &mut fastrand::Rng, instruction: &mut Instruction) {
    if let Op::Unary(op) = &mut instruction.op {
        *op = Unary::ALL[rng.usize(..Unary::ALL.len())];
    } else if let Op::Binary(op) = &mut instruction.op {
        *op = Binary::ALL[rng.usize(..Binary::ALL.len())];
    }
}

/// Replaces an operand by another value of its shape.
fn other_operand(
    rng: &mut fastrand::Rng,
    computation: &mut ComputationRewriter,
    id: InstructionId,
) {
    let operands = computation.instruction(id).operands.clone();
    if operands.is_empty() {
        return;
    }
    let at = rng.usize(..operands.len());
    let shape = computation.instruction(operands[at]).shape.clone();
    let fits =
        |other: &InstructionId| computation.instruction(*other).shape == shape && *other != id;
    let others: Vec<InstructionId> = computation.ids().into_iter().filter(fits).collect();
    computation.instruction_mut(id).operands[at] = others[rng.usize(..others.len())];
}

/// Inserts an elementwise op between an instruction and one of its users.
fn insert_op(rng: &mut fastrand::Rng, computation: &mut ComputationRewriter, id: InstructionId) {
    let shape = computation.instruction(id).shape.clone();
    let Some(ty) = shape.element_type() else { return };
    let fits = |op: Opcode| {
        op.types().is_some_and(|types| types.contains(ty)) && op.result_type(ty) == Some(ty)
    };
    let unary = Unary::ALL.iter().filter(|op| fits(op.opcode())).map(|&op| (Op::from(op), 1));
    let binary = Binary::ALL.iter().filter(|op| fits(op.opcode())).map(|&op| (Op::from(op), 2));
    let ops: Vec<(Op, usize)> = unary.chain(binary).collect();
    let users = computation.users(id);
    if ops.is_empty() || users.is_empty() {
        return;
    }
    let (op, operands) = ops[rng.usize(..ops.len())].clone();
    let user = users[rng.usize(..users.len())];
    let added = computation.add(id, Instruction::new(op, shape, vec![id; operands]));
    for operand in &mut computation.instruction_mut(user).operands {
        if *operand == id {
            *operand = added;
        }
    }
}

/// Returns the ranges of the words of a text that are made of these characters.
pub(super) fn words(text: &str, part: impl Fn(char) -> bool) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split(|c| !part(c)) {
        if !word.is_empty() {
            found.push((at, word));
        }
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Changes a number of an attribute or a constant.
fn other_number(rng: &mut fastrand::Rng, text: &str) -> String {
    let numbers: Vec<(usize, i64, usize)> = words(text, |c| is_word(c) || c == '.')
        .into_iter()
        .filter_map(|(at, word)| Some((at, word.parse().ok()?, word.len())))
        .collect();
    if numbers.is_empty() {
        return text.to_owned();
    }
    let (at, number, length) = numbers[rng.usize(..numbers.len())];
    let number = match rng.u8(..4) {
        0 => number + 1,
        1 => number - 1,
        2 => number.saturating_mul(2),
        _ => rng.i64(0..4),
    };
    format!("{}{}{}", &text[..at], number.max(0), &text[at + length..])
}

/// Replaces all occurrences of a number, so that shapes that belong together keep doing so.
fn other_size(rng: &mut fastrand::Rng, text: &str) -> String {
    let sizes: Vec<&str> = words(text, is_word)
        .into_iter()
        .map(|(_, word)| word)
        .filter(|word| word.parse::<i64>().is_ok())
        .collect();
    if sizes.is_empty() {
        return text.to_owned();
    }
    let old = sizes[rng.usize(..sizes.len())].to_owned();
    replace_word(text, &old, &rng.u8(1..12).to_string())
}

/// Replaces an element type by another one everywhere.
fn other_type(rng: &mut fastrand::Rng, text: &str) -> String {
    let types: Vec<&str> = words(text, is_word)
        .into_iter()
        .map(|(_, word)| word)
        .filter(|word| ElementType::from_name(word).is_some())
        .collect();
    if types.is_empty() {
        return text.to_owned();
    }
    let old = types[rng.usize(..types.len())].to_owned();
    let new = ElementType::ALL[rng.usize(..ElementType::ALL.len())];
    replace_word(text, &old, new.name())
}

/// Replaces one word of an attribute by another value that the attribute takes.
pub(super) fn other_word(rng: &mut fastrand::Rng, text: &str) -> String {
    const VALUES: [&[&str]; 6] = [
        &["true", "false"],
        &["FFT", "IFFT"],
        &["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"],
        &["add", "multiply", "maximum", "minimum", "subtract"],
        &["EQ", "NE", "LT", "LE", "GT", "GE"],
        &["rng_philox", "rng_three_fry"],
    ];
    let mut found = Vec::new();
    for (at, word) in words(text, is_word) {
        found.extend(VALUES.iter().filter(|all| all.contains(&word)).map(|all| (at, word, *all)));
    }
    if found.is_empty() {
        return text.to_owned();
    }
    let (at, word, all) = found[rng.usize(..found.len())];
    format!("{}{}{}", &text[..at], all[rng.usize(..all.len())], &text[at + word.len()..])
}

fn replace_word(text: &str, old: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for (at, word) in words(text, is_word) {
        if word == old {
            out.push_str(&text[last..at]);
            out.push_str(new);
            last = at + word.len();
        }
    }
    out.push_str(&text[last..]);
    out
}
