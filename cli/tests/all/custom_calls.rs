//! `etalon run --custom-call-library`: what functions of a library may do without an effect on the run.
use crate::support::{Folder, expect};
use std::fmt::Write as _;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const SOURCE: &str = r#"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int32_t counter = 7;
void twice(void* out, const void** in) {
  for (int i = 0; i < 4; i++) ((int32_t*)out)[i] = 2 * ((const int32_t*)in[0])[i];
}
void pair(void* out, const void** in) {
  void** parts = out;
  const int32_t* x = in[0];
  *(int32_t*)parts[0] = x[0] + x[1] + x[2] + x[3];
  *(uint8_t*)parts[1] = x[0] == 1;
}
void first_and_last(void* out, const void** in) {
  const uint8_t* x = in[0];
  ((uint8_t*)out)[0] = x[0];
  ((uint8_t*)out)[1] = x[99999999];
}
void calls(void* out, const void** in) { (void)in; *(int32_t*)out = counter++; }
void no_elements(void* out, const void** in) { (void)out; (void)in; }
void says(void* out, const void** in) { (void)in; printf("hello from C\n"); *(int32_t*)out = 1; }
void crash(void* out, const void** in) { (void)out; (void)in; *(volatile int*)8 = 1; }
void quit(void* out, const void** in) { (void)out; (void)in; exit(0); }
void fail(void* out, const void** in) { (void)out; (void)in; abort(); }
void beyond(void* out, const void** in) { (void)in; for (int i = 0; i < 5; i++) ((int32_t*)out)[i] = i; }
void before(void* out, const void** in) { (void)in; ((int32_t*)out)[-1] = 3; }
void operand(void* out, const void** in) { (void)out; ((int32_t*)in[0])[4] = 3; }
void not_pred(void* out, const void** in) { (void)in; *(uint8_t*)out = 2; }
void forks(void* out, const void** in) { (void)out; (void)in; if (fork() == 0) for (;;) pause(); _exit(5); }
void hang(void* out, const void** in) { (void)out; (void)in; for (;;) pause(); }
"#;

/// Returns a folder with the library `lib.so`; `None`, with a message, if there is no C compiler.
fn folder(name: &str) -> Option<Folder> {
    let folder = Folder::new(&format!("custom-calls-{name}"));
    folder.write("lib.c", SOURCE);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-o", "lib.so", "lib.c"]).current_dir(&folder.0);
    if command.status().is_ok_and(|status| status.success()) {
        return Some(folder);
    }
    #[expect(clippy::print_stderr, reason = "reports that a test is skipped")]
    {
        eprintln!("skipped: there is no C compiler");
    }
    None
}

const OPERAND: &str = "x = s32[4] constant({1, 2, 3, 4})";

/// Runs a module whose root is a call of `target` with a result of this shape.
fn call(folder: &Folder, target: &str, shape: &str, options: &str) -> Output {
    let text = format!(
        "HloModule m\nENTRY e {{\n  {OPERAND}\n  ROOT r = {shape} custom-call(x), custom_call_target=\"{target}\"\n}}\n"
    );
    folder.write("m.hlo", &text);
    folder.etalon(&format!("run m.hlo --custom-call-library lib.so {options}"))
}

#[test]
fn functions_run_in_both_ways() {
    let Some(folder) = folder("good") else { return };
    for options in ["", "--trust-custom-calls", "--engine reference"] {
        expect(&call(&folder, "twice", "s32[4]", options), 0, "s32[4] {2, 4, 6, 8}\n", "");
        let pair = "(\n  s32[] 10,\n  pred[] true)";
        expect(&call(&folder, "pair", "(s32[], pred[])", options), 0, pair, "");
        expect(&call(&folder, "no_elements", "f32[0,3]", options), 0, "f32[0,3]", "");
    }
    let says = call(&folder, "says", "s32[]", "");
    expect(&says, 0, "s32[] 1\n", "hello from C\n");
}

#[test]
fn static_variables_last_from_call_to_call() {
    let Some(folder) = folder("static") else { return };
    let calls: String = (0..3).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "c{i} = s32[] custom-call(), custom_call_target=\"calls\", custom_call_has_side_effect=true");
        text
    });
    let text = format!(
        "HloModule m\nENTRY e {{ {calls} ROOT r = (s32[], s32[], s32[]) tuple(c0, c1, c2) }}\n"
    );
    folder.write("m.hlo", &text);
    let output = folder.etalon("run m.hlo --custom-call-library lib.so");
    expect(&output, 0, "(\n  s32[] 7,\n  s32[] 8,\n  s32[] 9)", "");
}

#[test]
fn faults_are_errors_of_the_call() {
    let Some(folder) = folder("faults") else { return };
    for (target, shape, message) in [
        ("crash", "s32[4]", "the function ended its process: SIGSEGV"),
        ("quit", "s32[4]", "the function ended its process: exit code 0"),
        ("fail", "s32[4]", "the function ended its process: SIGABRT"),
        ("forks", "s32[4]", "the function ended its process: exit code 5"),
        ("beyond", "s32[4]", "it wrote outside of its result"),
        ("before", "s32[4]", "it wrote outside of its result"),
        ("operand", "s32[4]", "it wrote outside of operand 0"),
        ("not_pred", "pred[]", "it wrote 2 as a `pred`"),
    ] {
        let output = call(&folder, target, shape, "");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        expect(
            &output,
            1,
            "",
            &format!("error[E0413]: custom call `{target}` of a library failed: {message}"),
        );
        assert!(stderr.contains("ROOT r = ") && stderr.contains("m.hlo:4"), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn only_functions_of_the_library_are_targets() {
    let Some(folder) = folder("names") else { return };
    for options in ["", "--trust-custom-calls"] {
        // Functions of the C library, data, and what is nowhere.
        for target in ["fork", "exit", "system", "printf", "counter", "absent", "_init"] {
            let message = format!("unknown custom call target `{target}`");
            expect(&call(&folder, target, "s32[4]", options), 3, "", &message);
        }
    }
}

#[test]
fn a_call_that_hangs_ends_at_its_limit() {
    let Some(folder) = folder("hang") else { return };
    let start = Instant::now();
    let output = call(&folder, "hang", "s32[4]", "--custom-call-time-limit 0.5");
    expect(
        &output,
        1,
        "",
        "error[E0413]: custom call `hang` of a library failed: the function did not end within 0.5 seconds",
    );
    let limit = call(&folder, "hang", "s32[4]", "--time-limit 0.5");
    expect(&limit, 1, "", "error[E0412]: out of time after 0.5 s");
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// The initializer of a library is foreign code, too.
#[test]
fn loading_counts_towards_the_limits() {
    let Some(folder) = folder("loading") else { return };
    folder.write(
        "lib.c",
        "#include <unistd.h>
        __attribute__((constructor)) static void start(void) { for (;;) pause(); }
        void twice(void *out, const void **in) { (void)out; (void)in; }",
    );
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compiled = Command::new(compiler);
    compiled.args(["-shared", "-fPIC", "-o", "hang.so", "lib.c"]).current_dir(&folder.0);
    assert!(compiled.status().unwrap().success());
    std::fs::rename(folder.0.join("hang.so"), folder.0.join("lib.so")).unwrap();
    let start = Instant::now();
    for option in ["--time-limit 0.5", "--custom-call-time-limit 0.5"] {
        let output = call(&folder, "twice", "s32[4]", option);
        expect(&output, 2, "", "error[E0410]");
        expect(&output, 2, "", "an initializer did not end within 0.5 seconds");
    }
    folder.write("m.hlo", "HloModule m\nENTRY e { ROOT c = s32[] constant(1) }");
    let plugin = folder.etalon("conform m.hlo --backend ./lib.so --time-limit 0.5");
    expect(&plugin, 2, "", "error[E0706]");
    expect(&plugin, 2, "", "it was not ready within 0.5 seconds");
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn operands_may_be_large() {
    let Some(folder) = folder("large") else { return };
    folder.write(
        "m.hlo",
        "HloModule m\nENTRY e { s = u8[] constant(7) x = u8[100000000] broadcast(s), dimensions={}
        ROOT r = u8[2] custom-call(x), custom_call_target=\"first_and_last\" }",
    );
    let output = folder.etalon("run m.hlo --custom-call-library lib.so");
    expect(&output, 0, "u8[2] {7, 7}\n", "");
}

#[test]
fn devices_share_a_library() {
    let Some(folder) = folder("devices") else { return };
    let output = call(&folder, "twice", "s32[4]", "--replicas 2");
    expect(&output, 0, "s32[4] {2, 4, 6, 8}", "");
    let output = call(&folder, "crash", "s32[4]", "--replicas 2");
    expect(&output, 1, "", "SIGSEGV");
}

#[test]
fn what_is_no_library_is_misuse() {
    let Some(folder) = folder("misuse") else { return };
    for options in ["", "--trust-custom-calls"] {
        let run = |library: &str| {
            folder.write("m.hlo", "HloModule m\nENTRY e { ROOT x = s32[] constant(1) }");
            folder.etalon(&format!("run m.hlo --custom-call-library {library} {options}"))
        };
        expect(&run("lib.c"), 2, "", "error[E0410]: library `lib.c` cannot be loaded");
        expect(&run("absent.so"), 2, "", "error[E0410]: library `absent.so` cannot be loaded");
        expect(&run("."), 2, "", "error[E0410]: library `.` cannot be loaded: it is not a file");
        expect(&run("/dev/zero"), 2, "", "error[E0410]: library `/dev/zero` cannot be loaded");
    }
}
