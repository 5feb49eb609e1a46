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

fail() {
    echo "$*" >&2
    exit 1
}

(($# == 2)) || fail "usage: $0 DGSUITE PYTHON"
pages=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/src
dgsuite=$(realpath "$1")
tools=$(cd "$(dirname "$2")" && pwd)
[[ -x $tools/gmsh ]] || fail "there is no command gmsh beside $2: pip install gmsh"
export PATH=$tools:$PATH

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The code block of page $1 that follows the line $2.
block() {
    awk -v mark="$2" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (++fences == 2) exit; next }
        found && fences == 1' "$pages/$1"
}

names=$(sed -n 's/^<!-- mesh: \(.*\) -->$/\1/p' "$pages/meshing.md")
[[ -n $names ]] || fail "docs/src/meshing.md has no line <!-- mesh: NAME.geo -->"
for name in $names; do
    block meshing.md "<!-- mesh: $name -->" >"$name"
    [[ -s $name ]] || fail "docs/src/meshing.md has no code block after <!-- mesh: $name -->"
    if [[ $name == layers.geo ]]; then
        block tutorial.md "<!-- tutorial: cylinder.geo -->" >cylinder.geo
        { sed '/^Physical/d' cylinder.geo && cat layers.geo && grep '^Physical' cylinder.geo; } >joined.geo
        mv joined.geo layers.geo
    fi
    dimension=2
    ! grep -q 'Physical Volume' "$name" || dimension=3
    gmsh "-$dimension" "$name" -o mesh.msh >gmsh.log 2>&1 || fail "$(cat gmsh.log)"$'\n'"gmsh cannot mesh $name"
    "$dgsuite" mesh info mesh.msh >info
    echo "$name: $(sed -n 's/^elements *//p' info)"
    # Boundaries are groups one dimension lower; a periodic pair is on a separate line.
    kind=$([[ $dimension == 2 ]] && echo Curve || echo Surface)
    grep -oE "Physical $kind\(\"[^\"]*\"\)" "$name" | cut -d'"' -f2 >wanted
    [[ -s wanted ]] || fail "$name names no boundary"
    while read -r boundary; do
        grep -qE "^(boundaries|periodic) .*\<$boundary\>" info || fail "$(cat info)"$'\n'"$name: no boundary $boundary"
    done <wanted
done
