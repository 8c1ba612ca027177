# Short names for what one types often; `just` lists them. `cargo xtask` does the work.
default:
    @just --list

# Everything a change must pass
ci:
    cargo xtask ci

# Format the code
fmt:
    cargo fmt --all

# Run the tests whose names hold a word
test word="":
    cargo test --workspace {{word}}

# Take what the tests give as what is wanted
bless:
    cargo xtask bless

# Rewrite the generated table of docs/status.md
status:
    cargo xtask status

# Check a file of HLO text
check file:
    cargo run --release -- check {{file}}
