//! Dumps: the files of a folder, or the parts of one text, by module and in the order of passes.
use super::name::{self, ModuleName, Natural, PIPELINE_END, PIPELINE_START, Position, Stage};
use super::sections;
use load::{File, LoadError, Loaded, Options};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// The states of the modules of a compilation.
#[derive(Debug)]
pub struct Dump {
    /// The modules, in the order in which they were compiled.
    pub modules: Vec<ModuleDump>,
}

/// The states of one module.
#[derive(Debug)]
pub struct ModuleDump {
    /// Its name, with its number if the dump has several of the name.
    pub name: String,
    /// Its name without the number, which another process may count otherwise.
    pub(super) base: String,
    pub(super) files: Vec<StateFile>,
}

/// A state of a module that is not read yet.
#[derive(Debug, Clone)]
pub(super) struct StateFile {
    pub(super) position: Position,
    pub(super) stage: Stage,
    /// Which occurrence of the pass it is, from 1 on, and of how many.
    pub(super) round: (u32, u32),
    /// Of the first state of a pipeline, the pass that ran before it, if the dump says which.
    pub(super) maker: Option<String>,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    /// Files of the same state in several formats, the preferred one first.
    Files(Vec<PathBuf>),
    /// A part of a text, under a name.
    Text(String, Vec<u8>),
}

impl Source {
    /// Returns whether another source has the same state, perhaps in another format.
    fn is_of_the_state_of(&self, other: &Self) -> bool {
        let stem = |path: &Path| {
            let name = path.file_name()?.to_str()?;
            name::stem(name).map(str::to_owned)
        };
        match (self, other) {
            (Self::Files(known), Self::Files(new)) => {
                known.iter().chain(new).map(|path| stem(path)).all(|name| name == stem(&known[0]))
            }
            (Self::Text(known, text), Self::Text(name, own)) => known == name && text == own,
            (Self::Files(_), Self::Text(..)) | (Self::Text(..), Self::Files(_)) => false,
        }
    }
    /// Adds the files of the same state.
    fn join(&mut self, other: Self) {
        if let (Self::Files(known), Self::Files(new)) = (self, other) {
            known.extend(new);
            known.sort_by_key(|path| preference(path));
        }
    }
    fn name(&self) -> String {
        match self {
            Self::Files(paths) => {
                paths.first().map_or_else(String::new, |path| path.display().to_string())
            }
            Self::Text(name, _) => name.clone(),
        }
    }
}

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct DumpError {
    /// The file or the folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl DumpError {
    fn new(path: &Path, message: &impl ToString) -> Self {
        Self { path: path.to_owned(), message: message.to_string(), help: None }
    }
}

/// The folder of the states between passes before HLO.
const SHARDY: &str = "shardy";

const HELP: &str = "XLA writes a dump with XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text\"; other modules in a folder are taken in the order of their names";

impl Dump {
    /// Finds the states in a folder that XLA or MLIR wrote, or in a file of several modules.
    ///
    /// # Errors
    /// If the path cannot be read, or has no states.
    pub fn open(path: &Path) -> Result<Self, DumpError> {
        if !std::fs::metadata(path).map_err(|e| DumpError::new(path, &e))?.is_dir() {
            let file = load::read(path, None).map_err(|e| DumpError::new(path, &e.message()))?;
            return Self::of(path, &file);
        }
        let mut groups = Groups::default();
        groups.folder(path, &mut Vec::new()).map_err(|(at, e)| DumpError::new(&at, &e))?;
        Self::grouped(path, groups)
    }
    /// Returns the states of a file that has been read; `path` names it.
    ///
    /// # Errors
    /// If it has no states.
    pub fn of(path: &Path, file: &File<'_>) -> Result<Self, DumpError> {
        let mut groups = Groups::default();
        for (module, position, stage, text) in sections::split(&file.name, &file.bytes) {
            let name = format!("{} ({stage})", file.name);
            groups.add(module, position, stage, Source::Text(name, text));
        }
        Self::grouped(path, groups)
    }
    fn grouped(path: &Path, mut groups: Groups) -> Result<Self, DumpError> {
        if let Some(message) = groups.two_dumps.take() {
            let help =
                "remove the files of one of them; XLA adds the files of each run to a folder";
            return Err(DumpError {
                help: Some(help.to_owned()),
                ..DumpError::new(path, &message)
            });
        }
        let modules = groups.finish();
        if modules.is_empty() {
            let message = "no modules are in it";
            return Err(DumpError {
                help: Some(HELP.to_owned()),
                ..DumpError::new(path, &message)
            });
        }
        Ok(Self { modules })
    }
}

impl ModuleDump {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.files.len()
    }
    /// Returns whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
    /// Returns the files of the states.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files
            .iter()
            .flat_map(|file| match &file.source {
                Source::Files(paths) => paths.as_slice(),
                Source::Text(..) => &[],
            })
            .map(PathBuf::as_path)
    }
    /// Returns the names of the passes that have states, without their pipelines.
    pub fn passes(&self) -> impl Iterator<Item = String> + '_ {
        self.files.iter().map(|file| file.stage.pass.clone())
    }
    /// Returns the names of the states, in order.
    pub fn stages(&self) -> impl Iterator<Item = String> + '_ {
        self.files.iter().map(StateFile::label)
    }
}

impl StateFile {
    /// Returns the number of the pass in the names of the dump.
    pub(super) fn number(&self) -> String {
        match &self.position {
            Position::After(number) => format!("{number:04}"),
            Position::Mlir(numbers, _) => {
                numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
            }
            Position::Program | Position::Before | Position::End(_) => String::new(),
        }
    }
    /// Returns what made the state, and in which round if there are several.
    pub(super) fn label(&self) -> String {
        match self.round {
            (_, ..=1) => self.stage.to_string(),
            (round, _) => format!("{} (round {round})", self.stage),
        }
    }
    /// Returns what made the state.
    pub(super) fn stage(&self) -> String {
        self.stage.to_string()
    }
    /// Returns whether it is the first state of a pipeline.
    pub(super) fn is_start(&self) -> bool {
        self.stage.pass == PIPELINE_START
    }
    /// Returns the name of the file.
    pub(super) fn file(&self) -> String {
        self.source.name()
    }
    /// Reads the bytes of the preferred format.
    pub(super) fn read(&self) -> Result<File<'_>, LoadError> {
        match &self.source {
            Source::Files(paths) => load::read(paths[0].as_path(), None),
            Source::Text(name, text) => {
                load::read(load::Input::Bytes(name, text.as_slice().into()), None)
            }
        }
    }
    /// Reads another format of the state, which has the constants that a text elides.
    pub(super) fn read_in_full(&self, options: &Options) -> Option<Loaded> {
        let Source::Files(paths) = &self.source else { return None };
        let mut others = paths[1..].iter().rev();
        others.find_map(|path| load::load(path.as_path(), options).ok())
    }
}

/// Modules by name, with their states by position.
#[derive(Default)]
struct Groups {
    modules: BTreeMap<ModuleName, BTreeMap<Position, (Stage, Source)>>,
    /// The modules in the order in which they were found.
    order: Vec<ModuleName>,
    /// Says of which states there are two.
    two_dumps: Option<String>,
}

impl Groups {
    fn add(&mut self, module: ModuleName, position: Position, stage: Stage, source: Source) {
        if !self.modules.contains_key(&module) {
            self.order.push(module.clone());
        }
        let states = self.modules.entry(module).or_default();
        let Some((_, known)) = states.get_mut(&position) else {
            states.insert(position, (stage, source));
            return;
        };
        if known.is_of_the_state_of(&source) {
            known.join(source);
        } else if self.two_dumps.is_none() {
            let [first, second] = [known.name(), source.name()];
            self.two_dumps = Some(format!("it has two dumps: {first} and {second}"));
        }
    }

    /// Adds the files of a folder and its subfolders; `folders` are the names on the way to it.
    fn folder(
        &mut self,
        folder: &Path,
        folders: &mut Vec<String>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let failed = |e| (folder.to_owned(), e);
        let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(failed)?.collect();
        let mut entries = entries.map_err(failed)?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let file = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(failed)?;
            if file.starts_with('.') {
            } else if kind.is_dir() {
                folders.push(file);
                self.folder(&path, folders)?;
                folders.pop();
            } else if let Some(stem) = name::stem(&file)
                && std::fs::metadata(&path).is_ok_and(|found| found.is_file())
            {
                self.file(&path, stem, folders);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, stem: &str, folders: &[String]) {
        let source = Source::Files(vec![path.to_owned()]);
        if let Some((module, position, stage)) = name::parse(stem) {
            let module = ModuleName { folder: folders.join("/"), ..module };
            self.add(module, position, stage, source);
            return;
        }
        // What XLA writes beside modules has the same endings.
        if name::folder(stem).is_some() || !is_module(path) {
            return;
        }
        let mut of_folder = folders.iter().enumerate();
        let of_folder = of_folder.find_map(|(at, folder)| Some((at, name::folder(folder)?)));
        let is_mlir = path.extension().is_some_and(|e| e == "mlir" || e == "mlirbc");
        let (mut numbers, rest) = name::leading_numbers(stem);
        numbers.extend(stem.parse::<u32>());
        let of_stem = Position::Mlir(numbers, Natural::new(rest, !is_mlir));
        let (module, position, stage) = match of_folder {
            Some((at, module)) => {
                // The passes before HLO have a folder of their own beside those of modules.
                let (dump, pipeline) = match folders[..at].split_last() {
                    Some((last, dump)) if last == SHARDY => (dump, SHARDY),
                    Some(_) | None => (&folders[..at], ""),
                };
                let module = ModuleName { folder: dump.join("/"), ..module };
                match is_mlir && stem == "module" {
                    true => (module, Position::Program, Stage::new("", "program")),
                    false => (module, of_stem, Stage::new(pipeline, rest)),
                }
            }
            None => {
                let name = folders.last().map_or("modules", String::as_str);
                let folder = folders.join("/");
                let module = ModuleName { folder, ..ModuleName::new(name, None) };
                (module, of_stem, Stage::new("", rest))
            }
        };
        self.add(module, position, stage, source);
    }

    fn finish(mut self) -> Vec<ModuleDump> {
        self.join_halves();
        let mut names: HashMap<&str, usize> = HashMap::new();
        for module in &self.order {
            *names.entry(&module.name).or_default() += 1;
        }
        let shown = |module: &ModuleName| {
            let is_single = names[module.name.as_str()] == 1;
            let number = module.number.filter(|_| !is_single);
            let folder = match module.folder.as_str() {
                "" => String::new(),
                folder => format!("{folder}/"),
            };
            match number {
                Some(number) => format!("{folder}module_{number:04}.{}", module.name),
                None if is_single => module.name.clone(),
                None => format!("{folder}{}", module.name),
            }
        };
        let mut order: Vec<&ModuleName> = self.order.iter().collect();
        order.sort_by_key(|module| (&module.folder, module.number));
        let named: Vec<(String, ModuleName)> =
            order.into_iter().map(|module| (shown(module), module.clone())).collect();
        let states = |(name, module): (String, ModuleName)| {
            let states = self.modules.remove(&module).unwrap_or_default();
            let files = states.into_iter().map(|(position, (stage, source))| StateFile {
                position,
                stage,
                round: (1, 1),
                maker: None,
                source,
            });
            let mut files: Vec<StateFile> = files.collect();
            count_rounds(&mut files);
            find_makers(&mut files);
            let base = format!("{}/{}", module.folder, module.name);
            ModuleDump { name, base, files }
        };
        named.into_iter().map(states).collect()
    }

    /// Joins a module that has no states after passes with the next of its name that has no state
    /// before them: some backends give them different numbers.
    fn join_halves(&mut self) {
        let is_begun = |states: &BTreeMap<Position, (Stage, Source)>| {
            states.keys().any(|position| *position == Position::Before)
        };
        let is_ended = |states: &BTreeMap<Position, (Stage, Source)>| {
            states.keys().any(|position| *position > Position::Before)
        };
        let keys: Vec<ModuleName> = self.modules.keys().cloned().collect();
        for pair in keys.windows(2) {
            let [first, second] = [&pair[0], &pair[1]];
            let is_pair = (&first.folder, &first.name) == (&second.folder, &second.name)
                && self
                    .modules
                    .get(first)
                    .is_some_and(|states| is_begun(states) && !is_ended(states))
                && self.modules.get(second).is_some_and(|states| !is_begun(states));
            if is_pair && let Some(first_half) = self.modules.remove(first) {
                self.modules.entry(second.clone()).or_default().extend(first_half);
                self.order.retain(|module| module != first);
            }
        }
    }
}

/// Numbers the occurrences of each pass.
fn count_rounds(files: &mut [StateFile]) {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for file in files.iter_mut() {
        let count = counts.entry(file.stage.to_string()).or_default();
        *count += 1;
        file.round.0 = *count;
    }
    for file in files {
        file.round.1 = counts[&file.stage.to_string()];
    }
}

/// Finds what ran before each pipeline, of which the state before it has the name. A pass that runs
/// pipelines of its own may change the module before these.
fn find_makers(files: &mut [StateFile]) {
    for at in 1..files.len() {
        let Stage { pipeline, next, .. } = files[at - 1].stage.clone();
        if files[at].is_start() && !next.is_empty() && next != PIPELINE_END {
            files[at].maker = Some(Stage::new(&pipeline, &next).to_string());
        }
    }
}

/// Returns the order of formats of the same state: text has the lines that errors show.
fn preference(path: &Path) -> (bool, PathBuf) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (name.contains(".pb"), path.to_owned())
}

/// Returns whether a file whose name does not tell is a module: by its ending, and texts by their
/// contents.
fn is_module(path: &Path) -> bool {
    let is_text = path.extension().is_some_and(|e| e == "txt");
    if !is_text {
        return true;
    }
    std::fs::read(path).is_ok_and(|bytes| sections::has_hlo(&bytes))
}
