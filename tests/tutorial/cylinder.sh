#!/usr/bin/env bash
# Follows docs/src/tutorial.md as a new user would, with nothing but the page's own text.
#
#     tests/tutorial/cylinder.sh DGSUITE PYTHON
#
# DGSUITE is the program, PYTHON an interpreter with the module gmsh (pip install gmsh), whose folder holds the
# command gmsh, too. The script writes the page's files (the block after <!-- tutorial: NAME -->) to a temporary
# directory, runs the page's commands there (the blocks after <!-- tutorial: run -->), and compares drag and length
# of the wake with the page's table. It takes 8 to 20 s.

set -euo pipefail

# shellcheck source=tests/tutorial/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"
page=docs/src/tutorial.md

for name in cylinder.geo cylinder.yaml; do
    blocks "$page" "tutorial: $name" >"$name"
    [[ -s $name ]] || fail "$page has no code block after <!-- tutorial: $name -->"
done
blocks "$page" "tutorial: run" >commands
for command in gmsh "dgsuite check" "dgsuite run"; do
    grep -q "^$command " commands || fail "$page has no command $command in the blocks after <!-- tutorial: run -->"
done
bash -euxo pipefail commands

# The numbers of the table's row "this page" are those of the run.
python3 - "$root/$page" out/cylinder/summary.json <<'END'
import json
import sys

page, summary = sys.argv[1:]
rows = [line for line in open(page, encoding="utf-8") if line.startswith("| this page")]
assert len(rows) == 1, "one row of the table begins with `this page`"
printed = [float(cell) for cell in rows[0].split("|")[2:4]]
summary = json.load(open(summary, encoding="utf-8"))
measured = [summary["forces"]["cylinder"]["cd"], summary["recirculation"]["length"]]
for name, page, run in zip(["drag coefficient", "length of the wake"], printed, measured):
    print(f"{name}: {run:.4f}, on the page {page}")
    # Another version of Gmsh makes another mesh; meshes of this size differ by less.
    assert abs(run / page - 1) < 0.03, f"the {name} is not that of the page"
END
