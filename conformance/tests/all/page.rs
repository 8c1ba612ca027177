//! The page of results in a browser: clicks and keys. Needs `chromium` on the path; without it the
//! test says so and passes.
use conformance::results::{Element, Measures, Record, Reproduction, Results, Verdict};
use std::process::Command;

/// Runs in the page after its own script, and writes each failed check into the document.
const SCRIPT: &str = r#"<script>
{
const failed = [];
window.addEventListener("error", event => document.body.replaceChildren(event.message));
const check = (what, found, expected) => { if (found !== expected) failed.push(`${what}: ${found}, expected ${expected}`); };
const names = () => [...document.querySelectorAll("tr.case")].map(row => row.dataset.name).join(" ");
const press = (key, target) => (target || document.activeElement).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
check("the title", document.title, "Conformance of cpu <b>");
check("bad cases come first", names(), "abs/f32/inf abs/f32/nan tanh/f64/range");
document.querySelector('[data-verdict="agrees"]').click();
check("a verdict is selected", names(), "abs/s8/edges tanh/f32/range");
press("Escape");
press("Enter", document.querySelector('[data-cell="tanh/f32"]'));
check("a cell is selected by key", names(), "tanh/f32/range");
press("Escape");
check("Escape resets", names(), "abs/f32/inf abs/f32/nan tanh/f64/range");
press("j"); press("j"); press("k"); press("j");
check("j and k move", document.activeElement.dataset.name, "abs/f32/nan");
press("Enter");
const details = document.querySelector("tr.details");
check("Enter opens", details !== null && details.textContent.includes("ROOT r = f32[1] abs(x)"), true);
check("there is a histogram", details.querySelectorAll("svg rect").length, 3);
check("text is no markup", document.querySelectorAll("main b").length, 0);
press("/");
const filter = document.getElementById("filter");
check("/ focuses the filter", document.activeElement, filter);
filter.value = "INF"; filter.dispatchEvent(new Event("input"));
check("the filter selects", names(), "abs/f32/inf");
document.body.replaceChildren(failed.length ? failed.join("\n") : "all checks passed");
}
</script>"#;

fn results() -> Results {
    let mut results = Results::new("cpu <b>");
    let mut wrong = Record::new("abs/f32/nan", Verdict::Differs);
    wrong.reason = String::from("1 of 1 elements differ <b>");
    wrong.measures = Some(Measures {
        worst_ulps: None,
        elements: 1,
        wrong: 1,
        wrong_arrays: vec![0],
        max_ulps: 3,
        max_error: f64::INFINITY,
        bound: 0.0,
        histogram: vec![0, 0, 1],
        worst: Some(Element {
            place: "out0[0]".to_owned(),
            actual: "<b>nan".to_owned(),
            expected: "1".to_owned(),
            inputs: vec!["in0[0] = -1".to_owned()],
        }),
    });
    wrong.reproduction = Some(Reproduction {
        module: "HloModule m\nENTRY e { x = f32[1] parameter(0) ROOT r = f32[1] abs(x) }"
            .to_owned(),
        arguments: vec!["f32[1] {-1}".to_owned()],
        expected: vec!["f32[1] {1}".to_owned()],
        actual: vec!["f32[1] {nan}".to_owned()],
        command: "etalon conform --backend cpu".to_owned(),
    });
    results.push(wrong);
    for (name, verdict) in [
        ("abs/f32/inf", Verdict::Differs),
        ("abs/s8/edges", Verdict::Agrees),
        ("tanh/f32/range", Verdict::Agrees),
        ("tanh/f64/range", Verdict::Crashed),
    ] {
        results.push(Record::new(name, verdict));
    }
    results
}

/// Runs a script in a page: it writes `all checks passed` into the document.
#[expect(clippy::print_stderr, reason = "says why it is skipped")]
fn run(name: &str, results: &Results, script: &str) {
    let page = results.to_html().replace("</body>", &format!("{script}</body>"));
    let path = std::env::temp_dir().join(format!("etalon-{name}-{}.html", std::process::id()));
    std::fs::write(&path, page).unwrap();
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
    let output = Command::new("chromium").args(arguments).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = output else {
        return eprintln!("skipped: there is no `chromium` on the path");
    };
    let dom = String::from_utf8_lossy(&output.stdout);
    let body = dom.split_once("<body>").map_or(dom.as_ref(), |(_, body)| body);
    assert!(body.starts_with("all checks passed"), "{body}");
}

#[test]
fn clicks_and_keys() {
    run("page", &results(), SCRIPT);
}

#[test]
fn a_page_without_failures_says_so() {
    let mut results = Results::new("cpu");
    results.push(Record::new("abs/f32/inf", Verdict::Agrees));
    let script = r#"<script>
{
const list = document.getElementById("list"), said = document.getElementById("more").textContent;
const isQuiet = list.hidden && said.startsWith("Nothing failed.");
document.querySelector('[data-verdict="agrees"]').click();
document.body.replaceChildren(isQuiet && !list.hidden ? "all checks passed" : `${list.hidden}: ${said}`);
}
</script>"#;
    run("good", &results, script);
}
