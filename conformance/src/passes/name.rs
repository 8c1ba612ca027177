//! What the names of dumped files say: module, place in the compilation, pipeline and pass.
use std::fmt;

/// The name of a module in a dump, and its number in the process, if it states one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ModuleName {
    /// The folder of its dump, below the one that is read.
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) number: Option<u32>,
}

impl ModuleName {
    pub(super) fn new(name: &str, number: Option<u32>) -> Self {
        Self { folder: String::new(), name: name.to_owned(), number }
    }
}

/// The place of a state in a compilation; earlier ones come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    /// The program of the frontend, in StableHLO.
    Program,
    /// A state of the passes before HLO, or a module in any folder.
    Mlir(Vec<u32>, Natural),
    /// Before all passes.
    Before,
    /// After a pass of this number.
    After(u32),
    /// After all passes; the rest of the name.
    End(String),
}

/// A name in natural order: `step2` comes before `step10`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Natural {
    /// Texts, each with the number after it.
    parts: Vec<(String, u64)>,
    name: String,
    /// Whether it is of HLO: the program of MLIR of the same name comes before it.
    is_hlo: bool,
}

impl Natural {
    pub(super) fn new(name: &str, is_hlo: bool) -> Self {
        let (mut parts, mut rest) = (Vec::new(), name);
        while !rest.is_empty() {
            let at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let (text, number) = rest.split_at(at);
            let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
            let (number, after) = number.split_at(digits);
            let saturated = if number.is_empty() { 0 } else { u64::MAX };
            parts.push((text.to_owned(), number.parse().unwrap_or(saturated)));
            rest = after;
        }
        Self { parts, name: name.to_owned(), is_hlo }
    }
}

/// What made a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) pipeline: String,
    pub(super) pass: String,
    /// The pass that runs after it; empty if the name does not say.
    pub(super) next: String,
}

impl Stage {
    pub(super) fn new(pipeline: &str, pass: &str) -> Self {
        Self { pipeline: pipeline.to_owned(), pass: pass.to_owned(), next: String::new() }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pipeline.as_str() {
            "" => f.write_str(&self.pass),
            pipeline => write!(f, "{pipeline}/{}", self.pass),
        }
    }
}

/// The pass of the first state of a pipeline: what ran before it shows there.
pub(super) const PIPELINE_START: &str = "pipeline-start";
/// What comes after the last pass of a pipeline.
pub(super) const PIPELINE_END: &str = "pipeline-end";

/// Returns a file name without the endings of modules; `None` if it has none.
pub(super) fn stem(file: &str) -> Option<&str> {
    let unpacked = file.strip_suffix(".gz").unwrap_or(file);
    let endings = [".hlo.pb", ".pb", ".txt", ".hlo", ".mlirbc", ".mlir"];
    endings.iter().find_map(|ending| unpacked.strip_suffix(ending)).filter(|stem| !stem.is_empty())
}

/// Parses the name of a file as XLA writes it, without its ending:
/// `module_0004.jit_step.0008.simplification.after_dce.before_cse`. `None` if it is another file,
/// such as `...-buffer-assignment`.
pub(super) fn parse(stem: &str) -> Option<(ModuleName, Position, Stage)> {
    let (number, rest) = numbered(stem)?;
    let of = |name: &str| ModuleName::new(name, Some(number));
    if let Some(name) = rest.strip_suffix(".before_optimizations") {
        return Some((of(name), Position::Before, Stage::new("", "before_optimizations")));
    }
    if let Some((name, number, pass)) = after_pass(rest) {
        let (pipeline, pass) = pass.split_once(".after_")?;
        let (pass, next) = pass.rsplit_once(".before_").unwrap_or((pass, ""));
        let stage = Stage { next: next.to_owned(), ..Stage::new(pipeline, pass) };
        return Some((of(name), Position::After(number), stage));
    }
    let (before, after) = rest.rsplit_once("after_optimizations")?;
    if !(after.is_empty() || after.starts_with('_')) || after.contains(['.', '-']) {
        return None;
    }
    // `sm_8.0_gpu_` has a dot of its own.
    let platform = before.rfind(".sm_").or_else(|| before.rfind('.'))?;
    let end = &rest[platform + 1..];
    Some((of(&rest[..platform]), Position::End(end.to_owned()), Stage::new("", end)))
}

/// Parses the name of a folder of a module: `module_0004.jit_step`.
pub(super) fn folder(name: &str) -> Option<ModuleName> {
    let (number, name) = numbered(name)?;
    Some(ModuleName::new(name, Some(number)))
}

/// Splits `module_NNNN.` from a name, after a timestamp if there is one.
fn numbered(name: &str) -> Option<(u32, &str)> {
    let name = match name.split_once('.') {
        Some((time, rest)) if is_number(time) => rest,
        Some(_) | None => name,
    };
    let (number, rest) = name.strip_prefix("module_")?.split_once('.')?;
    is_number(number).then(|| number.parse().ok()).flatten().map(|number| (number, rest))
}

/// Splits `NAME.KKKK.PIPELINE.after_...`; NAME may have dots.
fn after_pass(text: &str) -> Option<(&str, u32, &str)> {
    let mut at = 0;
    for part in text.split('.') {
        let end = at + part.len();
        if at > 0 && part.len() >= 4 && is_number(part) && text[end..].contains(".after_") {
            return Some((&text[..at - 1], part.parse().ok()?, &text[end + 1..]));
        }
        at = end + 1;
    }
    None
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the numbers that the parts of a name begin with, `0_2_canonicalize` or `00.input`, and
/// the rest.
pub(super) fn leading_numbers(name: &str) -> (Vec<u32>, &str) {
    let (mut numbers, mut rest) = (Vec::new(), name);
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(after) = rest[digits..].strip_prefix(['_', '.', '-']) else { break };
        let Ok(number) = rest[..digits].parse() else { break };
        numbers.push(number);
        rest = after;
    }
    (numbers, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(file: &str) -> Option<String> {
        let (module, position, stage) = parse(stem(file)?)?;
        Some(format!("{} {:?} {position:?} {stage}", module.name, module.number.unwrap_or(0)))
    }

    #[test]
    fn names_of_xla() {
        for (file, expected) in [
            ("module_0004.jit_f.before_optimizations.txt", "jit_f 4 Before before_optimizations"),
            (
                "module_0004.jit_f.0008.simplification.after_algsimp.before_dce.txt",
                "jit_f 4 After(8) simplification/algsimp",
            ),
            (
                "1795814431212413.module_0000.a.b.0015.copy-insertion.after_adding_copies.hlo.pb.gz",
                "a.b 0 After(15) copy-insertion/adding_copies",
            ),
            (
                "module_0000.m.sm_8.0_gpu_after_optimizations.txt",
                "m 0 End(\"sm_8.0_gpu_after_optimizations\") sm_8.0_gpu_after_optimizations",
            ),
            (
                "module_0000.m.after_optimizations_before_buffer_assignment.txt",
                "m 0 End(\"after_optimizations_before_buffer_assignment\") after_optimizations_before_buffer_assignment",
            ),
        ] {
            assert_eq!(shown(file).as_deref(), Some(expected), "{file}");
        }
    }

    #[test]
    fn numbers_in_names_are_in_order() {
        let mut names = ["step10", "step2", "step1", "step", "other"];
        names.sort_by_key(|name| Natural::new(name, true));
        assert_eq!(names, ["other", "step", "step1", "step2", "step10"]);
    }

    #[test]
    fn other_files_are_left_out() {
        for file in [
            "module_0000.m.cpu_after_optimizations-buffer-assignment.txt",
            "module_0000.m.cpu_after_optimizations-memory-usage-report.txt",
            "module_0000.m.fusion_kernel_module.ir-no-opt.ll",
            "module_0000.m.debug_options",
            "module_0000.m.thunk_sequence.txt",
            "notes.txt",
        ] {
            assert_eq!(shown(file), None, "{file}");
        }
    }

    #[test]
    fn numbers_of_trees() {
        assert_eq!(leading_numbers("0_12_canonicalize"), (vec![0, 12], "canonicalize"));
        assert_eq!(leading_numbers("00.input_module"), (vec![0], "input_module"));
        assert_eq!(leading_numbers("2d"), (vec![], "2d"));
    }
}
