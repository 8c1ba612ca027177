//! A real plugin in a process of its own: XLA:CPU, or the one that `ETALON_PJRT_PLUGIN` names.
//!
//! Without a plugin its tests are ignored; `conformance/plugins.sh` installs one into
//! `target/plugins`. This program is also the host of the plugin.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use conformance::backend::{
    Backend, BackendError, EngineBackend, LoadedModule, OptionValue, Plugin, PluginFormat,
    PluginOptions, serve,
};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use conformance::{Engine, FileTest, conform};
use hlo::{ArrayShape, ElementType, Literal};
use interp::DeviceGrid;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOST: &str = "pjrt-host";

/// A plugin, and the format in which it gets programs.
#[derive(Debug, Clone)]
struct Tested {
    path: PathBuf,
    format: PluginFormat,
}

type Test = fn(&Tested) -> Result<(), Failed>;

const TESTS: [(&str, Test); 10] = [
    ("what_a_plugin_says_of_itself", what_a_plugin_says_of_itself),
    ("element_types_keep_their_bits", element_types_keep_their_bits),
    ("results_agree_with_ours", results_agree_with_ours),
    ("tuples_are_flattened", tuples_are_flattened),
    ("dynamic_sizes_are_kept", dynamic_sizes_are_kept),
    ("arguments_are_donated", arguments_are_donated),
    ("replicas_communicate", replicas_communicate),
    ("partitions_communicate", partitions_communicate),
    ("options_reach_the_plugin", options_reach_the_plugin),
    ("an_endless_loop_costs_one_module", an_endless_loop_costs_one_module),
];

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == HOST) {
        serve().unwrap();
    }
    let plugin = plugin();
    let list = plugin.as_deref().and_then(known_findings);
    let mut trials = Vec::new();
    for (name, format) in [("hlo", PluginFormat::Hlo), ("mlir", PluginFormat::Mlir)] {
        let tested = plugin.clone().map(|path| Tested { path, format });
        let is_ignored = tested.is_none();
        for (test, run) in TESTS {
            let tested = tested.clone();
            let run = move || tested.map_or(Ok(()), |tested| run(&tested));
            trials.push(Trial::test(format!("{name}::{test}"), run).with_ignored_flag(is_ignored));
        }
        let list = list.clone().map(|list| match format {
            PluginFormat::Auto | PluginFormat::Hlo => list,
            PluginFormat::Mlir => list + include_str!("known/mlir.txt"),
        });
        let known = tested.zip(list);
        let is_ignored = known.is_none();
        let run = move || {
            known.map_or(Ok(()), |(tested, list)| the_suite_has_known_findings_only(&tested, &list))
        };
        let test = format!("{name}::the_suite_has_known_findings_only");
        trials.push(Trial::test(test, run).with_ignored_flag(is_ignored));
    }
    trials.push(Trial::test("the_host_ends_with_its_parent", the_host_ends_with_its_parent));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The plugin that is tested.
fn plugin() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ETALON_PJRT_PLUGIN") {
        return Some(path.into());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/plugins");
    let found = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    found.filter(|path| path.extension().is_some_and(|e| e == "so")).min()
}

/// The list of the known findings of a plugin, which has its file name.
fn known_findings(plugin: &Path) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known");
    let name = plugin.file_stem()?.to_str()?;
    std::fs::read_to_string(folder.join(format!("{name}.txt"))).ok()
}

fn open(tested: &Tested, options: PluginOptions) -> Result<Plugin, BackendError> {
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.arg(HOST);
    let devices = ("cpu_device_count".to_owned(), OptionValue::Int(4));
    let client = [vec![devices], options.client.clone()].concat();
    let format = tested.format;
    Plugin::isolated(&tested.path, host, PluginOptions { client, format, ..options })
}

fn compile(plugin: &mut Plugin, text: &str) -> Result<Box<dyn LoadedModule>, BackendError> {
    let module = Arc::new(hlo::Module::parse(text).unwrap().verify().unwrap());
    let grid = DeviceGrid::of(&module.module().config);
    plugin.compile(&module, grid)
}

fn literals(texts: &[&str]) -> Vec<Literal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn run(plugin: &mut Plugin, text: &str, arguments: &[&[&str]]) -> Result<Vec<String>, Failed> {
    let arguments: Vec<_> = arguments.iter().map(|list| literals(list)).collect();
    let results = compile(plugin, text)?.execute(&arguments)?;
    Ok(results.iter().map(ToString::to_string).collect())
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "most are made for the call")]
fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}").into()) }
}

/// The longest time for the cases of the suite.
const SUITE_TIME: Duration = Duration::from_secs(100);

/// Runs as much of the smoke set as there is time for; each finding has to be in the list, with a
/// cause of docs/findings.md.
fn the_suite_has_known_findings_only(tested: &Tested, list: &str) -> Result<(), Failed> {
    let known = conformance::Known::parse(list)?;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/findings.md");
    let page = std::fs::read_to_string(page)?;
    for entry in known.entries() {
        if !page.contains(&format!("**{}.**", entry.cause)) {
            return Err(format!("docs/findings.md has no **{}.**", entry.cause).into());
        }
    }
    let fast = ("xla_cpu_enable_fast_min_max".to_owned(), OptionValue::Bool(false));
    let mut plugin = open(tested, PluginOptions { xla: vec![fast], ..PluginOptions::default() })?;
    let suite = Suite::load(&Selection::smoke())?;
    let (start, mut count, mut new) = (Instant::now(), 0, Vec::new());
    for case in suite.cases().iter().take_while(|_| start.elapsed() < SUITE_TIME) {
        let record = case.run(&mut plugin);
        count += 1;
        if record.verdict.is_bad() && known.entry(&record).is_none() {
            new.push(format!("{} {}\n{}", record.verdict.name(), record.name, record.reason));
        }
    }
    println!("{count} of {} cases in {:?}", suite.cases().len(), start.elapsed());
    if new.is_empty() { Ok(()) } else { Err(new.join("\n").into()) }
}

/// A plugin that takes both formats gets `HloModuleProto`, unless it is asked otherwise.
fn what_a_plugin_says_of_itself(tested: &Tested) -> Result<(), Failed> {
    let format = |format| -> Result<String, Failed> {
        let plugin = open(&Tested { format, ..tested.clone() }, PluginOptions::default())?;
        Ok(plugin.about().0["format"].clone())
    };
    expect(format(PluginFormat::Auto)?, "hlo".to_owned())?;
    expect(format(PluginFormat::Mlir)?, "mlir".to_owned())?;
    let about = open(tested, PluginOptions::default())?.about().0;
    expect(about["options"].as_str(), "cpu_device_count=4")?;
    let version: stablehlo::Version = about["stablehlo_current_version"].parse()?;
    expect(version > stablehlo::Version::MINIMUM && about.contains_key("pjrt_api"), true)
}

/// The parent is gone when it has closed its end of the pipe.
fn the_host_ends_with_its_parent() -> Result<(), Failed> {
    let mut host = Command::new(std::env::current_exe()?);
    let mut host = host.arg(HOST).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    std::thread::sleep(Duration::from_millis(100));
    expect(host.try_wait()?, None)?;
    drop(host.stdin.take());
    let start = Instant::now();
    while host.try_wait()?.is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            host.kill()?;
            return Err("the host lives on".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Every bit pattern of narrow types, and some of the others.
fn element_types_keep_their_bits(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let mut kept = 0;
    for &ty in ElementType::ALL {
        let text = format!(
            "HloModule m\nENTRY e {{ x = {ty}[4,32] parameter(0) ROOT r = {ty}[4,32] copy(x) }}"
        );
        let shape = ArrayShape::new(ty, [4, 32].as_slice());
        let mut value = Literal::zeros(shape);
        for (byte, bits) in value.bytes_mut().iter_mut().zip((0..=u8::MAX).cycle()) {
            *byte = match (ty.class(), ty.bits()) {
                (hlo::elem::Class::Pred, _) => bits & 1,
                (hlo::elem::Class::Signed, n @ 1..8) => {
                    ((bits << (8 - n)).cast_signed() >> (8 - n)).cast_unsigned()
                }
                (_, n @ 1..8) => bits & ((1 << n) - 1),
                _ => bits,
            };
        }
        // A plugin may not know the newest types; older ones die of them.
        let loaded = compile(&mut plugin, &text);
        let result = loaded.and_then(|mut module| module.execute(&[vec![value.clone()]]));
        match result {
            Ok(results) if results[0].bytes() == value.bytes() => kept += 1,
            Ok(_) => return Err(format!("{ty} changes").into()),
            Err(error) if ty.bits() < 8 && error.number() != "E0705" => {}
            Err(error) => return Err(format!("{ty}: {error}").into()),
        }
    }
    expect(kept >= 24, true)
}

fn results_agree_with_ours(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m
ENTRY e { x = f32[2,3] parameter(0) y = f32[3,2] parameter(1)
  d = f32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[2,2] tanh(d) }
// in: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// in: f32[3,2] {{0.25, -1}, {0.5, 2}, {-0.125, 0}}
";
    let file = FileTest::new(Path::new("m.hlo"), text.to_owned())?;
    let subject = file.cases[0].subject().unwrap().unwrap();
    let record = conform(&subject, &mut EngineBackend(Engine::Exact), &mut plugin);
    match record.verdict {
        Verdict::Agrees | Verdict::WithinBound => expect(record.measures.unwrap().elements, 4),
        _ => Err(record.reason.into()),
    }
}

fn tuples_are_flattened(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m
ENTRY e { p = (s32[], f32[2]) parameter(0)
  a = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  ROOT r = (f32[2], s32[]) tuple(x, a) }";
    let mut loaded = compile(&mut plugin, text)?;
    let [a, x] = ["s32[] 7", "f32[2] {1, 2}"].map(|t| t.parse::<Literal>().unwrap());
    let results = loaded.execute(&[vec![Literal::tuple(vec![a.clone(), x.clone()])]])?;
    expect(results, vec![Literal::tuple(vec![x, a])])?;
    let nested = "HloModule m, input_output_alias={ {1,0}: (0, {0,0}, may-alias) }
ENTRY e { p = ((s32[], token[]), f32[2]) parameter(0) q = s32[] parameter(1)
  a = (s32[], token[]) get-tuple-element(p), index=0 n = () tuple()
  ROOT r = (s32[], (s32[], token[]), ()) tuple(q, a, n) }";
    let seven = Literal::scalar(ElementType::S32, hlo::Scalar::Signed(7));
    let pair = Literal::tuple(vec![seven.clone(), Literal::token()]);
    let argument = Literal::tuple(vec![pair.clone(), literals(&["f32[2] {1, 2}"]).remove(0)]);
    let results = compile(&mut plugin, nested)?.execute(&[vec![argument, seven.clone()]])?;
    expect(results, vec![Literal::tuple(vec![seven, pair, Literal::tuple(Vec::new())])])
}

fn dynamic_sizes_are_kept(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m
ENTRY e { x = f32[2,<=4] parameter(0) n = s32[] parameter(1) y = f32[2,4] constant({{1, 2, 3, 4}, {5, 6, 7, 8}})
  z = f32[2,<=4] set-dimension-size(y, n), dimensions={1} s = f32[2,<=4] add(x, x)
  ROOT r = (f32[2,<=4], f32[2,<=4]) tuple(s, z) }";
    let x = Literal::from_slice(&[2, 4], &[1f32, 2., 3., 9., 4., 5., 6., 9.]);
    let mut loaded = compile(&mut plugin, text)?;
    for (n, elements) in [(3, [1f32, 2., 3., 5., 6., 7.].as_slice()), (0, &[])] {
        let argument = x.clone().with_sizes(&[2, 3]);
        let results = loaded.execute(&[vec![argument, Literal::from_slice(&[], &[n])]])?;
        let doubled = Literal::from_slice(&[2, 3], &[2f32, 4., 6., 8., 10., 12.]);
        let kept = Literal::from_slice(&[2, n.into()], elements);
        expect(results, vec![Literal::tuple(vec![doubled, kept])])?;
    }
    Ok(())
}

/// The second execution gets arguments of its own.
fn arguments_are_donated(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m, input_output_alias={ {}: (0, {}, must-alias) }
ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] add(x, x) }";
    let mut loaded = compile(&mut plugin, text)?;
    let arguments = [literals(&["s32[2] {1, 2}"])];
    for _ in 0..2 {
        expect(loaded.execute(&arguments)?[0].to_string(), "s32[2]{0} {2, 4}".to_owned())?;
    }
    Ok(())
}

fn replicas_communicate(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m, replica_count=3
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ENTRY e { x = s32[] parameter(0) i = u32[] replica-id() k = s32[] convert(i)
  sum = s32[] all-reduce(x), replica_groups={{0,1,2}}, to_apply=add
  ROOT r = (s32[], s32[]) tuple(sum, k) }";
    let results = run(&mut plugin, text, &[&["s32[] 1"], &["s32[] 10"], &["s32[] 100"]])?;
    let expected = (0..3).map(|k| format!("( s32[] 111, s32[] {k} )")).collect();
    expect(results, expected)
}

fn partitions_communicate(tested: &Tested) -> Result<(), Failed> {
    let mut plugin = open(tested, PluginOptions::default())?;
    let text = "HloModule m, num_partitions=2
ENTRY e { x = s32[] parameter(0) i = u32[] partition-id() k = s32[] convert(i)
  y = s32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT r = (s32[], s32[]) tuple(y, k) }";
    let results = run(&mut plugin, text, &[&["s32[] 5"], &["s32[] 6"]])?;
    expect(results, vec!["( s32[] 6, s32[] 0 )".to_owned(), "( s32[] 5, s32[] 1 )".to_owned()])
}

const COPY: &str = "HloModule m\nENTRY e { x = s32[] parameter(0) ROOT r = s32[] negate(x) }";

fn options_reach_the_plugin(tested: &Tested) -> Result<(), Failed> {
    let option = |name: &str, value| vec![(name.to_owned(), value)];
    let level = option("xla_backend_optimization_level", OptionValue::Int(0));
    let mut plugin = open(tested, PluginOptions { xla: level, ..PluginOptions::default() })?;
    expect(plugin.capabilities().devices, Some(4))?;
    expect(run(&mut plugin, COPY, &[&["s32[] 5"]])?, vec!["s32[] -5".to_owned()])?;
    let unknown = option("xla_no_such_option", OptionValue::Bool(true));
    let mut plugin = open(tested, PluginOptions { xla: unknown, ..PluginOptions::default() })?;
    let error = compile(&mut plugin, COPY).map(drop).unwrap_err();
    expect(error.number(), "E0702")?;
    expect(error.to_string().contains("xla_no_such_option"), true)
}

fn an_endless_loop_costs_one_module(tested: &Tested) -> Result<(), Failed> {
    let time_limit = Duration::from_secs(5);
    let mut plugin = open(tested, PluginOptions { time_limit, ..PluginOptions::default() })?;
    let text = "HloModule m
again { x = s32[] parameter(0) z = s32[] constant(0) ROOT p = pred[] compare(x, z), direction=GE }
step { x = s32[] parameter(0) ROOT n = s32[] negate(x) }
ENTRY e { x = s32[] parameter(0) ROOT w = s32[] while(x), condition=again, body=step }";
    let mut kept = compile(&mut plugin, COPY)?;
    let error = compile(&mut plugin, text)?.execute(&[literals(&["s32[] 0"])]).unwrap_err();
    expect(error.number(), "E0705")?;
    // A module of the process that was killed is compiled again.
    expect(kept.execute(&[literals(&["s32[] 5"])])?[0].to_string(), "s32[] -5".to_owned())
}
