#!/usr/bin/env bash
# Runs tests, then pipelines, then benchmarks on an NVIDIA GPU, in the folder that tools/gpu-bundle.sh packs.
#
#     ./run.sh [DEVICE]      DEVICE: cuda (default), cuda:N, or cpu to rehearse without a GPU
#
# The most important parts come first; everything ends within eight minutes. The script writes result.json,
# bench.json and a log of each step in log/, and prints a table last. Exit status 0 if every test passed and
# both devices agree.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

device=${1:-cuda}
limit=470
# Largest difference between error norms of the device and of the CPU: rounding errors of some hundred steps.
agree=1e-9
table=
steps=
failed=0
mkdir -p log out
rm -f result.json bench.json

# Finds NVIDIA's run-time compiler in places where the program does not look, such as Python's packages.
if [[ -z ${DGSUITE_NVRTC:-} ]]; then
    for file in /usr/local/cuda*/lib64/libnvrtc.so.1[23] /usr/local/cuda*/targets/x86_64-linux/lib/libnvrtc.so.1[23] \
        /usr/lib/x86_64-linux-gnu/libnvrtc.so.1[23] \
        /{usr/local,usr,opt/*}/lib/python3*/{site,dist}-packages/nvidia/{cu13,cuda_nvrtc}/lib/libnvrtc.so.1[23]; do
        [[ -e $file ]] && export DGSUITE_NVRTC=$file && break
    done
fi
export DGSUITE_CACHE=$PWD/kernels
# A test without a device fails instead of printing SKIPPED.
[[ $device == cpu ]] || export DGSUITE_REQUIRE_GPU=1

# step NAME SECONDS COMMAND…: runs the command within its time and the time that is left, and stores its
# result.
step() {
    local name=$1 most=$2 left=$((limit - SECONDS)) begin=$SECONDS status word
    shift 2
    ((most > left)) && most=$left
    if ((most < 5)); then
        status=-1 word="no time left"
    else
        printf '== %s\n' "$name"
        timeout "$most" "$@" >"log/$name.txt" 2>&1 </dev/null
        status=$?
        case $status in
        0) word=ok ;;
        124) word="stopped after $most s" ;;
        *) word="failed ($status)" ;;
        esac
    fi
    ((status == 0)) || failed=1
    table+=$(printf '%-32s %5d s  %s' "$name" $((SECONDS - begin)) "$word")$'\n'
    steps+=$(printf '%s{"name": "%s", "status": %d, "seconds": %d}' "${steps:+, }" "$name" "$status" $((SECONDS - begin)))
    return $((status != 0))
}

# Prints the L2 error of the density in a summary.
error_of() {
    awk '/"l2"/ { inside = 1 } inside && /"rho":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$1/summary.json"
}

rate_of() {
    awk '/"gdofs_per_s"/ { gsub(/[^0-9.eE+-]/, "", $2); print $2 }' "$1/summary.json"
}

step devices 30 bin/dgsuite devices
cat log/devices.txt
step gpu-tests 60 bin/gpu-device
step amg-tests 60 bin/amg-device device:: --skip emulated
# A hundred steps of every shape and scheme take most of the time, because they need many kernels.
step ops-tests 240 bin/ops-device device:: --skip compile --skip emulated --skip resources

comparison=
cases=
while read -r case; do
    for on in "$device" cpu; do
        step "$case-${on//:/-}" 30 bin/dgsuite run --quiet "examples/euler/$case.yaml" --device "$on" \
            --output "out/$case-${on//:/-}" || continue 2
    done
    there=out/$case-${device//:/-} here=out/$case-cpu
    line=$(awk -v name="$case" -v a="$(error_of "$there")" -v b="$(error_of "$here")" -v agree="$agree" \
        -v ra="$(rate_of "$there")" -v rb="$(rate_of "$here")" 'BEGIN {
            d = a > b ? a - b : b - a
            printf "%-24s %.6e  %.6e  %8.1e  %9.3f %9.3f  %s", name, a, b, d, ra, rb, (d <= agree + 0 && a + 0 > 0 ? "ok" : "DIFFER")
        }')
    [[ $line == *ok ]] || failed=1
    comparison+=$line$'\n'
    cases+=${cases:+, }$(awk -v line="$line" 'BEGIN {
        split(line, f, " ")
        printf "{\"name\": \"%s\", \"device_error\": %s, \"cpu_error\": %s, \"device_gdofs_per_s\": %s, \"cpu_gdofs_per_s\": %s}",
            f[1], f[2], f[3], f[5], f[6]
    }')
done <cases.txt

# First the fast forms of simplices and tensor elements, then the others, as far as time allows.
size=()
[[ $device == cpu ]] && size=(--size 0.05)
step bench 150 bin/dgsuite bench --device "$device" --json bench.json --forms collocated,nodal --orders 1,2,3,4 "${size[@]}"
step bench-high 60 bin/dgsuite bench --device "$device" --json bench-high.json --forms collocated --orders 5,6 \
    --shapes tri,quad,hex "${size[@]}"
step bench-curved 60 bin/dgsuite bench --device "$device" --json bench-curved.json --forms collocated --orders 2,3,4 \
    --shapes quad,hex --geometry curved "${size[@]}"
step bench-single 60 bin/dgsuite bench --device "$device" --json bench-single.json --forms collocated --orders 2,3 \
    --precision single "${size[@]}"

{
    printf '{\n  "version": "%s",\n  "device": "%s",\n  "seconds": %d,\n  "passed": %s,\n' "$(<version.txt)" "$device" \
        "$SECONDS" "$([[ $failed == 0 ]] && echo true || echo false)"
    printf '  "steps": [%s],\n  "cases": [%s]' "$steps" "$cases"
    for file in bench bench-high bench-curved bench-single; do
        if [[ -s $file.json ]]; then printf ',\n  "%s": ' "$file" && cat "$file.json"; fi
    done
    printf '\n}\n'
} >result.json

for file in log/bench*.txt; do
    printf '\n' && cat "$file"
done
printf '\n%-24s %-13s %-13s %-9s %9s %9s\n' "L2 error of rho" "$device" cpu difference "GDOF/s" "cpu"
printf '%s' "$comparison"
printf '\n%s%-32s %5d s  %s\n' "$table" all "$SECONDS" "$([[ $failed == 0 ]] && echo ok || echo FAILED)"
exit $failed
