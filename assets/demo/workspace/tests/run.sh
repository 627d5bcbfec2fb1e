#!/bin/sh
# Checks tally against texts whose numbers are known. Exit code 1 when a check fails.
cd "$(dirname "$0")/.." || exit 2

failed=0

# check NAME FILE EXPECTED
check() {
    actual=$(sh src/tally.sh "tests/$2")
    if [ "$actual" = "$3" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: expected '$3', got '$actual'"
        failed=$((failed + 1))
    fi
}

check "one blank between words" plain.txt "3 12 56"
check "wide gaps between words" gaps.txt "2 6 40"
check "an empty file" empty.txt "0 0 0"

if [ "$failed" -eq 0 ]; then
    echo "all checks passed"
else
    echo "$failed of 3 checks failed"
    exit 1
fi
