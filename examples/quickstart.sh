#!/bin/sh
# Backs up this repository's own folders to an rsync daemon on this machine, twice: the second run sends nothing.
#
#   sh examples/quickstart.sh     needs Rust, and installs Debian's rsync if there is none
#
# Everything but the build lies in a temporary folder, which is removed at the end.
set -eu
cd "$(dirname "$0")/.."

command -v cargo >/dev/null || { echo "quickstart: no cargo on the PATH; install Rust first" >&2; exit 1; }
if ! command -v rsync >/dev/null; then
    command -v apt-get >/dev/null || { echo "quickstart: install rsync first" >&2; exit 1; }
    apt-get update -q && apt-get install -qy --no-install-recommends rsync
fi
cargo build --release --locked
repl="$(cargo metadata --format-version=1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/repl"

play="$(mktemp -d)"
daemon=''
trap '[ -z "$daemon" ] || kill "$daemon"; rm -rf "$play"' EXIT
trap 'exit 130' INT TERM

# The far side: what a NAS has, a module that may be written to.
mkdir "$play/nas"
cat >"$play/rsyncd.conf" <<CONF
[NetBackup]
path = $play/nas
read only = no
use chroot = no
CONF
if [ "$(id -u)" = 0 ]; then
    printf 'uid = root\ngid = root\n' >>"$play/rsyncd.conf"
fi
port=$((20000 + $$ % 20000))
rsync --daemon --no-detach --address=127.0.0.1 --port="$port" --config="$play/rsyncd.conf" &
daemon=$!
until rsync --contimeout=5 "rsync://127.0.0.1:$port/" >/dev/null 2>&1; do
    kill -0 "$daemon" || { echo "quickstart: the rsync daemon did not start" >&2; exit 1; }
    sleep 0.1
done

# The near side: ten lines.
cat >"$play/repl.toml" <<TOML
[targets.ds214]
host = "127.0.0.1"
via = "daemon"
port = $port
module = "NetBackup"

[jobs.nightly]
target = "ds214"
sources = ["$PWD/crates", "$PWD/cli", "$PWD/docs", "$PWD/tests"]
delete = true
TOML

export XDG_STATE_HOME="$play/state" XDG_CACHE_HOME="$play/cache"
for night in first second; do
    echo
    echo "The $night night: repl push --to ds214"
    "$repl" push --config "$play/repl.toml" --to ds214
done
echo
echo "The copy, as the NAS sees it:"
ls "$play/nas/nightly"
