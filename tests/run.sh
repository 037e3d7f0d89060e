#!/bin/sh
# Installs what the tests need, fetches two older rsyncs into target/rsyncs, and runs the whole suite.
#
#   sh tests/run.sh          as root on a Debian machine with Rust; about ten minutes with the build
#   sh tests/run.sh --full   the same with the whole pairing matrix, whose result goes to tests/it/matrix/RESULTS.md
set -eu
cd "$(dirname "$0")/.."
rsyncs="$PWD/target/rsyncs"

main() {
    case "${1-}" in
        '') ;;
        --full) export MATRIX=full ;;
        *) stop "unknown argument '$1'; the only one is --full" ;;
    esac
    [ "$(id -u)" = 0 ] || stop "run me as root: the tests make devices, other owners, and an ssh server"
    command -v cargo >/dev/null || stop "no cargo on the PATH; install Rust first"
    install_missing_packages
    fetch_rsync 3.2.7 bookworm libssl3
    fetch_rsync 3.2.3 bullseye libssl1.1
    echo "testing against $(rsync --version | head -n 1), 3.2.7, 3.2.3"
    cargo test --workspace --locked
}

stop() {
    echo "tests/run.sh: $*" >&2
    exit 1
}

# One "command package" pair a line: only what is not there is installed.
install_missing_packages() {
    missing=''
    while read -r program package; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing="$missing $package"
    done <<PAIRS
rsync rsync
sshd openssh-server
ssh openssh-client
setfacl acl
setfattr attr
ip iproute2
script bsdutils
setpriv util-linux
PAIRS
    [ -n "$missing" ] || return 0
    need_apt "install$missing"
    apt-get update -q
    # Nothing of these packages has to run on its own: the tests start their servers themselves.
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -qy --no-install-recommends $missing
}

need_apt() {
    command -v apt-get >/dev/null || stop "cannot $*: this machine has no apt-get"
}

# fetch_rsync VERSION SUITE LIBSSL: Debian's rsync of SUITE with its libraries, unpacked into a folder of
# its own. The machine's package configuration and its installed packages stay as they are.
fetch_rsync() {
    home="$rsyncs/$1"
    if [ -x "$home/rsync" ] && "$home/rsync" --version >/dev/null 2>&1; then
        return 0
    fi
    need_apt "fetch rsync $1"
    rm -rf "$home" "$home.new"
    mkdir -p "$home.new"
    (cd "$home.new" && unpack_from_suite "$2" rsync "$3" libacl1 liblz4-1 libpopt0 libxxhash0 libzstd1) ||
        stop "cannot fetch rsync $1 from Debian $2; is the package mirror reachable?"
    write_wrapper "$home" >"$home.new/rsync"
    chmod 755 "$home.new/rsync"
    mv "$home.new" "$home"
    "$home/rsync" --version | grep -q "version $1 " || stop "the rsync fetched from Debian $2 is not $1"
}

unpack_from_suite() {
    suite="$1"
    shift
    mkdir -p apt/lists/partial apt/cache/archives/partial unpacked
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror="$(debian_mirror)"
    [ -n "$mirror" ] || stop "cannot tell this machine's Debian mirror from apt-get indextargets"
    echo "deb [signed-by=$keyring] $mirror $suite main" >apt/sources.list
    : >apt/status
    private_apt update -q
    (cd apt && private_apt_in .. download -q "$@")
    for package in apt/*.deb; do
        dpkg-deb -x "$package" unpacked
    done
    rm -rf apt
}

# The mirror that this machine uses for Debian itself.
debian_mirror() {
    known_mirrors | grep . || { apt-get update -q >&2 && known_mirrors; }
}

known_mirrors() {
    # apt fills the placeholder in, not the shell.
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1
}

private_apt() {
    private_apt_in . "$@"
}

# private_apt_in ROOT ARGS: apt-get with its lists, cache, state and sources below ROOT/apt.
private_apt_in() {
    apt_root="$(cd "$1/apt" && pwd)"
    shift
    apt-get \
        -o Dir::Etc::sourcelist="$apt_root/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt_root/lists" -o Dir::State::status="$apt_root/status" \
        -o Dir::Cache="$apt_root/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

write_wrapper() {
    cat <<WRAPPER
#!/bin/sh
root='$1/unpacked'
LD_LIBRARY_PATH="\$(echo "\$root"/usr/lib/*-linux-gnu):\$(echo "\$root"/lib/*-linux-gnu)"
export LD_LIBRARY_PATH
exec "\$root/usr/bin/rsync" "\$@"
WRAPPER
}

main "$@"
