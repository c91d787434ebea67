#!/usr/bin/env bash
# Makes .venv and installs the project into it, after saying plainly what is missing. `make setup` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
    printf 'setup: %s\n' "$*" >&2
    exit 3
}

# A name on PATH is not yet an interpreter: version managers leave launchers behind that only print an error.
is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local name
    if [[ -n ${PYTHON:-} ]]; then
        is_new_enough "$PYTHON" || die "PYTHON=$PYTHON does not run as Python 3.11 or newer; name one that does."
        printf '%s\n' "$PYTHON"
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if is_new_enough "$name"; then
            printf '%s\n' "$name"
            return
        fi
    done
    die "Python 3.11 or newer is needed and none was found; install one, or name it with 'make setup PYTHON=/path/to/python'."
}

check_rust() {
    local found
    command -v cargo >/dev/null || die "cargo was not found; install Rust 1.85 or newer with rustup (https://rustup.rs)."
    found=$(cargo --version | awk '{ print $2 }')
    awk -F '[.-]' '{ exit !($1 > 1 || $2 >= 85) }' <<<"$found" ||
        die "cargo is version $found and 1.85 or newer is needed; run 'rustup update stable'."
    command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ||
        die "no C compiler was found, and Rust needs one to link; install gcc or clang (Debian: apt-get install build-essential)."
}

python=$(find_python)
check_rust
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    die "$python has no venv module; install it (Debian: apt-get install python3-venv)."

# A .venv is kept when it was finished here and is not of another version than the one asked for.
is_reusable() {
    [[ $(cat .venv/.stamp 2>/dev/null) == "$PWD" ]] && is_new_enough .venv/bin/python &&
        [[ -z ${PYTHON:-} || $("$python" --version) == "$(.venv/bin/python --version)" ]]
}

if is_reusable; then
    echo "setup: 1/3 keeping .venv"
else
    echo "setup: 1/3 making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

pip=(.venv/bin/python -m pip install --quiet --constraint constraints.txt)
echo "setup: 2/3 installing the build tools"
"${pip[@]}" setuptools setuptools-rust
echo "setup: 3/3 installing the project with its dependencies, and building the recorder"
"${pip[@]}" --no-build-isolation --editable '.[dev]'
echo "setup: done"
