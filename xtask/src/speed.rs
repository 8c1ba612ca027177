//! `speed`: the instructions per element of each op in each element type, so that no op is far slower in one type, layout or
//! engine than in the others.
//!
//! `interp/benches/grid` runs the cells under valgrind. In CI, where libraries are hardly optimized, each cell has the limit of
//! its kind; `cargo xtask speed` counts what a release executes, and compares it with the page.
use crate::{Result, counts, output_of, read, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/instructions.md";
const BEGIN: &str = "<!-- generated: begin -->\n";
const END: &str = "<!-- generated: end -->";
/// The engines whose paths differ.
const ENGINES: [&str; 2] = ["exact", "fast"];
/// The features of the command, of which the engine knows these.
const FEATURES: [&str; 2] = ["--package=etalon-interp", "--features=rustfft,jit"];
/// The types of the page; those of as many bits take as many instructions.
const COLUMNS: [&str; 14] = [
    "pred", "s4", "s8", "s32", "s64", "u32", "f4e2m1fn", "f8e4m3fn", "f16", "bf16", "f32", "f64",
    "c64", "c128",
];
/// More by this part than on the page, and by so many instructions, is a failure.
const TOLERANCE: (f64, f64) = (0.25, 5.0);

/// The kinds in which the paths of `fast` differ from those of `exact`.
const OF_FAST: [&str; 6] =
    ["products", "small_products", "folds", "windows", "transforms", "factorizations"];

/// The most instructions per element in the profile of the tests: of types of the processor, 16 bits among them; of those of at
/// most a byte that are none; of complex numbers.
const LIMITS: [(&str, [f64; 3]); 15] = [
    ("arithmetic", [700.0, 700.0, 300.0]),
    ("factorizations", [200.0, 0.0, 500.0]),
    ("folds", [350.0, 1000.0, 850.0]),
    ("functions", [550.0, 650.0, 3700.0]),
    ("indexing", [350.0, 300.0, 330.0]),
    ("loops", [550.0, 0.0, 300.0]),
    ("moves", [180.0, 230.0, 220.0]),
    ("normalizations", [1800.0, 0.0, 0.0]),
    ("products", [190.0, 280.0, 700.0]),
    ("random", [1700.0, 0.0, 0.0]),
    ("searches", [750.0, 800.0, 0.0]),
    ("small_products", [1700.0, 1500.0, 1400.0]),
    ("sorts", [650.0, 0.0, 0.0]),
    ("transforms", [1100.0, 0.0, 9500.0]),
    ("windows", [2700.0, 3200.0, 1450.0]),
];
/// Rows in which a type is above the limit of its kind, with the number of the class of types, and their limits: most take one
/// element after the other.
const ABOVE: [(&str, usize, f64); 9] = [
    ("bitcast-convert", 0, 600.0),
    ("bitcast-convert", 1, 600.0),
    ("convolution by channels", 2, 3500.0),
    ("power", 2, 18_000.0),
    ("reduce-window", 1, 11_000.0),
    ("scatter of sums", 1, 2700.0),
    ("sort", 1, 8000.0),
    ("sort with places", 1, 11_000.0),
    ("stochastic-convert", 0, 2100.0),
];

/// Why instructions cannot be counted here, if they cannot.
pub(crate) fn missing(root: &Path) -> Option<String> {
    counts::missing(root)
}

/// A cell of the grid, with its instructions for each element.
struct Cell {
    kind: String,
    ty: String,
    name: String,
    instructions: f64,
}

/// Counts in the profile of the tests, whose features are given, and compares with the limits.
pub(crate) fn check(root: &Path, features: &[&str]) -> Result {
    let options = [&["--profile", "test", "--workspace"], features].concat();
    let all = counted(root, &options, [&[], &OF_FAST])?;
    let mut worse = Vec::new();
    for (engine, cells) in ENGINES.iter().zip(&all) {
        println!("   {engine}: {} cells", cells.len());
        for cell in cells {
            let limit = limit(cell)?;
            if cell.instructions > limit {
                let Cell { ty, name, instructions, .. } = cell;
                worse.push(format!(
                    "{name} of {ty} ({engine}): {instructions:.0}, the limit is {limit:.0}"
                ));
            }
        }
    }
    match worse.as_slice() {
        [] => Ok(()),
        worse => Err(format!(
            "more instructions per element than the limits in xtask/src/speed.rs:\n  {}",
            worse.join("\n  ")
        )),
    }
}

/// Counts in the profile of a release, and compares with the page or rewrites it.
pub(crate) fn run(root: &Path, bless: bool) -> Result {
    if let Some(missing) = missing(root).filter(|_| !bless) {
        return Err(format!("the instructions cannot be compared here: {missing}"));
    }
    let all = counted(root, &[&["--profile", "counts"][..], &FEATURES].concat(), [&[], &[]])?;
    let path = root.join(PAGE);
    let page = read(&path)?;
    let parts =
        page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (recorded, after)) = parts
        .ok_or_else(|| format!("{PAGE} lacks the lines `{}` and `{END}`", BEGIN.trim_end()))?;
    if bless {
        let text = ENGINES
            .iter()
            .zip(&all)
            .map(|(engine, cells)| table(engine, cells))
            .collect::<String>();
        return write(&path, &format!("{before}{BEGIN}{text}{END}{after}"));
    }
    let recorded = parse(recorded);
    let mut worse = Vec::new();
    for (engine, cells) in ENGINES.iter().zip(&all) {
        for cell in cells {
            let key = (*engine, cell.name.as_str(), cell.ty.as_str());
            let Some(&before) = recorded.get(&key) else { continue };
            if cell.instructions > before * (1.0 + TOLERANCE.0) + TOLERANCE.1 {
                worse.push(format!(
                    "{} of {} ({engine}): {before:.0}, now {:.0}",
                    cell.name, cell.ty, cell.instructions
                ));
            }
        }
    }
    match worse.as_slice() {
        [] => Ok(()),
        worse => Err(format!(
            "more instructions than on {PAGE}:\n  {}\nif that is meant, `cargo xtask speed --bless` rewrites the page",
            worse.join("\n  ")
        )),
    }
}

fn limit(cell: &Cell) -> Result<f64> {
    let class = match cell.ty.as_str() {
        "c64" | "c128" => 2,
        "f64" => 0,
        ty if ["s1", "s2", "s4", "u1", "u2", "u4"].contains(&ty) => 1,
        ty if ["f4", "f6", "f8"].iter().any(|prefix| ty.starts_with(prefix)) => 1,
        _ => 0,
    };
    let above = ABOVE.iter().find(|(name, of, _)| *name == cell.name && *of == class);
    if let Some((.., limit)) = above {
        return Ok(*limit);
    }
    let limits = LIMITS.iter().find(|(kind, _)| *kind == cell.kind);
    limits.map(|(_, limits)| limits[class]).ok_or_else(|| format!("no limit of {}", cell.kind))
}

/// Counts the cells of each engine, side by side; of the kinds given, or of all.
fn counted(root: &Path, options: &[&str], kinds: [&[&str]; 2]) -> Result<[Vec<Cell>; 2]> {
    let program = counts::build(root, "grid", options)?;
    std::thread::scope(|scope| {
        let program = &program;
        let runs = [(ENGINES[0], kinds[0]), (ENGINES[1], kinds[1])]
            .map(|(engine, kinds)| scope.spawn(move || of_engine(root, program, engine, kinds)));
        let mut cells =
            runs.map(|run| run.join().map_err(|_| "a count panicked".to_owned())?).into_iter();
        let mut next = || cells.next().unwrap_or_else(|| Err("no engine".to_owned()));
        Ok([next()?, next()?])
    })
}

fn of_engine(root: &Path, program: &Path, engine: &str, kinds: &[&str]) -> Result<Vec<Cell>> {
    let folder = root.join("target/speed").join(engine);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file = folder.join("cell");
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", file.display()));
    let text = output_of(command.arg(program).arg(engine).args(kinds))?;
    text.lines()
        .zip(1..)
        .map(|(line, number)| cell(&format!("{}.{number}", file.display()), line))
        .collect()
}

/// Returns a cell from its line, and the file with its instructions.
fn cell(file: &str, line: &str) -> Result<Cell> {
    let mut words = line.splitn(4, ' ').map(str::to_owned);
    let mut word = || words.next().ok_or_else(|| format!("`{line}` has too few words"));
    let (kind, elements, ty, name) = (word()?, word()?, word()?, word()?);
    let elements: f64 = elements.parse().map_err(|e| format!("`{line}`: {e}"))?;
    let text = read(Path::new(file))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total: Option<f64> = total.and_then(|total| total.trim().parse().ok());
    let total = total
        .filter(|&total| total > 0.0)
        .ok_or_else(|| format!("{name} of {ty}: nothing was counted"))?;
    Ok(Cell { kind, ty, name, instructions: total / elements })
}

/// Returns the table of an engine.
fn table(engine: &str, cells: &[Cell]) -> String {
    let mut rows: Vec<(&str, &str, BTreeMap<&str, f64>)> = Vec::new();
    for Cell { kind, ty, name, instructions } in cells {
        match rows.iter_mut().find(|(_, other, _)| other == name) {
            Some((.., row)) => _ = row.insert(ty, *instructions),
            None => rows.push((kind, name, BTreeMap::from([(ty.as_str(), *instructions)]))),
        }
    }
    let mut text = format!(
        "\n### `{engine}`\n\n| op | {} |\n|---|{}\n",
        COLUMNS.join(" | "),
        "---|".repeat(COLUMNS.len())
    );
    for (_, name, row) in &rows {
        let cells = COLUMNS.map(|ty| row.get(ty).map_or(String::new(), |x| format!("{x:.0}")));
        _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text + "\n"
}

/// Returns the numbers of the tables, by engine, op and type.
fn parse(tables: &str) -> BTreeMap<(&str, &str, &str), f64> {
    let mut engine = "";
    let mut numbers = BTreeMap::new();
    for line in tables.lines() {
        if let Some(name) = line.strip_prefix("### `") {
            engine = name.trim_end_matches('`');
        }
        let mut words = line.trim_matches('|').split('|').map(str::trim);
        let name = words.next().unwrap_or_default();
        for (ty, word) in COLUMNS.iter().zip(words) {
            if let Ok(number) = word.parse() {
                numbers.insert((engine, name, *ty), number);
            }
        }
    }
    numbers
}
