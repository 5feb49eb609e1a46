#!/usr/bin/env bash
# Prints the speed of whole runs on the shipped meshes of a cylinder, an airfoil, a sphere and an annulus,
# refined to at least 8 million unknowns, for Euler and Navier–Stokes at p = 2, 3, 4.
#
#     tools/mesh-timing.sh [PROGRAM [DEVICE]]      (default: target/release/dgsuite cuda)
#     RIEMANN=roe tools/mesh-timing.sh             (default: rusanov, as `dgsuite bench`)
#
# Each run takes 100 steps of LSERK(5,4) with the default form (modal, over-integrated), boundaries and the
# step bound included, without outputs. Elements at walls are curved. Compare with affine boxes of the same
# shapes: `dgsuite bench --forms modal --shapes tri,quad,tet,prism --orders 2,3,4 --size 10`, with `--model
# euler` or `--model navier-stokes`.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/dgsuite}
device=${2:-cuda}
riemann=${RIEMANN:-rusanov}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

value() { sed -n "s/^ *\"$1\": \([0-9.eE+-]*\),\{0,1\}$/\1/p" "$scratch/out/summary.json" | head -1; }

# The flow around BODY in the mesh NAME: file MODEL NAME BODY W.
file() {
    local model=$1 name=$2 body=$3 w=$4 physics wall
    if [[ $model == euler ]]; then
        physics="model: euler, gamma: 1.4, reference: { mach: 0.2 }" wall=slip-wall
    else
        physics="model: navier-stokes, reference: { mach: 0.2, reynolds: 100, length: 1 }" wall=no-slip-wall
    fi
    cat <<END
mesh: { file: $PWD/data/meshes/$name.msh }
physics: { $physics }
space: { riemann: $riemann }
initial: { rho: rho_ref, u: u_ref, v: 0$w, p: p_ref }
boundaries: { $body: { type: $wall }, far: { type: far-field, rho: rho_ref, u: u_ref, v: 0$w, p: p_ref } }
time: { scheme: lserk54, steps: 100 }
END
}

# row MODEL MESH REFINEMENTS FILE
row() {
    local model=$1 name=$2 refined=$3 file=$4 p
    for p in 2 3 4; do
        local set=(--set "space.riemann=$riemann" --set "space.order=$p" --set "mesh.refine=$refined" --set time.steps=100)
        "$program" run --quiet "$file" --device "$device" --output "$scratch/out" "${set[@]}" --set monitors=[] --set checks=[] \
            --set output.fields=none --set output.checkpoint=none >&2
        awk -v model="$model" -v name="$name" -v p="$p" -v s="$(value run_s)" -v g="$(value gdofs_per_s)" \
            -v n="$(value rhs_evaluations)" \
            'BEGIN { printf "%-13s %-9s %d  %6.2f  %6.1f  %6.2f\n", model, name, p, g * s / n * 1e3, g, s }'
    done
}

printf '%-13s %-9s %s  %6s  %6s  %6s\n' model mesh p MDOF GDOF/s s
row euler annulus 6 examples/euler/supersonic-vortex.yaml
for model in euler navier-stokes; do
    for case in "cylinder cylinder 4" "naca0012 airfoil 4" "sphere sphere 2"; do
        read -r name body refined <<<"$case"
        w=""
        [[ $name == sphere ]] && w=", w: 0"
        file $model $name $body "$w" >"$scratch/$model-$name.yaml"
        row $model $name "$refined" "$scratch/$model-$name.yaml"
    done
done
