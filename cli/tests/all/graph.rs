//! Graphs of instructions: pages, pictures, and what other tools open.
use crate::support::{Folder, expect};
use std::path::Path;
use std::process::Command;

/// A loop, a call, a reducer, and names that would break out of markup.
const LOOP: &str = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
body { p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[4] multiply(v, v)
  ROOT t = (s32[], f32[4]) tuple(j, w) }
cond { p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=cond, body=body, metadata={op_name=\"jit(f)/</script><b>/*DATA*/\" source_file=\"f.py\" source_line=7}
  out = f32[4] get-tuple-element(loop), index=1
  r = f32[4] log(out)
  o = f32[] constant(0)
  ROOT sum = f32[] reduce(r, o), dimensions={0}, to_apply=add }
";

fn read(folder: &Folder, file: &str) -> String {
    std::fs::read_to_string(folder.0.join(file)).unwrap()
}

/// Returns the data of a page.
fn data(page: &str) -> serde_json::Value {
    let data = page.split_once("type=\"application/gzip\">").unwrap().1;
    let letters = data.split_once("</script>").unwrap().0.trim_end_matches('=');
    let digits: Vec<u8> =
        (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"+/").collect();
    let digit = |letter| digits.iter().position(|&one| one == letter).unwrap();
    let bytes = letters.as_bytes().chunks(4).flat_map(|four| {
        let bits = four
            .iter()
            .enumerate()
            .map(|(at, &letter)| digit(letter) << (18 - 6 * at))
            .sum::<usize>();
        bits.to_be_bytes()[5..].iter().copied().take(four.len() * 3 / 4).collect::<Vec<u8>>()
    });
    let bytes: Vec<u8> = bytes.collect();
    serde_json::from_reader(flate2::read::GzDecoder::new(bytes.as_slice())).unwrap()
}

#[test]
fn a_page_holds_the_module_and_nothing_from_elsewhere() {
    let folder = Folder::new("page");
    folder.write("loop.hlo", LOOP);
    expect(&folder.etalon("graph loop.hlo -o loop.html"), 0, "", "");
    let page = read(&folder, "loop.html");
    // The scripts of the page, and no other.
    assert_eq!(page.matches("</script>").count(), 2);
    for other in ["src=", "https://", "@import", "url(http", "sourceMappingURL"] {
        assert!(!page.contains(other), "{other}");
    }
    let data = data(&page);
    assert_eq!((&data["module"], &data["entry"]), (&"m".into(), &3.into()));
    let nodes = &data["computations"][3]["nodes"];
    let w = &nodes[3];
    assert_eq!((&w["name"], &w["op"], &w["line"]), (&"loop".into(), &"while".into(), &17.into()));
    assert_eq!(w["source"], "f.py:7");
    assert_eq!(w["path"], "jit(f)/</script><b>/*DATA*/");
    assert_eq!(w["shape"], "(s32[], f32[4])");
    assert_eq!((&w["in"], &w["calls"]), (&serde_json::json!([2]), &serde_json::json!([1, 2])));
    assert_eq!(w["text"].as_str().unwrap().split_once('(').unwrap().0, "while");
    // Constants are not drawn.
    assert_eq!(nodes[1]["hidden"], 1);
    assert_eq!(data["computations"][3]["items"], serde_json::json!([0, 2, 3, 4, 5, 7]));
    // A box for each of them, in a column.
    let level = &data["computations"][3]["levels"][""];
    let boxes = level["boxes"].as_array().unwrap();
    assert_eq!(
        (boxes.len(), boxes[0][0].as_f64(), level["ports"].as_array()),
        (6, boxes[5][0].as_f64(), Some(&vec![]))
    );
    let edges = level["edges"].as_array().unwrap();
    assert_eq!((edges.len(), &edges[0]["label"]), (5, &"f32[4]".into()));
    assert_eq!(
        (&edges[1]["from"], &edges[1]["to"], &edges[1]["values"]),
        (&1.into(), &2.into(), &serde_json::json!([2]))
    );
}

#[test]
fn a_page_has_the_times_and_values_of_a_run() {
    let folder = Folder::new("measured");
    folder.write("loop.hlo", LOOP);
    expect(&folder.etalon("graph loop.hlo -o l.html --values --profile"), 2, "", "E0602");
    let drawn =
        folder.etalon("graph loop.hlo -o l.html --values --profile --random 1 --engine reference");
    expect(&drawn, 0, "", "");
    let data = data(&read(&folder, "l.html"));
    assert_eq!((&data["timed"], &data["valued"]), (&true.into(), &true.into()));
    let entry = &data["computations"][3]["nodes"];
    // The argument is from -1 to 1; its eighth power is positive.
    assert_eq!(entry[4]["value"]["count"], 4);
    assert!(entry[4]["value"]["min"].as_f64().unwrap() >= 0.0);
    assert!(entry[5]["value"]["max"].as_f64().unwrap() <= 0.0);
    assert_eq!(entry[0]["value"]["nan"], 0);
    // The body runs three times.
    assert_eq!(data["computations"][1]["nodes"][5]["time"]["runs"], 3);
    folder.write(
        "nan.hlo",
        "HloModule m\nENTRY e { x = f32[2] constant({-1, 0}) ROOT l = f32[2] log(x) }",
    );
    expect(&folder.etalon("graph nan.hlo -o n.html --values"), 0, "", "");
    let data = self::data(&read(&folder, "n.html"));
    let value = &data["computations"][0]["nodes"][1]["value"];
    assert_eq!((&value["nan"], &value["inf"], &value["min"]), (&1.into(), &1.into(), &().into()));
}

#[test]
fn pictures_and_graphviz_text_have_shapes_and_calls() {
    let folder = Folder::new("pictures");
    folder.write("loop.hlo", LOOP);
    expect(&folder.etalon("graph loop.hlo -o l.svg"), 0, "", "");
    let svg = read(&folder, "l.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    // A box for each instruction but the constants, and an entry of the legend for each of their categories.
    assert_eq!(svg.matches("<g><title>").count(), 6, "{svg}");
    for part in
        [">while (body, cond)</text>", ">f32[4]</text>", ">sums: dot, convolution, reduce</text>"]
    {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(!svg.contains("<b>"), "{svg}");
    expect(&folder.etalon("graph loop.hlo -o b.svg --computation body"), 0, "", "");
    assert!(read(&folder, "b.svg").contains(">multiply</text>"));
    expect(&folder.etalon("graph loop.hlo -o l.dot"), 0, "", "");
    let dot = read(&folder, "l.dot");
    for line in [
        "  subgraph cluster3 {\n    label=\"e\";\n",
        "    c3n3 [label=\"loop\\nwhile (body, cond)\\n(s32[], f32[4])\", fillcolor=\"#f0e9fb\", color=\"#8455c9\"];\n",
        "    c3n2 -> c3n3 [label=\"(s32[], f32[4])\"];\n",
        "  c1n6 -> c3n3 [style=dashed];\n",
    ] {
        assert!(dot.contains(line), "{line}: {dot}");
    }
    let body = folder.etalon("graph loop.hlo --format dot -o - --computation body");
    expect(&body, 0, "subgraph cluster1 {\n    label=\"body\";", "");
    assert!(!String::from_utf8_lossy(&body.stdout).contains("cluster3"));
}

#[test]
fn model_explorer_opens_each_computation() {
    let folder = Folder::new("explorer");
    folder.write("loop.hlo", LOOP);
    expect(&folder.etalon("graph loop.hlo -o l.json --format model-explorer"), 0, "", "");
    let found: serde_json::Value = serde_json::from_str(&read(&folder, "l.json")).unwrap();
    let graphs = found["graphs"].as_array().unwrap();
    let ids: Vec<&str> = graphs.iter().map(|graph| graph["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["e", "add", "body", "cond"]);
    let node = &graphs[0]["nodes"][3];
    assert_eq!((&node["id"], &node["label"]), (&"loop".into(), &"while".into()));
    assert_eq!(node["subgraphIds"], serde_json::json!(["body", "cond"]));
    let edge = serde_json::json!({ "sourceNodeId": "start", "sourceNodeOutputId": "0", "targetNodeInputId": "0" });
    assert_eq!(node["incomingEdges"], serde_json::json!([edge]));
    let shape = &node["outputsMetadata"][0]["attrs"][0];
    assert_eq!(*shape, serde_json::json!({ "key": "shape", "value": "(s32[], f32[4])" }));
}

#[test]
fn wrong_options_are_refused_before_a_run() {
    let folder = Folder::new("refused");
    folder.write("loop.hlo", LOOP);
    let cases = [
        ("-o l.png", 2, "expected a file name that ends in .html, .svg or .dot"),
        ("-o l", 2, "--format model-explorer"),
        ("-o none/l.html", 2, "error[E0601]: none/l.html"),
        ("-o l.svg --values --random 1", 2, "--values and --profile need a page"),
        ("-o l.html --random 1", 2, "--input and --random are for a run"),
        ("-o l.html --computation body", 2, "a page has all computations"),
        ("-o l.svg --computation bodi", 2, "error[E0611]: there is no computation `bodi`"),
        ("-o l.svg --computation bodi", 2, "did you mean `body`?"),
        ("-o l.svg --devices --values", 2, "cannot be used with"),
        ("-o l.png --devices", 2, "expected a file name that ends in .html, .svg or .dot"),
        ("--format model-explorer -o - --devices", 2, "Model Explorer does not show devices"),
    ];
    for (options, code, message) in cases {
        expect(&folder.etalon(&format!("graph loop.hlo {options}")), code, "", message);
    }
    assert!(!folder.0.join("l.html").exists() && !folder.0.join("l.svg").exists());
    folder.write(
        "bad.hlo",
        "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[3] add(x, x) }",
    );
    expect(&folder.etalon("graph bad.hlo -o l.html"), 1, "", "error[E0302]");
    // A file that exists is replaced, as by other commands.
    folder.write("l.html", "old");
    expect(&folder.etalon("graph loop.hlo -o l.html"), 0, "", "");
    assert!(read(&folder, "l.html").starts_with("<!doctype html>"));
}

/// Returns the page as headless Chromium has it after its scripts ran, if Chromium is installed.
fn in_browser(page: &Path, hash: &str) -> Option<String> {
    let browser = std::env::var_os("ETALON_CHROMIUM").unwrap_or_else(|| "chromium".into());
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}#{hash}", page.display()))
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned()).filter(|dom| !dom.is_empty())
}

#[test]
fn findings_are_on_a_page() {
    let folder = Folder::new("findings-page");
    folder.write("loop.hlo", LOOP);
    let command = "blame loop.hlo --random 1 --backend planted:multiply --html loop.html";
    expect(&folder.etalon(command), 1, "wrong: ", "wrote loop.html: open it in a browser");
    let data = data(&read(&folder, "loop.html"));
    assert_eq!(data["found"], true);
    let marks = |computation: &serde_json::Value| -> Vec<(String, String)> {
        let nodes = computation["nodes"].as_array().unwrap().iter();
        let marked = nodes
            .filter_map(|node| Some((node["name"].as_str()?, node["finding"]["mark"].as_str()?)));
        marked.map(|(name, mark)| (name.to_owned(), mark.to_owned())).collect()
    };
    let all: Vec<_> = data["computations"].as_array().unwrap().iter().flat_map(marks).collect();
    assert!(all.contains(&("w".to_owned(), "wrong".to_owned())), "{all:?}");
    assert!(all.iter().any(|(_, mark)| mark == "inherited"), "{all:?}");
    // A page on stdout has no report beside it.
    let command = "blame loop.hlo --random 1 --backend planted:multiply --html -";
    let output = folder.etalon(command);
    expect(&output, 1, "<!doctype html>", "wrong: ");
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with("</html>"));
    // The input is not replaced.
    let command = "blame loop.hlo --random 1 --backend planted:multiply --html loop.hlo";
    expect(&folder.etalon(command), 2, "", "loop.hlo");
    assert_eq!(read(&folder, "loop.hlo"), LOOP);
    // It begins at what is wrong.
    if let Some(dom) = in_browser(&folder.0.join("loop.html"), "") {
        let (html, body) = dom.split_once("<head>").unwrap();
        assert!(html.contains("data-ready=") && !html.contains("data-error="), "{html}");
        let (_, panel) = body.split_once("<aside").unwrap();
        assert!(panel.contains("wrong by itself</h3>"), "{panel}");
    }
}

#[test]
fn devices_are_beside_the_dataflow() {
    let folder = Folder::new("devices-page");
    folder.write(
        "shift.hlo",
        "HloModule shift, replica_count=2
ENTRY e { x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT r = f32[4] collective-permute(n), source_target_pairs={{0,1},{1,0}} }",
    );
    expect(&folder.etalon("graph shift.hlo --devices -o p.html"), 0, "", "wrote p.html");
    let page = folder.0.join("p.html");
    let data = data(&read(&folder, "p.html"));
    let picture = data["devices"].as_str().unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("data-at=\"0 2\""), "{picture}");
    assert_eq!(data["computations"][0]["nodes"][2]["name"], "r");
    let Some(dom) = in_browser(&page, "") else { return };
    let (html, body) = dom.split_once("<head>").unwrap();
    assert!(html.contains("data-ready=") && !html.contains("data-error="), "{html}");
    assert!(body.contains("<section class=\"lanes\"") && !body.contains("class=\"selected\""));
    // What is selected in the dataflow is marked in the lanes.
    let dom = in_browser(&page, "select=e/r").unwrap();
    assert_eq!(dom.matches("data-at=\"0 2\"").count(), 1);
    assert!(
        dom.contains("<g data-at=\"0 2\" tabindex=\"0\" role=\"button\" class=\"selected\">"),
        "{dom}"
    );
}

#[test]
fn wrong_results_are_on_a_page() {
    let folder = Folder::new("conform-page");
    let module = "HloModule m
ENTRY e { x = f32[4] parameter(0)
  n = f32[4] negate(x)
  t = f32[4] tanh(n)
  a = f32[4] abs(n)
  b = f32[4] sqrt(a)
  inner = (f32[4], f32[4]) tuple(b, t)
  ROOT r = (f32[4], (f32[4], f32[4])) tuple(a, inner) }";
    folder.write("m.hlo", module);
    let command = "conform m.hlo --random 1 --backend planted:tanh --graph m.html";
    expect(&folder.etalon(command), 1, "differs", "wrote m.html: open it in a browser");
    let nodes = &data(&read(&folder, "m.html"))["computations"][0]["nodes"];
    let marks: Vec<_> =
        nodes.as_array().unwrap().iter().map(|node| &node["finding"]["mark"]).collect();
    let none = serde_json::Value::Null;
    let (suspect, result) = ("suspect".into(), "result".into());
    assert_eq!(marks, [&suspect, &suspect, &result, &none, &none, &none, &none]);
    let text = nodes[2]["finding"]["text"].as_str().unwrap();
    assert!(text.starts_with("out2: ") && text.contains("expected"), "{text}");
    assert_eq!(nodes[0]["finding"]["text"], "out2 is computed from it");
    // A page on stdout has no report beside it.
    let command = "conform m.hlo --random 1 --backend planted:tanh --graph -";
    let output = folder.etalon(command);
    expect(&output, 1, "<!doctype html>", "differs");
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with("</html>"));
    // A good result marks nothing.
    expect(
        &folder.etalon("conform m.hlo --random 1 --backend fast --graph f.html"),
        0,
        "",
        "wrote",
    );
    assert_eq!(data(&read(&folder, "f.html"))["found"], false);
    folder.write("n.hlo", module);
    let command = "conform m.hlo n.hlo --random 1 --backend fast --graph two.html";
    expect(&folder.etalon(command), 2, "", "a page shows one module; found 2");
    let command = "conform m.hlo --random 1 --backend fast --graph m.hlo";
    expect(&folder.etalon(command), 2, "", "m.hlo");
    assert_eq!(read(&folder, "m.hlo"), module);
}

#[test]
fn two_modules_are_beside_each_other() {
    let folder = Folder::new("two");
    folder.write("loop.hlo", LOOP);
    // The body doubles in place of a square, and the result is the sum of absolute values.
    let after = LOOP.replace("w = f32[4] multiply(v, v)", "w = f32[4] add(v, v)");
    let after = after.replace("  o = f32[]", "  positive = f32[4] abs(r)\n  o = f32[]");
    folder.write("new.hlo", &after.replace("reduce(r, o)", "reduce(positive, o)"));
    let said = "2 changed, 1 added, 0 removed, 0 moved, 20 unchanged\nwrote loop-new.html: open it in a browser";
    expect(&folder.etalon("graph loop.hlo new.hlo"), 0, "", said);
    let data = data(&read(&folder, "loop-new.html"));
    assert_eq!(data["names"], serde_json::json!(["loop.hlo", "new.hlo"]));
    let places: serde_json::Value =
        serde_json::json!([[null, [3, 6]], [[3, 7], [3, 8]], [[1, 5], [1, 5]]]);
    assert_eq!(data["changes"], places);
    let w = &data["sides"][1]["computations"][1]["nodes"][5];
    assert_eq!(
        (&w["name"], &w["change"], &w["what"]),
        (&"w".into(), &"changed".into(), &"opcode".into())
    );
    assert_eq!(w["pair"], serde_json::json!([1, 5]));
    assert_eq!(data["sides"][0]["computations"][3]["nodes"][0]["change"], "same");
    // Its own file is not replaced unasked, and inputs never are.
    expect(&folder.etalon("graph loop.hlo new.hlo"), 2, "", "loop-new.html");
    expect(&folder.etalon("graph loop.hlo new.hlo --force"), 0, "", said);
    expect(&folder.etalon("graph loop.hlo new.hlo -o new.hlo --format html"), 2, "", "new.hlo");
    let cases = [
        ("-o two.svg", "two modules are drawn as a page"),
        ("-o two.html --values --random 1", "cannot be used with"),
        ("-o two.svg --devices", "cannot be used with"),
    ];
    for (options, message) in cases {
        expect(&folder.etalon(&format!("graph loop.hlo new.hlo {options}")), 2, "", message);
    }
    let page = folder.0.join("loop-new.html");
    let Some(dom) = in_browser(&page, "") else { return };
    let (html, _) = dom.split_once("<head>").unwrap();
    assert!(html.contains("data-ready=") && !html.contains("data-error="), "{html}");
    // The first change is in the picture, and the loop that has a change in it is unfolded on both sides.
    assert!(dom.contains(">1 of 3 changes</output>") && dom.contains(">3 changes</h2>"));
    assert_eq!(dom.matches(">compare</text>").count(), 0);
    assert_eq!(dom.matches(">multiply</text>").count(), 1);
    let dom = in_browser(&page, "before=body/w").unwrap();
    assert_eq!(dom.matches("box node plain selected").count(), 2, "{dom}");
    assert!(dom.contains(">changed: opcode</h3>") && dom.contains("<mark>add</mark>"));
}

/// Passes without a browser: the other tests do not need one.
#[test]
fn pages_work_in_a_browser() {
    let folder = Folder::new("browser");
    folder.write("loop.hlo", LOOP);
    expect(&folder.etalon("graph loop.hlo -o loop.html --values --profile --random 1"), 0, "", "");
    let page = folder.0.join("loop.html");
    let Some(dom) = in_browser(&page, "") else { return };
    let (html, _) = dom.split_once("<head>").unwrap();
    assert!(html.contains("data-ready=") && !html.contains("data-error="), "{html}");
    // The entry without its constants; the loop is folded.
    assert_eq!(dom.matches("class=\"box node").count(), 6);
    assert!(dom.contains(">f32[4]</text>"));
    // The loop unfolds around an instruction of its body, whose attributes are shown.
    let dom = in_browser(&page, "select=body/w").unwrap();
    assert_eq!(dom.matches("class=\"box node").count(), 6 + 6 + 3);
    let (_, panel) = dom.split_once("<aside").unwrap();
    for part in ["<td>multiply</td>", "<td>8 of the module</td>", ">multiply(v, v)</pre>"] {
        assert!(panel.contains(part), "{part}");
    }
    let dom = in_browser(&page, "search=op:add").unwrap();
    assert!(dom.contains(">2 found</span>"));
    // What is seen is saved as an SVG, and as a PNG whose pixels are not all alike.
    let script = "<script type=\"module\">
HTMLAnchorElement.prototype.click = async function () {
  const name = this.download, picture = await createImageBitmap(await (await fetch(this.href)).blob()).catch(() => null);
  const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
  if (picture) { [canvas.width, canvas.height] = [picture.width, picture.height]; context.drawImage(picture, 0, 0); }
  const pixels = new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer));
  document.documentElement.setAttribute('data-' + name.replace('.', '-'), picture ? `${picture.width} ${pixels.size > 20}` : 'drawn');
};
const press = key => document.querySelector('svg.canvas').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
await new Promise(done => setTimeout(done, 1000));
press('s'); press('n');
// Tasks without a delay take time, but none of the browser's budget.
const { port1, port2 } = new MessageChannel();
for (let i = 0; i < 2000000 && !document.documentElement.hasAttribute('data-m-png'); i++) {
  await new Promise(done => { port1.onmessage = done; port2.postMessage(0); });
}
</script></body>";
    folder.write("saved.html", &read(&folder, "loop.html").replace("</body>", script));
    let dom = in_browser(&folder.0.join("saved.html"), "").unwrap();
    let (html, _) = dom.split_once("<head>").unwrap();
    let width = html.split_once("data-m-png=\"").and_then(|(_, rest)| rest.split_once(" true\""));
    let width: u32 = width.unwrap_or_else(|| panic!("{html}")).0.parse().unwrap();
    assert!(width > 1400 && html.contains("data-m-svg=\""), "{html}");
}
