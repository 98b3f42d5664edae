#!/usr/bin/env bash
# Runs `skillgit github ...` with the action's settings, one KEY=VALUE a line in SETTINGS, as -o options.
set -euo pipefail
options=()
while IFS= read -r line; do
  line=${line%$'\r'}
  [ -z "$line" ] || options+=(-o "$line")
done <<<"${SETTINGS:-}"
exec skillgit github "$@" ${options[@]+"${options[@]}"}
