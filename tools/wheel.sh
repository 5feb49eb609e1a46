#!/usr/bin/env bash
# Builds what users install: a wheel with the program and the Python package, and an archive with the program alone, as
# `cargo binstall` expects it. Then installs the wheel into a new environment, and tests it there.
#
#     tools/wheel.sh [--portable] [--out DIR]
#
# With --portable the program is linked against glibc 2.17 by zig, which comes from PyPI, so that it runs on every
# Linux of the last ten years; otherwise against that of this machine. The results lie in target/dist, or in DIR. PYTHON
# names the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=target/dist
portable=
while (($#)); do
    case $1 in
    --portable) portable=1 ;;
    --out) out=$2 && shift ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
    esac
    shift
done
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)

"$python" -m venv "$scratch/build"
build=$scratch/build/bin
"$build/python" -m pip install --quiet --no-input "maturin${portable:+[zig]}==1.16.0"
options=(--release --locked)
target=$(rustc -vV | sed -n 's/^host: //p')
if [[ $portable ]]; then
    options+=(--zig --compatibility manylinux2014 --target "$target")
else
    options+=(--compatibility linux)
fi
rm -f "$out"/dgsuite-*.whl
(cd python && PATH=$build:$PATH "$build/maturin" build "${options[@]}" --out "$out")
wheel=$(ls "$out"/dgsuite-*.whl)

# The archive has the program of the wheel.
version=$(basename "$wheel" | cut -d- -f2)
name=dgsuite-$target-v$version
mkdir -p "$scratch/$name"
"$python" -m zipfile -e "$wheel" "$scratch/wheel"
install -m 755 "$scratch"/wheel/dgsuite-*.data/scripts/dgsuite "$scratch/$name/"
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$scratch/$name/"
tar -C "$scratch" -czf "$out/$name.tgz" "$name"

"$python" -m venv "$scratch/user"
"$scratch/user/bin/python" -m pip install --quiet --no-input "$wheel" numpy
cp -r python/tests "$scratch/tests"
(cd "$scratch" && user/bin/dgsuite --version && user/bin/python -W error::ResourceWarning -m unittest tests/test_package.py)
ls -l "$wheel" "$out/$name.tgz"
