#!/usr/bin/env bash
# Install scenegen and its locked dependencies into a virtual environment of its own.
#
#   requirements/install.sh core|all [VENV]     (VENV is .venv by default)
#   requirements/install.sh uv                  (prints the uv that is used, after bringing one if there is none)
#
# `core` leaves an environment that already holds `all` as it is (and refreshes it if the lock has changed). A second run
# with nothing to do returns at once. Nothing outside the checkout and uv's cache is written.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:?usage: requirements/install.sh core|all|uv [VENV]}
venv=${2:-.venv}
tools=.venv-tools
stamp=$venv/scenegen-lock # "<kind> <checksum>" once complete, "<kind> unfinished" before

fail() {
  printf 'error: %s\n' "$@" >&2
  exit 2
}

is_python_312() { "$@" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' >/dev/null 2>&1; }

# Prints a Python 3.12 that really runs (a pyenv shim may exist and fail), or the version for uv to look for or to fetch.
find_python() {
  local candidate
  for candidate in ${SCENEGEN_PYTHON:+"$SCENEGEN_PYTHON"} python3 python3.12 ~/.pyenv/versions/3.12*/bin/python3.12; do
    if is_python_312 "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  echo 3.12
}

# Prints a uv that runs: the one on PATH, or one that pip puts into $tools.
find_uv() {
  local candidate base
  for candidate in uv "$tools/bin/uv"; do
    if "$candidate" --version >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
  for base in "$(find_python)" python3 python; do
    "$base" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
    echo "bringing uv by pip into $tools" >&2
    if "$base" -m venv "$tools" >/dev/null 2>&1; then
      "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.8,<1' >&2
    else # a Python without ensurepip: its own pip can still write into a folder
      rm -rf "$tools"
      "$base" -m pip install --quiet --disable-pip-version-check --target "$tools" 'uv>=0.8,<1' >&2
    fi && command -v "$tools/bin/uv" && return
  done
  fail "no uv, and no Python with pip to bring it - install uv (https://docs.astral.sh/uv) and run this again"
}

case $kind in
  uv) find_uv && exit ;;
  core | all) ;;
  *) fail "unknown kind '$kind' - accepted: core, all, uv" ;;
esac
if [ -e "$venv" ]; then
  [ -f "$stamp" ] || fail "$venv was not made by make - remove it, or name another folder: make VENV=.venv-scenegen ..."
  read -r installed checksum <"$stamp"
  [ "$installed" = all ] && kind=all
fi
lock=requirements/$kind.lock
wanted=$(cat "$lock" pyproject.toml | cksum | tr ' ' -)
if [ -e "$venv" ] && is_python_312 "$venv/bin/python"; then
  [ "$checksum" = "$wanted" ] && exit 0
fi

uv=$(find_uv)
export UV_PYTHON_INSTALL_DIR="$PWD/$tools/python"
[ -t 2 ] && quiet=() || quiet=(--quiet) # progress for people only
if ! is_python_312 "$venv/bin/python"; then
  rm -rf "$venv"
  "$uv" venv --quiet --no-project --python "$(find_python)" "$venv" ||
    fail "no Python 3.12 was found and uv could not fetch one - install it, or name one: SCENEGEN_PYTHON=/path/to/python3.12"
fi
echo "$kind unfinished" >"$stamp"
echo "installing $lock into $venv" >&2
"$uv" pip sync "${quiet[@]}" --python "$venv/bin/python" --require-hashes "$lock"
"$uv" pip install --quiet --python "$venv/bin/python" --no-deps --editable .
echo "$kind $wanted" >"$stamp"
