#!/usr/bin/env bash
# Prints the timing cases of two papers on a GPU and on one core of the CPU, side by side.
#
#     tools/paper-timing.sh [PROGRAM [DEVICE]]      (default: target/release/dgsuite cuda)
#
# Ten steps of the isentropic vortex on 524,288 triangles, beside the times of Chen (2014), Table 2, on a GPU
# and one core of that time; 10,000 steps (order 1) and 1,000 steps (order 4) of the supersonic vortex on 180
# to 184,320 triangles, whose times Fuhry, Giuliani and Krivodonova (2014) show only in a figure, with the L2
# error of the density. Times are those of the steps alone, `timing.run_s` in summary.json. One core takes as
# many steps as some seconds allow, and its time is scaled to all steps.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/dgsuite}
device=${2:-cuda}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Largest number of unknowns times stages for one case on one core.
budget=600000000

value() { sed -n "s/^ *\"$1\": \([0-9.eE+-]*\),\{0,1\}$/\1/p" "$scratch/out/summary.json" | head -1; }
# Prints the L2 error of the density.
error_of() { awk '/"l2"/ { inside = 1 } inside && /"rho":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$scratch/out/summary.json"; }

# run FILE DEVICE STEPS KEY=VALUE…: prints seconds and error.
run() {
    local file=$1 on=$2 steps=$3 set=()
    shift 3
    for pair in "$@"; do set+=(--set "$pair"); done
    # The checks of the file hold for its full length only.
    "$program" run --quiet "$file" --device "$on" --output "$scratch/out" --set "time.steps=$steps" --set checks=[] "${set[@]}" >&2
    echo "$(value run_s) $(error_of)"
}

# row NAME FILE ELEMENTS ORDER STEPS PAPER KEY=VALUE…
row() {
    local name=$1 file=$2 elements=$3 p=$4 steps=$5 paper=$6 few gpu cpu
    shift 6
    local work=$((elements * (p + 1) * (p + 2) / 2 * 4 * 4))
    few=$((budget / work))
    ((few < 5)) && few=5
    ((few > steps)) && few=$steps
    # A first run compiles the kernels.
    run "$file" "$device" 3 "space.order=$p" "$@" >/dev/null
    gpu=$(run "$file" "$device" "$steps" "space.order=$p" "$@")
    cpu=$(run "$file" cpu "$few" "space.order=$p" threads=1 "$@")
    awk -v name="$name" -v n="$elements" -v p="$p" -v steps="$steps" -v few="$few" -v gpu="$gpu" -v cpu="$cpu" -v paper="$paper" 'BEGIN {
        split(gpu, g, " "); split(cpu, c, " ")
        t = c[1] * steps / few
        printf "%-18s %8d %2d %6d  %10.4f  %10.3f  %7.1f  %9.2f  %.4e  %s\n", name, n, p, steps, g[1], t, t / g[1],
            1e6 * g[1] / steps / 4, g[2], paper
    }'
}

printf '%-18s %8s %2s %6s  %10s  %10s  %7s  %9s  %-10s  %s\n' case elements p steps "$device s" "one core s" ratio "us/stage" \
    "L2 of rho" "paper: GPU, core"
vortex=examples/euler/vortex-speed.yaml
row vortex $vortex 524288 0 10 "0.261 s" 
row vortex $vortex 524288 1 10 "1.676 s, 72 s"
row vortex $vortex 524288 2 10 "7.852 s, 213 s"
for p in 1 4; do
    steps=$((p == 1 ? 10000 : 1000))
    k=1
    for mesh in A B C D E F; do
        row "supersonic $mesh" examples/euler/annulus-speed.yaml $((180 * k * k)) $p $steps - \
            "mesh.generate.cells=[$((15 * k)), $((6 * k))]"
        k=$((2 * k))
    done
done
