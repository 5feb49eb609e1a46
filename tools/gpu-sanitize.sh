#!/usr/bin/env bash
# Runs the device tests under NVIDIA's compute-sanitizer: every checker on a covering set of kernels, orders
# and sizes.
#
#     tools/gpu-sanitize.sh [OPS_TEST [PROGRAM]]
#
# OPS_TEST is the test `device` of dgsuite-ops (default: bin/ops-device, as packed by gpu-bundle.sh), PROGRAM
# is dgsuite (default: bin/dgsuite). The cases are 1, 31, 32, 33 and 37 elements of every shape with a fast
# kernel, at every order of that kernel, with boundaries; then a run of the program. Exit status 0 if nothing
# was found, 1 if something was found, 77 if there is no compute-sanitizer.

set -uo pipefail

test=${1:-bin/ops-device}
program=${2:-bin/dgsuite}
tool=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)}
[[ -x $tool ]] || { echo "SKIPPED: there is no compute-sanitizer"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export DGSUITE_REQUIRE_GPU=1
failed=0

# Compiles the kernels beforehand, so that the checkers' time limit applies to kernels alone.
"$test" --exact sanitized::child --ignored >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; exit 1; }
for checker in memcheck racecheck initcheck synccheck; do
    options=(--tool "$checker" --error-exitcode 9 --print-limit 5)
    # The program calls some functions of the driver that are expected to return an error code.
    [[ $checker == memcheck ]] && options+=(--report-api-errors no)
    begin=$SECONDS
    timeout "${LIMIT:-60}" "$tool" "${options[@]}" "$test" --exact sanitized::child --ignored --nocapture >"$scratch/log" 2>&1
    status=$?
    cases=$(grep -c '^case ' "$scratch/log")
    printf '%-10s %4d cases %4d s  %s\n' "$checker" "$cases" $((SECONDS - begin)) \
        "$(grep -h 'SUMMARY' "$scratch/log" | tail -1 || true)$( ((status == 124)) && echo " stopped by the clock")"
    if ((status != 0 && status != 124)) || grep -q 'ERROR SUMMARY: [1-9]' "$scratch/log"; then
        failed=1
        grep -v '^case ' "$scratch/log" | head -30
    fi
    if [[ -x $program && -f ${PIPELINE:-examples/euler/isentropic-vortex.yaml} ]]; then
        timeout "${LIMIT:-60}" "$tool" "${options[@]}" "$program" run --ci --quiet "${PIPELINE:-examples/euler/isentropic-vortex.yaml}" \
            --device cuda --output "$scratch/out" --set checks=[] >"$scratch/log" 2>&1
        status=$?
        printf '%-10s whole run        %s\n' "$checker" "$(grep -h 'SUMMARY' "$scratch/log" | tail -1 || true)"
        # A run without a summary was not checked.
        if ((status != 0 && status != 124)) || ! grep -q 'SUMMARY' "$scratch/log" || grep -q 'SUMMARY: [1-9]' "$scratch/log"; then
            failed=1
            tail -5 "$scratch/log"
        fi
    fi
done
exit $failed
