#!/usr/bin/env bash
# Builds a wheel from what the workspace has compiled, installs it into a clean environment and runs its tests.
# `test.sh prepare` only installs what the tests use, which another step may do meanwhile.
# Needs python3 with venv, and PyPI. Exit code 75 if the tools cannot be installed.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$target/python
# XLA's evaluator is in a jaxlib of 2023, which has wheels for older versions of Python.
old=$folder/jaxlib-0.4.13
seconds() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.1f\", $(seconds) - $1 }"; }
# install ENVIRONMENT PACKAGE...: what is imported is compiled then.
install() { "$folder/$1/bin/pip" install --quiet --disable-pip-version-check --no-compile "${@:2}"; }

prepare() {
  mkdir -p "$folder"
  [ -x "$folder/tools/bin/python" ] || python3 -m venv "$folder/tools" || exit 75
  install tools 'maturin>=1.9.4,<2' || exit 75
  [ -x "$folder/tests/bin/python" ] || python3 -m venv "$folder/tests" || exit 75
  install tests pytest || exit 75
  install tests 'iree-base-compiler==3.13.0' 'iree-base-runtime==3.13.0' || echo "IREE 3.13.0 cannot be installed: its tests are skipped"
  install tests 'jax==0.10.2' 'mypy==2.4.1' || echo "JAX 0.10.2 cannot be installed: its tests are skipped"
  # From the index of PyTorch's wheels for the CPU: those of PyPI need gigabytes of CUDA.
  (install tests --retries 0 --index-url https://download.pytorch.org/whl/cpu 'torch==2.9.0' && install tests 'torch_xla==2.9.0') 2> /dev/null \
    || echo "torch 2.9.0 for the CPU and torch_xla 2.9.0 cannot be installed: their tests are skipped"
  for python in python3.11 python3.10; do
    if [ ! -x "$old/bin/python" ] && "$python" -c '' 2> /dev/null && "$python" -m venv "$old"; then
      install "${old##*/}" 'jaxlib==0.4.13' 'numpy<2' 'scipy<1.12' ml_dtypes || rm -rf "$old"
    fi
  done
}

prepare
[ "${1-}" != prepare ] || exit 0

start=$(seconds)
rm -rf "$folder/wheels"
# In the dev profile: what needs no optimization is compiled soonest, and crates from elsewhere are shared with the tests where their features agree.
CARGO_TARGET_DIR=$target "$folder/tools/bin/maturin" build --quiet --profile dev --compatibility linux --out "$folder/wheels"
echo "wheel: $(since "$start") s"

start=$(seconds)
python3 -m venv --clear "$folder/clean"
install clean "$folder"/wheels/*.whl
(cd "$folder" && clean/bin/python - << 'END'
import etalon, numpy as np
module = etalon.load("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
assert module.run(np.array([1, 2], np.float32)).tolist() == [2, 4]
END
)
echo "pip install and the first result in a clean environment: $(since "$start") s"

install tests --force-reinstall --no-deps "$folder"/wheels/*.whl
install tests "$folder"/wheels/*.whl
# The stubs, against the installed package. Without JAX the imports of it are errors; those of IREE may be.
if "$folder/tests/bin/python" -c 'import jax, mypy' 2> /dev/null; then
  (cd "$folder" && echo etalon.adapters.iree > allowed && tests/bin/python -m mypy.stubtest etalon --allowlist allowed --ignore-unused-allowlist)
fi
[ -x "$old/bin/python" ] && export ETALON_TEST_JAXLIB_0_4_13=$old/bin/python || echo "jaxlib 0.4.13 cannot be installed: its tests are skipped"
# From another folder: here `etalon` would be the sources, without the library.
tests=$PWD/tests
(cd "$folder" && tests/bin/python -m pytest --quiet -rs -p no:cacheprovider "$tests")
