//! File tests: HLO text whose comments state the expected outcome.
//!
//! ```text
//! // tests/ops/add.hlo
//! HloModule add_s8_wraps
//! ENTRY main { x = s8[1] parameter(0)  y = s8[1] parameter(1)  ROOT r = s8[1] add(x, y) }
//! // in:  s8[1] {127}
//! // in:  s8[1] {1}
//! // out: s8[1] {-128}
//! // -----
//! HloModule add_needs_same_shape
//! ENTRY main { x = f32[2] parameter(0)  y = f32[3] parameter(1)
//!   ROOT r = f32[2] add(x, y) // error E0301 elementwise_same_dims
//! }
//! ```
//! `// -----` separates cases. `// in:` is an argument, in parameter order; `// out:` is a leaf of
//! the result, or the whole result as one tuple. Both apply to all devices; `// in d2:` and
//! `// out d2:` apply to device 2. `// fuel: N` limits the steps of each device.
//! `// error CODE [LABEL]` at the end of a line expects this error on this line, with the label in
//! parentheses at the end of its message. A case fails on every unexpected error and on every
//! expected error that is missing.
use hlo::Literal;
use interp::RunOptions;
use load::{Format, LoadError};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{AtomicFile, Engine, Existing, Report};

/// A file of cases.
#[derive(Debug, Clone)]
pub struct FileTest {
    /// The path of the file.
    pub path: PathBuf,
    /// The cases, in order.
    pub cases: Vec<Case>,
    pub(crate) text: String,
}

/// One module of a file, and its expected outcome.
#[derive(Debug, Clone)]
pub struct Case {
    /// `<file>::<module name>`.
    pub name: String,
    /// The text of the module. Preceding cases are replaced by empty lines, which keeps line
    /// numbers.
    pub(crate) text: String,
    pub(crate) file: String,
    /// The arguments of each device; `None` is all devices.
    pub(crate) inputs: BTreeMap<Option<usize>, Vec<Literal>>,
    pub(crate) outputs: Vec<ExpectedOutput>,
    pub(crate) errors: Vec<ExpectedError>,
    pub(crate) fuel: Option<u64>,
    /// The options of its runs.
    pub(crate) options: RunOptions,
    pub(crate) first_line: usize,
}

/// An `// out:` comment.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedOutput {
    pub(crate) line: usize,
    /// The device; `None` is all devices.
    pub(crate) device: Option<usize>,
    /// `None` if the comment is empty: blessing fills it in.
    pub(crate) value: Option<Literal>,
}

/// An `// error` comment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExpectedError {
    pub(crate) line: usize,
    pub(crate) code: String,
    pub(crate) label: String,
}

/// The error of a file that cannot be read as a file test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    Io(PathBuf, std::io::Error),
    /// The file is not that of a module, or cannot be read.
    #[error("{}", .0.message())]
    Load(#[from] LoadError),
    /// The file has a format without the comments of a test.
    #[error("{0}: {1} is not a file test, which is HLO text: `etalon convert` writes it")]
    Format(PathBuf, &'static str),
    /// A comment is malformed.
    #[error("{path}:{line}: {message}")]
    Comment {
        /// The path of the file.
        path: PathBuf,
        /// The line, counting from 1.
        line: usize,
        /// The reason.
        message: String,
    },
}

impl FileTest {
    /// Reads a file of cases.
    ///
    /// # Errors
    /// If the file cannot be read, or a comment is malformed.
    pub fn read(path: &Path) -> Result<Self, ParseError> {
        Self::of(path, load::read(path, None)?)
    }
    /// Returns the cases of a file that has been read; `path` names it.
    ///
    /// # Errors
    /// If it is no file of cases, or a comment is malformed.
    pub fn of(path: &Path, file: load::File<'_>) -> Result<Self, ParseError> {
        let load::File { bytes, format, .. } = file;
        let format = match format {
            Format::HloText => {
                let text = String::from_utf8(bytes.into_owned()).map_err(|e| {
                    let error = std::io::Error::new(std::io::ErrorKind::InvalidData, e);
                    ParseError::Io(path.to_owned(), error)
                })?;
                return Self::new(path, text);
            }
            Format::Message => "an HloModuleProto",
            Format::StableHlo => "a StableHLO program",
        };
        Err(ParseError::Format(path.to_owned(), format))
    }
    /// Parses `text`, the contents of the file at `path`.
    ///
    /// # Errors
    /// If a comment is malformed.
    pub fn new(path: &Path, text: String) -> Result<Self, ParseError> {
        let mut cases: Vec<Case> = Vec::new();
        let file = path.display().to_string();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut start = 0;
        for part in lines.split(|line| line.trim() == "// -----") {
            let mut case = Case::new(&file, start, part).map_err(|(line, message)| {
                ParseError::Comment { path: path.to_owned(), line, message }
            })?;
            start += part.len() + 1;
            if part.iter().all(|line| line.trim().is_empty()) {
                continue;
            }
            let same = cases.iter().filter(|other| other.name == case.name).count();
            if same > 0 {
                case.name = format!("{}#{}", case.name, same + 1);
            }
            cases.push(case);
        }
        Ok(Self { path: path.to_owned(), cases, text })
    }
    /// Runs all cases in these engines.
    pub fn run(&self, engines: &[Engine]) -> Vec<Report> {
        self.cases.iter().map(|case| case.run(engines)).collect()
    }
    /// Returns whether any case has an expected outcome. A file without one is a plain module.
    pub fn has_expectations(&self) -> bool {
        self.cases.iter().any(|case| !case.errors.is_empty() || !case.outputs.is_empty())
    }
    /// Returns whether any case has arguments: it can be compared with a backend, whatever its
    /// result is.
    pub fn has_arguments(&self) -> bool {
        self.cases.iter().any(|case| !case.inputs.is_empty())
    }
    /// Returns the text with the results of the modules in the `// out:` comments. Cases that fail
    /// to run are unchanged.
    pub fn blessed(&self, engine: Engine) -> String {
        let mut lines: Vec<Option<String>> =
            self.text.split_inclusive('\n').map(|line| Some(line.to_owned())).collect();
        for case in &self.cases {
            let Some(first) = case.outputs.first() else { continue };
            let Ok(results) = case.results(engine) else { continue };
            for output in &case.outputs {
                lines[output.line - 1] = None;
            }
            lines[first.line - 1] = Some(case.outputs_of(&results));
        }
        lines.into_iter().flatten().collect()
    }
    /// Writes the text of [`FileTest::blessed`] to the file. Returns whether the text changed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn bless(&self, engine: Engine) -> Result<bool, ParseError> {
        let text = self.blessed(engine);
        if text == self.text {
            return Ok(false);
        }
        AtomicFile::write(&self.path, Existing::Replace, text.as_bytes())
            .map_err(|e| ParseError::Io(self.path.clone(), e))?;
        Ok(true)
    }
}

/// Returns the literal as text without layouts, which do not affect its value.
pub(crate) fn without_layouts(literal: &Literal) -> String {
    let text = literal.to_string();
    let mut parts = text.split("]{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(']');
        out.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    out
}

impl Case {
    fn new(file: &str, start: usize, lines: &[&str]) -> Result<Self, (usize, String)> {
        let text = format!("{}{}", "\n".repeat(start), lines.concat());
        let mut case = Self {
            name: format!("{file}::{}", module_name(&text).unwrap_or("unnamed")),
            text,
            file: file.to_owned(),
            inputs: BTreeMap::new(),
            outputs: Vec::new(),
            errors: Vec::new(),
            fuel: None,
            options: RunOptions::default(),
            first_line: start + 1,
        };
        let mut seen_text = false;
        for (i, line) in lines.iter().enumerate() {
            let number = start + i + 1;
            case.comment(number, line).map_err(|message| (number, message))?;
            if !seen_text && !line.trim().is_empty() && !line.trim_start().starts_with("//") {
                (seen_text, case.first_line) = (true, number);
            }
        }
        Ok(case)
    }

    fn comment(&mut self, line: usize, text: &str) -> Result<(), String> {
        let text = text.trim();
        let literal = |text: &str| text.parse::<Literal>().map_err(|e| e.to_string());
        if let Some((_, expected)) = text.rsplit_once("// error ") {
            let mut words = expected.split_whitespace().map(str::to_owned);
            let code = words.next().ok_or("`// error` has no code")?;
            let label = words.next().unwrap_or_default();
            if let Some(word) = words.next() {
                return Err(format!("unexpected `{word}` after the code and the label"));
            }
            self.errors.push(ExpectedError { line, code, label });
        } else if let Some((device, value)) = device_comment(text, "// in")? {
            self.inputs.entry(device).or_default().push(literal(value)?);
        } else if let Some((device, value)) = device_comment(text, "// out")? {
            let value = (!value.is_empty()).then(|| literal(value)).transpose()?;
            self.outputs.push(ExpectedOutput { line, device, value });
        } else if let Some(value) = text.strip_prefix("// fuel:") {
            self.fuel =
                Some(value.trim().parse().map_err(|_| "`// fuel:` takes a number of steps")?);
        } else if text.starts_with("// tolerance") {
            return Err(
                "a case has no tolerance: the allowed error follows from the module".to_owned()
            );
        }
        Ok(())
    }

    /// Returns the `// out:` comments of these results: a single set if all devices have equal
    /// results.
    fn outputs_of(&self, results: &[Literal]) -> String {
        let per_device = self.outputs.iter().any(|output| output.device.is_some());
        let equal = results.windows(2).all(|two| two[0] == two[1]);
        let results = if equal && !per_device { &results[..1.min(results.len())] } else { results };
        let common = results.len() == 1 && !per_device;
        let mut text = String::new();
        for (device, result) in results.iter().enumerate() {
            let suffix = if common { String::new() } else { format!(" d{device}") };
            for leaf in result.leaves() {
                let _ = writeln!(text, "// out{suffix}: {}", without_layouts(leaf));
            }
        }
        text
    }
}

/// Returns the device and the value of a comment `// in: VALUE` or `// in d2: VALUE`, and `None`
/// for another comment.
fn device_comment<'a>(
    text: &'a str,
    word: &str,
) -> Result<Option<(Option<usize>, &'a str)>, String> {
    let Some(rest) = text.strip_prefix(word) else { return Ok(None) };
    let Some((device, value)) = rest.split_once(':') else { return Ok(None) };
    let device = device.trim();
    let Some(number) = device.strip_prefix('d') else {
        return Ok(device.is_empty().then_some((None, value.trim())));
    };
    if !rest.starts_with(' ') {
        return Ok(None);
    }
    let number = number
        .parse()
        .map_err(|_| format!("`{device}` is not a device: expected `d` and a number"))?;
    Ok(Some((Some(number), value.trim())))
}

fn module_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("HloModule "))?;
    line.trim_start().split([',', ' ', '\r']).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    fn file(text: &str) -> FileTest {
        FileTest::new(Path::new("t.hlo"), text.to_owned()).unwrap()
    }
    fn failing(text: &str) -> String {
        let reports = file(text).run(&Engine::ALL);
        let bad = reports.iter().find(|report| report.is_bad()).unwrap();
        bad.details(false)
    }
    const ADD: &str =
        "HloModule add_s8\nENTRY main { x = s8[2] parameter(0) ROOT r = s8[2] add(x, x) }\n";

    #[test]
    fn cases_run_and_report() {
        let text = format!(
            "// a comment\n{ADD}// in: s8[2] {{1, 127}}\n// out: s8[2] {{2, -2}}\n// -----\nHloModule bad\nENTRY main {{ x = f32[2] parameter(0)\n  ROOT r = f32[3] negate(x) // error E0302\n}}\n"
        );
        let file = file(&text);
        let names: Vec<_> = file.cases.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["t.hlo::add_s8", "t.hlo::bad"]);
        let reports = file.run(&Engine::ALL);
        assert_eq!(Summary::of(&reports).agree, 2, "{reports:?}");
    }

    #[test]
    fn a_case_fails_on_any_other_outcome() {
        let wrong = failing(&format!("{ADD}// in: s8[2] {{1, 127}}\n// out: s8[2] {{2, 0}}\n"));
        assert!(wrong.contains("found s8[] -2, expected s8[] 0"), "{wrong}");
        let missing = failing(&format!("{ADD}// error E0301 some_rule\n"));
        assert!(
            missing.contains("line 3: expected error E0301 (some_rule), which is missing"),
            "{missing}"
        );
        let unexpected =
            failing("HloModule m\nENTRY main { ROOT x = f32[] nothing() }\n// out: f32[] 0\n");
        assert!(unexpected.contains("t.hlo:2:"), "{unexpected}");
        let few = failing(&format!("{ADD}// out: s8[2] {{2, 0}}\n"));
        assert!(few.contains("E0401"), "{few}");
    }

    /// Printing moves the second `recv-done` before the first one, on whose channel the order of
    /// the text matters.
    #[test]
    fn a_failure_after_printing_shows_the_printed_text() {
        let text = "HloModule m\n\nENTRY main {
  t = token[] after-all()
  x = f32[] constant(1)
  v = f32[2] constant({2, 3})
  s = (f32[], u32[], token[]) send(x, t), channel_id=1
  sd = token[] send-done(s), channel_id=1
  u = (f32[2], u32[], token[]) send(v, t), channel_id=1
  ud = token[] send-done(u), channel_id=1
  r = (f32[], u32[], token[]) recv(t), channel_id=1
  rd = (f32[], token[]) recv-done(r), channel_id=1
  q = (f32[2], u32[], token[]) recv(t), channel_id=1
  qd = (f32[2], token[]) recv-done(q), channel_id=1
  y = f32[] get-tuple-element(rd), index=0
  z = f32[2] get-tuple-element(qd), index=0
  w = f32[] add-dependency(x, sd)
  w.1 = f32[] add-dependency(w, ud)
  ROOT all = (f32[2], f32[], f32[]) tuple(z, y, w.1)
}
// out: f32[2] {2, 3}
// out: f32[] 1
// out: f32[] 1
";
        let found = failing(text);
        assert!(found.starts_with("printed and parsed again: "), "{found}");
        assert!(found.contains("--> printed:"), "{found}");
        let line = found.lines().find(|line| line.contains("recv-done(")).unwrap_or_default();
        assert!(line.contains(" | "), "{found}");
    }

    #[test]
    fn malformed_comments_are_errors() {
        let bad = |text: &str| {
            FileTest::new(Path::new("t.hlo"), text.to_owned()).unwrap_err().to_string()
        };
        assert!(bad("\n// tolerance: 3\n").starts_with("t.hlo:2: "));
        assert!(bad("// out: f32[2] {1}\n").starts_with("t.hlo:1: "));
        assert!(bad("x // error E0301 a b\n").contains("`b`"));
        assert!(bad("// in dx: s32[] 1\n").contains("`dx` is not a device"));
    }

    /// Each of three replicas sends its value to the next one.
    const RING: &str = "HloModule ring, replica_count=3\nENTRY e { x = s32[] parameter(0)\n\
        ROOT r = s32[] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,0}} }\n";

    #[test]
    fn comments_apply_to_one_device() {
        let inputs = "// in: s32[] 5\n// in d1: s32[] 6\n";
        let text = format!("{RING}{inputs}// out: s32[] 5\n// out d2: s32[] 6\n");
        let reports = file(&text).run(&Engine::ALL);
        assert_eq!(Summary::of(&reports).agree, 1, "{reports:?}");
        let wrong = failing(&format!("{RING}{inputs}// out: s32[] 5\n"));
        assert!(wrong.starts_with("engine exact: 1 of 3 elements differ on device 2\n"), "{wrong}");
        let none = failing(&format!("{RING}{inputs}// out d1: s32[] 5\n"));
        assert!(none.contains("there is no `// out:` for device 0"), "{none}");
        let beyond = failing(&format!("{RING}{inputs}// out: s32[] 5\n// out d3: s32[] 5\n"));
        assert!(beyond.contains("there is no device `d3`: the module has 3 devices"), "{beyond}");
        let few = failing(&format!("{RING}// in d1: s32[] 6\n// out: s32[] 5\n"));
        assert!(few.contains("there is no `// in:` for device 0"), "{few}");
        let filled = file(&format!("{RING}{inputs}// out:\n")).blessed(Engine::Reference);
        let expected = "// out d0: s32[] 5\n// out d1: s32[] 5\n// out d2: s32[] 6\n";
        assert_eq!(filled, format!("{RING}{inputs}{expected}"));
        let equal = format!("{RING}// in: s32[] 5\n// out: s32[] 5\n");
        assert_eq!(file(&equal).blessed(Engine::Reference), equal);
    }

    #[test]
    fn errors_across_devices_have_a_line() {
        let text = "HloModule m, replica_count=2\nadd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n\
            yes { x = s32[] parameter(0)\n  ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add // error E0501\n}\n\
            no { ROOT x = s32[] parameter(0) }\n\
            ENTRY e { p = pred[] parameter(0) x = s32[] constant(1) ROOT c = s32[] conditional(p, x, x), true_computation=yes, false_computation=no }\n\
            // in d0: pred[] true\n// in d1: pred[] false\n";
        let reports = file(text).run(&Engine::ALL);
        assert_eq!(Summary::of(&reports).agree, 1, "{reports:?}");
    }

    #[test]
    fn bless_fills_in_results() {
        let text =
            format!("{ADD}// in: s8[2] {{1, 127}}\n// out:\n// -----\nHloModule bad\n// out:\n");
        let blessed = file(&text).blessed(Engine::Reference);
        assert_eq!(blessed, text.replacen("// out:\n", "// out: s8[2] {2, -2}\n", 1));
    }

    #[test]
    fn the_examples_of_the_manual_pass() {
        let manual = include_str!("../../docs/testing.md");
        let blocks = manual.split("```").filter_map(|block| block.strip_prefix("text\n"));
        let examples: Vec<&str> = blocks.filter(|block| block.starts_with("HloModule")).collect();
        assert_eq!(examples.len(), 2);
        for example in examples {
            let reports = file(example).run(&Engine::ALL);
            assert!(reports.iter().all(|report| !report.is_bad()), "{reports:?}");
        }
    }
}
