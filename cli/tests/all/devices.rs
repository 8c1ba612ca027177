//! Runs of several devices: arguments, results, errors and graphs.
use crate::support::{Folder, expect};
use hlo::literal::npz;
use hlo::{ArrayShape, Literal};
use std::fs::File;

/// The sum over two replicas.
const SUM: &str = "HloModule m, replica_count=2
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] all-reduce(x), replica_groups={}, to_apply=add }
";

fn save(folder: &Folder, file: &str, arrays: &[(&str, &str)]) {
    let values: Vec<(String, Literal)> =
        (arrays.iter()).map(|(name, text)| ((*name).to_owned(), text.parse().unwrap())).collect();
    let to = File::create(folder.0.join(file)).unwrap();
    npz::write(to, values.iter().map(|(name, value)| (name.clone(), value))).unwrap();
}

/// Returns names and values of all arrays of a file.
fn load(folder: &Folder, file: &str) -> Vec<String> {
    let arrays = npz::read(File::open(folder.0.join(file)).unwrap()).unwrap();
    let shown = |array: npz::NpyArray| {
        let shape = ArrayShape::new(array.natural_type().unwrap(), array.dims.to_vec());
        format!("{} = {}", array.name, array.to_literal(&shape).unwrap())
    };
    arrays.into_iter().map(shown).collect()
}

/// Returns an `.npy` file of two `s32`.
fn npy(x: i32, y: i32) -> Vec<u8> {
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n";
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length);
    file.extend(header.bytes());
    file.extend([x, y].iter().flat_map(|x| x.to_le_bytes()));
    file
}

#[test]
fn each_device_has_its_own_arguments() {
    let folder = Folder::new("own");
    folder.write("sum.hlo", SUM);
    save(&folder, "own.npz", &[("d0_in0", "s32[2] {1, 2}"), ("d1_in0", "s32[2] {10, 20}")]);
    let lines = "device 0: s32[2] {11, 22}\ndevice 1: s32[2] {11, 22}\n";
    expect(&folder.etalon("run sum.hlo --input own.npz"), 0, lines, "");
    // `--print` shows equal results once.
    let run = folder.etalon("run sum.hlo --input own.npz --output out.npz --print");
    expect(&run, 0, "devices 0 and 1:\ns32[2] {11, 22}\n", "");
    let expected = ["d0_out0 = s32[2]{0} {11, 22}", "d1_out0 = s32[2]{0} {11, 22}"];
    assert_eq!(load(&folder, "out.npz"), expected);
    std::fs::write(folder.0.join("a.npy"), npy(3, 4)).unwrap();
    std::fs::write(folder.0.join("b.npy"), npy(5, 6)).unwrap();
    let run = folder.etalon("run sum.hlo --input d0:0=a.npy --input d1:0=b.npy");
    expect(&run, 0, "device 1: s32[2] {8, 10}\n", "");
    expect(&folder.etalon("run sum.hlo --input 0=a.npy"), 0, "device 1: s32[2] {6, 8}\n", "");
    // The option overrides the header.
    let run = folder.etalon("run sum.hlo --input 0=a.npy --replicas 3");
    expect(&run, 0, "device 2: s32[2] {9, 12}\n", "");
    expect(&folder.etalon("run sum.hlo --input 0=a.npy --replicas 1"), 0, "s32[2] {3, 4}\n", "");
    // Groups of replicas: each partition has its own sum.
    save(
        &folder,
        "four.npz",
        &[
            ("d0_in0", "s32[2] {1, 2}"),
            ("d1_in0", "s32[2] {10, 20}"),
            ("d2_in0", "s32[2] {100, 200}"),
            ("d3_in0", "s32[2] {1000, 2000}"),
        ],
    );
    let run = folder.etalon("run sum.hlo --input four.npz --partitions 2");
    expect(&run, 0, "device 2: s32[2] {101, 202}\ndevice 3: s32[2] {1010, 2020}\n", "");
}

#[test]
fn arguments_that_are_not_used_may_have_any_size() {
    let folder = Folder::new("global");
    folder.write("sum.hlo", SUM);
    let arrays = [
        ("d0_in0", "s32[2] {1, 2}"),
        ("d1_in0", "s32[2] {10, 20}"),
        ("global_in0", "s32[4] {1, 2, 10, 20}"),
    ];
    save(&folder, "both.npz", &arrays);
    let lines = "device 0: s32[2] {11, 22}\ndevice 1: s32[2] {11, 22}\n";
    expect(&folder.etalon("run sum.hlo --input both.npz"), 0, lines, "");
}

#[test]
fn argument_errors_name_the_array() {
    let folder = Folder::new("misfit");
    folder.write("sum.hlo", SUM);
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("d0_in0", "s32[2] {1, 2}")], "there is no array `d1_in0` for s32[2]"),
        (&[("d2_in0", "s32[2] {1, 2}")], "`d2_in0` is for device 2; the run has devices 0 to 1"),
        (
            &[("in0", "s32[2] {1, 2}"), ("d1_in0", "s32[2] {1, 2}")],
            "`in0` is for all devices, but `d<k>_in0` is also given",
        ),
        (&[("d0_in0", "s32[3] {1, 2, 3}"), ("d1_in0", "s32[2] {1, 2}")], "array `d0_in0`: "),
        (&[("d0_in1", "s32[2] {1, 2}"), ("d1_in0", "s32[2] {1, 2}")], "there is no parameter 1"),
    ];
    for (arrays, message) in cases {
        save(&folder, "in.npz", arrays);
        expect(&folder.etalon("run sum.hlo --input in.npz"), 2, "", message);
    }
    save(&folder, "in.npz", &[]);
    let none = folder.etalon("run sum.hlo --input in.npz");
    expect(&none, 2, "", "`in<i>` for all devices, or `d<k>_in<i>` for each of the 2");
    expect(&folder.etalon("run sum.hlo"), 2, "", "E0602");
    for option in ["--replicas 0", "--replicas x", "--partitions -1", "--replicas 99999999999"] {
        expect(&folder.etalon(&format!("run sum.hlo --random 1 {option}")), 2, "", "error: ");
    }
    let many =
        folder.etalon("run sum.hlo --random 1 --replicas 4000000000 --partitions 4000000000");
    expect(&many, 3, "", "at most 65536 devices are supported");
}

#[test]
fn devices_draw_their_own_arguments() {
    let folder = Folder::new("draw");
    folder.write(
        "own.hlo",
        "HloModule m, num_partitions=3\nENTRY e { ROOT x = f32[4] parameter(0) }",
    );
    let run = folder.etalon("run own.hlo --random 7");
    expect(&run, 0, "device 2: f32[4] {", "");
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    let mut values: Vec<&str> = text.lines().filter_map(|l| Some(l.split_once(": ")?.1)).collect();
    // A run on one device has the arguments of device 0.
    let alone = folder.etalon("run own.hlo --random 7 --partitions 1");
    assert_eq!(String::from_utf8(alone.stdout).unwrap(), format!("{}\n", values[0]));
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 3, "{text}");
    assert_eq!(folder.etalon("run own.hlo --random 7").stdout, run.stdout);
    folder.write(
        "same.hlo",
        "HloModule m, num_partitions=3\nENTRY e { ROOT x = f32[4] parameter(0), sharding={replicated} }",
    );
    let same = folder.etalon("run same.hlo --random 7");
    let text = String::from_utf8(same.stdout).unwrap();
    let first = text.lines().next().unwrap().strip_prefix("device 0: ").unwrap();
    assert_eq!(text.matches(first).count(), 3, "{text}");
}

#[test]
fn fuel_is_that_of_a_device_and_memory_that_of_all() {
    let folder = Folder::new("limits");
    folder.write("sum.hlo", SUM);
    expect(
        &folder.etalon("run sum.hlo --random 1 --fuel 1"),
        1,
        "",
        "error[E0404]: device 0: out of fuel after 1 step\n",
    );
    expect(&folder.etalon("run sum.hlo --random 1 --fuel 100"), 0, "device 1", "");
    folder.write("twice.hlo", "HloModule m, replica_count=2\nENTRY e { x = s32[2] parameter(0) ROOT y = s32[2] add(x, x) }");
    expect(&folder.etalon("run twice.hlo --random 1 --max-memory 32"), 0, "device 1", "");
    let least = folder.etalon("run twice.hlo --random 1 --max-memory 31");
    let message = "error[E0405]: device 0: 8 bytes are needed, 8 bytes are in use, and 15 bytes";
    expect(&least, 1, "", message);
    let arguments = folder.etalon("run twice.hlo --random 1 --max-memory 15");
    expect(&arguments, 1, "", "error[E0405]: the arguments have 16 bytes, and 15 bytes");
    expect(&folder.etalon("plan twice.hlo"), 0, "2 devices: peak 32 bytes", "");
    folder.write(
        "one.hlo",
        "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT y = s32[2] add(x, x) }",
    );
    let plan = folder.etalon("plan one.hlo");
    expect(&plan, 0, "ENTRY e: 1 step, 2 slots, peak 16 bytes\n  arguments, 8 bytes", "");
    // The answer of a collective op is reserved before it is built: that of one device has 16 bytes.
    folder.write(
        "gather.hlo",
        "HloModule m, replica_count=4\nENTRY e { x = s8[4] parameter(0) ROOT y = s8[16] all-gather(x), replica_groups={}, dimensions={0} }",
    );
    expect(&folder.etalon("run gather.hlo --random 1 --max-memory 80"), 0, "device 3", "");
    let least = folder.etalon("run gather.hlo --random 1 --max-memory 79");
    expect(&least, 1, "", "error[E0405]: device 0: 16 bytes are needed, 4 bytes are in use");
}

#[test]
fn a_time_limit_is_one_for_all_devices() {
    let folder = Folder::new("time");
    let text = "HloModule m, replica_count=3
      add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
      f { p = s32[2] parameter(0) ROOT t = pred[] constant(true) }
      g { p = s32[2] parameter(0) ROOT q = s32[2] all-reduce(p), replica_groups={}, to_apply=add }
      ENTRY e { p = s32[2] parameter(0) ROOT r = s32[2] while(p), condition=f, body=g }";
    folder.write("forever.hlo", text);
    let run = folder.etalon("run forever.hlo --random 1 --time-limit 0.05");
    expect(&run, 1, "", ": out of time after 0.05 s");
    expect(&folder.etalon("run forever.hlo --random 1 --time-limit 0"), 2, "", "seconds");
}

#[test]
fn several_devices_are_measured() {
    let folder = Folder::new("measured");
    folder.write("sum.hlo", SUM);
    let bench = folder.etalon("bench sum.hlo --iterations 2 --json --output out.npz");
    expect(&bench, 0, "", "");
    let measured: serde_json::Value = serde_json::from_slice(&bench.stdout).unwrap();
    assert_eq!(measured["runs_s"].as_array().unwrap().len(), 2);
    // Its argument and its result on each device.
    assert_eq!(measured["peak_bytes"], 32);
    let names: Vec<String> = load(&folder, "out.npz");
    assert!(names[1].starts_with("d1_out0 = s32[2]"), "{names:?}");
    expect(&folder.etalon("bench sum.hlo --replicas 1"), 0, "bytes", "");
}

#[test]
fn each_device_has_a_track() {
    let folder = Folder::new("tracks");
    folder.write("sum.hlo", SUM);
    let run = folder.etalon("run sum.hlo --random 1 --trace t.json --profile");
    expect(&run, 0, "device 1", "by instruction");
    let text = std::fs::read(folder.0.join("t.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let tracks: Vec<&serde_json::Value> =
        events.iter().filter(|e| e["ph"] == "M").map(|e| &e["args"]["name"]).collect();
    assert_eq!(tracks, ["device 0 (replica 0, partition 0)", "device 1 (replica 1, partition 0)"]);
    for device in 0..2 {
        let on = events.iter().filter(|e| e["ph"] == "X" && e["tid"] == device);
        assert_eq!(on.map(|e| &e["name"]).collect::<Vec<_>>(), ["r"]);
    }
}

#[test]
fn infeed_and_outfeed_values() {
    let folder = Folder::new("queues");
    // The result is the sum of two infeed values; the outfeed has the first value and the number.
    folder.write(
        "feed.hlo",
        "HloModule m, replica_count=2
        ENTRY e { t = token[] after-all()
          a = ((s32[2], s32[]), token[]) infeed(t)
          p = (s32[2], s32[]) get-tuple-element(a), index=0
          x = s32[2] get-tuple-element(p), index=0
          u = token[] get-tuple-element(a), index=1
          b = ((s32[2], s32[]), token[]) infeed(u)
          q = (s32[2], s32[]) get-tuple-element(b), index=0
          y = s32[2] get-tuple-element(q), index=0
          n = s32[] get-tuple-element(q), index=1
          v = token[] get-tuple-element(b), index=1
          o = token[] outfeed(x, v), outfeed_shape=s32[2]
          w = token[] outfeed(n, o), outfeed_shape=s32[]
          ROOT s = s32[2] add(x, y) }",
    );
    let (one, ten) = ("s32[2] {1, 2}", "s32[2] {10, 20}");
    save(
        &folder,
        "feed.npz",
        &[
            ("infeed0", one),
            ("infeed1", "s32[] 5"),
            ("infeed2", ten),
            ("d0_infeed3", "s32[] 6"),
            ("d1_infeed3", "s32[] 7"),
        ],
    );
    expect(&folder.etalon("run feed.hlo --infeed feed.npz --output out.npz"), 0, "", "");
    let run = folder.etalon("run feed.hlo --infeed feed.npz");
    let expected = "device 0: s32[2] {11, 22}
device 0, outfeed 0: s32[2] {1, 2}
device 0, outfeed 1: s32[] 6
device 1: s32[2] {11, 22}
device 1, outfeed 0: s32[2] {1, 2}
device 1, outfeed 1: s32[] 7
";
    expect(&run, 0, expected, "");
    let read = "device 0:                  device 1:
s32[2] {11, 22}            s32[2] {11, 22}
outfeed 0: s32[2] {1, 2}   outfeed 0: s32[2] {1, 2}
outfeed 1: s32[] 6         outfeed 1: s32[] 7
";
    expect(&folder.etalon("run feed.hlo --infeed feed.npz --print"), 0, read, "");
    let out = load(&folder, "out.npz");
    assert_eq!(out.len(), 6);
    assert_eq!(out[5], "d1_outfeed1 = s32[] 7");
    let alone = folder.etalon("run feed.hlo --infeed feed.npz --replicas 1");
    expect(&alone, 2, "", "`d1_infeed3` is for device 1; the run has one device, 0");
    save(&folder, "feed.npz", &[("infeed0", one), ("infeed1", "s32[] 5"), ("infeed2", ten)]);
    let few = folder.etalon("run feed.hlo --infeed feed.npz");
    expect(&few, 2, "", "found 3 arrays, but each value has 2");
    expect(&few, 2, "", "`infeed` takes (s32[2], s32[])");
    save(&folder, "feed.npz", &[("infeed0", one), ("infeed1", "s32[] 5")]);
    expect(&folder.etalon("run feed.hlo --infeed feed.npz"), 1, "", "the infeed queue is empty");
    expect(&folder.etalon("run feed.hlo"), 1, "", "--infeed F.npz");
}

#[test]
fn recorded_results_of_each_device() {
    let folder = Folder::new("recorded");
    folder.write("sum.hlo", SUM);
    let inputs = [("d0_in0", "s32[2] {1, 2}"), ("d1_in0", "s32[2] {10, 20}")];
    let mut arrays = inputs.to_vec();
    arrays.push(("out0", "s32[2] {11, 22}"));
    save(&folder, "sum.npz", &arrays);
    expect(&folder.etalon("test ."), 0, "1 agree", "");
    let mut arrays = inputs.to_vec();
    arrays.extend([("d0_out0", "s32[2] {11, 22}"), ("d1_out0", "s32[2] {11, 23}")]);
    save(&folder, "sum.npz", &arrays);
    let test = folder.etalon("test . --json r.json");
    expect(&test, 1, "1 of 4 elements differ on device 1", "");
    expect(&test, 1, "worst: device 1, result 0 at [1]: found s32[] 22, expected s32[] 23", "");
    let json = std::fs::read_to_string(folder.0.join("r.json")).unwrap();
    assert!(json.contains("\"devices_wrong\": [1]"), "{json}");
}

#[test]
fn graphs_show_communication() {
    let folder = Folder::new("graph");
    folder.write(
        "ring.hlo",
        "HloModule ring, replica_count=3
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[2] parameter(0)
          p = s32[2] collective-permute(x), source_target_pairs={{0,1},{2,0}}
          ROOT r = s32[2] all-reduce(p), replica_groups={{0,2},{1}}, to_apply=add }",
    );
    expect(&folder.etalon("graph --devices ring.hlo -o ring.dot"), 0, "", "");
    let expected = r#"digraph "ring, 3 replicas" {
  node [fontname="sans-serif"];
  edge [fontname="sans-serif"];
  n0 [shape=circle, label="device 0"];
  n1 [shape=circle, label="device 1"];
  n2 [shape=circle, label="device 2"];
  n0 -> n1 [label="e/p\ncollective-permute, 8 bytes from each"];
  n2 -> n0 [label="e/p\ncollective-permute, 8 bytes from each"];
  op1g0 [shape=box, label="e/r\nall-reduce, 8 bytes from each"];
  n0 -> op1g0 [dir=none];
  n2 -> op1g0 [dir=none];
  op1g1 [shape=box, label="e/r\nall-reduce, 8 bytes from each"];
  n1 -> op1g1 [dir=none];
}
"#;
    assert_eq!(std::fs::read_to_string(folder.0.join("ring.dot")).unwrap(), expected);
    expect(&folder.etalon("graph --devices ring.hlo -o ring.svg"), 0, "", "");
    let svg = std::fs::read_to_string(folder.0.join("ring.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    // The groups have two dots and one dot; the two arrows have two heads.
    assert_eq!((svg.matches("<circle").count(), svg.matches(" Z\"").count()), (3, 2), "{svg}");
    expect(&folder.etalon("graph --devices ring.hlo -o ring.png"), 2, "", ".svg or .dot");
    expect(&folder.etalon("graph --devices ring.hlo -o a.dot --replicas 2"), 1, "", "E0301");
    folder.write("sum.hlo", SUM);
    expect(&folder.etalon("graph --devices sum.hlo -o s.dot --replicas 100"), 0, "", "");
    let dot = std::fs::read_to_string(folder.0.join("s.dot")).unwrap();
    assert_eq!(dot.matches("shape=circle").count(), 50, "{dot}");
    assert!(dot.contains("label=\"devices 98 and 99\""), "{dot}");
}

#[test]
fn numbers_of_errors_between_devices_are_explained() {
    let folder = Folder::new("explained");
    for number in 501..=507 {
        expect(&folder.etalon(&format!("explain E0{number}")), 0, &format!("E0{number}\n\n"), "");
    }
}

#[test]
fn results_that_depend_on_the_order_are_reported() {
    let folder = Folder::new("order");
    let reduce = |op: &str, ty: &str| {
        format!(
            "HloModule m, replica_count=3
{op} {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}
ENTRY e {{ x = {ty}[] parameter(0) ROOT r = {ty}[] all-reduce(x), replica_groups={{}}, to_apply={op} }}
"
        )
    };
    folder.write("floats.hlo", &reduce("add", "f32"));
    folder.write("wholes.hlo", &reduce("add", "s32"));
    // 1 + 2^24 - 2^24 is 0 where 1 is added to 2^24 first.
    save(
        &folder,
        "f.npz",
        &[("d0_in0", "f32[] 1"), ("d1_in0", "f32[] 16777216"), ("d2_in0", "f32[] -16777216")],
    );
    save(&folder, "w.npz", &[("in0", "s32[] 7")]);
    let stdout = "device 0: f32[] 1\ndevice 1: f32[] 1\ndevice 2: f32[] 1
device 0, result 0 (f32[]): 1 of 1 elements depend on the order; element [] is 0 or 1
device 1, result 0 (f32[]): 1 of 1 elements depend on the order; element [] is 0 or 1
device 2, result 0 (f32[]): 1 of 1 elements depend on the order; element [] is 0 or 1
16 orders: 3 results depend on the order\n";
    expect(&folder.etalon("run floats.hlo --input f.npz --seed many"), 1, stdout, "");
    let none = "16 orders: no result depends on the order\n";
    expect(&folder.etalon("run wholes.hlo --input w.npz --seed many"), 0, none, "");
    expect(&folder.etalon("run wholes.hlo --input w.npz --seed 5"), 0, "device 2: s32[] 21\n", "");
    let run = folder.etalon("run wholes.hlo --input w.npz --seed few");
    expect(&run, 2, "", "expected a number or `many`");
}
