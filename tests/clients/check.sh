#!/usr/bin/env bash
# Makes a client of the interface with each generator from the server's own OpenAPI document, compiles or checks it, and runs
# a program on it against a running server: from a sign-in to an approved requirement.
#
# usage: tests/clients/check.sh COLLOQUY [FOLDER]    COLLOQUY is the server's program; FOLDER keeps the generators for the next
#                                                    time, without it they are fetched anew.
set -euo pipefail
server=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

kept=${2:-}
if [[ -z $kept ]]; then
  kept=$(mktemp -d)
  trap 'rm -rf "$kept"' EXIT
fi
wanted=$(cat "$here/package-lock.json" "$here/requirements.txt" | sha256sum)
if [[ $wanted != "$(cat "$kept/installed" 2>/dev/null)" ]]; then
  rm -rf "$kept"
  mkdir -p "$kept"
  cp "$here/package.json" "$here/package-lock.json" "$kept"
  npm ci --prefix "$kept" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
  python3 -m venv "$kept/python"
  "$kept/python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  echo "$wanted" >"$kept/installed"
fi

# Beside the packages, so that the programs find them; anew each time.
made=$kept/made
rm -rf "$made"
mkdir -p "$made"
document=$made/openapi.json
"$server" openapi >"$document"
cp -r "$here/typescript" "$here/typescript-fetch" "$here/python" "$made"

# A generator that warns has met something that it can't express: what is let pass is named here, with its reason.
heed() {
  local name=$1 log=$2 allowed=$3 warnings
  warnings=$(grep -aE '^(WARNING|ERROR)|(WARN|ERROR) |⚠' "$log" | sed -E 's/^.*(WARN(ING)?|ERROR) +/\1 /' | grep -avE "$allowed" | sort | uniq -c) || true
  [[ -z $warnings ]] || {
    echo "$name warns:"
    echo "$warnings"
    return 1
  }
}

node_modules=$kept/node_modules/.bin
generate() {
  local log=$made/$1.log
  "$kept/python/bin/openapi-generator-cli" generate --input-spec "$document" --generator-name "$1" --output "$2" "${@:3}" >"$log" 2>&1 || {
    tail -n 40 "$log"
    return 1
  }
  # Its notice about OpenAPI 3.1, and that a choice with null in it has no name; bodies of bytes, which it warns of and then
  # makes; and the names that it changes because its language has them already.
  heed "$1" "$log" \
    'OpenAPI 3.1 support is still in beta|Failed to get the schema name: null|datatypeWithEnum from (any|Uint8List), null|media-type .application/octet-stream. for operation ./api/recordings/[^ ]* is not support|cannot be used as (a )?model name'
}

echo "openapi-typescript and openapi-fetch"
"$node_modules/openapi-typescript" "$document" --output "$made/typescript/schema.ts" >"$made/openapi-typescript.log" 2>&1
heed openapi-typescript "$made/openapi-typescript.log" '^$'
"$node_modules/tsc" --project "$made/typescript"

echo "openapi-generator, typescript-fetch"
# TypeScript has an Error of its own, which the generator would take for the schema of that name.
generate typescript-fetch "$made/typescript-fetch/client" --additional-properties=importFileExtension=.js --model-name-mappings=Error=ErrorItem
"$node_modules/tsc" --project "$made/typescript-fetch"

echo "openapi-generator, dart-dio"
generate dart-dio "$made/dart"
python3 "$here/dart-dio/check.py" "$made/dart"
# The check has to see what is missing.
rm "$made/dart/lib/src/model/project.dart"
if python3 "$here/dart-dio/check.py" "$made/dart" >/dev/null 2>&1; then
  echo "the check did not see that a file is missing"
  exit 1
fi

echo "openapi-python-client"
"$kept/python/bin/openapi-python-client" generate --path "$document" --config "$here/python/generator.yaml" --output-path "$made/python/client" --meta none >"$made/python.log" 2>&1
# A picture is of the type of what was uploaded, for which it makes no parser: its bytes are in `content`.
heed openapi-python-client "$made/python.log" '^WARNING parsing GET /api/users/\{userId\}/avatar within [a-z_]+\.$'
mv "$made/python/client" "$made/python/colloquy_client"
"$kept/python/bin/mypy" --strict --cache-dir "$made/mypy" "$made/python/program.py" "$made/python/colloquy_client"

python3 "$here/drive.py" "$server" \
  "openapi-typescript: node $made/typescript/out/program.js" \
  "typescript-fetch: node $made/typescript-fetch/out/program.js" \
  "openapi-python-client: $kept/python/bin/python $made/python/program.py"
