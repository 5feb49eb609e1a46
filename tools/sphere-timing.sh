#!/usr/bin/env bash
# Prints the times of 100 steps of the flow around a sphere on the twelve grids of Castonguay, Williams,
# Vincent, Lopez and Jameson (2011), on a GPU and on one core of the CPU, side by side.
#
#     tools/sphere-timing.sh [PROGRAM [DEVICE [FOLDER]]]      (default: target/release/dgsuite cuda, a temporary folder)
#
# Hexahedra and prisms have the paper's numbers of elements, tetrahedra within a percent
# (data/meshes/spheres.py makes the meshes in FOLDER unless they exist; it needs numpy, and Gmsh's module for
# tetrahedra). The paper's order is p + 1. The paper has no times, only the ratio of a Tesla C2050 to a core
# of a Xeon X5670: between 25 and 45. One core takes as many steps as some seconds allow, and its time is
# scaled to 100 steps. Times are those of the steps alone, `timing.run_s` in summary.json.
#
# With DEVICES=0,1 (a value of `--devices`) several GPUs take the place of the core: their time, the speed-up
# over one GPU, and both speeds.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/dgsuite}
device=${2:-cuda}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=${3:-$scratch}
mkdir -p "$folder"
folder=$(realpath "$folder")

# Largest number of solution points times stages for one case on one core.
budget=${BUDGET:-20000000}

value() { sed -n "s/^ *\"$1\": \([0-9.eE+-]*\),\{0,1\}$/\1/p" "$scratch/out/summary.json" | head -1; }

# run OPTION VALUE STEPS KEY=VALUE…: prints seconds.
run() {
    local on=("$1" "$2") steps=$3 set=()
    shift 3
    for pair in "$@"; do set+=(--set "$pair"); done
    "$program" run --quiet examples/navier-stokes/sphere-speed.yaml "${on[@]}" --output "$scratch/out" --overwrite \
        --set "time.steps=$steps" "${set[@]}" >&2
    value run_s
}

mesh() { [[ -s "$folder/$2.msh" ]] || "${PYTHON:-python3}" data/meshes/spheres.py $1 "$folder/$2.msh" >&2; }

# row SHAPE MESH ELEMENTS ORDER POINTS KEY=VALUE…
row() {
    local shape=$1 name=$2 elements=$3 p=$4 points=$5 few gpu cpu
    shift 5
    local all=("mesh.file=$folder/$name.msh" "space.order=$p" "$@")
    few=$((budget / (points * 5)))
    ((few < 2)) && few=2
    ((few > 100)) && few=100
    # A first run compiles the kernels.
    run --device "$device" 3 "${all[@]}" >/dev/null
    gpu=$(run --device "$device" 100 "${all[@]}")
    if [[ -n ${DEVICES:-} ]]; then
        few=100
        run --devices "$DEVICES" 3 "${all[@]}" >/dev/null
        cpu=$(run --devices "$DEVICES" "$few" "${all[@]}")
    else
        cpu=$(run --device cpu "$few" threads=1 "${all[@]}")
    fi
    awk -v shape="$shape" -v n="$elements" -v p="$p" -v points="$points" -v few="$few" -v gpu="$gpu" -v cpu="$cpu" 'BEGIN {
        t = cpu * 100 / few
        printf "%-6s %7d %2d %10d  %9.4f  %9.4f  %7.2f  %8.3f  %8.4f\n", shape, n, p, points, gpu, t,
            (gpu > t ? gpu / t : t / gpu), points * 5 * 500 / gpu / 1e9, points * 5 * 500 / t / 1e9
    }'
}

mesh "tet 0.1143" tet
mesh "hex 12 24" hex
mesh "hex 9 21" hex-coarse
mesh "prism 15 15" prism
mesh "prism 9 21" prism-coarse

printf '%-6s %7s %2s %10s  %9s  %9s  %7s  %8s  %8s\n' shape cells p points "$device s" "${DEVICES:-core} s" ratio GDOF/s GDOF/s
tets=$("$program" mesh info "$folder/tet.msh" | sed -n 's/^elements *\([0-9,]*\) .*/\1/p' | tr -d ,)
for p in 2 3 4 5; do row tet tet "$tets" $p $((tets * (p + 1) * (p + 2) * (p + 3) / 6)) space.vcjh=dg; done
for p in 2 3 4; do row hex hex 20736 $p $((20736 * (p + 1) ** 3)); done
row hex hex-coarse 10206 5 $((10206 * 216))
for p in 2 3; do row prism prism 40500 $p $((40500 * (p + 1) ** 2 * (p + 2) / 2)); done
for p in 4 5; do row prism prism-coarse 20412 $p $((20412 * (p + 1) ** 2 * (p + 2) / 2)); done
