#!/usr/bin/env bash
# Checks what was changed. Run it while you write, .ci/run before a merge.
#
#     tools/quick.sh [CRATE …]      CRATE: a folder of crates/; default: those that differ from `main`
#
# It checks the format, runs clippy over the crates, their unit tests, those of their other tests that
# docs/src/dev/extend.md asks for or that were changed, the rules for the text of the repository, and one case of
# the kernels on the emulated device (DGSUITE_CASE chooses others, see CONTRIBUTING.md), and prints the seconds of
# each. DGSUITE_QUICK=lib leaves the other tests out. The
# profile `quick` has a folder of its own, target/quick: the first call builds all dependencies once more.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One fast kernel with its traces, limiters, and the search for bad states.
export DGSUITE_CASE=${DGSUITE_CASE:-"row Of(Quadrilateral) FR Gauss 3"}

# Committed since the branch left `main`, not yet committed, and new.
since=$(git merge-base HEAD main 2>/dev/null || echo HEAD)
changed=$({
    git diff --name-only "$since"
    git ls-files --others --exclude-standard
})
if (($#)); then
    crates=("$@")
else
    mapfile -t crates < <(sed -n 's|^crates/\([^/]*\)/.*|\1|p' <<<"$changed" | sort -u)
fi

# tests_of CRATE: the names of its tests that a change needs: those of docs/src/dev/extend.md, and changed ones.
tests_of() {
    {
        case $1 in
        physics) printf '%s\n' properties trace ;;
        ops) echo operators ;;
        timeint) echo upwind ;;
        app) printf '%s\n' mistakes book ;;
        esac
        sed -n "s|^crates/$1/tests/\([^/.]*\)[/.].*|\1|p" <<<"$changed"
    } | sort -u | while read -r name; do
        # Not the folders of shared code and data.
        [[ -e crates/$1/tests/$name.rs || -e crates/$1/tests/$name/main.rs ]] && echo "$name"
    done || true
}

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
if [[ ${DGSUITE_QUICK:-} != lib ]]; then
    for i in "${!crates[@]}"; do
        mapfile -t names < <(tests_of "${crates[i]}")
        ((${#names[@]})) || continue
        # Of the operators, those without a device.
        filter=()
        [[ ${crates[i]} != ops ]] || filter=(-- laws:: elliptic:: properties:: refusals::)
        step "${crates[i]}" cargo test --quiet --profile quick -p "${packages[2 * i + 1]}" "${names[@]/#/--test=}" \
            "${filter[@]}"
    done
    step text cargo test --quiet --profile quick --test tidy --test floor_plan --test code_map
fi
step emulator cargo test --quiet --profile quick -p dgsuite-ops --test operators kernels_are_sound

printf '%s\n' "${seconds[@]}" "$(printf '%-10s %4d s' all "$SECONDS")"
