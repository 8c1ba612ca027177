#!/usr/bin/env bash
# Builds the command for a target of Rust, and packs it with its licenses: `archive.sh FOLDER [TARGET]`.
# Needs Rust. For Linux also python3 with venv and PyPI: zig compiles the C files, and links for glibc 2.28 or, statically, for musl. The
# static command runs on every Linux, but can load no plugins and no libraries.
set -euo pipefail
folder=$(mkdir -p "${1:?a folder for the archive}" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
output=${CARGO_TARGET_DIR:-target}
build=(build)
of=$target
case $target in
  *-linux-*)
    tools=$output/packaging/tools
    [ -d "$tools" ] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild ziglang
    PATH=$(cd "$tools/bin" && pwd):$PATH
    build=(zigbuild)
    ;;
esac
case $target in *-linux-gnu) of=$target.2.28 ;; esac
cargo "${build[@]}" --release --locked --package etalon-cli --target "$of"
name=etalon-$target
rm -rf "${output:?}/packaging/$name"
mkdir -p "$output/packaging/$name"
program=etalon
case $target in *-windows-*) program=etalon.exe ;; esac
cp "$output/$target/release/$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$output/packaging/$name"
cp interp/core-math/c/LICENSE "$output/packaging/$name/LICENSE-CORE-MATH"
tar -czf "$folder/$name.tar.gz" -C "$output/packaging" "$name"
echo "$folder/$name.tar.gz: $(wc -c < "$folder/$name.tar.gz") bytes"
