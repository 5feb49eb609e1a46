#!/usr/bin/env bash
# The walk of a new user: from an own geometry to forces, a picture, a report, a restart and a sweep in Python.
#
#     tests/tutorial/walk.sh DGSUITE PYTHON
#
# DGSUITE is the program, PYTHON an interpreter with the module gmsh (pip install gmsh), whose folder holds the
# command gmsh, too. It takes 10 to 30 s.

set -euo pipefail

# shellcheck source=tests/tutorial/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"

# An ellipse in a stream: nothing of the pages.
cat >body.geo <<'END'
Mesh.MeshSizeExtendFromBoundary = 1;
Point(1) = {0, 0, 0, 0.3};
Point(2) = {0.5, 0, 0, 0.12}; Point(3) = {0, 0.2, 0, 0.15}; Point(4) = {-0.5, 0, 0, 0.12}; Point(5) = {0, -0.2, 0, 0.15};
Ellipse(1) = {2, 1, 2, 3}; Ellipse(2) = {3, 1, 4, 4}; Ellipse(3) = {4, 1, 4, 5}; Ellipse(4) = {5, 1, 2, 2};
Point(12) = {6, 0, 0, 2}; Point(13) = {0, 6, 0, 2}; Point(14) = {-6, 0, 0, 2}; Point(15) = {0, -6, 0, 2};
Circle(11) = {12, 1, 13}; Circle(12) = {13, 1, 14}; Circle(13) = {14, 1, 15}; Circle(14) = {15, 1, 12};
Curve Loop(1) = {1, 2, 3, 4}; Curve Loop(2) = {11, 12, 13, 14};
Plane Surface(1) = {2, 1};
Physical Curve("body") = {1, 2, 3, 4};
Physical Curve("farfield") = {11, 12, 13, 14};
Physical Surface("gas") = {1};
END
gmsh -2 -order 2 body.geo -o body.msh >gmsh.log 2>&1 || fail "$(cat gmsh.log)"
dgsuite mesh info body.msh

dgsuite init navier-stokes --mesh body.msh -o body.yaml
grep -q '  body: { type: no-slip-wall }' body.yaml || fail "$(cat body.yaml)"
grep -q '  farfield: { type: far-field' body.yaml || fail "$(cat body.yaml)"
dgsuite check body.yaml >plan
grep -q '^monitors .*residual' plan && grep -q 'forces of body' plan || fail "$(cat plan)"
grep -q '^memory      about' plan && grep -q '^cost        roughly' plan || fail "$(cat plan)"
! grep -q '^warning' plan || fail "$(cat plan)"

# A short run, and its continuation.
short=(--threads 2 --device cpu --set space.order=2 --set physics.reference.reynolds=40)
dgsuite run body.yaml "${short[@]}" --set time.end=0.4 --set output.fields.every=0.2 --set output.checkpoint.every=0.2 \
    >first.log 2>&1 || fail "$(cat first.log)"
grep -q '^forces      body: cd' first.log || fail "$(cat first.log)"
dgsuite run body.yaml "${short[@]}" --set time.end=0.8 --set output.fields.every=0.2 --set output.checkpoint.every=0.2 \
    --restart latest >second.log 2>&1 || fail "$(cat second.log)"
grep -q 'to t = 0.8' second.log || fail "$(cat second.log)"
dgsuite picture out/body --field Mach -o mach.png
head -c 8 mach.png | cmp -s - <(printf '\x89PNG\r\n\x1a\n') || fail "mach.png is no PNG"
dgsuite report out/body -o report.html
grep -q 'rag coefficient' report.html || fail "the report does not tell the drag"

# Wrong boundaries and files get an answer.
! dgsuite check body.msh 2>said || fail "a mesh is no pipeline"
grep -q 'dgsuite init MODEL --mesh FILE' said || fail "$(cat said)"
! dgsuite check body.yaml --set 'boundaries.body={ type: wall }' 2>said || fail "wall is no type"
grep -q 'did you mean `no-slip-wall`' said || fail "$(cat said)"

cat >sweep.py <<'END'
import dgsuite

drags = []
for reynolds in (20, 40):
    result = dgsuite.run(
        "body.yaml",
        {"space.order": 1, "physics.reference.reynolds": reynolds, "time.end": 0.3},
        output=f"out/re-{reynolds}", device="cpu", threads=2, quiet=True,
    )
    drags.append(result.summary["forces"]["body"]["cd"])
print("drag at Re = 20 and 40:", drags)
assert drags[0] > drags[1] > 0
END
PYTHONDONTWRITEBYTECODE=1 DGSUITE=$dgsuite PYTHONPATH=$root/python python3 sweep.py
