#!/bin/sh
# Backs up this repository's own folders to another directory, as to a mounted disk, twice: the
# second run copies nothing. Then it fetches one of them back.
#
#   sh examples/quickstart.sh     needs Rust, and nothing else
#
# Everything but the build lies in a temporary folder, which is removed at the end.
set -eu
cd "$(dirname "$0")/.."

command -v cargo >/dev/null || { echo "quickstart: no cargo on the PATH; install Rust first" >&2; exit 1; }
cargo build --release --locked
repl="$(cargo metadata --format-version=1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/repl"

play="$(mktemp -d)"
trap 'rm -rf "$play"' EXIT
trap 'exit 130' INT TERM
mkdir "$play/disk" "$play/back"

cat >"$play/repl.toml" <<TOML
[targets.disk]
via = "path"
path = "$play/disk"

[jobs.nightly]
target = "disk"
sources = ["$PWD/crates", "$PWD/cli", "$PWD/docs", "$PWD/tests"]
delete = true

[jobs.back]
target = "disk"
direction = "pull"
from = ["nightly/docs"]
into = "$play/back"
TOML

export XDG_STATE_HOME="$play/state" XDG_CACHE_HOME="$play/cache"
for night in first second; do
    echo
    echo "The $night night: repl push --to disk"
    "$repl" push --config "$play/repl.toml" --to disk
done
echo
echo "The copy, as it lies on the disk:"
ls "$play/disk/nightly"
echo
echo "One folder comes back: repl pull --from disk"
"$repl" pull --config "$play/repl.toml" --from disk
ls "$play/back/docs"
