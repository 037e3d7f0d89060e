# What a case can say in its set-up and in its command line, besides plain shell.
umask 022

# mk FILE [TEXT]: a file with its folders; the text is its name unless given.
mk() {
    case "$1" in */*) mkdir -p "${1%/*}" ;; esac
    printf '%s\n' "${2-$1}" >"$1"
}

# fill FILE BYTES [START]: lines of numbers.
fill() {
    case "$1" in */*) mkdir -p "${1%/*}" ;; esac
    seq "${3-1}" 99999999 | head -c "$2" >"$1"
}

# age DATE FILE...: sets the times of files themselves, not of what they link to.
age() {
    date="$1"
    shift
    touch -h -d "$date" "$@"
}

# tree ROOT: a little of everything that a plain user has.
tree() {
    mkdir -p "$1/dir/deep" "$1/empty" "$1/other"
    mk "$1/one" 'the first file'
    mk "$1/dir/two" 'the second'
    fill "$1/dir/deep/big" 70000
    mk "$1/other/three.txt" 3
    mk "$1/other/four.o" object
    mk "$1/.hidden" dot
    ln -s one "$1/link"
    ln -s ../dir "$1/other/dirlink"
    chmod 600 "$1/dir/two"
    chmod 755 "$1/other/four.o"
    age '2020-02-02 02:02:02.123456789' "$1/one" "$1/dir/two" "$1/dir/deep/big" "$1/other/three.txt" \
        "$1/other/four.o" "$1/.hidden" "$1/link" "$1/other/dirlink"
    age '2020-03-03 03:03:03.5' "$1/dir/deep" "$1/dir" "$1/empty" "$1/other" "$1"
}

# older ROOT: the same tree as it was before a few days of use.
older() {
    tree "$1"
    mk "$1/one" 'the first'
    age '2019-01-01 00:00:00' "$1/one"
    mk "$1/dir/two" 'the SECOND'
    age '2020-02-02 02:02:02.123456789' "$1/dir/two"
    chmod 644 "$1/other/three.txt" "$1/dir/two"
    rm "$1/other/four.o" "$1/link"
    mk "$1/gone" 'only here'
    mk "$1/gonedir/inner/file" 'only here too'
    mk "$1/other/gone.o" 'an object'
    age '2018-01-01 00:00:00' "$1/gone" "$1/gonedir/inner/file" "$1/gonedir/inner" "$1/gonedir" "$1/other/gone.o"
}

# first COMMAND...: only the first line of what it says on stderr; stock's processes race to say the rest.
first() {
    "$@" 2>errors
    code="$?"
    head -n 1 errors >&2
    rm errors
    return "$code"
}

# nobody COMMAND...: as a user who owns nothing.
nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

# dig ROOT LEN: a file with a name of LEN bytes, 16 folders with names of 250 bytes deep.
dig() {
    (
        folder="$(printf %0250d 0)"
        cd "$1"
        for depth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
            mkdir "$folder"
            cd -P "$folder"
        done
        file="$(printf "%0$2d" 1)"
        echo x >"$file"
        touch -d 2020-01-01 "$file"
    )
}

# told_deep: what a run has said and copied, shortened; then all of it goes, since no single call reaches such paths.
told_deep() {
    cat out
    sed 's/000*/0/g' err >&2
    (cd dst && find . -type f -printf '%m %s %T@\n' -o -type d -printf 'd%m\n' | sort)
    find dst -printf '%f\n' | sort | md5sum
    rm -rf src dst out err
}
