#!/usr/bin/env bash
# Makes planning.webm from planning.txt anew: every line is spoken by the voice of whom it names. Needs espeak-ng and ffmpeg.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$(mktemp -d)"

declare -A VOICES=([Priya]=en-us+f5 [Marcus]=en-gb-x-rp)
number=0
while IFS= read -r line; do
  printf -v file '%02d.wav' "$((number++))"
  espeak-ng -v "${VOICES[${line%%: *}]}" -s 145 -w "$file" "${line#*: }"
  echo "file '$file'" >>all.txt
done <"$here/planning.txt"
ffmpeg -loglevel error -y -f concat -i all.txt -c:a libopus -b:a 20k -ac 1 -application voip "$here/planning.webm"
