#!/usr/bin/env bash
# Builds the wheel: `wheel.sh FOLDER [TARGET]`, for this machine or another target of Rust.
# Needs python3 with venv, PyPI and Rust. On Linux, zig compiles the C files and links for glibc 2.28: the wheel runs on every
# distribution since 2018, whatever this machine has.
set -euo pipefail
folder=$(mkdir -p "${1:?a folder for the wheel}" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
tools=${CARGO_TARGET_DIR:-target}/packaging/tools
[ -d "$tools" ] || python3 -m venv "$tools"
bin=$tools/bin
[ -d "$bin" ] || bin=$tools/Scripts
"$bin/python" -m pip install --quiet --disable-pip-version-check 'maturin[zig]>=1.9.4,<2'
options=()
case $target in
  *-linux-gnu) options=(--zig --compatibility manylinux_2_28) ;;
esac
PATH=$(cd "$bin" && pwd):$PATH maturin build --release --strip --locked --target "$target" \
  --manifest-path bindings/python/Cargo.toml --out "$folder" "${options[@]}"
