#!/usr/bin/env bash
# Runs examples of linear solvers, shortened, on one rank and on several, and compares every table, checkpoint
# and field of Poisson's equation byte by byte.
#
#     tools/same-ranks.sh                        2, 3, 4 and 7 ranks
#     tools/same-ranks.sh "2 3" kovasznay duct   these examples on these numbers of ranks
#     tools/same-ranks.sh "0,1 0,0,1"            GPU 0 alone, and ranks on these lists of GPUs
#
# DGSUITE names the program (default: target/release/dgsuite), DGSUITE_MPIEXEC the launcher (default: mpiexec).
# Prints a line for each run; the exit code is 1 if a file differs or a run fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${DGSUITE:-target/release/dgsuite}
mpiexec=${DGSUITE_MPIEXEC:-mpiexec}
counts=${1:-2 3 4 7}
shift || true
examples=(two-layers bent-cube stretched l-shape kovasznay cylinder-2d-1 square-cylinder swirl duct orr-sommerfeld
    backward-step taylor-green bump cylinder)
(($#)) && examples=("$@")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# What a run leaves, but what depends on the number of ranks or on time: paths in a directory of results.
files() { (cd "$1" && find . \( -name '*.csv' -o -name '*.dgs' -o -path '*fields/fields.vtu' \) | sort); }

for example in "${examples[@]}"; do
    file=$(ls examples/{poisson,incompressible,euler,navier-stokes}/"$example".yaml 2>/dev/null | head -1)
    [[ -n $file ]] || { echo "there is no example $example"; exit 2; }
    one=$scratch/$example
    device=cpu
    [[ $counts == *,* ]] && device=cuda:0
    if ! "$program" run "$file" --ci --device $device --set threads=1 --output "$one" >"$scratch/log" 2>&1; then
        echo "$example: fails on one rank"; tail -3 "$scratch/log"; bad=1; continue
    fi
    for n in $counts; do
        several=$scratch/$example-$n
        start=("$mpiexec" -n "$n" "$program" run "$file" --device cpu)
        [[ $n == *,* ]] && start=("$program" run "$file" --devices "$n")
        if ! "${start[@]}" --ci --set threads=1 --output "$several" >"$scratch/log" 2>&1; then
            if grep -q "lines of thin elements are not cut\|each part needs an element" "$scratch/log"; then
                echo "$example: too small for $n ranks"
            else
                echo "$example: fails on $n ranks"; tail -3 "$scratch/log"; bad=1
            fi
            continue
        fi
        all=0 differ=0
        while read -r name; do
            all=$((all + 1))
            cmp -s "$one/$name" "$several/$name" || { differ=$((differ + 1)); echo "    $name differs"; }
        done < <(files "$one")
        printf '%-16s %s ranks: %d files, %d differ\n' "$example" "$n" "$all" "$differ"
        ((differ == 0 && all > 0)) || bad=1
    done
done
exit $bad
