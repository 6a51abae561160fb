#!/bin/sh
# Makes the PDF and DOCX samples anew from their sources in this folder.
# Needs libreoffice (writer), chromium, qpdf and the DejaVu and Noto fonts. Text and layout stay the same; the bytes do
# not (dates and ids of the making are in them), so commit the results only when a source was changed.
set -eu
cd "$(dirname "$0")"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

print() { # print SOURCE.html RESULT.pdf
    chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$home/chromium" \
        --no-pdf-header-footer --print-to-pdf="$PWD/$2" "file://$PWD/$1"
}
office() { # office ARGUMENT…
    libreoffice "-env:UserInstallation=file://$home/libreoffice" --headless "$@"
}

print call-for-tenders.html ../call-for-tenders.pdf
office --infilter="HTML (StarWriter)" --convert-to 'docx:MS Word 2007 XML' --outdir .. call-for-tenders.html
office --convert-to pdf --outdir .. annex-operations.fodt

print two-columns.html ../readers/two-columns.pdf
print table.html ../readers/table.pdf
print arabic.html ../readers/arabic.pdf
print encrypted.html "../readers/encrypted.plain.pdf"
qpdf --encrypt open-sesame owner-sesame 256 -- \
    ../readers/encrypted.plain.pdf ../readers/encrypted.pdf
rm ../readers/encrypted.plain.pdf
