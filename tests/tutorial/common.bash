# Sourced by the scripts in this folder with their arguments, DGSUITE PYTHON: puts both programs on the path,
# changes to a temporary directory that is deleted at the end, and defines `fail` and `blocks`.

fail() {
    echo "$*" >&2
    exit 1
}

(($# == 2)) || fail "usage: $0 DGSUITE PYTHON"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dgsuite=$(realpath "$1")
tools=$(cd "$(dirname "$2")" && pwd)
[[ -x $tools/gmsh ]] || fail "there is no command gmsh beside $2: pip install gmsh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/case"
ln -s "$dgsuite" "$scratch/bin/dgsuite"
export PATH=$scratch/bin:$tools:$PATH
cd "$scratch/case"

# All code blocks of the page $1 that follow the line <!-- $2 -->, one after the other.
blocks() {
    awk -v mark="<!-- $2 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (++fences == 2) found = fences = 0; next }
        found && fences == 1' "$root/$1"
}
