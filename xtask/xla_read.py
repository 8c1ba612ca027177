"""Asks an installed jaxlib whether it reads HLO texts, and how it prints them.

usage: python xla_read.py TEXTS REFERENCE

TEXTS is written by `cargo xtask xla-tree DIR --texts TEXTS`, and REFERENCE is read by its option --reference. Both hold
one JSON object a line. A text that ends the process of XLA counts as one that XLA does not read.
"""
import json
import os
import sys

from jaxlib import _hlo

CHUNK = 500


def answer(line):
    text = json.loads(line)
    try:
        module = _hlo.hlo_module_from_text(text["text"])
        return {"at": text["at"], "printed": module.to_string(_hlo.HloPrintOptions())}
    except Exception as error:
        return {"at": text["at"], "error": str(error)[:300]}


def answers(lines):
    """Yields the answers; a process reads some texts, until one of them ends it."""
    while lines:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                for line in lines[:CHUNK]:
                    print(json.dumps(answer(line)), file=out, flush=True)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as found:
            done = [line for line in found if line.endswith("\n")]
        os.waitpid(child, 0)
        yield from done
        if len(done) < min(CHUNK, len(lines)):
            at = json.loads(lines[len(done)])["at"]
            yield json.dumps({"at": at, "error": "the process ended"}) + "\n"
            done.append("")
        lines = lines[len(done):]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as texts, open(sys.argv[2], "w") as out:
        out.writelines(answers(texts.readlines()))
