#!/usr/bin/env bash
# Shows that dist is what the sources and the lock file give, that the types hold, and that all words are there.
#
# usage: web/join/check.sh [FOLDER]     FOLDER keeps the packages for the next time; without it they are fetched anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kept=${1:-$work/packages}
if ! cmp -s package-lock.json "$kept/installed"; then
  mkdir -p "$kept"
  cp package.json package-lock.json "$kept"
  npm ci --prefix "$kept" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
  cp package-lock.json "$kept/installed"
fi

# Beside the packages, and not here: what is built here is what is looked at.
cp ./*.js ./*.mjs ./*.json ./*.html "$work"
ln -s "$(realpath "$kept")/node_modules" "$work/node_modules"
cd "$work"
node words.check.mjs
npm run --silent types
npm run --silent build -- >/dev/null
for file in dist/*; do
  cmp "$file" "$OLDPWD/$file" || {
    echo "$file is not what the build gives: npm ci && npm run build in web/join"
    exit 1
  }
done
diff <(ls dist) <(ls "$OLDPWD/dist")
