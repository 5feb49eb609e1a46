#!/usr/bin/env bash
# Makes the meshes of docs/src/meshing.md from the page's own text, and reads them.
#
#     tests/tutorial/meshing.sh DGSUITE PYTHON
#
# DGSUITE is the program, PYTHON an interpreter with the module gmsh (pip install gmsh), whose folder holds the
# command gmsh, too. Each block after a line <!-- mesh: NAME.geo --> becomes a file; layers.geo is put before the
# physical groups of the tutorial's cylinder.geo, as the page says. Each mesh must have all boundaries that its
# file names. It takes 3 to 8 s.

set -euo pipefail

# shellcheck source=tests/tutorial/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/common.bash" "$@"
page=docs/src/meshing.md

names=$(sed -n 's/^<!-- mesh: \(.*\) -->$/\1/p' "$root/$page")
[[ -n $names ]] || fail "$page has no line <!-- mesh: NAME.geo -->"
for name in $names; do
    blocks "$page" "mesh: $name" >"$name"
    [[ -s $name ]] || fail "$page has no code block after <!-- mesh: $name -->"
    if [[ $name == layers.geo ]]; then
        blocks docs/src/tutorial.md "tutorial: cylinder.geo" >cylinder.geo
        { sed '/^Physical/d' cylinder.geo && cat layers.geo && grep '^Physical' cylinder.geo; } >joined.geo
        mv joined.geo layers.geo
    fi
    dimension=2
    ! grep -q 'Physical Volume' "$name" || dimension=3
    gmsh "-$dimension" "$name" -o mesh.msh >gmsh.log 2>&1 || fail "$(cat gmsh.log)"$'\n'"gmsh cannot mesh $name"
    dgsuite mesh info mesh.msh >info
    echo "$name: $(sed -n 's/^elements *//p' info)"
    # Boundaries are groups one dimension lower; a periodic pair is on a separate line.
    kind=$([[ $dimension == 2 ]] && echo Curve || echo Surface)
    grep -oE "Physical $kind\(\"[^\"]*\"\)" "$name" | cut -d'"' -f2 >wanted
    [[ -s wanted ]] || fail "$name names no boundary"
    while read -r boundary; do
        grep -qE "^(boundaries|periodic) .*\<$boundary\>" info || fail "$(cat info)"$'\n'"$name: no boundary $boundary"
    done <wanted
done

# Files of dgsuite in each form, written again by Gmsh in another. Gmsh 4.15 does not read $Periodic of MSH 2.2:
# it copies the section's text, and numbers nodes anew.
made() {
    local name=$1
    shift
    dgsuite mesh generate "$@" -o "$name.msh" >/dev/null
    dgsuite mesh convert "$name.msh" "$name-22.msh" --msh 2.2 --text >/dev/null
    local second="$name-22.msh"
    ! grep -q Periodic "$second" || second=$name.msh
    for form in "$name.msh msh22" "$second msh41"; do
        read -r file other <<<"$form"
        gmsh "$file" -save -format "$other" -o again.msh >gmsh.log 2>&1 || fail "$(cat gmsh.log)"$'\n'"gmsh cannot read $file"
        ! grep -E '^(Warning|Error)' gmsh.log || fail "gmsh complains about $file"
        for mesh in "$file" again.msh; do
            dgsuite mesh info "$mesh" | sed '/^mesh /d; /^worst /d' >"info-$mesh"
        done
        diff "info-$file" info-again.msh || fail "gmsh changed $file"
        echo "$file: read and written as $other by gmsh"
    done
}
made channel channel-cylinder shape=quad cells=[4,32] growth=1.3
made ring annulus shape=tri cells=[2,12] inner=1 outer=2 order=4
made box box shape=prism cells=[3,2,2] periodic=[[xmin,xmax],[zmin,zmax]] map.order=2 "map.y=y*(1+0.1*z*(1-z))"
