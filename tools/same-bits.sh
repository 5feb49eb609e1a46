#!/usr/bin/env bash
# Runs every example in its short form (`--ci`) with two programs, and lists the files that differ; on the CPU,
# unless ON names another device.
#
#     tools/same-bits.sh OLD NEW [OPTION...]        (options such as --set threads=1 are for NEW)
#     ON="--device cuda" tools/same-bits.sh PROGRAM PROGRAM --devices 0,1       (one GPU and two)
#     ONLY=examples/euler tools/same-bits.sh OLD NEW                            (the examples of a folder)
#
# OLD and NEW are builds of dgsuite, for instance before and after a change that must not change results. The
# same program twice, with an option, compares threads or SIMD levels (DGSUITE_SIMD). Runs write checkpoints,
# so that all coefficients are compared. Of `summary.json` the times of the run, the threads, the kernels and
# the memory in use are left out. Log files, reports and locks are not compared, nor, with `--devices`, fields,
# which each rank writes for its part. The exit status is 1 if anything differs.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

(($# >= 2)) || { sed -n '2,13p' "${BASH_SOURCE[0]}" >&2; exit 2; }
old=$1 new=$2
shift 2
several=
[[ " $* " == *" --devices "* ]] && several=yes
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Without what may differ between two runs of one program.
comparable() {
    python3 - "$1" "$several" <<'END'
import json, pathlib, sys
NAMES = ("threads", "kernel", "kernels", "version", "plane", "ranks", "device", "date", "machine", "peak")
PARTS = (".vtu", ".pvtu", ".pvd") if sys.argv[2] else ()
def is_same(key):
    return key not in NAMES and not key.startswith("timing") and not key.endswith("_s")
def without(x):
    if isinstance(x, dict):
        return {k: without(v) for k, v in x.items() if is_same(k)}
    return [without(y) for y in x] if isinstance(x, list) else x
for file in pathlib.Path(sys.argv[1]).rglob("*"):
    if file.name in ("log.txt", ".dgsuite.lock", "pipeline.yaml", "report.md") or file.suffix in PARTS:
        file.unlink()
    elif file.name == "summary.json":
        file.write_text(json.dumps(without(json.loads(file.read_text())), indent=1, sort_keys=True))
END
}

cases=0 differ=0
while IFS= read -r example; do
    # Elliptic problems and incompressible flow run on one rank.
    [[ $several ]] && grep -qE 'model: *(poisson|incompressible)' "$example" && continue
    run=(run --ci --quiet)
    # Elliptic problems have no checkpoints.
    grep -qE '^ *model: *poisson' "$example" || run+=(--set "output.checkpoint={every_steps: 1000000}")
    for which in old new; do
        read -ra options <<<"${ON:---device cpu}"
        [[ $which == new ]] && if [[ $several ]]; then options=("$@"); else options+=("$@"); fi
        "${!which}" "${run[@]}" "${options[@]}" --output "$scratch/$which" "$example" >"$scratch/$which.log" 2>&1 ||
            echo "$example: $which fails: $(head -n 1 "$scratch/$which.log")"
        [[ -d $scratch/$which ]] && comparable "$scratch/$which"
    done
    # A mesh of one element cannot be shared.
    if [[ $several ]] && grep -q 'cannot be cut into' "$scratch/new.log"; then
        rm -rf "$scratch/old"
        continue
    fi
    cases=$((cases + 1))
    if ! difference=$(diff -rq "$scratch/old" "$scratch/new"); then
        differ=$((differ + 1))
        sed "s|^|$example: |; s|$scratch/||g" <<<"$difference"
    fi
    rm -rf "$scratch/old" "$scratch/new"
done < <(find "${ONLY:-examples}" -name '*.yaml' -not -path '*/own-flux/*' | sort)
echo "$cases examples, $differ differ"
((differ == 0))
