//! The entry computation and the header of the module.
use super::attrs::{FromAttribute, frontend_pairs};
use super::converter::Converter;
use super::fold::Folded;
use super::names;
use super::scope::Scope;
use super::{quantized, sharding, types};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Op, Program, Type};
use hlo::ir::{
    AliasKind, BufferDonor, CommonAttrs, FrontendAttributes, InputOutputAlias, ModuleConfig,
    Sharding,
};
use hlo::{Literal, Module, Shape};

/// Converts a program.
///
/// # Errors
/// `E09xx`: the first op that cannot be converted.
pub fn module(program: &Program) -> Result<Module> {
    convert(program, None)
}

/// What is known of an argument of a program with unknown sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// Its shape.
    Shape(Shape),
    /// Its value, which may give sizes.
    Value(Literal),
}

impl Argument {
    fn shape(&self) -> Shape {
        match self {
            Self::Shape(shape) => shape.clone(),
            Self::Value(value) => value.shape(),
        }
    }
}

/// Reads a shape, `f32[2,3]`, or a value, which has a space: `s64[1] {2}`.
///
/// # Errors
/// If it is neither.
impl std::str::FromStr for Argument {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.trim().contains(' ') {
            true => text.parse().map(Self::Value).map_err(|error| error.to_string()),
            false => text.trim().parse().map(Self::Shape).map_err(|error| error.to_string()),
        }
    }
}

/// Converts a program for these arguments: unknown sizes of the parameters (`tensor<?xf32>`) are
/// those of the arguments, and integers whose values are known may give sizes. The result is right
/// for arguments of the same shapes and the same such integers.
///
/// ```
/// let text = "func.func @main(%n: tensor<1xi64>, %x: tensor<?xf32>) -> tensor<?xf32> {
///   %y = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
///   return %y : tensor<?xf32>
/// }";
/// let program = stablehlo::read(text.as_bytes())?;
/// assert!(stablehlo::convert::module(&program).is_err());
/// let arguments = ["s64[1] {2}".parse().unwrap(), "f32[2]".parse().unwrap()];
/// let module = stablehlo::convert::module_for(&program, &arguments)?;
/// assert_eq!(module.entry().result_shape().to_string(), "f32[2]{0}");
/// # Ok::<(), stablehlo::Error>(())
/// ```
///
/// # Errors
/// As [`module`]; `E0926` if the arguments do not fit the parameters.
pub fn module_for(program: &Program, arguments: &[Argument]) -> Result<Module> {
    convert(program, Some(arguments))
}

/// Returns the shapes of the parameters of a program; unknown sizes are
/// [`hlo::ArrayShape::UNBOUNDED`].
///
/// # Errors
/// `E0923` if the program has no entry, and `E0924` if a parameter has no shape.
pub fn parameters(program: &Program) -> Result<Vec<Shape>> {
    let expanded = quantized::expand(program)?;
    let converter = Converter::new(expanded.as_ref().unwrap_or(program))?;
    let main = main(&converter)?;
    let arguments = &converter.body(main)?.arguments;
    let shape = |argument: &crate::ir::Value| types::shape(&argument.ty);
    arguments
        .iter()
        .map(shape)
        .collect::<Result<_>>()
        .map_err(|error| converter.placed(main, error))
}

fn convert(program: &Program, arguments: Option<&[Argument]>) -> Result<Module> {
    let expanded = quantized::expand(program)?;
    let program = expanded.as_ref().unwrap_or(program);
    let mut converter = Converter::new(program)?;
    let main = main(&converter)?;
    let mut config = config(&converter);
    let entry = converter.entry(main, arguments, &mut config)?;
    let Converter { computations, locations, .. } = converter;
    let name = program.name.as_ref().map_or_else(|| "main".into(), |name| names::clean(name));
    let mut module = Module::new(name, computations, entry);
    module.config = config;
    module.frames = locations.into_frames();
    module.check_printable()?;
    Ok(module)
}

/// Returns the function that the program names, `@main`, or else the only public function.
fn main<'p>(converter: &Converter<'p>) -> Result<&'p Op> {
    let names = || {
        let mut names: Vec<String> =
            converter.functions.keys().map(|name| format!("`@{name}`")).collect();
        names.sort();
        names.join(", ")
    };
    if let Some(entry) = &converter.program.entry {
        let found = converter.functions.get(entry).copied();
        return found.ok_or_else(|| {
            let message = format!("the program has no function `@{entry}`");
            Error::from(Code::Symbol { message }).with_help(format!("it has {}", names()))
        });
    }
    if let Some(main) = converter.functions.get("main") {
        return Ok(main);
    }
    let functions = converter.program.ops.iter().filter(|op| op.name == "func.func");
    let is_private = |op: &Op| {
        let visibility = op.attributes.get("sym_visibility").and_then(String::from_attribute);
        visibility.as_deref() == Some("private")
    };
    let public: Vec<_> = functions.filter(|op| !is_private(op)).collect();
    match public.as_slice() {
        [one] => Ok(one),
        other => {
            let message =
                format!("the program has {} public functions and no `@main`", other.len());
            let help = format!("choose one with --function: {}", names());
            Err(Error::from(Code::Symbol { message }).with_help(help))
        }
    }
}

/// Returns the name of a function as errors show it.
fn symbol(function: &Op) -> String {
    let name = function.attributes.get("sym_name").and_then(String::from_attribute);
    format!("`@{}`", name.unwrap_or_default())
}

/// Returns the attributes of the header.
fn config(converter: &Converter<'_>) -> ModuleConfig {
    let attributes = &converter.program.attributes;
    let count = |name: &str| attributes.get(name).and_then(i64::from_attribute).unwrap_or(1);
    let frontend =
        attributes.get("mhlo.frontend_attributes").and_then(<&Attributes>::from_attribute);
    let mut pairs = frontend.map(frontend_pairs).unwrap_or_default();
    pairs.extend(converter.meshes.text().map(|text| ("xla.sdy.meshes".into(), text)));
    pairs.sort();
    let mut config = ModuleConfig {
        replica_count: count("mhlo.num_replicas"),
        // A program with shardings is not partitioned yet: the number is that of the program it is
        // to become.
        num_partitions: if converter.is_sharded { 1 } else { count("mhlo.num_partitions") },
        ..ModuleConfig::default()
    };
    config.frontend_attributes = (!pairs.is_empty()).then_some(FrontendAttributes(pairs));
    config
}

/// Returns the attributes of the arguments or the results of a function.
fn each<'p>(op: &'p Op, name: &str, count: usize) -> Vec<Option<&'p Attributes>> {
    let all = op.attributes.get(name).and_then(<&[Attribute]>::from_attribute).unwrap_or_default();
    (0..count).map(|i| all.get(i).and_then(<&Attributes>::from_attribute)).collect()
}

impl<'p> Converter<'p> {
    /// Converts the function that runs.
    fn entry(
        &mut self,
        main: &'p Op,
        given: Option<&[Argument]>,
        config: &mut ModuleConfig,
    ) -> Result<hlo::ir::ComputationId> {
        let region = self.body(main)?;
        let arguments = each(main, "arg_attrs", region.arguments.len());
        if let Some(found) = given.map(<[Argument]>::len).filter(|&found| found != arguments.len())
        {
            let message =
                format!("{} takes {} arguments, found {found}", symbol(main), arguments.len());
            return Err(self.error(main, Code::Malformed { message }));
        }
        self.active.push("main".into());
        let mut scope = Scope::new(self, "main");
        for (number, (argument, attributes)) in region.arguments.iter().zip(&arguments).enumerate()
        {
            let given = given.map(|given| &given[number]);
            let shape = scope.cx.argument_shape(main, number, &argument.ty, given)?;
            let value = given.and_then(|given| match given {
                Argument::Value(value) => Folded::of(value),
                Argument::Shape(_) => None,
            });
            if let Some(known) = value {
                scope.folded.insert(argument.id, known);
            }
            let common = scope.cx.argument(main, *attributes)?;
            scope.set_common(common);
            let id = scope.parameter(number, shape, &format!("Arg_{number}"));
            scope.define(argument.id, id);
        }
        let (mut root, _) = scope.body(main, region)?;
        let count = region.ops.last().map_or(0, |end| end.operands.len());
        let results = each(main, "res_attrs", count);
        if let Some(found) = scope.cx.result_sharding(main, &results)? {
            // A parameter and an annotation keep their own shardings.
            let is_parameter =
                matches!(scope.computation.instructions[root].op, hlo::Op::Parameter(_));
            let own = scope.common_of(root).sharding.as_ref();
            if own.map_or(is_parameter, |own| *own != found) {
                scope.set_common(CommonAttrs::default());
                root = scope.emit(main, hlo::op::Copy {}, &[root])?;
            }
            scope.common_of(root).sharding = Some(found);
        }
        let mut computation = scope.computation;
        computation.root = root;
        self.active.pop();
        self.aliases(main, &arguments, count, config)?;
        config.entry_layout = self.layouts(main, [&arguments, &results], &computation)?;
        Ok(self.finish(computation))
    }

    /// Returns the shape of a parameter, in which every size is known.
    fn argument_shape(
        &self,
        main: &Op,
        number: usize,
        ty: &Type,
        given: Option<&Argument>,
    ) -> Result<Shape> {
        let stated = types::shape(ty).map_err(|error| self.placed(main, error))?;
        match given.map(Argument::shape) {
            Some(given) if types::agrees(&stated, &given) => Ok(given),
            Some(given) => {
                let message = format!(
                    "argument {number} of {} is {given:#}, expected {stated:#}",
                    symbol(main)
                );
                Err(self.error(main, Code::Malformed { message }))
            }
            None if types::is_unbounded(ty) => {
                let message = format!(
                    "argument {number} of {} has an unknown size: {stated:#}",
                    symbol(main)
                );
                let help = "state the shape of each argument with --shape, in order, of one that gives sizes its value, `s64[1] {2}`; or give the arguments with --input";
                Err(self.error(main, Code::DynamicShape { message }).with_help(help))
            }
            None => Ok(stated),
        }
    }
    /// Returns the sharding and the frontend attributes of an argument.
    fn argument(&self, main: &Op, attributes: Option<&Attributes>) -> Result<CommonAttrs> {
        let Some(attributes) = attributes else { return Ok(CommonAttrs::default()) };
        let frontend =
            attributes.get("mhlo.frontend_attributes").and_then(<&Attributes>::from_attribute);
        let mut pairs = frontend.map(frontend_pairs).unwrap_or_default();
        if let Some(fields) = attributes.get("sdy.sharding").and_then(<&Attributes>::from_attribute)
        {
            let text = sharding::text(fields).map_err(|error| self.placed(main, error))?;
            pairs.push(("xla.sdy.sharding".into(), format!("#sdy.sharding{text}")));
            pairs.sort();
        }
        let sharding = sharding::of_attributes(&self.meshes, attributes);
        let replicated =
            attributes.get("mhlo.is_same_data_across_replicas").and_then(bool::from_attribute);
        let replicated = replicated == Some(true);
        Ok(CommonAttrs {
            sharding: sharding.map_err(|error| self.placed(main, error))?,
            frontend_attributes: (!pairs.is_empty()).then_some(FrontendAttributes(pairs)),
            parameter_replication: replicated.then(|| vec![true]),
            ..CommonAttrs::default()
        })
    }
    /// Returns the sharding of the results, if some of them have one: those of the others are
    /// unknown.
    fn result_sharding(
        &self,
        main: &Op,
        results: &[Option<&Attributes>],
    ) -> Result<Option<Sharding>> {
        let mut found = Vec::with_capacity(results.len());
        for attributes in results {
            let sharding =
                attributes.map(|attributes| sharding::of_attributes(&self.meshes, attributes));
            found.push(sharding.transpose().map_err(|error| self.placed(main, error))?.flatten());
        }
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        if let [Some(one)] = found.as_slice() {
            return Ok(Some(one.clone()));
        }
        let unknown = || hlo::ir::Placement::Unknown.into();
        let leaf = |sharding: Option<Sharding>| match sharding {
            Some(Sharding::One(one)) => vec![one],
            Some(Sharding::Tuple(all)) => all,
            None => vec![unknown()],
        };
        Ok(Some(Sharding::Tuple(found.into_iter().flat_map(leaf).collect())))
    }
    /// Returns the shapes of parameters and result with the layouts that `mhlo.layout_mode` states,
    /// if one does.
    fn layouts(
        &self,
        main: &Op,
        attributes: [&[Option<&Attributes>]; 2],
        computation: &hlo::ir::Computation,
    ) -> Result<Option<(Vec<Shape>, Shape)>> {
        let stated = |attributes: Option<&Attributes>| {
            let mode = attributes?.get("mhlo.layout_mode").and_then(String::from_attribute);
            mode.filter(|mode| !matches!(mode.as_str(), "default" | "auto"))
        };
        if !attributes.into_iter().flatten().any(|&one| stated(one).is_some()) {
            return Ok(None);
        }
        let laid_out = |(shape, attributes): (&Shape, Option<&Attributes>)| {
            let Some(mode) = stated(attributes) else { return Ok(shape.clone()) };
            let text = format!("{shape:#}{mode}");
            text.parse::<Shape>().ok().filter(|parsed| parsed.compatible(shape)).ok_or_else(|| {
                let message = format!(
                    "`mhlo.layout_mode` must be `default`, `auto` or a layout of {shape:#}, not `{mode}`"
                );
                self.error(main, Code::AttributeValue { message })
            })
        };
        let shapes = computation.program_shape();
        let parameters =
            shapes.parameters.iter().copied().zip(attributes[0].iter().copied()).map(laid_out);
        let result = match (shapes.result, attributes[1]) {
            (Shape::Tuple(parts), all) if parts.len() == all.len() => {
                let parts = parts.iter().zip(all.iter().copied()).map(laid_out);
                Shape::Tuple(parts.collect::<Result<_>>()?)
            }
            (shape, &[one]) => laid_out((shape, one))?,
            (shape, _) => shape.clone(),
        };
        Ok(Some((parameters.collect::<Result<_>>()?, result)))
    }
    /// Notes the arguments whose memory outputs use.
    fn aliases(
        &self,
        main: &Op,
        arguments: &[Option<&Attributes>],
        results: usize,
        config: &mut ModuleConfig,
    ) -> Result<()> {
        for (parameter, attributes) in (0i64..).zip(arguments) {
            let Some(attributes) = attributes else { continue };
            if attributes.get("jax.buffer_donor").and_then(bool::from_attribute) == Some(true) {
                config.buffer_donor.push(BufferDonor { parameter, parameter_index: Vec::new() });
            }
            let Some(output) = attributes.get("tf.aliasing_output") else { continue };
            let output = i64::from_attribute(output)
                .filter(|&i| usize::try_from(i).is_ok_and(|i| i < results));
            let Some(output) = output else {
                let message = "`tf.aliasing_output` must be the number of a result".to_owned();
                return Err(self.error(main, Code::AttributeValue { message }));
            };
            config.input_output_alias.push(InputOutputAlias {
                output_index: if results == 1 { Vec::new() } else { vec![output] },
                parameter,
                parameter_index: Vec::new(),
                kind: AliasKind::May,
            });
        }
        config.input_output_alias.sort_by(|a, b| a.output_index.cmp(&b.output_index));
        Ok(())
    }
}
