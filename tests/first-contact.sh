#!/usr/bin/env bash
# The first minute of a user: from a machine with Python to a picture and a report.
#
#     tests/first-contact.sh WHEEL
#
# WHEEL is what tools/wheel.sh builds. Fails if a step fails, if the report refers to other files, or after 60 seconds.
# PYTHON names the interpreter.

set -euo pipefail
wheel=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

SECONDS=0
"${PYTHON:-python3}" -m venv venv
venv/bin/pip install --quiet --no-input "$wheel"
PATH=$PWD/venv/bin:$PATH
dgsuite init euler
dgsuite run euler.yaml --output results
dgsuite picture results -o field.png
dgsuite picture results -o field.svg
dgsuite plot results/monitors/*.csv -o curves.svg
dgsuite report results -o report.html
seconds=$SECONDS

fail() {
    echo "$1" >&2
    exit 1
}
head -c 8 field.png | cmp -s - <(printf '\x89PNG\r\n\x1a\n') || fail "field.png is no PNG"
for file in field.svg curves.svg; do
    grep -q '<svg' "$file" || fail "$file is no SVG"
done
grep -q '<img\|<svg' report.html || fail "the report has no picture"
if grep -oE '(src|href)="(https?:)?//[^"]*"' report.html; then
    fail "the report asks other servers"
fi
((seconds < 60)) || fail "the first contact took $seconds s"
echo "from pip install to a report in $seconds s"
