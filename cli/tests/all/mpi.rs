//! `mpirun etalon run` and `campaign`: the same results as one process, and errors of lost ranks.
use crate::support::{Folder, expect};
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

/// Partition 0 waits for the other partitions, which have ended.
const WAITS: &str = "HloModule waits, num_partitions=4
add { a = u32[] parameter(0) b = u32[] parameter(1) ROOT s = u32[] add(a, b) }
sum { x = u32[] parameter(0) ROOT r = u32[] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add }
same { y = u32[] parameter(0) ROOT r = u32[] copy(y) }
ENTRY e { p = u32[] partition-id() zero = u32[] constant(0) is = pred[] compare(p, zero), direction=EQ
  ROOT c = u32[] conditional(is, p, p), true_computation=sum, false_computation=same }
";

/// Every device runs an endless loop.
const COUNTS: &str = "HloModule counts, replica_count=3
more { n = s64[] parameter(0) end = s64[] constant(1000000000000) ROOT c = pred[] compare(n, end), direction=LT }
next { n = s64[] parameter(0) one = s64[] constant(1) ROOT m = s64[] add(n, one) }
ENTRY e { zero = s64[] constant(0) ROOT w = s64[] while(zero), condition=more, body=next }
";

/// Returns a folder with this module in it.
fn folder(test: &str, text: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("m.hlo", text);
    folder
}
/// `mpirun` with its options and its program: that of the MPI library that Etalon was built with.
fn started(folder: &Folder, options: &[&str]) -> Command {
    let launcher = std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned());
    let mut command = Command::new(launcher);
    command.args(options).current_dir(&folder.0);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.env("RAYON_NUM_THREADS", "1");
    command
}
fn mpirun(ranks: &str, folder: &Folder, line: &str) -> Output {
    let mut command = started(folder, &["-n", ranks, ETALON]);
    command.args(line.split_whitespace()).output().unwrap()
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
/// Returns the stderr of Etalon without the message of `mpirun` about the exit code.
fn errors_of(output: &Output) -> String {
    let errors = text(&output.stderr);
    let mut own = errors.as_str();
    if let Some((before, _)) = errors.split_once("--------------------") {
        own = before;
    }
    own.trim_end().to_owned()
}

#[test]
fn ranks_give_the_bits_of_one_process() {
    let folder = folder("mpi-bits", SUMS);
    let line = "run m.hlo --random 7 --print --gather --output r.npz";
    let result = |output: &Output| {
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), std::fs::read(folder.0.join("r.npz")).unwrap())
    };
    let expected = result(&folder.etalon(line));
    assert!(expected.0.contains("device 7:"), "{}", expected.0);
    for ranks in ["2", "4"] {
        assert_eq!(result(&mpirun(ranks, &folder, line)), expected, "{ranks} ranks");
    }
    // The option overrides the header.
    let (replicas, count) = (SUMS.replacen(", num_partitions=8", "", 1), "--partitions 8");
    folder.write("m.hlo", &replicas);
    assert_eq!(result(&mpirun("4", &folder, &format!("{line} {count}"))), expected);
}

/// Returns the names and the bytes of all arrays of a file.
fn arrays(folder: &Folder, file: &str) -> Vec<(String, Vec<u8>)> {
    let file = std::fs::File::open(folder.0.join(file)).unwrap();
    let arrays = hlo::literal::npz::read(file).unwrap();
    arrays.into_iter().map(|array| (array.name.clone(), array.bytes().to_vec())).collect()
}

/// Writes an array for each device.
fn save(folder: &Folder, file: &str, name: &str, values: &[hlo::Literal]) {
    let named = values.iter().enumerate().map(|(k, value)| (format!("d{k}_{name}"), value));
    let file = std::fs::File::create(folder.0.join(file)).unwrap();
    hlo::literal::npz::write(file, named).unwrap();
}

#[test]
fn each_rank_writes_the_results_of_its_devices() {
    let folder = folder("mpi-own", SUMS);
    let line = "run m.hlo --random 7 --output r.npz";
    expect(&folder.etalon(line), 0, "", "");
    let all = arrays(&folder, "r.npz");
    let found = mpirun("3", &folder, line);
    expect(&found, 0, "", "");
    let each = ["r.npz", "r.rank1.npz", "r.rank2.npz"].map(|file| arrays(&folder, file));
    assert_eq!(each.each_ref().map(Vec::len), [3, 3, 2]);
    assert_eq!(each.concat(), all);
    // Each rank reads the arguments of its devices from a file for all devices.
    let inputs = "run m.hlo --input in.npz --output r.npz";
    let values: Vec<hlo::Literal> =
        (0..8_u8).map(|k| hlo::Literal::from_slice(&[64], &[f32::from(k) / 3.0; 64])).collect();
    save(&folder, "in.npz", "in0", &values);
    expect(&folder.etalon(inputs), 0, "", "");
    let all = arrays(&folder, "r.npz");
    expect(&mpirun("2", &folder, inputs), 0, "", "");
    assert_eq!([arrays(&folder, "r.npz"), arrays(&folder, "r.rank1.npz")].concat(), all);
    // More ranks than devices: the last ones write nothing.
    folder
        .write("two.hlo", "HloModule two, replica_count=2 ENTRY e { ROOT r = u32[] replica-id() }");
    expect(&mpirun("3", &folder, "run two.hlo --output two.npz"), 0, "", "");
    assert_eq!(arrays(&folder, "two.rank1.npz"), [("d1_out0".to_owned(), vec![1, 0, 0, 0])]);
    assert!(!folder.0.join("two.rank2.npz").exists());
}

#[test]
fn each_rank_reads_the_infeed_values_of_its_devices() {
    let text = "HloModule feed, replica_count=3
        ENTRY e { t = token[] after-all() i = (s32[2], token[]) infeed(t)
          x = s32[2] get-tuple-element(i), index=0
          ROOT g = s32[6] all-gather(x), replica_groups={}, dimensions={0} }";
    let folder = folder("mpi-infeed", text);
    let values = ["s32[2] {1, 2}", "s32[2] {3, 4}", "s32[2] {5, 6}"].map(|x| x.parse().unwrap());
    save(&folder, "feed.npz", "infeed0", &values);
    let line = "run m.hlo --infeed feed.npz";
    let found = mpirun("2", &folder, line);
    expect(&found, 0, "device 2: s32[6] {1, 2, 3, 4, 5, 6}", "");
    assert_eq!(found.stdout, folder.etalon(line).stdout);
    // Rank 0 has devices 0 and 1, and does not read the array for device 2.
    let values = ["s32[2] {1, 2}", "s32[2] {3, 4}", "s32[3] {5, 6, 7}"].map(|x| x.parse().unwrap());
    save(&folder, "feed.npz", "infeed0", &values);
    expect(&mpirun("2", &folder, line), 2, "", "rank 1: error[E0603]");
}

#[test]
fn an_unpartitioned_program_runs_over_ranks() {
    let text = r##"HloModule g, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=4]>}}
ENTRY e { x = s32[8] iota(), iota_dimension=0
  l = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
    xla.sdy.in_shardings="#sdy.sharding_per_value<[<@m, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  b = s32[2] collective-permute(l), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  ROOT j = s32[8] custom-call(b), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
    xla.sdy.out_shardings="#sdy.sharding_per_value<[<@m, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
}"##;
    let folder = folder("mpi-global", text);
    let alone = folder.etalon("run m.hlo");
    expect(&alone, 0, "s32[8] {6, 7, 0, 1, 2, 3, 4, 5}\n", "");
    let found = mpirun("3", &folder, "run m.hlo --output r.npz --print");
    expect(&found, 0, "", "");
    assert_eq!(found.stdout, alone.stdout);
    assert_eq!(arrays(&folder, "r.npz").len(), 1);
    assert!(!folder.0.join("r.rank1.npz").exists());
}

#[test]
fn outputs_are_printed_by_one_rank() {
    let module = "HloModule m, replica_count=3
        ENTRY e { r = u32[] replica-id() t = token[] after-all() o = token[] outfeed(r, t), outfeed_shape=u32[]
          ROOT s = u32[] add(r, r) }";
    let folder = folder("mpi-outfeed", module);
    let found = mpirun("2", &folder, "run m.hlo");
    expect(&found, 0, "device 2, outfeed 0: u32[] 2", "");
    assert_eq!(found.stdout, folder.etalon("run m.hlo").stdout);
    // A module for one device runs on one rank.
    folder.write("one.hlo", "HloModule m ENTRY e { ROOT c = u32[] constant(7) }");
    let found = mpirun("2", &folder, "run one.hlo m.hlo");
    let both = folder.etalon("run one.hlo m.hlo").stdout;
    assert_eq!(text(&found.stdout), text(&both), "{}", text(&found.stderr));
}

#[test]
fn errors_of_a_run_are_reported_once() {
    let folder = folder("mpi-waits", WAITS);
    let (expected, found) = (folder.etalon("run m.hlo"), mpirun("4", &folder, "run m.hlo"));
    expect(&expected, 1, "", "E0501");
    expect(&found, 1, "", "E0501");
    assert_eq!(errors_of(&found), text(&expected.stderr).trim_end());
}

#[test]
fn errors_of_all_ranks_are_reported_once() {
    let folder = folder("mpi-lacks", SUMS);
    let found = mpirun("3", &folder, "run none.hlo");
    expect(&found, 2, "", "E0601");
    assert_eq!(text(&found.stderr).matches("E0601").count(), 1, "{}", text(&found.stderr));
    expect(&mpirun("3", &folder, "run m.hlo --random 1 --output none/r.npz"), 2, "", "E0601");
}

#[test]
fn an_error_of_one_rank_ends_all_ranks() {
    let folder = folder("mpi-lacks-one", SUMS);
    // Rank 1 gets the name of a missing file.
    let script = format!(
        "f=m.hlo; if [ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 1 ]; then f=none.hlo; fi; exec {ETALON} run $f --random 1"
    );
    let found = started(&folder, &["-n", "3", "sh", "-c", &script]).output().unwrap();
    expect(&found, 2, "", "rank 1: error[E0601]");
    assert!(found.stdout.is_empty(), "{}", text(&found.stdout));
    // Rank 1 gets other options: all ranks have the same error, and rank 0 reports it.
    let script = script.replace("none.hlo", "'m.hlo --fuel 1000000'");
    let found = started(&folder, &["-n", "3", "sh", "-c", &script]).output().unwrap();
    expect(&found, 2, "", "ranks 0 and 1 run different options");
    assert_eq!(text(&found.stderr).matches("E0508").count(), 1, "{}", text(&found.stderr));
}

#[test]
fn a_killed_rank_ends_all_ranks() {
    let folder = folder("mpi-killed", COUNTS);
    let mut command = started(&folder, &["-n", "3", ETALON, "run", "m.hlo"]);
    let mut running = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let ranks = until("all ranks run", &mut running, |running| {
        let ranks = descendants(running.id());
        // The process through which MPICH starts ranks handles the signal too.
        let is_rank = |&id: &u32| field(id, "Name:").as_deref() == Some("etalon");
        let is_running = |&id: &u32| is_rank(&id) && handles_sigterm(id);
        let ranks: Vec<u32> = ranks.into_iter().filter(is_running).collect();
        (ranks.len() == 3).then_some(ranks)
    });
    assert!(Command::new("kill").args(["-9", &ranks[1].to_string()]).status().unwrap().success());
    let status =
        until("the others have ended", &mut running, |running| running.try_wait().unwrap());
    assert!(!status.success());
    // A rank may end after `mpirun`, which signals it and goes. Zombie processes have ended.
    let ended = |rank: &u32| field(*rank, "State:").is_none_or(|state| state.starts_with('Z'));
    until("all ranks have ended", &mut running, |_| ranks.iter().all(ended).then_some(()));
    let output = running.wait_with_output().unwrap();
    let errors = text(&[output.stdout, output.stderr].concat());
    // MPICH kills the others, and writes to stdout. On a busy machine Open MPI ends before it forwards the message of the last rank.
    let is_mpich = errors.contains("BAD TERMINATION");
    let expected = if is_mpich { 0..=0 } else { 1..=2 };
    assert!(expected.contains(&errors.matches("stopped by SIGTERM").count()), "{errors}");
    assert!(errors.contains("signal 9"), "{errors}");
}

/// The options of a short campaign.
const SHORT: &str = "--backend planted:tanh --suite probes --count 12 --seed 3";

/// Returns what a folder of a campaign has: the causes with their numbers of cases, the names of their
/// folders, and the lines of the log but for the times.
fn found_in(folder: &Folder, name: &str) -> [Vec<String>; 3] {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let list = lines(&text(&folder.etalon(&format!("campaign {name} --list")).stdout));
    let causes = std::fs::read_dir(folder.0.join(name).join("causes")).unwrap();
    let names = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut causes: Vec<String> =
        causes.map(|entry| names(entry).to_string_lossy().into_owned()).collect();
    causes.sort();
    let log = std::fs::read_to_string(folder.0.join(name).join("log.jsonl")).unwrap();
    let cases = log.lines().filter(|line| !line.contains("\"event\":\"campaign\""));
    let without = |line: &str| {
        let parts = line.split(',');
        let is_kept = |part: &&str| !part.starts_with("\"at\":") && !part.starts_with("\"time\":");
        parts.filter(is_kept).collect::<Vec<_>>().join(",").replace('}', "")
    };
    [list, causes, cases.map(without).collect()]
}

/// Returns the processes of Etalon that `mpirun` has started.
fn ranks_of(running: &Child) -> Vec<u32> {
    let is_rank = |id: &u32| field(*id, "Name:").as_deref() == Some("etalon");
    descendants(running.id()).into_iter().filter(is_rank).collect()
}

#[test]
fn a_campaign_over_ranks_is_that_of_one_process() {
    let folder = Folder::new("mpi-campaign");
    let one = folder.etalon(&format!("campaign one {SHORT}"));
    expect(&one, 1, "2 causes in 2 groups: 2 new", "");
    let line = format!("campaign all {SHORT}");
    // A rank is killed in the suite: nothing is lost, and the same line goes on.
    let mut command = started(&folder, &["-n", "3", ETALON]);
    command.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let log = folder.0.join("all/ranks/1/log.jsonl");
    let ranks = until("a rank has cases", &mut running, |running| {
        let lines = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
        (lines > 50).then(|| ranks_of(running))
    });
    assert_eq!(ranks.len(), 3);
    assert!(Command::new("kill").args(["-9", &ranks[1].to_string()]).status().unwrap().success());
    let status =
        until("the others have ended", &mut running, |running| running.try_wait().unwrap());
    assert!(!status.success());
    let ended = running.wait_with_output().unwrap();
    let errors = text(&[ended.stdout, ended.stderr].concat());
    assert!(errors.contains("signal 9"), "{errors}");
    let before = std::fs::read_to_string(&log).unwrap();
    let whole = mpirun("3", &folder, &line);
    expect(&whole, 1, "2 causes in 2 groups: 2 new", "");
    assert_eq!(text(&whole.stdout).matches("round 1:").count(), 1);
    let whole_lines = before.rsplit_once('\n').unwrap().0;
    assert!(std::fs::read_to_string(&log).unwrap().starts_with(whole_lines));
    assert!(found_in(&folder, "all") == found_in(&folder, "one"), "{}", folder.0.display());
    // The next round, of as many modules for each rank.
    folder.etalon(&format!("campaign one {SHORT}"));
    expect(&mpirun("3", &folder, &line), 1, "round 2: ", "");
    assert!(found_in(&folder, "all") == found_in(&folder, "one"), "{}", folder.0.display());
    // Another number of ranks, none, and a campaign of a single process.
    expect(&mpirun("2", &folder, &line), 2, "", "over 3 ranks");
    expect(&folder.etalon(&line), 2, "", "over 3 ranks");
    let other = mpirun("2", &folder, &format!("campaign one {SHORT}"));
    expect(&other, 2, "", "over 2 ranks");
    assert_eq!(text(&other.stderr).matches("E0601").count(), 1, "{}", text(&other.stderr));
    // What a killed round has found.
    expect(
        &folder.etalon("campaign now --merge all/ranks/0 all/ranks/1 all/ranks/2"),
        1,
        "2 causes in 2 groups",
        "",
    );
}

#[test]
fn a_round_that_some_ranks_have_completed_goes_on_with_the_others() {
    let folder = Folder::new("mpi-campaign-rest");
    let line = format!("campaign all {}", SHORT.replace("12", "4"));
    expect(&mpirun("2", &folder, &line), 1, "round 1: ", "");
    let whole = found_in(&folder, "all");
    // As if rank 1 had been killed in the modules, before the shards were put together.
    let log = folder.0.join("all/ranks/1/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let kept: Vec<&str> = text.lines().take(text.lines().count() - 5).collect();
    std::fs::write(&log, kept.join("\n") + "\n").unwrap();
    let all = folder.0.join("all/log.jsonl");
    let first = std::fs::read_to_string(&all).unwrap().lines().next().unwrap().to_owned() + "\n";
    std::fs::write(&all, &first).unwrap();
    let before = std::fs::read_to_string(folder.0.join("all/ranks/0/log.jsonl")).unwrap();
    expect(&mpirun("2", &folder, &line), 1, "round 1: ", "");
    assert_eq!(found_in(&folder, "all"), whole);
    assert_eq!(std::fs::read_to_string(folder.0.join("all/ranks/0/log.jsonl")).unwrap(), before);
    // Only the shards were not put together.
    std::fs::write(&all, &first).unwrap();
    expect(&mpirun("2", &folder, &line), 1, "round 1: ", "");
    assert_eq!(found_in(&folder, "all"), whole);
}

#[test]
fn errors_of_a_campaign_end_all_ranks() {
    let folder = Folder::new("mpi-campaign-errors");
    let none = mpirun("2", &folder, "campaign d --backend none.so --count 1");
    expect(&none, 2, "", "none.so");
    assert!(!folder.0.join("d").exists());
    folder.write("known.txt", "one two three");
    let known = mpirun("2", &folder, "campaign d --backend exact --count 0 --known known.txt");
    expect(&known, 2, "", "VERDICT PATTERN | CAUSE");
    assert_eq!(text(&known.stderr).matches("error[").count(), 1, "{}", text(&known.stderr));
    // Rank 1 has another seed.
    let script = format!(
        "s=1; if [ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 1 ]; then s=2; fi; exec {ETALON} campaign d --backend exact --suite probes --count 0 --seed $s"
    );
    let found = started(&folder, &["-n", "2", "sh", "-c", &script]).output().unwrap();
    expect(&found, 2, "", "ranks 0 and 1 run different campaigns");
    // A rank that cannot write its shard.
    std::fs::create_dir_all(folder.0.join("e/ranks")).unwrap();
    expect(&mpirun("2", &folder, "campaign e --backend exact --count 0"), 2, "", "not empty");
    assert!(!folder.0.join("e/log.jsonl").exists());
}

/// Polls until there is an answer; kills the process and fails after two minutes.
fn until<T>(what: &str, running: &mut Child, ask: impl Fn(&mut Child) -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = ask(running) {
            return found;
        }
        if start.elapsed() > Duration::from_secs(120) {
            running.kill().unwrap();
            panic!("timeout: {what}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
/// Returns the children of a process, and theirs, from /proc: MPICH starts ranks through a process of its own.
fn descendants(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |&id: &u32| field(id, "PPid:") == Some(parent.to_string());
    let mut found: Vec<u32> =
        numbers.filter(is_child).flat_map(|id| [vec![id], descendants(id)].concat()).collect();
    found.sort_unstable();
    found
}
/// Returns whether a process has installed its handler of SIGTERM (signal 15): it runs.
fn handles_sigterm(process: u32) -> bool {
    let caught = field(process, "SigCgt:").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    caught.is_some_and(|mask| mask & (1 << 14) != 0)
}
fn field(process: u32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}
