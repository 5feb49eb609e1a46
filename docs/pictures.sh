#!/usr/bin/env bash
# Runs the examples whose pictures README and the book show, and draws the pictures into docs/src/images.
#
#     docs/pictures.sh [PROGRAM [FOLDER [PICTURE…]]]      (default: target/release/dgsuite target/pictures, all)
#
# Results stay in FOLDER, and a run whose results are there is not repeated. All runs take about ten minutes on a
# GPU. IMAGES names another folder for the pictures; RUN_OPTIONS are passed to each run, such as --ci for short
# ones, whose pictures only show that they can be drawn.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/dgsuite}
out=${2:-target/pictures}
wanted=("${@:3}")
images=${IMAGES:-docs/src/images}
mkdir -p "$out" "$images"

# picture PICTURE RUN FILE RUN-OPTION… -- OPTION…: runs a file and draws its results.
picture() {
    local picture=$1 name=$2 file=$3
    shift 3
    if ((${#wanted[@]})) && [[ " ${wanted[*]} " != *" $picture "* ]]; then
        return
    fi
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    # shellcheck disable=SC2086 # several options
    [[ -s "$out/$name/fields.pvd" ]] ||
        "$program" run --quiet "examples/$file.yaml" --output "$out/$name" --set checks=[] \
            ${RUN_OPTIONS:-} "${options[@]}"
    "$program" picture "$out/$name" -o "$images/$picture.png" "$@"
}

picture vortex vortex euler/isentropic-vortex -- --time 2 --field Mach --contours 12 --mesh --size 600
picture supersonic-vortex supersonic-vortex euler/supersonic-vortex -- --field Mach --contours 12 --mesh --size 600
picture cylinder cylinder navier-stokes/cylinder -- --field u --contours 16 --zoom -1:5,-1.2:1.2 --size 1000
picture picture-cylinder cylinder navier-stokes/cylinder -- --field u --contours 16 --zoom -1:5,-1.2:1.2 --size 900
picture wake cylinder-wake navier-stokes/cylinder-wake -- --field Vorticity --range -2.5:2.5 \
    --zoom -1.5:15,-2.75:2.75 --size 1200
picture airfoil naca0012 navier-stokes/naca0012 -- --field Mach --zoom -0.2:1.6,-0.3:0.3 --size 1000
picture sphere sphere navier-stokes/sphere -- --field u --slice y=0 --mesh --zoom -1:3,-1:1 --size 800
picture picture-sphere sphere navier-stokes/sphere -- --field speed --slice y=0 --mesh --zoom -2:4,-2:2 --size 700
picture taylor-green taylor-green navier-stokes/taylor-green --set space.order=5 --set time.end=8 \
    --set "output.fields={every: 4, names: [QCriterion, Velocity]}" -- \
    --level QCriterion=4 --field speed --range 0:1.2 --size 640
picture picture-taylor-green taylor-green-early navier-stokes/taylor-green --set time.end=0.85 \
    --set "output.fields={every: 0.85, names: [QCriterion, Velocity]}" -- \
    --level QCriterion=0.3 --field speed --size 600

# lines PICTURE MESH OPTION…: finds the lines of thin elements in a mesh and draws them.
lines() {
    local picture=$1 mesh=$2
    shift 2
    if ((${#wanted[@]})) && [[ " ${wanted[*]} " != *" $picture "* ]]; then
        return
    fi
    "$program" mesh lines "data/meshes/$mesh.msh" -o "$out/$mesh.lines.vtu" >/dev/null
    "$program" picture "$out/$mesh.lines.vtu" --field line -o "$images/$picture.png" "$@"
}

lines walls-lines naca0012 --mesh --zoom -0.1:0.3,-0.15:0.15 --size 700 --title "Lines of thin elements"
