#!/usr/bin/env bash
# Checks a wheel as a user meets it: `check-wheel.sh WHEEL`. Installs it into an empty environment, with an empty home, and runs the
# command, the package and, where PyPI has them, the checks of its tags and of its description. Needs python3 with venv, and PyPI.
set -euo pipefail
wheel=$(cd "$(dirname "${1:?a wheel}")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir "$HOME"
cd "$scratch"
python3 -m venv new
bin=new/bin
[ -d "$bin" ] || bin=new/Scripts

start=$(date +%s)
"$bin/pip" install --quiet "$wheel"
printf 'HloModule add\nENTRY main { x = f32[3] parameter(0)  y = f32[3] parameter(1)  ROOT sum = f32[3] add(x, y) }\n' > add.hlo
result=$("$bin/etalon" run add.hlo --random 1)
[ "$result" = "f32[3] {0.0218415782, 0.380092919, 1.4677943}" ] || { echo "etalon run: $result"; exit 1; }
echo "from the wheel to the first result: $(($(date +%s) - start)) s"

"$bin/etalon" --version
"$bin/python" -m etalon check --quiet add.hlo
code=0
"$bin/etalon" check no-such.hlo 2> /dev/null || code=$?
[ $code = 2 ] || { echo "a missing file: exit code $code"; exit 1; }
"$bin/etalon" conform --backend fast --suite smoke --quiet > /dev/null
"$bin/python" - << 'END'
import etalon, numpy as np
module = etalon.load("add.hlo")
assert module.run(np.ones(3, np.float32), y=[1, 2, 3]).tolist() == [2, 3, 4]
assert module.cost()["flops"] == 3
END

python3 -m venv tools
tools=tools/bin
[ -d "$tools" ] || tools=tools/Scripts
if "$tools/pip" install --quiet twine abi3audit auditwheel 2> /dev/null; then
  "$tools/twine" check --strict "$wheel"
  "$tools/abi3audit" --strict "$wheel"
  case $wheel in *linux*) "$tools/auditwheel" show "$wheel" ;; esac
fi
echo "$(basename "$wheel"): $(wc -c < "$wheel") bytes"
