#!/bin/sh
# Records how stock rsync refuses a command line.
#
#   sh record_refusals.sh < refusals.tsv > new.tsv
#
# Each line of the table is: words, "=>", exit code, first line of stderr, with a TAB between two;
# between words stands a blank. The words behind "server" are given to rsync as they are, others
# as a push. refusals.tsv was recorded with rsync 3.5.0 on Debian.
set -eu

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/src"
cd "$work"
tab=$(printf '\t')

while IFS= read -r line; do
    words=${line%%"$tab=>"*}
    code=0
    set -f
    # shellcheck disable=SC2086
    set -- $words
    set +f
    [ "${1:-}" = --server ] || set -- "$@" -e false src/ host:dst
    rsync "$@" > /dev/null 2> err < /dev/null || code=$?
    printf '%s\t=>\t%s\t%s\n' "$words" "$code" "$(head -n 1 err)"
done
