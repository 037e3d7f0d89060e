#!/bin/sh
# Records which arguments stock rsync sends to the far side.
#
#   sh record_server_args.sh < server_args.tsv > new.tsv
#
# Each line of the table is: channel, path, options..., "=>", arguments..., with a TAB between two.
# The left half of each line is given to the machine's rsync, as a push, or, for a channel that
# ends in "-pull", as a pull of the paths between "|". For "shell" its remote shell (-e) is this
# script, which prints its own arguments; for "daemon" its connection is this script
# (RSYNC_CONNECT_PROG), which greets as a daemon and prints what comes after "OK". With secluded
# arguments, those of the data channel follow behind the others; --iconv comes before them.
# server_args.tsv was recorded with rsync 3.5.0, protocol 32, on Debian.
set -eu

# Prints one word a line up to the first empty word; the client then waits, so a time limit ends it.
words() {
    timeout 1 cat | tr '\0' '\n' | sed '/^$/q' | sed '$d'
}

case "${RECORD_AS:-}" in
shell)
    shift 2
    { printf '%s\n' "$@"; case " $* " in *" -s"*) words | sed 1d ;; esac } > "$RECORD_TO"
    exit 1
    ;;
daemon)
    printf '@RSYNCD: 32.0 sha512 sha256 sha1 md5 md4\n'
    read -r _greeting
    read -r _module
    printf '@RSYNCD: OK\n'
    { timeout 1 cat | tr '\0' '\n' | sed '/^$/d; /^rsync$/d'; } > "$RECORD_TO"
    exit 1
    ;;
esac

self=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/src"
printf 'a\n' > "$work/list"
cd "$work"
export RECORD_TO="$work/words"
export RSYNC_CONNECT_PROG="sh $self"
tab=$(printf '\t')

while IFS= read -r line; do
    left=${line%%"$tab=>"*}
    : > "$RECORD_TO"
    set -f
    IFS=$tab
    # shellcheck disable=SC2086
    set -- $left
    unset IFS
    set +f
    channel=$1 path=$2
    shift 2
    case "$channel" in
    shell*)
        host=host:
        set -- -e "sh $self" "$@"
        ;;
    daemon*) host=host:: ;;
    esac
    export RECORD_AS="${channel%-pull}"
    case "$channel" in
    *-pull)
        set -f
        IFS='|'
        for one in $path; do set -- "$@" "$host$one"; done
        unset IFS
        set +f
        set -- "$@" dst/
        ;;
    *) set -- "$@" src/ "$host$path" ;;
    esac
    rsync "$@" > /dev/null 2>&1 < /dev/null || true
    printf '%s\t=>' "$left"
    while IFS= read -r word; do printf '\t%s' "$word"; done < "$RECORD_TO"
    printf '\n'
done
