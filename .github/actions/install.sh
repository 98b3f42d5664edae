#!/usr/bin/env bash
# Installs the skillgit that the action belongs to, so that action and program are of one commit.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ ${EXTRAS:-} =~ ^[a-z,\ ]*$ ]] || { echo "extras: '$EXTRAS' is not a list of extras, e.g. local,azure" >&2; exit 2; }
extras=${EXTRAS//[[:space:]]/}
python -m pip install --quiet "$root${extras:+[$extras]}"
