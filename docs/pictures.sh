#!/usr/bin/env bash
# Runs the examples whose pictures README and the book show, and draws the pictures into docs/src/images.
#
#     docs/pictures.sh [PROGRAM [FOLDER]]      (default: target/release/dgsuite target/pictures)
#
# Results stay in FOLDER, and a run whose results are there is not repeated. All runs take about ten minutes on a
# GPU. PYTHON names an interpreter with VTK, NumPy and Pillow (default: python3).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/dgsuite}
out=${2:-target/pictures}
images=docs/src/images
mkdir -p "$out" "$images"

# run NAME FILE OPTION…
run() {
    local name=$1 file=$2
    shift 2
    [[ -s "$out/$name/fields.pvd" ]] || "$program" run --quiet "examples/$file.yaml" --output "$out/$name" --set checks=[] "$@"
}

# draw PICTURE NAME OPTION…
draw() {
    local picture=$1 name=$2
    shift 2
    "${PYTHON:-python3}" tools/picture.py "$out/$name/fields.pvd" -o "$images/$picture.png" "$@"
}

run vortex euler/isentropic-vortex
draw vortex vortex --time 2 --field Mach --contours 12 --mesh --width 600

run supersonic-vortex euler/supersonic-vortex
draw supersonic-vortex supersonic-vortex --field Mach --contours 12 --mesh --width 600

run cylinder navier-stokes/cylinder
draw cylinder cylinder --field Velocity --component x --label u --contours 16 --window -1 5 -1.2 1.2 --width 1000 --bar bottom

run cylinder-wake navier-stokes/cylinder-wake
draw wake cylinder-wake --field Vorticity --map diverging --range -2.5 2.5 --smooth --window -1.5 15 -2.75 2.75 \
    --width 1200 --bar bottom

run naca0012 navier-stokes/naca0012 --set time.end=10
draw airfoil naca0012 --field Mach --window -0.2 1.6 -0.3 0.3 --width 1000 --bar bottom

run sphere navier-stokes/sphere
draw sphere sphere --field Velocity --component x --label u --slice y=0 --mesh --window -1 3 -1 1 --width 800

run taylor-green navier-stokes/taylor-green --set space.order=5 --set time.end=8 \
    --set "output.fields={every: 4, names: [QCriterion, { Speed: sqrt(u^2 + v^2 + w^2) }]}"
draw taylor-green taylor-green --surface QCriterion=4 --field Speed --range 0 1.2 --box --width 640 --height 600

# The pictures of the page on `dgsuite picture`, drawn by it.
picture() {
    local picture=$1 name=$2
    shift 2
    "$program" picture "$out/$name" -o "$images/picture-$picture.png" "$@"
}

picture cylinder cylinder --field u --contours 16 --zoom -1:5,-1.2:1.2 --size 900
picture sphere sphere --field speed --slice y=0 --mesh --zoom -2:4,-2:2 --size 700

run taylor-green-early navier-stokes/taylor-green --set time.end=0.85 \
    --set "output.fields={every: 0.85, names: [QCriterion, Velocity]}"
picture taylor-green taylor-green-early --level QCriterion=0.3 --field speed --size 600
