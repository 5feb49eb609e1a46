#!/usr/bin/env bash
# Prints times and memory of a run on a large mesh, on one rank and on several.
#
#     tools/large-mesh.sh [MILLIONS [PROGRAM [RANKS…]]]      (default: 1 target/release/dgsuite 1 2)
#
# The mesh is a box of so many million tetrahedra in a binary Gmsh file; the problem is the advection of a wave
# with linear polynomials, the smallest one in which every element has neighbours, fluxes and a basis. Each row
# is a run of one step of LSERK(5,4) with a checkpoint, on so many ranks of one thread, and a second run of one
# step that continues from this checkpoint. Seconds: reading the file and making the plan, all of the set-up
# (cutting and the discretisation included), the step, the checkpoint, the set-up of the second run. Memory is
# the largest at any time: of rank 0, which reads the mesh, and of any other rank. `DGSUITE_MPIEXEC` is the
# launcher of ranks, by default `mpiexec`; it must set `PMI_RANK`, `PMIX_RANK` or `OMPI_COMM_WORLD_RANK`.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

millions=${1:-1}
program=$(realpath "${2:-target/release/dgsuite}")
ranks=("${@:3}")
((${#ranks[@]})) || ranks=(1 2)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# A box of n³ cells has 6 n³ tetrahedra.
n=$(awk -v m="$millions" 'BEGIN { printf "%.0f", (m * 1e6 / 6) ^ (1 / 3) }')
/usr/bin/time -f '%e %M' -o generated "$program" mesh generate box shape=tet "cells=[$n,$n,$n]" -o box.msh >/dev/null
read -r seconds memory <generated
echo "$((6 * n * n * n)) tetrahedra, $(($(stat -c %s box.msh) / 1000000)) MB: generated in $seconds s with $((memory / 1024)) MiB"

cat >case.yaml <<'END'
mesh: { file: box.msh }
physics: { model: advection, velocity: [1, 0.5, 0.2] }
space: { order: 1 }
initial: { u: 1 + 0.1*sin(3*x) }
boundaries:
  xmin: { type: dirichlet, u: 1 }
  ymin: { type: dirichlet, u: 1 }
  zmin: { type: dirichlet, u: 1 }
  xmax: { type: outflow }
  ymax: { type: outflow }
  zmax: { type: outflow }
time: { scheme: lserk54, steps: 1 }
threads: 1
output: { fields: none }
END

# run RANKS ARGUMENTS…: a run on so many ranks, each of which leaves its largest memory in a file.
run() {
    local launcher=()
    [[ $1 == 1 ]] || launcher=("${DGSUITE_MPIEXEC:-mpiexec}" -n "$1")
    # shellcheck disable=SC2016
    "${launcher[@]}" bash -c 'rank=${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-0}}}
        exec /usr/bin/time -f %M -o "memory-$rank-$$" "$@"' run \
        "$program" run case.yaml --quiet --overwrite "${@:2}" >&2
}

# The largest of the numbers in files, in MiB; a dash if there are none.
mebibytes() { cat "$@" 2>/dev/null | sort -n | tail -1 | awk '{ print int($1 / 1024); n = 1 } END { if (!n) print "-" }'; }

value() { sed -n "s/^ *\"$2\": \([0-9.eE+-]*\),\{0,1\}$/\1/p" "$1/summary.json" | head -1; }

printf '%5s  %8s  %8s  %8s  %10s  %8s  %10s  %8s\n' \
    ranks 'plan s' 'set-up s' 'step s' checkpoint restart 'MiB rank 0' 'others'
for r in "${ranks[@]}"; do
    rm -f memory-*
    run "$r" --output first
    run "$r" --output second --restart first/checkpoints/latest --set time.steps=2 --set output.checkpoint=none
    printf '%5d  %8.1f  %8.1f  %8.2f  %10.2f  %8.1f  %10d  %8s\n' \
        "$r" "$(value first plan_s)" "$(value first setup_s)" "$(value first run_s)" "$(value first output_s)" \
        "$(value second setup_s)" "$(mebibytes memory-0-*)" "$(mebibytes memory-[1-9]*)"
done
