//! The examples at the end of the help of each command.

/// Returns the text of examples: pairs of a command and what it does.
macro_rules! examples {
    ($($name:ident: [$($line:literal, $what:literal;)+])+) => {
        $(pub(super) const $name: &str =
            concat!("Examples:", $("\n  ", $line, "\n      ", $what),+);)+

        /// Returns the command lines of all examples.
        #[cfg(test)]
        fn each() -> impl Iterator<Item = &'static str> {
            [$($($line),+),+].into_iter()
        }
    };
}

examples! {
    ALL: [
        "etalon run model.hlo --random 1", "run a module with random arguments";
        "etalon conform --backend ./plugin.so --suite smoke", "compare a PJRT plugin with Etalon";
        "etalon explain dot", "the meaning of an op, an error number, or a rule";
    ]
    RUN: [
        "etalon run model.hlo --random 1 --profile", "random arguments, and the time of each instruction";
        "etalon run model.hlo --input x.npy -o result.npz", "an argument from a file, the result to a file";
        "etalon run model.hlo --random 1 --check-nan", "stop at the first instruction that makes a NaN";
    ]
    CHECK: [
        "etalon check model.hlo", "every error, with its line";
        "etalon check dump/ --json", "all modules of a folder, errors as JSON";
    ]
    PRINT: [
        "etalon print model.pb", "a message of XLA as HLO text";
        "etalon print model.hlo --style stablehlo", "as a StableHLO program";
    ]
    CONVERT: [
        "etalon convert model.hlo model.pb", "to an HloModuleProto";
        "etalon convert model.hlo model.mlirbc --target 1.9.0", "to portable bytecode that an older reader takes";
    ]
    TEST: [
        "etalon test tests/", "all file tests of a folder, in every engine";
        "etalon test -v add.hlo --engine fast", "each case with its measured error";
    ]
    BENCH: [
        "etalon bench model.hlo --engine fast", "the time of a run with random arguments";
        "etalon bench 'dumps/*.hlo' --iterations 20 --json", "several modules, as JSON";
    ]
    DIFF: [
        "etalon diff expected.npz actual.npz --rtol 1e-5", "arrays of the same names, within a relative error";
        "etalon diff expected.npz actual.npz --module model.hlo", "within the errors that the ops of a module may make";
    ]
    EQUAL: [
        "etalon equal before.hlo after.hlo", "whether a pass has kept the meaning";
        "etalon equal before.hlo after.hlo --seeds 40 --json", "with more draws, as JSON";
        "etalon equal both.hlo --module 3", "two modules of one file, the first and the third";
    ]
    PLAN: [
        "etalon plan model.hlo", "the steps and the memory of a run";
        "etalon plan model.hlo --engine fast --json", "those of another engine, as JSON";
    ]
    COST: [
        "etalon cost model.hlo --by opcode", "operations and bytes of each opcode";
        "etalon cost model.hlo --by scope", "those of each layer of a model";
    ]
    GRAPH: [
        "etalon graph model.hlo", "write model.html, a page to open in a browser";
        "etalon graph model.hlo --profile --values --random 1", "with times and values of a run";
        "etalon graph before.hlo after.hlo", "both beside each other, with what has changed";
        "etalon graph --devices model.hlo -o -", "the communication between devices, as SVG to standard output";
    ]
    CONFORM: [
        "etalon conform --backend ./plugin.so --suite smoke --html report.html", "a PJRT plugin on the suite, as a page";
        "etalon conform --backend-command 'run {hlo} {in.npz} {out.npz}' model.hlo --random 1", "a command on a module";
        "etalon conform --spmd program.hlo partitioned.hlo --random 1", "a module before and after it is partitioned";
    ]
    BLAME: [
        "etalon blame model.hlo --backend ./plugin.so --random 1", "the instructions that a plugin computes wrong";
        "etalon blame --before a.hlo --after b.hlo --random 1", "where a pass changes the result";
    ]
    PASSES: [
        "etalon passes dump/", "the pass that changes the meaning, of each module of a dump";
        "etalon passes old/ new/", "where two compilers part, and which one is wrong";
        "etalon passes model.hlo --backend ./plugin.so --confirm", "of a module that a plugin compiles, also without that pass";
    ]
    FUZZ: [
        "etalon fuzz --backend ./plugin.so --minutes 10 --output findings/", "random modules on a plugin for ten minutes";
        "etalon fuzz --backend fast --ops dot,convolution --types f32,bf16 --count 1000", "modules of some ops and types";
    ]
    SUITE: [
        "etalon suite export suite/ --suite full", "all cases, for backends of any kind";
        "etalon suite export suite/ --case 'dot/*' --allow tf32", "some, where f32 operands may be read as TF32";
    ]
    CAMPAIGN: [
        "etalon campaign nightly/ --backend ./plugin.so --minutes 60", "a round; the same command continues";
        "etalon campaign nightly/ --list", "what was found, by cause";
    ]
    REDUCE: [
        "etalon reduce model.hlo --backend ./plugin.so --random 1", "the smallest module that a plugin computes wrong";
        "etalon reduce model.hlo --command './crashes {hlo}' -o small.hlo", "for which a command ends with exit code 0";
    ]
    EXPLAIN: [
        "etalon explain E0301", "an error number";
        "etalon explain ConvGeneralDilated", "an op, by any of its names";
    ]
    COMPLETIONS: [
        "etalon completions bash", "print the script; `source <(etalon completions bash)` takes effect in this shell";
        "etalon completions fish", "print that of another shell";
    ]
    MAN: [
        "etalon man run", "the page of a command; `etalon man run | man -l -` formats it";
        "etalon man -o man1", "write all pages to a folder: `man -l man1/etalon-run.1`";
    ]
}

#[cfg(test)]
mod tests {
    use super::super::command;

    /// Splits a command line as a shell does that knows single quotes only.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn examples_are_valid_and_each_command_has_two() {
        for line in super::each() {
            command().try_get_matches_from(words(line)).unwrap_or_else(|e| panic!("{line}: {e}"));
        }
        let command = command();
        let shown = || command.get_subcommands().filter(|one| !one.is_hide_set());
        assert!(shown().map(clap::Command::get_name).eq(super::super::words::COMMANDS));
        for one in shown() {
            let start = format!("etalon {} ", one.get_name());
            let help = one.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.matches(&start).count() >= 2, "{start}: {help}");
        }
    }

    #[test]
    fn numbers_below_zero_are_values() {
        for (line, message) in [
            ("etalon run m.hlo --random -1", "a seed is a whole number from 0"),
            ("etalon run m.hlo --random abc", "a seed is a whole number from 0"),
            ("etalon run m.hlo --fuel x", "expected a whole number from 0"),
            ("etalon run m.hlo --replicas 0", "expected a whole number from 1"),
        ] {
            let error = command().try_get_matches_from(words(line)).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
