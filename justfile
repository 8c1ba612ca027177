# Short names for frequent commands; `just` lists them. See also `cargo xtask`.
default:
    @just --list

# Run everything that a change must pass
ci:
    cargo xtask ci

# Format the code
fmt:
    cargo fmt --all

# Run the tests whose names contain a word
test word="":
    cargo test --workspace {{word}}

# Rewrite the expected results of the tests
bless:
    cargo xtask bless

# Rewrite the generated table of docs/status.md
status:
    cargo xtask status

# Check a file of HLO text
check file:
    cargo run --release -- check {{file}}
