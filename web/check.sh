#!/usr/bin/env bash
# Shows that dist is what the sources and the lock file give, that the types hold against the server's own OpenAPI
# document, and that the unit tests pass.
#
# usage: web/check.sh COLLOQUY [FOLDER]     COLLOQUY is the server's program; FOLDER keeps the packages for the next time,
#                                           without it they are fetched anew.
set -euo pipefail
server=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"

kept=${2:-}
if [[ -z $kept ]]; then
  kept=$(mktemp -d)
  trap 'rm -rf "$kept"' EXIT
fi
if ! cmp -s package-lock.json "$kept/installed"; then
  mkdir -p "$kept"
  cp package.json package-lock.json "$kept"
  npm ci --prefix "$kept" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
  cp package-lock.json "$kept/installed"
fi

# Beside the packages, and not here: what is built is what is committed, and nothing is left behind.
find "$kept" -mindepth 1 -maxdepth 1 ! -name node_modules ! -name installed -exec rm -rf {} +
cp -r ./*.json ./*.js ./*.ts console join review scripts shared tests "$kept"
(
  cd "$kept"
  "$server" openapi | npm run --silent api
  npm run --silent check
  npm run --silent test
  npm run --silent build >/dev/null
)
diff -r "$kept/dist" dist || {
  echo "web/dist is not what the build gives: npm ci && npm run build in web"
  exit 1
}
