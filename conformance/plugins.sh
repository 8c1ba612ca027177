#!/bin/sh
# Installs PJRT plugins for XLA:CPU into target/plugins, where the tests look for them. Needs python3 with pip.
#   conformance/plugins.sh                      the default: xla-cpu-pjrt
#   conformance/plugins.sh lammps-jax-pjrt-cpu  a newer XLA:CPU
set -eu
cd "$(dirname "$0")/.."
into=target/plugins
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$into"
for package in "${@:-xla-cpu-pjrt}"; do
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work/$package" "$package"
    python3 -m zipfile -e "$work/$package"/*.whl "$work/$package"
    find "$work/$package" -name '*.so' -exec cp {} "$into/$package.so" \;
    echo "$into/$package.so"
done
