//! `interpreter.run_parallel`: a program for each device, as one program that all run.
use super::{TestProgram, arguments, attributes, symbol_name};
use crate::attributes::{integer, string};
use crate::error::{Code, Error, Result};
use crate::ir::{
    Attribute, Attributes, Dense, Dim, Op, Program, Region, Tensor, Type, Value, ValueId,
};
use hlo::{ElementType, Module};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::ops::Range;
use std::sync::Arc;

/// The name of the function that calls the program of its device.
const ENTRY: &str = "run_parallel";
/// The most devices of a grid.
const MOST_DEVICES: usize = 1 << 10;

/// The programs of a grid of devices as one module, which each device runs.
///
/// Its parameters are the arguments of the functions, one function after another, and its results
/// likewise: a device takes those of its own function.
#[derive(Debug)]
pub struct Grid {
    /// The module.
    pub module: Module,
    /// The functions that devices run, each once.
    pub functions: Vec<GridFunction>,
    /// For each device the number of its function.
    pub devices: Vec<usize>,
    /// Whether the functions have shardings, and compute with whole arrays: the module has one
    /// device.
    pub is_whole: bool,
    /// The functions that give the values of the infeed queue.
    pub infeed: Vec<String>,
}

/// A function that some devices run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridFunction {
    /// Its name.
    pub name: String,
    /// Its parameters among those of the module.
    pub arguments: Range<usize>,
    /// Its results among those of the module.
    pub results: Range<usize>,
    /// Whether the module has one result, which is no tuple.
    pub is_single: bool,
}

impl TestProgram {
    /// Makes the module of a call of `interpreter.run_parallel` with this configuration.
    ///
    /// # Errors
    /// `E0907` if the configuration is malformed, `E0923` if it names no function, and those of
    /// [`crate::convert::module`].
    pub fn grid(&self, configuration: &str) -> Result<Grid> {
        let configuration = attributes(configuration)?;
        let programs = programs(&configuration)?;
        let (replicas, partitions) = (programs.len(), programs.first().map_or(0, Vec::len));
        let is_grid = partitions > 0 && programs.iter().all(|row| row.len() == partitions);
        if !is_grid || replicas * partitions > MOST_DEVICES {
            let message = format!(
                "`programs` of `interpreter.run_parallel` must be rows of one length, with at most {MOST_DEVICES} functions"
            );
            return Err(Code::AttributeValue { message }.into());
        }
        let mut names: Vec<SmolStr> = Vec::new();
        let mut devices = Vec::new();
        for name in programs.into_iter().flatten() {
            let at = names.iter().position(|known| *known == name);
            devices.push(at.unwrap_or(names.len()));
            if at.is_none() {
                names.push(name);
            }
        }
        let mut program = self.0.clone();
        program.ops.iter_mut().for_each(between_devices);
        let is_whole = crate::convert::is_sharded(&program);
        let counts = if is_whole { [1, 1] } else { [replicas, partitions] };
        for (name, count) in ["mhlo.num_replicas", "mhlo.num_partitions"].into_iter().zip(counts) {
            program.attributes.0.retain(|(known, _)| known != name);
            let count = integer(i64::try_from(count).unwrap_or(1));
            program.attributes.0.push((SmolStr::new_static(name), count));
        }
        let functions = names.iter().map(|name| function(&program, name));
        let functions: Vec<Op> = functions.collect::<Result<_>>()?;
        let ranges = ranges(&functions);
        program.entry = Some(match functions.as_slice() {
            [one] => symbol_name(one).unwrap_or_default(),
            all => {
                let entry = Dispatch::new(&mut program).function(all, &devices, partitions)?;
                program.ops.push(entry);
                SmolStr::new_static(ENTRY)
            }
        });
        let module = crate::convert::module(&program)?;
        let infeed = infeed(&configuration)?;
        Ok(Grid { module, functions: ranges, devices, is_whole, infeed })
    }
}

/// Returns the functions of each replica.
fn programs(configuration: &Attributes) -> Result<Vec<Vec<SmolStr>>> {
    let rows = match configuration.get("programs") {
        Some(Attribute::Array(rows)) => rows.iter().map(symbols).collect::<Option<_>>(),
        _ => None,
    };
    rows.ok_or_else(|| {
        let message =
            "`programs` of `interpreter.run_parallel` must be a list of lists of functions";
        Code::AttributeValue { message: message.to_owned() }.into()
    })
}
fn infeed(configuration: &Attributes) -> Result<Vec<String>> {
    let Some(list) = configuration.get("infeed") else { return Ok(Vec::new()) };
    let names = symbols(list).map(|names| names.into_iter().map(String::from).collect());
    names.ok_or_else(|| {
        let message = "`infeed` of `interpreter.run_parallel` must be a list of functions";
        Code::AttributeValue { message: message.to_owned() }.into()
    })
}
fn symbols(list: &Attribute) -> Option<Vec<SmolStr>> {
    let Attribute::Array(items) = list else { return None };
    let one = |item: &Attribute| match item {
        Attribute::Symbol(path) => path.last().cloned(),
        _ => None,
    };
    items.iter().map(one).collect()
}

/// Returns the function of this name.
fn function(program: &Program, name: &str) -> Result<Op> {
    let mut functions = program.ops.iter().filter(|op| op.name == "func.func");
    let found = functions.find(|op| symbol_name(op).as_deref() == Some(name));
    found.cloned().ok_or_else(|| {
        let message =
            format!("`interpreter.run_parallel` names `@{name}`, which is not a function");
        Error::from(Code::Symbol { message })
    })
}
/// Returns the parameters and the results of each function among those of all.
fn ranges(functions: &[Op]) -> Vec<GridFunction> {
    let (mut argument, mut result) = (0, 0);
    let total: usize = functions.iter().map(|op| results(op).len()).sum();
    let one = |op: &Op| {
        let next = GridFunction {
            name: symbol_name(op).unwrap_or_default().into(),
            arguments: argument..argument + arguments(op),
            results: result..result + results(op).len(),
            is_single: total == 1,
        };
        (argument, result) = (next.arguments.end, next.results.end);
        next
    };
    functions.iter().map(one).collect()
}
/// Returns the types of the results of a function.
fn results(function: &Op) -> &[Type] {
    match function.attributes.get("function_type") {
        Some(Attribute::Type(Type::Function(_, results))) => results,
        _ => &[],
    }
}

/// Makes transfers with the host transfers between devices, which take values from each other
/// there.
fn between_devices(op: &mut Op) {
    if matches!(op.name.as_str(), "stablehlo.send" | "stablehlo.recv") {
        Arc::make_mut(&mut op.attributes).0.retain(|(name, _)| name != "is_host_transfer");
    }
    op.regions.iter_mut().flat_map(|region| &mut region.ops).for_each(between_devices);
}

/// The function that calls the program of its device, under construction.
struct Dispatch<'a> {
    next: &'a mut u32,
    ops: Vec<Op>,
}

fn tensor(dims: &[u64], element: ElementType) -> Type {
    let dims = dims.iter().map(|&size| Dim::Static(size)).collect();
    Type::Tensor(Tensor { dims, element: Ok(element) })
}
fn op(name: &'static str, operands: &[ValueId], attributes: Vec<(&'static str, Attribute)>) -> Op {
    let mut attributes =
        Attributes(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect());
    crate::normal::sort(&mut attributes);
    Op {
        name: SmolStr::new_static(name),
        operands: operands.into(),
        results: SmallVec::new(),
        attributes: Arc::new(attributes),
        regions: Vec::new(),
        location: None,
        span: None,
    }
}

impl<'a> Dispatch<'a> {
    fn new(program: &'a mut Program) -> Self {
        Self { next: &mut program.values, ops: Vec::new() }
    }
    fn value(&mut self, ty: Type) -> Value {
        *self.next += 1;
        Value { id: ValueId(*self.next - 1), ty }
    }
    /// Adds an op with these results.
    fn add(&mut self, mut op: Op, results: &[Type]) -> Vec<ValueId> {
        op.results = results.iter().map(|ty| self.value(ty.clone())).collect();
        let ids = op.results.iter().map(|value| value.id).collect();
        self.ops.push(op);
        ids
    }
    fn one(&mut self, op: Op, result: Type) -> ValueId {
        self.add(op, &[result])[0]
    }
    fn constant(&mut self, ty: &Tensor, bytes: Vec<u8>, splat: bool) -> ValueId {
        let value = Attribute::Dense(Dense { ty: ty.clone(), bytes, splat });
        self.one(op("stablehlo.constant", &[], vec![("value", value)]), Type::Tensor(ty.clone()))
    }
    fn integers(&mut self, values: &[usize], dims: &[u64], element: ElementType) -> ValueId {
        let Type::Tensor(ty) = tensor(dims, element) else { unreachable!("a tensor") };
        let words = values.iter().map(|&value| u32::try_from(value).unwrap_or(u32::MAX));
        self.constant(&ty, words.flat_map(u32::to_le_bytes).collect(), false)
    }
    /// Returns the number of this device's function.
    fn number(&mut self, devices: &[usize], partitions: usize) -> ValueId {
        let (id, index) = (tensor(&[], ElementType::U32), tensor(&[], ElementType::S32));
        let replica = self.one(op("stablehlo.replica_id", &[], Vec::new()), id.clone());
        let partition = self.one(op("stablehlo.partition_id", &[], Vec::new()), id.clone());
        let width = self.integers(&[partitions], &[], ElementType::U32);
        let row = self.one(op("stablehlo.multiply", &[replica, width], Vec::new()), id.clone());
        let device = self.one(op("stablehlo.add", &[row, partition], Vec::new()), id);
        let count = u64::try_from(devices.len()).unwrap_or(0);
        let table = self.integers(devices, &[count], ElementType::S32);
        let sizes = vec![("slice_sizes", Attribute::Integers(vec![1]))];
        let slice = op("stablehlo.dynamic_slice", &[table, device], sizes);
        let slice = self.one(slice, tensor(&[1], ElementType::S32));
        self.one(op("stablehlo.reshape", &[slice], Vec::new()), index)
    }
    /// Returns a value that stands for the result of another device's function.
    fn nothing(&mut self, ty: &Type) -> Result<ValueId> {
        match ty {
            Type::Token => Ok(self.one(op("stablehlo.after_all", &[], Vec::new()), Type::Token)),
            Type::Tensor(ty @ Tensor { element: Ok(element), .. }) => {
                let many = crate::dense::count(ty) != Some(1);
                Ok(self.constant(ty, vec![0; element.storage_bytes()], many))
            }
            other => {
                let text = crate::element::type_text(other);
                Err(Error::unsupported(format!(
                    "a program of a grid with a result of type `{text}`"
                )))
            }
        }
    }
    /// Returns the region that calls function `at`.
    fn branch(&mut self, functions: &[Op], at: usize, arguments: &[ValueId]) -> Result<Region> {
        let before = std::mem::take(&mut self.ops);
        let mut returned = Vec::new();
        for (i, function) in functions.iter().enumerate() {
            if i == at {
                let name = symbol_name(function).unwrap_or_default();
                let callee = vec![("callee", Attribute::Symbol(vec![name]))];
                let call = op("func.call", arguments, callee);
                returned.extend(self.add(call, results(function)));
                continue;
            }
            for ty in results(function) {
                let nothing = self.nothing(ty)?;
                returned.push(nothing);
            }
        }
        self.ops.push(op("stablehlo.return", &returned, Vec::new()));
        Ok(Region { arguments: Vec::new(), ops: std::mem::replace(&mut self.ops, before) })
    }
    /// Returns the function.
    fn function(mut self, functions: &[Op], devices: &[usize], partitions: usize) -> Result<Op> {
        let types = |op: &Op| match op.attributes.get("function_type") {
            Some(Attribute::Type(Type::Function(arguments, _))) => arguments.clone(),
            _ => Vec::new(),
        };
        let arguments: Vec<Vec<Value>> = functions
            .iter()
            .map(|op| types(op).into_iter().map(|ty| self.value(ty)).collect())
            .collect();
        let number = self.number(devices, partitions);
        let mut regions = Vec::new();
        for (at, own) in arguments.iter().enumerate() {
            let own: Vec<ValueId> = own.iter().map(|value| value.id).collect();
            regions.push(self.branch(functions, at, &own)?);
        }
        let all: Vec<Type> = functions.iter().flat_map(results).cloned().collect();
        let case = Op { regions, ..op("stablehlo.case", &[number], Vec::new()) };
        let returned = self.add(case, &all);
        self.ops.push(op("func.return", &returned, Vec::new()));
        let arguments: Vec<Value> = arguments.into_iter().flatten().collect();
        let inputs = arguments.iter().map(|value| value.ty.clone()).collect();
        let ty = Attribute::Type(Type::Function(inputs, all));
        let attributes = vec![("function_type", ty), ("sym_name", string(ENTRY))];
        let body = Region { arguments, ops: self.ops };
        Ok(Op { regions: vec![body], ..op("func.func", &[], attributes) })
    }
}
