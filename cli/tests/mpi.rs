//! `mpirun etalon run`: what one process gives, and what is said when a rank is gone.
#![expect(clippy::unwrap_used, reason = "tests")]
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ETALON: &str = env!("CARGO_BIN_EXE_etalon");

const SUMS: &str = "HloModule sums, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[64] parameter(0)
  p = u32[] partition-id()
  f = f32[] convert(p)
  scale = f32[64] broadcast(f), dimensions={}
  y = f32[64] multiply(x, scale)
  pairs = f32[64] all-reduce(y), channel_id=1, replica_groups={{0,1},{2,3},{4,5},{6,7}}, use_global_device_ids=true, to_apply=add
  all = f32[64] all-reduce(pairs), channel_id=2, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=add
  part = f32[8] reduce-scatter(all), channel_id=3, replica_groups={{7,6,5,4,3,2,1,0}}, dimensions={0}, use_global_device_ids=true, to_apply=add
  ROOT next = f32[8] collective-permute(part), channel_id=4, source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}
}
";

/// Partition 0 waits for the others, which have ended.
const WAITS: &str = "HloModule waits, num_partitions=4
add { a = u32[] parameter(0) b = u32[] parameter(1) ROOT s = u32[] add(a, b) }
sum { x = u32[] parameter(0) ROOT r = u32[] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add }
same { y = u32[] parameter(0) ROOT r = u32[] copy(y) }
ENTRY e { p = u32[] partition-id() zero = u32[] constant(0) is = pred[] compare(p, zero), direction=EQ
  ROOT c = u32[] conditional(is, p, p), true_computation=sum, false_computation=same }
";

/// Every device counts for longer than anybody waits.
const COUNTS: &str = "HloModule counts, replica_count=3
more { n = s64[] parameter(0) end = s64[] constant(1000000000000) ROOT c = pred[] compare(n, end), direction=LT }
next { n = s64[] parameter(0) one = s64[] constant(1) ROOT m = s64[] add(n, one) }
ENTRY e { zero = s64[] constant(0) ROOT w = s64[] while(zero), condition=more, body=next }
";

/// A folder of this test, with a module in it.
fn module(test: &str, text: &str) -> (PathBuf, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("m.hlo");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

fn mpirun(ranks: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "-n", &ranks.to_string(), ETALON]).args(arguments);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("RAYON_NUM_THREADS", "1");
    command
}
fn alone(arguments: &[&str]) -> Output {
    Command::new(ETALON).args(arguments).output().unwrap()
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
/// Errors without what `mpirun` adds: that a process has ended with an error.
fn said(output: &Output) -> String {
    let errors = text(&output.stderr);
    let mut own = errors.as_str();
    if let Some((before, _)) = errors.split_once("--------------------") {
        own = before;
    }
    own.trim_end().to_owned()
}

#[test]
fn ranks_give_the_bits_of_one_process() {
    let (folder, file) = module("bits", SUMS);
    let run = |ranks: Option<usize>, name: &str| {
        let to = folder.join(name);
        let arguments =
            ["run", &file, "--random", "7", "--print", "--output", to.to_str().unwrap()];
        let output = match ranks {
            None => alone(&arguments),
            Some(ranks) => mpirun(ranks, &arguments).output().unwrap(),
        };
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), std::fs::read(to).unwrap())
    };
    let expected = run(None, "alone.npz");
    assert_eq!(expected.0.lines().count(), 8, "{}", expected.0);
    for ranks in [2, 4] {
        assert_eq!(run(Some(ranks), "together.npz"), expected, "{ranks} ranks");
    }
}

#[test]
fn errors_of_a_run_are_said_once() {
    let (_, file) = module("waits", WAITS);
    let (expected, found) = (alone(&["run", &file]), mpirun(4, &["run", &file]).output().unwrap());
    assert!(text(&expected.stderr).contains("E0501"), "{}", text(&expected.stderr));
    assert_eq!(said(&found), text(&expected.stderr).trim_end());
    assert_eq!(found.status.code(), Some(1));
    assert_eq!(expected.status.code(), Some(1));
}

#[test]
fn what_all_ranks_lack_is_said_once() {
    let (folder, _) = module("lacks", SUMS);
    let missing = folder.join("none.hlo").to_str().unwrap().to_owned();
    let found = mpirun(3, &["run", &missing]).output().unwrap();
    assert_eq!(text(&found.stderr).matches("E0601").count(), 1, "{}", text(&found.stderr));
    assert_eq!(found.status.code(), Some(2));
}

#[test]
fn what_one_rank_lacks_ends_all() {
    let (folder, file) = module("lacks_one", SUMS);
    // A file that is there once: the shell gives rank 1 another name.
    let missing = folder.join("none.hlo");
    let script = format!(
        "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then f={}; else f={file}; fi; exec {ETALON} run $f --random 1",
        missing.display()
    );
    let mut command = mpirun(3, &[]);
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let envs: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.unwrap().to_owned())).collect();
    command = Command::new("mpirun");
    command.args(&arguments[..3]).args(["sh", "-c", &script]).envs(envs);
    let found = command.output().unwrap();
    let errors = text(&found.stderr);
    assert!(errors.contains("rank 1: error[E0601]"), "{errors}");
    assert_eq!(found.status.code(), Some(2), "{errors}");
    assert!(found.stdout.is_empty());
}

#[test]
fn a_rank_that_is_killed_ends_all() {
    let (_, file) = module("killed", COUNTS);
    let mut running =
        mpirun(3, &["run", &file]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let ranks = until("all ranks run", &mut running, |running| {
        let ranks = children(running.id());
        (ranks.len() == 3 && ranks.iter().all(|&rank| listens(rank))).then_some(ranks)
    });
    assert!(Command::new("kill").args(["-9", &ranks[1].to_string()]).status().unwrap().success());
    let status =
        until("the others have ended", &mut running, |running| running.try_wait().unwrap());
    assert!(!status.success());
    let mut errors = String::new();
    std::io::Read::read_to_string(&mut running.stderr.take().unwrap(), &mut errors).unwrap();
    assert_eq!(errors.matches("stopped from outside").count(), 2, "{errors}");
    assert!(errors.contains("signal 9"), "{errors}");
    assert!(ranks.iter().all(|rank| !Path::new(&format!("/proc/{rank}")).exists()), "{errors}");
}

/// Asks again and again; ends what runs, and fails, if that is of no use.
fn until<T>(what: &str, running: &mut Child, ask: impl Fn(&mut Child) -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = ask(running) {
            return found;
        }
        if start.elapsed() > Duration::from_secs(120) {
            running.kill().unwrap();
            panic!("waited too long: {what}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
/// The processes that a process has started, by what Linux says.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<u32> =
        numbers.filter(|&id| field(id, "PPid:") == Some(parent.to_string())).collect();
    found.sort_unstable();
    found
}
/// Whether a process has said what it does when it is stopped (signal 15): it runs.
fn listens(process: u32) -> bool {
    let caught = field(process, "SigCgt:").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    caught.is_some_and(|mask| mask & (1 << 14) != 0)
}
fn field(process: u32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}
