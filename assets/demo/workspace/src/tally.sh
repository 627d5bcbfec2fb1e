#!/bin/sh
# tally: counts the lines, words and bytes of a file.
# usage: sh src/tally.sh FILE
set -eu

count_lines() {
    wc -l <"$1"
}

count_words() {
    # Put every word on a line of its own, then count the lines.
    tr ' ' '\n' <"$1" | wc -l
}

count_bytes() {
    wc -c <"$1"
}

if [ $# -ne 1 ]; then
    echo "usage: sh src/tally.sh FILE" >&2
    exit 2
fi

# Some systems pad the numbers of wc with blanks; arithmetic drops them.
echo "$(($(count_lines "$1"))) $(($(count_words "$1"))) $(($(count_bytes "$1")))"
