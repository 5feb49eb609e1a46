#!/usr/bin/env bash
# Packs one folder for tests and measurements on a machine with an NVIDIA GPU but without toolchain or
# network.
#
#     tools/gpu-bundle.sh [FOLDER]          (default: target/gpu-bundle)
#     cd FOLDER && ./run.sh                 (on that machine)
#
# The folder contains the program, the device tests of gpu, ops and amg, examples with their meshes, run.sh,
# sanitize.sh and kill-ranks.py. The machine needs the driver and NVIDIA's run-time compiler (libnvrtc.so of a CUDA toolkit,
# or of PyPI's nvidia-cuda-nvrtc).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

limit_mib=40
cases=(isentropic-vortex entropy-wave-hex entropy-wave-tet vortex-mixed supersonic-vortex)
export CARGO_TERM_COLOR=never

# Prints the executable of test $2 of a package, as cargo reports it; run.sh runs the tests named `device`.
device_test() {
    cargo test --release --package "$1" --test "$2" --no-run --message-format json |
        sed -n 's/.*"name":"'"$2"'".*"executable":"\([^"]*\)".*/\1/p' | tail -1
}

cargo build --release --package dgsuite --bin dgsuite
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
folder=${1:-$target/gpu-bundle}
rm -rf "$folder"
mkdir -p "$folder"/{bin,examples/euler,data/meshes}
cp "$target/release/dgsuite" "$folder/bin/"
for pair in gpu:device ops:operators amg:solvers; do
    crate=${pair%:*}
    test=$(device_test "dgsuite-$crate" "${pair#*:}")
    [[ -x $test ]] || { echo "cargo names no test '${pair#*:}' of dgsuite-$crate" >&2; exit 1; }
    cp "$test" "$folder/bin/$crate-device"
done
strip "$folder"/bin/*
for case in "${cases[@]}"; do
    file=examples/euler/$case.yaml
    cp "$file" "$folder/examples/euler/"
    # The mesh of the file, if it has one.
    sed -n 's/^ *file: *\([^ ]*\.msh\).*/\1/p' "$file" | while read -r mesh; do
        cp "examples/euler/$mesh" "$folder/data/meshes/"
    done
done
printf '%s\n' "${cases[@]}" >"$folder/cases.txt"
git describe --always --dirty >"$folder/version.txt" 2>/dev/null || echo unknown >"$folder/version.txt"
cp tools/gpu-run.sh "$folder/run.sh"
cp tools/gpu-sanitize.sh "$folder/sanitize.sh"
# Two GPUs: ./kill-ranks.py 20 --devices 0,1
cp tools/kill-ranks.py "$folder/"
chmod +x "$folder"/*.sh "$folder"/*.py

mib=$(du -sm "$folder" | cut -f1)
echo "$folder: $mib MiB"
((mib <= limit_mib)) || { echo "more than $limit_mib MiB" >&2; exit 1; }
