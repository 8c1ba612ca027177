#!/usr/bin/env python3
"""Checks the results of a backend by the legal results in this folder.

usage: python check.py RESULTS [PATTERN]

RESULTS is a folder with ID.npz for each case: the arrays out0, out1, ..., of several devices d0_out0, d1_out0, ...
PATTERN selects cases by their names, as dot/f32/*.
exit codes: 0 all results are legal, 1 one is wrong, 2 wrong usage, 3 all that are there are legal, and some are missing"""
import fnmatch, json, pathlib, sys
import numpy as np

HERE, TOP, FORMAT = pathlib.Path(__file__).parent, 2**63 - 1, 1
TABLES = np.load(HERE / "types.npz")  # the numbers of the types that NumPy lacks, by their bits
ORDER = ["WRONG", "missing", "undefined", "not tested", "legal"]

def numbers(x, ty):
    """Returns the elements as integers in the order of the numbers: -inf, ..., -0, 0, ..., inf, NaN; parts of complex ones apart."""
    if ty in TABLES and x.dtype.kind in "uV":
        x = TABLES[ty][x.view(f"u{x.itemsize}")]
    if ty.startswith("c"):
        x = np.stack([x.real, x.imag], -1)
    if x.dtype.kind != "f":
        return x
    bits = x.astype(np.float64).view(np.int64)
    return np.where(np.isnan(x), TOP, np.where(bits < 0, bits ^ TOP, bits))

def within(x, ends, name, ty):
    """Returns whether each element is in one of its intervals, whose ends are legal."""
    if name + "_lo" not in ends:
        return np.zeros(x.shape[: x.ndim - ty.startswith("c")], bool)
    lo, hi = (ends[name + end] if ends[name + end].dtype.kind != "f" else numbers(ends[name + end], "") for end in ("_lo", "_hi"))
    inside = (lo <= x) & (x <= hi)
    return (inside.all(-1) if ty.startswith("c") else inside).any(0)

def in_order(x, ends, order):
    """Returns whether the values at the positions of an order are different members: a matching."""
    at, members = (np.flatnonzero(ends[name] == order) for name in ("order_of", "member_of"))
    own = {name: ends[name][:, members, None] for name in ("member_lo", "member_hi")}
    fits, taken = within(x[ends["order_at"][at]], own, "member", ""), {}
    def found(position, seen):
        for member in np.flatnonzero(fits[:, position]):
            if member not in seen:
                seen.add(member)
                if member not in taken or found(taken[member], seen):
                    taken[member] = position
                    return True
        return False
    return all(found(position, set()) for position in range(len(at)))

def check_array(x, expected, ends, ty):
    """Returns which elements are wrong, which are open, and whether a legal one differs that is tested, and one that is not."""
    x, e, c = numbers(x, ty), numbers(expected, ty), ty.startswith("c")
    differs = (x != e).any(-1) if c else x != e
    legal, is_open = (differs & within(x, ends, name, ty) for name in ("legal", "open"))
    for order in np.unique(ends.get("order_of", [])):
        if not in_order(x.ravel(), ends, order):
            at = np.unravel_index(ends["order_at"][ends["order_of"] == order], x.shape)
            legal[at], is_open[at] = False, False
    loose = np.bitwise_and(ends.get("untested", np.uint8(0)), np.where(x < e, 1, 2)) != 0
    loose = (loose & ((x != e) | (np.arange(2) == 0))) if c else loose
    loose = (loose | (x == e) & (np.arange(2) == 1)).all(-1) if c else loose
    return differs & ~legal & ~is_open, is_open & ~legal, (legal & ~loose).any(), (legal & loose).any()

def check(case, path):
    """Returns the verdict on the results of a case, and what is wrong."""
    if not path.exists():
        return "missing", ""
    found, files, best = np.load(path), np.load(HERE / "cases" / case["id"] / "legal.npz"), None
    for number in range(len(case["ways"])):  # a result is legal if it is in one of the ways
        verdict, why, tested, untested = "legal", "", False, False
        for name, ty in case["results"].items():
            expected = files[name]
            x = found[name] if name in found else np.zeros(0, "O")
            kinds = "fuV" if ty in TABLES else expected.dtype.kind if expected.dtype.kind in "fc" else ""
            if x.shape != expected.shape or (x.dtype.kind not in kinds if kinds else x.dtype != expected.dtype):
                return "WRONG", f"{name} is {x.dtype}{list(x.shape)}, expected {expected.dtype}{list(expected.shape)}"
            prefix = f"{number}/{name}/"
            ends = {key[len(prefix):]: files[key] for key in files if key.startswith(prefix)}
            wrong, is_open, some, others = check_array(x, expected, ends, ty)
            tested, untested = tested or some, untested or others
            if wrong.any():
                at = tuple(np.argwhere(wrong)[0])
                values = [TABLES[ty][v] if ty in TABLES and v.dtype.kind == "u" else v for v in (x[at], expected[at])]
                verdict, why = "WRONG", f"{wrong.sum()} of {x.size} elements of {name}: {list(map(int, at))} is {values[0]}, expected {values[1]}"
                break
            verdict = "undefined" if is_open.any() else verdict
        verdict = "not tested" if verdict == "legal" and untested and not tested else verdict
        if best is None or ORDER.index(verdict) > ORDER.index(best[0]):
            best = verdict, why
    return best

def main():
    sys.setrecursionlimit(100000)
    np.seterr(all="ignore")  # a signaling NaN is a value
    manifest = json.loads((HERE / "manifest.json").read_text())
    if len(sys.argv) not in (2, 3) or not pathlib.Path(sys.argv[1]).is_dir() or manifest["format"] != FORMAT:
        print(__doc__ if manifest["format"] == FORMAT else f"format {manifest['format']}, this is a checker of {FORMAT}", file=sys.stderr)
        return 2
    pattern = sys.argv[2].replace("[", "[[]") if len(sys.argv) > 2 else "*"
    cases = [case for case in manifest["cases"] if fnmatch.fnmatchcase(case["name"], pattern)]
    found = [(*check(case, pathlib.Path(sys.argv[1]) / (case["id"] + ".npz")), case["name"]) for case in cases]
    for verdict, why, name in sorted(found, key=lambda one: ORDER.index(one[0])):
        if verdict != "legal":
            print(f"{verdict}: {name}" + (f": {why}" if why else ""))
    counts = {verdict: sum(one[0] == verdict for one in found) for verdict in ORDER}
    print(f"{len(found)} cases: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
    return 1 if counts["WRONG"] else 3 if counts["missing"] else 0 if found else 2

if __name__ == "__main__":
    sys.exit(main())
