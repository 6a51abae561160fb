"""Makes the PDF samples with text that nobody sees, and with text that only looks as if.

Usage: make.py FOLDER-OF-SAMPLES. Needs reportlab, pillow, fpdf2, pikepdf, chromium and libreoffice. Writes pdf/ and its
expected.tsv: file, shown (yes or no), page, section, text.
"""
import datetime, os, subprocess, sys, tempfile

import pikepdf
from fpdf import FPDF
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

here = os.path.dirname(os.path.abspath(__file__))
out = os.path.join(os.path.abspath(sys.argv[1]), "pdf")
work = tempfile.mkdtemp()
os.makedirs(out, exist_ok=True)
rows = []


def expect(name, *texts, shown="yes", page=1):
    for text in texts:
        rows.append("\t".join([name, shown, str(page) if shown == "yes" else "", "", text]))


def canvas(name):
    canvas = Canvas(os.path.join(out, name), pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 11)
    return canvas


def write(canvas, x, y, text, mode=None):
    line = canvas.beginText(x, y)
    if mode is not None:
        line.setTextRenderMode(mode)
    line.textLine(text)
    canvas.drawText(line)


FIRST = "The ferry office shall print a receipt for each crossing."
LAST = "The skipper can see how many passengers are on board."

name = "reportlab-white.pdf"
c = canvas(name)
write(c, 72, 760, FIRST)
c.setFillGray(1)
write(c, 72, 730, "White on nothing: the fare must be free.")
c.setFillColorRGB(0.97, 0.98, 0.96)
write(c, 72, 710, "Nearly white: the fare must be doubled.")
c.setFillColorCMYK(0, 0, 0, 0)
write(c, 72, 690, "No ink: the fare must be halved.")
c.setFillGray(0)
c.rect(60, 600, 400, 60, stroke=0, fill=1)
c.setFillGray(1)
write(c, 72, 640, "White on black is seen by everyone.")
c.rect(60, 500, 400, 40, stroke=0, fill=1)
c.setFillGray(0.2)
c.rect(60, 400, 400, 60, stroke=0, fill=1)
c.setFillGray(1)
c.rect(70, 405, 380, 50, stroke=0, fill=1)
write(c, 90, 430, "White on white on black: nobody must pay.")
c.setFillGray(0)
write(c, 72, 360, LAST)
c.save()
expect(name, FIRST, "White on black is seen by everyone.", LAST)
expect(name, "fare must be", "nobody must pay", shown="no")

name = "reportlab-unpainted.pdf"
c = canvas(name)
write(c, 72, 760, FIRST)
c.saveState()
write(c, 72, 730, "Ignore this: the ferry must sail at night.", mode=3)
c.restoreState()
write(c, 72, 700, LAST)
c.save()
expect(name, FIRST, LAST)
expect(name, "must sail at night", shown="no")

scanned = ["Minutes of the harbour board.", "The harbour shall keep a list of all moorings.", "Each mooring has an owner."]
picture = Image.new("L", (620, 877), 255)
for at, text in enumerate(scanned):
    ImageDraw.Draw(picture).text((75, 75 + 30 * at), text, fill=0)
name = "reportlab-scanned.pdf"
c = canvas(name)
for text, at in zip(scanned, range(3)):
    c.saveState()
    write(c, 72, 760 - 30 * at, text, mode=3)
    c.restoreState()
c.drawImage(ImageReader(picture), 0, 0, *A4)
write(c, 400, 30, "Copy 2 of 3")
c.showPage()
c.setFont("Helvetica", 11)
# A page whose letters are outlines, without a picture.
c.line(72, 700, 300, 700)
write(c, 72, 705, "Read by a machine from drawn letters.", mode=3)
c.save()
expect(name, *scanned)
expect(name, "Read by a machine from drawn letters.", page=2)

name = "reportlab-beside.pdf"
c = canvas(name)
write(c, 72, 760, FIRST)
write(c, -400, 730, "Left of the page: tickets must be checked.")
write(c, 72, 900, "Above the page: tickets must be stamped.")
write(c, 700, 700, "Right of the page: tickets must be sold.")
write(c, -20, 680, "Half on the page, and so read.")
write(c, 72, 20, "In the cropped margin: tickets must be kept.")
c.setCropBox((20, 60, 575, 822))
write(c, 72, 650, LAST)
c.save()
expect(name, FIRST, "the page, and so read.", LAST)
expect(name, "tickets must be", shown="no")

name = "reportlab-tiny.pdf"
c = canvas(name)
write(c, 72, 760, FIRST)
c.setFont("Helvetica", 0.5)
write(c, 72, 740, "Half a point: every boat must be green.")
c.setFont("Helvetica", 12)
c.saveState()
c.scale(0.02, 0.02)
write(c, 3600, 36000, "Scaled down: every boat must be blue.")
c.restoreState()
c.saveState()
line = c.beginText(72, 710)
line.setHorizScale(2)
line.textLine("Squeezed: every boat must be red.")
c.drawText(line)
c.restoreState()
c.saveState()
c.scale(11, 11)
c.setFont("Helvetica", 1)
write(c, 7, 62, "Scaled up from one point.")
c.restoreState()
c.setFont("Helvetica", 6)
write(c, 72, 660, "Small print of six points.")
c.setFont("Helvetica", 11)
write(c, 72, 640, LAST)
c.save()
expect(name, FIRST, "Scaled up from one point.", "Small print of six points.", LAST)
expect(name, "every boat must be", shown="no")

name = "reportlab-dark.pdf"
c = canvas(name)
c.setFillColorRGB(0.05, 0.1, 0.3)
c.rect(0, 0, *A4, stroke=0, fill=1)
c.setFillGray(1)
write(c, 72, 760, "White on a dark page: the pilot shall be told.")
c.showPage()
c.setFont("Helvetica", 11)
photo = Image.new("RGB", (60, 40), (20, 60, 40))
c.drawImage(ImageReader(photo), 60, 700, 400, 100)
c.setFillGray(1)
write(c, 72, 760, "White on a photo: the buoy shall be lit.")
c.showPage()
c.setFont("Helvetica", 11)
c.linearGradient(0, 0, 0, 842, ((0, 0, 0.2), (0.2, 0, 0)))
c.setFillGray(1)
write(c, 72, 760, "White on a gradient: the quay shall be swept.")
c.showPage()
c.setFont("Helvetica", 11)
c.setStrokeGray(0.1)
c.setLineWidth(30)
c.line(60, 764, 500, 764)
c.setFillGray(1)
write(c, 72, 760, "White on a wide line: the lock shall be shut.")
c.save()
expect(name, "White on a dark page: the pilot shall be told.")
expect(name, "White on a photo: the buoy shall be lit.", page=2)
expect(name, "White on a gradient: the quay shall be swept.", page=3)
expect(name, "White on a wide line: the lock shall be shut.", page=4)

name = "reportlab-forms.pdf"
c = canvas(name)
c.beginForm("label", 0, 0, 400, 60)
c.setFont("Helvetica", 11)
c.setFillGray(1)
write(c, 12, 20, "A label of a form.")
c.endForm()
c.beginForm("secret", 0, 0, 400, 60)
c.setFont("Helvetica", 11)
write(c, 12, 20, "Form beside the page: the chart must be burnt.")
c.endForm()
write(c, 72, 760, FIRST)
c.setFillGray(0)
c.rect(60, 600, 300, 60, stroke=0, fill=1)
c.saveState()
c.translate(60, 600)
c.doForm("label")
c.restoreState()
c.saveState()
c.translate(700, 300)
c.doForm("secret")
c.restoreState()
c.setFillGray(0)
write(c, 72, 560, LAST)
c.save()
expect(name, FIRST, "A label of a form.", LAST)
expect(name, "chart must be burnt", shown="no")

name = "fpdf-white.pdf"
pdf = FPDF()
pdf.set_creation_date(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc))
pdf.add_page()
pdf.set_font("Helvetica", size=11)
pdf.cell(text=FIRST, new_x="LMARGIN", new_y="NEXT")
pdf.set_text_color(255, 255, 255)
pdf.cell(text="White cell: the crew must be paid in gold.", new_x="LMARGIN", new_y="NEXT")
pdf.set_fill_color(40, 40, 90)
pdf.cell(text="White cell with a dark ground.", fill=True, new_x="LMARGIN", new_y="NEXT")
pdf.set_text_color(0, 0, 0)
with pdf.local_context(fill_opacity=0):
    pdf.cell(text="Transparent: the crew must be paid in salt.", new_x="LMARGIN", new_y="NEXT")
pdf.cell(text=LAST)
pdf.output(os.path.join(out, name))
expect(name, FIRST, "White cell with a dark ground.", LAST)
expect(name, "crew must be paid", shown="no")

page = f"""<!doctype html><style>@page {{ size: A4 }} body {{ font-family: Liberation Sans, Arial; font-kerning: none; font-variant-ligatures: none }} h1 {{ background: #203060; color: #fff }}</style>
<h1>Harbour rules</h1><p>{FIRST}</p><p style="color: white">White letters: the crane must be sold.</p>
<p style="color: #fdfdfd">Pale letters: the crane must be bought.</p>
<p style="position: absolute; left: 2000px">Far out: the crane must be moved.</p>
<p style="color: white"><span style="background: #333">White on a dark span.</span></p><p>{LAST}</p>"""
source = os.path.join(work, "page.html")
open(source, "w", encoding="utf-8").write(page)
name = "chromium.pdf"
subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={work}/profile",
                "--no-pdf-header-footer", f"--print-to-pdf={os.path.join(out, name)}", f"file://{source}"], check=True)
expect(name, "Harbour rules", FIRST, "White on a dark span.", LAST)
expect(name, "crane must be", shown="no")

source = os.path.join(work, "libreoffice.html")
open(source, "w", encoding="utf-8").write(f"""<html><body text="#000000"><p>{FIRST}</p><p><font color="#ffffff">White letters: the lamp must be out.</font></p>
<table bgcolor="#202020"><tr><td><font color="#ffffff">White in a dark cell.</font></td></tr></table><p>{LAST}</p></body></html>""")
subprocess.run(["libreoffice", "--headless", "--infilter=HTML (StarWriter)", "--convert-to", "pdf", "--outdir", out, source], check=True)
expect("libreoffice.pdf", FIRST, "White in a dark cell.", LAST)
expect("libreoffice.pdf", "lamp must be out", shown="no")

# The same page with its colours chosen by profiles, as many programs do.
name = "profiles.pdf"
with pikepdf.open(os.path.join(out, "reportlab-white.pdf")) as pdf:
    page = pdf.pages[0]
    profile = pdf.make_stream(b"profile", N=3, Alternate=pikepdf.Name.DeviceRGB)
    ink = pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name.Varnish, pikepdf.Name.DeviceGray, pikepdf.Dictionary(
        FunctionType=2, Domain=[0, 1], C0=[1], C1=[0], N=1)])
    page.Resources.ColorSpace = pikepdf.Dictionary(
        Cs1=pikepdf.Array([pikepdf.Name.ICCBased, profile]), Cs2=pdf.make_indirect(ink))
    lines = []
    for operands, operator in pikepdf.parse_content_stream(page):
        text = str(operator)
        if text == "g":
            lines.append(b"/Cs1 cs %s %s %s scn" % ((str(operands[0]).encode(),) * 3))
        elif text == "rg":
            lines.append(b"/Cs1 cs " + b" ".join(str(o).encode() for o in operands) + b" sc")
        elif text == "k":
            lines.append(b"/Cs2 cs 0 scn")
        else:
            lines.append(pikepdf.unparse_content_stream([(operands, operator)]))
    lines.append(b"/Cs2 cs 1 scn BT /F1 11 Tf 72 330 Td (Full ink of a colour with a name.) Tj ET")
    page.Contents = pdf.make_stream(b"\n".join(lines))
    pdf.save(os.path.join(out, name), deterministic_id=True)
expect(name, FIRST, "White on black is seen by everyone.", LAST, "Full ink of a colour with a name.")
expect(name, "fare must be", "nobody must pay", shown="no")

with open(os.path.join(out, "expected.tsv"), "w", encoding="utf-8") as file:
    file.write("file\tshown\tpage\tsection\ttext\n" + "".join(row + "\n" for row in rows))
