#!/usr/bin/env bash
# Checks what was changed, in about half a minute after an edit. Run it while you write, .ci/run before a
# merge.
#
#     tools/quick.sh [CRATE …]      CRATE: a folder of crates/; default: those that differ from `main`
#
# It checks the format, runs clippy over the crates, their unit tests, and one case of the kernels on the
# emulated device (DGSUITE_CASE chooses others, see CONTRIBUTING.md), and prints the seconds of each. The
# profile `quick` has a folder of its own, target/quick: the first call builds all dependencies once more.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One fast kernel with its traces, limiters, and the search for bad states.
export DGSUITE_CASE=${DGSUITE_CASE:-"row Of(Quadrilateral) FR Gauss 3"}

if (($#)); then
    crates=("$@")
else
    # Committed since the branch left `main`, not yet committed, and new.
    since=$(git merge-base HEAD main 2>/dev/null || echo HEAD)
    mapfile -t crates < <({
        git diff --name-only "$since"
        git ls-files --others --exclude-standard
    } | sed -n 's|^crates/\([^/]*\)/.*|\1|p' | sort -u)
fi

packages=()
for crate in "${crates[@]}"; do
    manifest=crates/$crate/Cargo.toml
    [[ -e $manifest ]] || { echo "quick: there is no crate '$crate' in crates/" >&2; exit 2; }
    packages+=(-p "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)")
done

seconds=()
# step NAME COMMAND …: runs the command and notes its time; the script ends if it fails.
step() {
    local name=$1 begin=$SECONDS
    shift
    echo "quick: $name"
    "$@" || { echo "quick: FAILED in $name after $((SECONDS - begin)) s" >&2; exit 1; }
    seconds+=("$(printf '%-10s %4d s' "$name" $((SECONDS - begin)))")
}

format() {
    cargo fmt --all --check
    python3 tools/wrap.py --check
}

step format format
if ((${#packages[@]})); then
    step clippy cargo clippy --profile quick "${packages[@]}" --lib -- -D warnings
    step "unit tests" cargo test --quiet --profile quick "${packages[@]}" --lib
fi
step emulator cargo test --quiet --profile quick -p dgsuite-ops --test device kernels_are_sound

printf '%s\n' "${seconds[@]}" "$(printf '%-10s %4d s' all "$SECONDS")"
