//! A program that forks after it has used the plugin: the child has none of the threads of its parent.
#![cfg(unix)]
#![expect(unsafe_code, reason = "forks")]
use hlo::Literal;
use pjrt::{Executable, Plugin, Program};
use std::ffi::{c_int, c_uint};
use std::path::PathBuf;

unsafe extern "C" {
    fn fork() -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// Returns the path of the library, which cargo builds beside the tests.
fn library() -> PathBuf {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let name = format!("{prefix}etalon_pjrt_plugin{suffix}");
    let program = std::env::current_exe().expect("the path of the test");
    let deps = program.parent().expect("a folder");
    let found = [deps.join(&name), deps.parent().expect("a folder").join(&name)];
    found.into_iter().find(|path| path.exists()).expect("cargo builds the library with the tests")
}

#[test]
fn a_forked_process_runs_programs() {
    // Threads share the sum of so many elements.
    let text = "HloModule m
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) y = s32[4096,4096] broadcast(x), dimensions={}
          z = s32[] constant(0) ROOT r = s32[] reduce(y, z), dimensions={0,1}, to_apply=add }";
    let code = hlo::proto::encode(&hlo::Module::parse(text).expect("a module"));
    let program = Program { code: code.expect("a message"), ..Program::default() };
    let plugin = Plugin::load(&library()).expect("a plugin");
    let client = plugin.create(&[]).expect("a client");
    let executable = client.compile(&program).expect("compiles");
    let argument: Literal = "s32[] 3".parse().expect("a literal");
    let expected: Literal = "s32[] 50331648".parse().expect("a literal");
    // What is brief runs on the thread that launches it.
    let text = "HloModule m ENTRY e { x = s32[] parameter(0) ROOT y = s32[] add(x, x) }";
    let code = hlo::proto::encode(&hlo::Module::parse(text).expect("a module"));
    let program = Program { code: code.expect("a message"), ..Program::default() };
    let brief = client.compile(&program).expect("compiles");
    let twice: Literal = "s32[] 6".parse().expect("a literal");
    let runs = || {
        let run = |program: &Executable| program.execute(&[vec![argument.clone()]]).expect("runs");
        let is_twice = (0..3).all(|_| run(&brief)[0][0] == twice);
        is_twice && run(&executable)[0][0] == expected
    };
    assert!(runs());
    // SAFETY: the child runs the program and ends, at the latest by the signal of the alarm.
    let status = unsafe {
        let child = fork();
        if child == 0 {
            alarm(60);
            _exit(c_int::from(!(runs() && runs())));
        }
        let mut status = -1;
        assert_eq!(waitpid(child, &raw mut status, 0), child);
        status
    };
    assert_eq!(status, 0, "the status of the child, or the signal that ended it");
    assert!(runs());
}
