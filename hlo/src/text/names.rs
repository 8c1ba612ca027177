//! Names as XLA keeps them: sanitized, and unique in the module.
use crate::ElementType;
use crate::id::Arena;
use crate::ir::Computation;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

/// Makes the names of computations and of instructions unique, changing the same ones as XLA's
/// parser.
pub(crate) fn make_unique(computations: &mut Arena<Computation>) {
    let (mut names, mut instruction_names) = (Uniquer::default(), Uniquer::default());
    let count = computations.iter().map(|(_, c)| c.instructions.len()).sum();
    instruction_names.roots.reserve(count);
    instruction_names.taken.reserve(count);
    for (_, computation) in computations.iter_mut() {
        let clean = sanitize(&computation.name);
        let name = clean.as_ref().unwrap_or(&computation.name);
        if let Some(name) = names.unique(name).or(clean.clone()) {
            computation.make_unique(name);
        }
        for id in computation.instructions.ids() {
            let written = computation.name(id);
            let clean = sanitize(written);
            let name = clean.as_ref().unwrap_or(written);
            if let Some(name) = instruction_names.unique(name).or(clean) {
                computation.make_instruction_unique(id, name);
            }
        }
    }
}

/// Makes names unique, as XLA's `NameUniquer` does: a name is a root and a number, `root.number`.
#[derive(Default)]
pub(crate) struct Uniquer {
    roots: FxHashMap<SmolStr, u32>,
    /// For each root, the number at which the search for a free one starts.
    cursors: Vec<i64>,
    taken: FxHashSet<(u32, i64)>,
}

impl Uniquer {
    /// Returns the name to use instead of `name`, if it differs.
    pub(crate) fn unique(&mut self, name: &str) -> Option<SmolStr> {
        let (root, number) = match name.rsplit_once('.') {
            Some((root, digits)) => match digits.parse::<i64>() {
                Ok(number) if !digits.starts_with('+') => (root, Some((number, digits))),
                _ => (name, None),
            },
            None => (name, None),
        };
        let next = u32::try_from(self.cursors.len()).expect("fewer than 2^32 names");
        let key = match self.roots.get(root) {
            Some(&key) => key,
            None => {
                self.roots.insert(root.into(), next);
                self.cursors.push(0);
                next
            }
        };
        let expected = number.map_or(0, |(number, _)| number);
        if self.taken.insert((key, expected)) {
            let canonical = number.is_none_or(|(n, digits)| digits == n.to_string());
            return (!canonical).then(|| format_smolstr!("{root}.{expected}"));
        }
        let cursor = &mut self.cursors[usize::try_from(key).expect("u32 fits usize")];
        while !self.taken.insert((key, *cursor)) {
            *cursor += 1;
        }
        Some(format_smolstr!("{root}.{cursor}"))
    }
}

/// Returns the name XLA uses instead of one that it does not allow.
pub(super) fn sanitize(name: &str) -> Option<SmolStr> {
    if is_reserved(name) {
        return Some(format_smolstr!("{name}_"));
    }
    let hidden = name.strip_prefix("__").filter(|_| !name.starts_with("__xla_"));
    hidden.map(|rest| format_smolstr!("a_{rest}"))
}

/// Returns whether a text keeps the name.
pub(crate) fn is_kept(name: &str) -> bool {
    super::is_name(name) && sanitize(name).is_none()
}

/// Returns whether the name is that of a type and would be parsed as one.
fn is_reserved(name: &str) -> bool {
    ElementType::from_name(name).is_some() || matches!(name, "token" | "opaque")
}

/// Returns whether an instruction with this name is rejected, although XLA could sanitize it.
pub(super) fn is_illegal(name: &str) -> bool {
    sanitize(name).is_some() && (is_long_reserved(name) || name.starts_with("__"))
}

/// Returns whether XLA had the type when the oldest texts were written; newer ones occur there as
/// names.
fn is_long_reserved(name: &str) -> bool {
    const YOUNG: [&str; 4] = ["s1", "s2", "u1", "u2"];
    is_reserved(name)
        && !YOUNG.contains(&name)
        && !matches!(name, "s4" | "u4")
        && !name.starts_with("f8")
        && !name.starts_with("f6")
        && !name.starts_with("f4")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(names: &[&str]) -> Vec<String> {
        let mut uniquer = Uniquer::default();
        let give = |n: &&str| uniquer.unique(n).unwrap_or_else(|| (*n).into()).to_string();
        names.iter().map(give).collect()
    }

    #[test]
    fn numbers_as_xla_does() {
        assert_eq!(run(&["p", "add", "p", "add"]), ["p", "add", "p.1", "add.1"]);
        assert_eq!(run(&["p.0", "p", "p.00", "p.01", "p.1"]), ["p.0", "p.1", "p.2", "p.3", "p.4"]);
        let given = run(&["x", "x.1", "x.1", "x", "x.7", "x", "x.2"]);
        assert_eq!(given, ["x", "x.1", "x.2", "x.3", "x.7", "x.4", "x.5"]);
        // The number 0 is free if no name without a number has this root.
        assert_eq!(run(&["x.5", "x.5", "x", "x.5"]), ["x.5", "x.0", "x.1", "x.2"]);
        let odd = ["y.-1", "z.1.2", "w.", "q.99999999999999999999"];
        assert_eq!(run(&odd), odd);
    }

    #[test]
    fn sanitizes() {
        assert_eq!(sanitize("f32").as_deref(), Some("f32_"));
        assert_eq!(sanitize("__a").as_deref(), Some("a_a"));
        assert_eq!(sanitize("__xla_a"), None);
        assert_eq!(sanitize("tuple"), None);
    }
}
