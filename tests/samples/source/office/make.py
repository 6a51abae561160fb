"""Makes the samples of PPTX, XLSX, ODT and EML with the libraries of Python and the programs that they start.

Usage: make.py FOLDER-OF-SAMPLES. Needs python-pptx, openpyxl, XlsxWriter, odfpy, odfdo, python-docx, pyexcel-ods3,
libreoffice, pandoc, abiword, gnumeric (ssconvert), git, and Perl with MIME::Lite, Email::MIME and Email::Stuffer. Afterwards
make.mjs adds those of JavaScript. Both add rows to expected.tsv: file, shown (yes or no), page, section, text.
"""
import datetime, json, os, shutil, subprocess, sys, tempfile, zipfile
from email import policy
from email.message import EmailMessage

here = os.path.dirname(os.path.abspath(__file__))
out = os.path.abspath(sys.argv[1])
topics = json.load(open(os.path.join(here, "topics.json"), encoding="utf-8"))
work = tempfile.mkdtemp()
rows = {"pptx": [], "xlsx": [], "odt": [], "eml": []}


def t(number):
    return topics[number % len(topics)]


def path(name):
    kind = name.rsplit(".", 1)[1]
    os.makedirs(os.path.join(out, kind), exist_ok=True)
    return os.path.join(out, kind, name)


def expect(name, texts, page="", section="", shown="yes"):
    kind = name.rsplit(".", 1)[1]
    for text in texts:
        rows[kind].append([name, shown, str(page), section, text])


def run(*command, stdin=None):
    subprocess.run(command, check=True, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work)


def office(source, target, name, infilter=None):
    """Converts with LibreOffice and moves the result to the samples."""
    more = [f"--infilter={infilter}"] if infilter else []
    run("soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", *more, "--convert-to", target, "--outdir", os.path.join(work, "out"), source)
    made = os.path.join(work, "out", os.path.basename(source).rsplit(".", 1)[0] + "." + target.split(":")[0])
    shutil.move(made, path(name))


def file(name, content):
    at = os.path.join(work, name)
    with open(at, "wb") as target:
        target.write(content if isinstance(content, bytes) else content.encode("utf-8"))
    return at


def repacked(source, name, compression=zipfile.ZIP_DEFLATED, order=sorted, level=9):
    """Packs a package anew: other order, other compression, no type in front."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path(name), "w", compression, compresslevel=level) as new:
        for part in order(old.namelist()):
            if not part.endswith("thumbnail.jpeg"):
                new.writestr(part, old.read(part))


# ---------------------------------------------------------------------------------------------------------------- PPTX
from pptx import Presentation
from pptx.util import Emu, Inches, Pt
from pptx.dml.color import RGBColor


def slide(deck, topic, layout=1):
    one = deck.slides.add_slide(deck.slide_layouts[layout])
    one.shapes.title.text = topic["title"]
    body = one.placeholders[1].text_frame
    body.text = topic["says"][0]
    for sentence in topic["says"][1:]:
        paragraph = body.add_paragraph()
        paragraph.text = sentence
        paragraph.level = 1
    return one


def save_deck(deck, name):
    """Saves a deck without the layouts that no slide has."""
    used = {one.slide_layout.part.partname for one in deck.slides}
    for layout in list(deck.slide_layouts):
        if layout.part.partname not in used:
            deck.slide_layouts.remove(layout)
    deck.save(path(name))


def table(one, topic):
    grid = one.shapes.add_table(1 + len(topic["rows"]), 3, Inches(1), Inches(4), Inches(8), Inches(1)).table
    for at, name in enumerate(["Key", "Wish", "Priority"]):
        grid.cell(0, at).text = name
    for line, cells in enumerate(topic["rows"], 1):
        for at, cell in enumerate(cells):
            grid.cell(line, at).text = cell
    return grid


def pptx():
    deck = Presentation()
    name = "python-pptx-bullets.pptx"
    for at in range(3):
        one = slide(deck, t(at))
        expect(name, [t(at)["title"]] + t(at)["says"], at + 1, t(at)["title"])
        one.notes_slide.notes_text_frame.text = t(at)["note"]
        expect(name, [t(at)["note"]], at + 1, "Notes")
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-table.pptx"
    one = deck.slides.add_slide(deck.slide_layouts[5])
    one.shapes.title.text = t(3)["title"]
    grid = table(one, t(3))
    expect(name, ["Key | Wish | Priority"] + [" | ".join(cells) for cells in t(3)["rows"]], 1, t(3)["title"])
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-merged-cells.pptx"
    one = deck.slides.add_slide(deck.slide_layouts[5])
    one.shapes.title.text = t(4)["title"]
    grid = table(one, t(4))
    grid.cell(1, 1).merge(grid.cell(1, 2))
    grid.cell(1, 1).text = t(4)["rows"][0][1]
    expect(name, ["Key | Wish | Priority", f"{t(4)['rows'][0][0]} | {t(4)['rows'][0][1]}", " | ".join(t(4)["rows"][1])], 1, t(4)["title"])
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-hidden.pptx"
    for at in range(4, 7):
        one = slide(deck, t(at))
        if at == 5:
            one._element.set("show", "0")
            expect(name, t(at)["says"], shown="no")
        else:
            expect(name, t(at)["says"], at - 3, t(at)["title"])
    beside = one.shapes.add_textbox(Inches(-9), Inches(1), Inches(3), Inches(1))
    beside.text_frame.text = "This box lies beside the slide."
    gone = one.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    gone.text_frame.text = "This box is switched off."
    gone._element.nvSpPr.cNvPr.set("hidden", "1")
    expect(name, ["This box lies beside the slide.", "This box is switched off."], shown="no")
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-white.pptx"
    one = slide(deck, t(4))
    expect(name, t(4)["says"], 1, t(4)["title"])

    def box(on, left, top, text, colour, fill=None):
        label = on.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.4))
        label.text_frame.text = text
        label.text_frame.paragraphs[0].runs[0].font.color.rgb = RGBColor.from_string(colour)
        if fill:
            label.fill.solid()
            label.fill.fore_color.rgb = RGBColor.from_string(fill)

    box(one, 0.1, 6.9, "White on the white slide.", "FFFFFF")
    box(one, 0.1, 6.5, "Nearly white.", "FCFDFC", "FFFFFF")
    box(one, 5, 6.9, "White in a dark box.", "FFFFFF", "203040")
    bar = one.shapes.add_shape(1, Inches(2.5), Inches(6.9), Inches(2.2), Inches(0.5))
    box(one, 2.6, 6.9, "White on a bar.", "FFFFFF")
    expect(name, ["White in a dark box.", "White on a bar."], 1, t(4)["title"])
    expect(name, ["White on the white slide.", "Nearly white."], shown="no")
    dark = slide(deck, t(6))
    dark.background.fill.solid()
    dark.background.fill.fore_color.rgb = RGBColor.from_string("101020")
    box(dark, 0.1, 6.9, "White on the dark slide.", "FFFFFF")
    expect(name, ["White on the dark slide."], 2, t(6)["title"])
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-groups.pptx"
    one = deck.slides.add_slide(deck.slide_layouts[5])
    one.shapes.title.text = t(6)["title"]
    group = one.shapes.add_group_shape()
    for at, sentence in enumerate(t(6)["says"]):
        box = group.shapes.add_textbox(Inches(1), Inches(2 + at), Inches(6), Inches(1))
        run_ = box.text_frame.paragraphs[0].add_run()
        run_.text = sentence[:9]
        run_.font.bold = True
        box.text_frame.paragraphs[0].add_run().text = sentence[9:]
    expect(name, t(6)["says"], 1, t(6)["title"])
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-no-titles.pptx"
    for at in (7, 8):
        one = deck.slides.add_slide(deck.slide_layouts[6])
        box = one.shapes.add_textbox(Inches(1), Inches(1), Inches(8), Inches(4)).text_frame
        box.text = t(at)["says"][0]
        for sentence in t(at)["says"][1:]:
            box.add_paragraph().text = sentence
        expect(name, t(at)["says"], at - 6, f"Slide {at - 6}")
    save_deck(deck, name)

    deck = Presentation()
    name = "python-pptx-title-slide.pptx"
    one = deck.slides.add_slide(deck.slide_layouts[0])
    one.shapes.title.text = "Glasprüfung\vam Hafen"
    one.placeholders[1].text = "Grüße von Zoë – Δ 20 %"
    expect(name, ["Glasprüfung am Hafen", "Grüße von Zoë – Δ 20 %"], 1, "Glasprüfung am Hafen")
    one = slide(deck, t(9), 3)
    one.placeholders[2].text_frame.text = t(9)["note"]
    expect(name, t(9)["says"] + [t(9)["note"]], 2, t(9)["title"])
    save_deck(deck, name)

    repacked(path("python-pptx-bullets.pptx"), "repacked.pptx", order=lambda names: sorted(names, reverse=True))
    for at in range(3):
        expect("repacked.pptx", [t(at)["title"]] + t(at)["says"], at + 1, t(at)["title"])

    text = "".join(f"# {t(at)['title']}\n\n" + "".join(f"- {s}\n" for s in t(at)["says"]) + f"\n::: notes\n{t(at)['note']}\n:::\n\n" for at in range(2))
    name = "pandoc-notes.pptx"
    run("pandoc", "-f", "markdown", "-t", "pptx", "-o", path(name), file("a.md", text))
    for at in range(2):
        expect(name, t(at)["says"], at + 1, t(at)["title"])
        expect(name, [t(at)["note"]], at + 1, "Notes")
    name = "pandoc-table.pptx"
    grid = "| Key | Wish | Priority |\n|---|---|---|\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in t(2)["rows"])
    run("pandoc", "-f", "markdown", "-t", "pptx", "-o", path(name), file("b.md", f"# {t(2)['title']}\n\n{grid}\n\n# {t(3)['title']}\n\n1. {t(3)['says'][0]}\n2. {t(3)['says'][1]}\n"))
    expect(name, ["Key | Wish | Priority"] + [" | ".join(cells) for cells in t(2)["rows"]], 1, t(2)["title"])
    expect(name, t(3)["says"][:2], 2, t(3)["title"])
    name = "pandoc-from-html.pptx"
    run("pandoc", "-f", "html", "-t", "pptx", "-o", path(name), file("c.html", "".join(f"<h1>{t(at)['title']}</h1><p>{t(at)['says'][0]}</p><ul><li>{t(at)['says'][1]}</li></ul>" for at in (4, 5))))
    for at in (4, 5):
        expect(name, t(at)["says"][:2], at - 3, t(at)["title"])

    fodp = lambda pages, more="": f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>{pages}</office:presentation></office:body></office:document>"""
    frame = lambda kind, y, inner: f'<draw:frame presentation:class="{kind}" svg:width="24cm" svg:height="3cm" svg:x="2cm" svg:y="{y}cm"><draw:text-box>{inner}</draw:text-box></draw:frame>'
    page = lambda at: f'<draw:page draw:name="p{at}">{frame("title", 1, "<text:p>" + t(at)["title"] + "</text:p>")}{frame("outline", 5, "<text:list>" + "".join("<text:list-item><text:p>" + s + "</text:p></text:list-item>" for s in t(at)["says"]) + "</text:list>")}</draw:page>'
    name = "libreoffice-from-odp.pptx"
    office(file("d.fodp", fodp(page(6) + page(7))), "pptx", name)
    for at in (6, 7):
        expect(name, [t(at)["title"]] + t(at)["says"], at - 5, f"Slide {at - 5}")
    name = "libreoffice-boxes.pptx"
    boxes = f'<draw:page draw:name="p"><draw:custom-shape svg:width="20cm" svg:height="2cm" svg:x="2cm" svg:y="2cm"><text:p>{t(8)["says"][0]}</text:p></draw:custom-shape><draw:frame svg:width="20cm" svg:height="2cm" svg:x="2cm" svg:y="6cm"><table:table><table:table-column/><table:table-column/><table:table-row><table:table-cell><text:p>Key</text:p></table:table-cell><table:table-cell><text:p>Wish</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>{t(8)["rows"][0][0]}</text:p></table:table-cell><table:table-cell><text:p>{t(8)["rows"][0][1]}</text:p></table:table-cell></table:table-row></table:table></draw:frame></draw:page>'
    office(file("e.fodp", fodp(boxes)), "pptx", name)
    expect(name, [t(8)["says"][0], "Key | Wish", f"{t(8)['rows'][0][0]} | {t(8)['rows'][0][1]}"], 1, "Slide 1")
    name = "libreoffice-again.pptx"
    shutil.copy(path("python-pptx-bullets.pptx"), os.path.join(work, "again.pptx"))
    office(os.path.join(work, "again.pptx"), "pptx", name)
    for at in range(3):
        expect(name, [t(at)["title"]] + t(at)["says"], at + 1, t(at)["title"])
        expect(name, [t(at)["note"]], at + 1, "Notes")

    # Written by hand: the other variant of the standard, parts under other names, a diagram, an older copy of a drawing.
    a = "http://purl.oclc.org/ooxml/drawingml/main"
    p = "http://purl.oclc.org/ooxml/presentationml/main"
    r = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    say = lambda text: f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
    shape = lambda text, ph="": f'<p:sp><p:nvSpPr><p:cNvPr id="1" name=""/><p:cNvSpPr/><p:nvPr>{ph}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{text}</p:txBody></p:sp>'
    content = f"""<p:sld xmlns:a="{a}" xmlns:p="{p}" xmlns:r="{r}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:dgm="urn:d"><p:cSld><p:spTree>{shape(say(t(9)['title']), '<p:ph type="title"/>')}<mc:AlternateContent><mc:Choice Requires="x">{shape(say(t(9)['says'][0]))}</mc:Choice><mc:Fallback>{shape(say(t(9)['says'][0]))}</mc:Fallback></mc:AlternateContent><p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="2" name=""/></p:nvGraphicFramePr><a:graphic><a:graphicData><dgm:relIds r:dm="rId7"/></a:graphicData></a:graphic></p:graphicFrame>{shape(say(t(9)['note']), '<p:ph type="ftr"/>')}</p:spTree></p:cSld></p:sld>"""
    name = "by-hand-strict.pptx"
    with zipfile.ZipFile(path(name), "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>')
        new.writestr("_rels/.rels", f'<Relationships><Relationship Id="r" Type="{r}/officeDocument" Target="/ppt/presentation.xml"/></Relationships>')
        new.writestr("ppt/presentation.xml", f'<p:presentation xmlns:p="{p}" xmlns:r="{r}"><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>')
        new.writestr("ppt/_rels/presentation.xml.rels", f'<Relationships><Relationship Id="rId2" Type="{r}/slide" Target="pages/first.xml"/></Relationships>')
        new.writestr("ppt/pages/first.xml", content)
        new.writestr("ppt/pages/_rels/first.xml.rels", f'<Relationships><Relationship Id="rId7" Type="{r}/diagramData" Target="../diagrams/data1.xml"/></Relationships>')
        new.writestr("ppt/diagrams/data1.xml", f'<dgm:dataModel xmlns:dgm="urn:d" xmlns:a="{a}"><dgm:ptLst>' + "".join(f'<dgm:pt modelId="{at}"><dgm:t>{say(s)}</dgm:t></dgm:pt>' for at, s in enumerate(t(9)["says"][1:])) + '<dgm:pt type="parTrans"><dgm:t><a:p/></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>')
    expect(name, [t(9)["title"]] + t(9)["says"] + [t(9)["note"]], 1, t(9)["title"])


# ---------------------------------------------------------------------------------------------------------------- XLSX
import openpyxl, xlsxwriter
from openpyxl.styles import Font, PatternFill
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

NAMES = ["Key", "Wish", "Priority"]


def named(cells, names=NAMES):
    return " | ".join(f"{name}: {cell}" for name, cell in zip(names, cells))


def xlsx():
    name = "openpyxl-sheets.xlsx"
    book = openpyxl.Workbook()
    for at in range(3):
        sheet = book.active if at == 0 else book.create_sheet()
        sheet.title = t(at)["title"]
        sheet.append(NAMES)
        for cells in t(at)["rows"]:
            sheet.append(cells)
        expect(name, [named(cells) for cells in t(at)["rows"]], section=t(at)["title"])
    book.save(path(name))

    name = "openpyxl-dates.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Dates"
    sheet.append(["Wish", "Due", "Met at", "Share", "Days", "Done"])
    sheet.append([t(3)["says"][0], datetime.date(2026, 3, 2), datetime.datetime(2026, 3, 2, 9, 30), 0.125, 17, True])
    sheet["D2"].number_format = "0.0%"
    sheet["B2"].number_format = "dd.mm.yyyy"
    expect(name, [f"Wish: {t(3)['says'][0]} | Due: 2026-03-02 | Met at: 2026-03-02 09:30 | Share: 12.5% | Days: 17 | Done: TRUE"], section="Dates")
    book.save(path(name))

    name = "openpyxl-hidden.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = t(4)["title"]
    sheet.append(NAMES + ["Secret"])
    for cells in t(4)["rows"] + t(5)["rows"]:
        sheet.append(cells + ["Nobody sees this column."])
    sheet.column_dimensions["D"].hidden = True
    sheet.row_dimensions[4].hidden = True
    sheet["A6"] = "White on nothing."
    sheet["A6"].font = Font(color="FFFFFFFF")
    sheet["B6"] = t(4)["says"][0]
    sheet["B6"].font = Font(color="FFFFFFFF")
    sheet["B6"].fill = PatternFill("solid", fgColor="FF000000")
    gone = book.create_sheet("Gone")
    gone["A1"] = "Nobody sees this sheet."
    gone.sheet_state = "veryHidden"
    expect(name, [named(t(4)["rows"][0]), named(t(4)["rows"][1]), named(t(5)["rows"][1]), f"Wish: {t(4)['says'][0]}"], section=t(4)["title"])
    expect(name, ["Nobody sees this column.", "Nobody sees this sheet.", t(5)["rows"][0][1], "White on nothing.", "Secret"], shown="no")
    book.save(path(name))

    name = "openpyxl-merged.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Wishes"
    sheet.append(["All wishes of the harbour"])
    sheet.merge_cells("A1:C1")
    sheet.append([])
    sheet.append(["Area"] + NAMES)
    for at in (6, 7):
        first = sheet.max_row + 1
        for cells in t(at)["rows"]:
            sheet.append([t(at)["title"] if sheet.max_row + 1 == first else None] + cells)
        sheet.merge_cells(f"A{first}:A{sheet.max_row}")
    expect(name, ["All wishes of the harbour"] + [f"Area: {t(at)['title']} | {named(cells)}" for at in (6, 7) for cells in t(at)["rows"]], section="Wishes")
    book.save(path(name))

    name = "openpyxl-rich-text.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "List"
    for sentence in t(8)["says"]:
        sheet.append([CellRichText(TextBlock(InlineFont(b=True), sentence[:8]), sentence[8:])])
    expect(name, t(8)["says"], section="List")
    book.save(path(name))

    name = "xlsxwriter-formulas.xlsx"
    book = xlsxwriter.Workbook(path(name))
    sheet = book.add_worksheet("Figures")
    sheet.write_row(0, 0, ["Key", "Hours", "Sum"])
    sheet.write_row(1, 0, ["W-1", 3.5])
    sheet.write_formula(1, 2, "=B2*2", None, 7)
    sheet.write_row(2, 0, ["W-2", 0.1])
    sheet.write_formula(2, 2, '=IF(B3>0,"enough","none")', None, "enough")
    book.close()
    expect(name, ["Key: W-1 | Hours: 3.5 | Sum: 7", "Key: W-2 | Hours: 0.1 | Sum: enough"], section="Figures")
    expect(name, ["=B2", "IF("], shown="no")

    name = "xlsxwriter-constant-memory.xlsx"
    book = xlsxwriter.Workbook(path(name), {"constant_memory": True})
    sheet = book.add_worksheet("Straße & Hafen")
    for line, cells in enumerate([NAMES] + t(9)["rows"]):
        sheet.write_row(line, 0, cells)
    book.close()
    expect(name, [named(cells) for cells in t(9)["rows"]], section="Straße & Hafen")

    name = "xlsxwriter-table.xlsx"
    book = xlsxwriter.Workbook(path(name), {"default_date_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet()
    sheet.add_table(3, 1, 5, 3, {"data": t(0)["rows"], "columns": [{"header": n} for n in NAMES]})
    sheet.write(0, 1, t(0)["title"])
    sheet.write(1, 1, t(0)["says"][0])
    sheet.write_comment(4, 1, "A comment is not read.")
    sheet.insert_textbox(8, 1, "A drawing is not read.")
    book.close()
    expect(name, [t(0)["title"], t(0)["says"][0]] + [named(cells) for cells in t(0)["rows"]], section="Sheet1")
    expect(name, ["A comment is not read."], shown="no")

    name = "xlsxwriter-1904.xlsx"
    book = xlsxwriter.Workbook(path(name), {"date_1904": True})
    sheet = book.add_worksheet("Days")
    day = book.add_format({"num_format": "d mmmm yyyy"})
    hours = book.add_format({"num_format": "[h]:mm"})
    sheet.write_row(0, 0, ["Wish", "Due", "Effort"])
    sheet.write(1, 0, t(1)["says"][1])
    sheet.write_datetime(1, 1, datetime.datetime(2026, 12, 24), day)
    sheet.write_number(1, 2, 1.25, hours)
    book.close()
    expect(name, [f"Wish: {t(1)['says'][1]} | Due: 2026-12-24 | Effort: 30:00"], section="Days")

    csv = "Key,Wish,Priority\n" + "".join(",".join(f'"{cell}"' for cell in cells) + "\n" for cells in t(2)["rows"])
    name = "libreoffice-from-csv.xlsx"
    office(file("wishes.csv", csv), "xlsx", name)
    expect(name, [named(cells) for cells in t(2)["rows"]], section="wishes")
    name = "gnumeric-from-csv.xlsx"
    run("ssconvert", "--export-type=Gnumeric_Excel:xlsx2", file("wishes.csv", csv), path(name))
    expect(name, [named(cells) for cells in t(2)["rows"]], section="wishes.csv")
    name = "gnumeric-again.xlsx"
    run("ssconvert", "--export-type=Gnumeric_Excel:xlsx2", path("openpyxl-merged.xlsx"), path(name))
    expect(name, ["All wishes of the harbour"] + [f"Area: {t(at)['title']} | {named(cells)}" for at in (6, 7) for cells in t(at)["rows"]], section="Wishes")
    name = "libreoffice-again.xlsx"
    shutil.copy(path("openpyxl-hidden.xlsx"), os.path.join(work, "hidden.xlsx"))
    office(os.path.join(work, "hidden.xlsx"), "xlsx", name)
    expect(name, [named(t(4)["rows"][0]), named(t(4)["rows"][1]), named(t(5)["rows"][1])], section=t(4)["title"])
    expect(name, ["Nobody sees this column.", "Nobody sees this sheet.", t(5)["rows"][0][1]], shown="no")
    name = "libreoffice-from-ods.xlsx"
    from pyexcel_ods3 import save_data
    save_data(os.path.join(work, "sheet.ods"), {t(3)["title"]: [NAMES] + t(3)["rows"], t(4)["title"]: [NAMES] + t(4)["rows"]})
    office(os.path.join(work, "sheet.ods"), "xlsx", name)
    for at in (3, 4):
        expect(name, [named(cells) for cells in t(at)["rows"]], section=t(at)["title"])
    name = "repacked.xlsx"
    repacked(path("openpyxl-sheets.xlsx"), name, zipfile.ZIP_STORED, lambda names: sorted(names, reverse=True))
    for at in range(3):
        expect(name, [named(cells) for cells in t(at)["rows"]], section=t(at)["title"])

    name = "by-hand-strict.xlsx"
    m = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    r = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    cell = lambda text: f'<x:c t="inlineStr"><x:is><x:t>{text}</x:t></x:is></x:c>'
    with zipfile.ZipFile(path(name), "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("[Content_Types].xml", "<Types/>")
        new.writestr("xl/workbook.xml", f'<x:workbook xmlns:x="{m}" xmlns:r="{r}"><x:sheets><x:sheet name="{t(5)["title"]}" sheetId="1" r:id="a"/></x:sheets></x:workbook>')
        new.writestr("xl/_rels/workbook.xml.rels", f'<Relationships><Relationship Id="a" Type="{r}/worksheet" Target="/xl/w/one.xml"/></Relationships>')
        new.writestr("xl/w/one.xml", f'<x:worksheet xmlns:x="{m}"><x:sheetData>' + "".join("<x:row>" + "".join(map(cell, cells)) + "</x:row>" for cells in [NAMES] + t(5)["rows"]) + f'<x:row><x:c t="d"><x:v>2026-03-02T00:00:00</x:v></x:c>{cell("A line_x000D__x000A_and another")}</x:row></x:sheetData></x:worksheet>')
    expect(name, [named(cells) for cells in t(5)["rows"]] + ["Key: 2026-03-02 | Wish: A line and another"], section=t(5)["title"])


# ----------------------------------------------------------------------------------------------------------------- ODT
def odt_texts(name, numbers, says=4):
    for at in numbers:
        expect(name, [t(at)["title"]] + t(at)["says"][:says], section=t(at)["title"])


def odt():
    from odf import opendocument, style, table as odftable, text as odftext
    name = "odfpy-list.odt"
    document = opendocument.OpenDocumentText()
    for at in (0, 1):
        document.text.addElement(odftext.H(outlinelevel=1, text=t(at)["title"]))
        items = odftext.List()
        for sentence in t(at)["says"]:
            item = odftext.ListItem()
            item.addElement(odftext.P(text=sentence))
            items.addElement(item)
        document.text.addElement(items)
    document.save(path(name))
    odt_texts(name, (0, 1))

    name = "odfpy-table.odt"
    document = opendocument.OpenDocumentText()
    document.text.addElement(odftext.H(outlinelevel=2, text=t(2)["title"]))
    grid = odftable.Table(name="t")
    grid.addElement(odftable.TableColumn(numbercolumnsrepeated=3))
    for cells in [NAMES] + t(2)["rows"]:
        line = odftable.TableRow()
        for cell in cells:
            one = odftable.TableCell()
            one.addElement(odftext.P(text=cell))
            line.addElement(one)
        grid.addElement(line)
    document.text.addElement(grid)
    document.save(path(name))
    expect(name, [" | ".join(cells) for cells in [NAMES] + t(2)["rows"]], section=t(2)["title"])

    name = "odfpy-hidden.odt"
    document = opendocument.OpenDocumentText()
    hidden = style.Style(name="hidden", family="text")
    hidden.addElement(style.TextProperties(display="none"))
    white = style.Style(name="white", family="text")
    white.addElement(style.TextProperties(color="#ffffff"))
    document.automaticstyles.addElement(hidden)
    document.automaticstyles.addElement(white)
    document.text.addElement(odftext.H(outlinelevel=1, text=t(3)["title"]))
    for at, sentence in enumerate(t(3)["says"]):
        line = odftext.P(text=sentence)
        line.addElement(odftext.Span(stylename=hidden if at % 2 else white, text=" Nobody sees this."))
        document.text.addElement(line)
    section = odftext.Section(name="s", display="none")
    section.addElement(odftext.P(text="Nor this section."))
    document.text.addElement(section)
    document.save(path(name))
    odt_texts(name, (3,))
    expect(name, ["Nobody sees this.", "Nor this section."], shown="no")

    from odfdo import Document, Header, List, ListItem, Paragraph
    name = "odfdo-note.odt"
    document = Document("text")
    document.body.clear()
    document.body.append(Header(1, t(4)["title"]))
    line = Paragraph(t(4)["says"][0])
    line.insert_note(after="clerk" if "clerk" in t(4)["says"][0] else t(4)["says"][0].split()[1], note_id="n1", citation="1", body=t(4)["note"])
    line.insert_annotation(after=t(4)["says"][0].split()[1], body="An annotation is not read.", creator="Bo")
    document.body.append(line)
    document.body.append(List(t(4)["says"][1:]))
    document.save(path(name))
    expect(name, [t(4)["title"], t(4)["says"][0], t(4)["note"]] + t(4)["says"][1:], section=t(4)["title"])
    expect(name, ["An annotation is not read."], shown="no")
    name = "odfdo-sections.odt"
    document = Document("text")
    document.body.clear()
    for at, level in ((5, 1), (6, 2), (7, 1)):
        document.body.append(Header(level, t(at)["title"]))
        for sentence in t(at)["says"]:
            document.body.append(Paragraph(sentence))
    document.save(path(name))
    odt_texts(name, (5, 6, 7))

    markdown = "".join(f"# {t(at)['title']}\n\n{t(at)['says'][0]}\n\n- {t(at)['says'][1]}\n- {t(at)['says'][2]}\n\n> {t(at)['says'][3]}\n\n" for at in (8, 9))
    grid = "| Key | Wish | Priority |\n|---|---|---|\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in t(8)["rows"])
    name = "pandoc-from-markdown.odt"
    run("pandoc", "-f", "markdown-smart", "-t", "odt", "-o", path(name), file("f.md", markdown))
    odt_texts(name, (8, 9))
    name = "pandoc-table.odt"
    run("pandoc", "-f", "markdown-smart", "-t", "odt", "-o", path(name), file("g.md", f"# {t(8)['title']}\n\n{grid}\n\nAfter it.[^1]\n\n[^1]: {t(8)['note']}\n"))
    expect(name, [" | ".join(cells) for cells in [NAMES] + t(8)["rows"]] + ["After it.", t(8)["note"]], section=t(8)["title"])
    html = "<html><head><meta charset='utf-8'><title>x</title></head><body>" + "".join(f"<h1>{t(at)['title']}</h1><p>{t(at)['says'][0]}</p><ul><li>{t(at)['says'][1]}</li><li>{t(at)['says'][2]}</li></ul><p>{t(at)['says'][3]}</p>" for at in (0, 1)) + "</body></html>"
    name = "pandoc-from-html.odt"
    run("pandoc", "-f", "html", "-t", "odt", "-o", path(name), file("h.html", html))
    odt_texts(name, (0, 1))
    name = "pandoc-contents.odt"
    run("pandoc", "--toc", "-s", "-f", "markdown-smart", "-t", "odt", "-o", path(name), file("i.md", markdown))
    odt_texts(name, (8, 9))
    name = "libreoffice-from-html.odt"
    office(file("h.html", html), "odt:writer8", name, "HTML (StarWriter)")
    odt_texts(name, (0, 1))
    name = "libreoffice-from-text.odt"
    office(file("j.txt", "\n\n".join(t(2)["says"]) + "\n"), "odt", name, "Text (encoded):UTF8")
    expect(name, t(2)["says"])
    name = "libreoffice-from-rtf.odt"
    rtf = "{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}" + "".join(s + "\\par " for s in t(3)["says"]) + "{\\v Nobody sees this.}{\\deleted Nobody has this any more.}\\par}"
    office(file("k.rtf", rtf), "odt", name)
    expect(name, t(3)["says"])
    expect(name, ["Nobody sees this.", "Nobody has this any more."], shown="no")

    import docx
    name = "libreoffice-from-docx.odt"
    document = docx.Document()
    for at in (4, 5):
        document.add_heading(t(at)["title"], 1)
        document.add_paragraph(t(at)["says"][0])
        for sentence in t(at)["says"][1:3]:
            document.add_paragraph(sentence, style="List Bullet")
        document.add_paragraph(t(at)["says"][3], style="Quote")
    document.save(os.path.join(work, "l.docx"))
    office(os.path.join(work, "l.docx"), "odt", name)
    odt_texts(name, (4, 5))
    name = "pandoc-from-docx.odt"
    run("pandoc", "-t", "odt", "-o", path(name), os.path.join(work, "l.docx"))
    odt_texts(name, (4, 5))
    name = "libreoffice-tracked.odt"
    document = docx.Document()
    document.add_heading(t(6)["title"], 1)
    line = document.add_paragraph(t(6)["says"][0] + " ")
    from docx.oxml import parse_xml
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    line._p.append(parse_xml(f'<w:del {w} w:id="1" w:author="Bo" w:date="2026-01-01T00:00:00Z"><w:r><w:delText>This was deleted.</w:delText></w:r></w:del>'))
    line._p.append(parse_xml(f'<w:ins {w} w:id="2" w:author="Bo" w:date="2026-01-01T00:00:00Z"><w:r><w:t>{t(6)["says"][1]}</w:t></w:r></w:ins>'))
    grid = document.add_table(rows=0, cols=3)
    for cells in [NAMES] + t(6)["rows"]:
        for cell, text in zip(grid.add_row().cells, cells):
            cell.text = text
    document.save(os.path.join(work, "m.docx"))
    office(os.path.join(work, "m.docx"), "odt", name)
    expect(name, t(6)["says"][:2] + [" | ".join(cells) for cells in [NAMES] + t(6)["rows"]], section=t(6)["title"])
    expect(name, ["This was deleted."], shown="no")
    name = "abiword-from-html.odt"
    run("abiword", "--to=odt", f"--to-name={path(name)}", file("h.html", html))
    for at in (0, 1):
        expect(name, [t(at)["title"]] + t(at)["says"])
    name = "abiword-from-text.odt"
    run("abiword", "--to=odt", f"--to-name={path(name)}", file("j.txt", "\n".join(t(7)["says"]) + "\n"))
    expect(name, t(7)["says"])
    name = "repacked.odt"
    repacked(path("odfdo-sections.odt"), name)
    odt_texts(name, (5, 6, 7))
    name = "by-hand.odt"
    body = f'<text:tracked-changes><text:changed-region><text:deletion><text:p>This was deleted.</text:p></text:deletion></text:changed-region></text:tracked-changes><text:h text:outline-level="1">{t(9)["title"]}</text:h><text:p>The system<text:s text:c="2"/>shall\n   wait.<text:hidden-text text:string-value="Nobody sees this."/></text:p><text:p>Before the frame.<draw:frame><draw:text-box><text:p>{t(9)["says"][0]}</text:p></draw:text-box><svg:desc>A picture of the lamp.</svg:desc></draw:frame></text:p>'
    with zipfile.ZipFile(path(name), "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("mimetype", "application/vnd.oasis.opendocument.text", zipfile.ZIP_STORED)
        new.writestr("content.xml", f'<office:document-content xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:svg="s"><office:body><office:text>{body}</office:text></office:body></office:document-content>')
    expect(name, [t(9)["title"], "The system  shall wait.", t(9)["says"][0], "Before the frame."], section=t(9)["title"])
    expect(name, ["This was deleted.", "Nobody sees this.", "A picture of the lamp."], shown="no")


# ----------------------------------------------------------------------------------------------------------------- EML
def mail(subject, number, to="Bo Falk <bo@harbour.example>"):
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = "Ana Ruiz <ana@harbour.example>"
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = f"Mon, {2 + number:02d} Mar 2026 09:30:00 +0100"
    message["Message-ID"] = f"<{number}@harbour.example>"
    return message


def save(name, message, subject, texts, gone=()):
    with open(path(name), "wb") as target:
        target.write(message if isinstance(message, bytes) else message.as_bytes())
    expect(name, [subject] + texts, section=subject)
    expect(name, gone, shown="no")


def eml():
    body = lambda at: "Hello Bo,\n\n" + "\n\n".join(t(at)["says"]) + "\n\nRegards\nAna\n\n-- \nAna Ruiz, Harbour Office\n"
    m = mail("Ferry bookings", 0)
    m.set_content(body(0))
    save("python-text.eml", m, "Ferry bookings", ["From: Ana Ruiz <ana@harbour.example>", "To: Bo Falk <bo@harbour.example>", "Date: 2026-03-02 09:30 +01:00"] + t(0)["says"] + ["Ana Ruiz, Harbour Office"])
    m = mail("Rückgabe für Zoë – 48 h", 1, "Zoë Öztürk <zoe@harbour.example>, Bo <bo@harbour.example>")
    m.set_content("Grüße!\n\n" + "\n\n".join(t(1)["says"]) + "\n", charset="iso-8859-1", cte="quoted-printable")
    save("python-latin-1.eml", m, "Rückgabe für Zoë – 48 h", ["To: Zoë Öztürk <zoe@harbour.example>, Bo <bo@harbour.example>", "Grüße!"] + t(1)["says"])
    m = mail("Both forms", 2)
    m.set_content(body(2))
    m.add_alternative("<p>Only in the HTML.</p>", subtype="html")
    save("python-alternative.eml", m, "Both forms", t(2)["says"], ["Only in the HTML."])
    m = mail("HTML alone", 3)
    m.set_content("<html><head><style>p{color:red}</style></head><body>" + "".join(f"<p>{s}</p>" for s in t(3)["says"]) + "<div style='display:none'>Nobody sees this.</div><blockquote>Quoted here.</blockquote></body></html>", subtype="html", cte="base64")
    save("python-html.eml", m, "HTML alone", t(3)["says"] + ["Quoted here."], ["Nobody sees this.", "color:red"])
    m = mail("With attachments", 4)
    m.set_content(body(4))
    m.add_attachment(b"%PDF-1.4 not read", maintype="application", subtype="pdf", filename="plan.pdf")
    m.add_attachment("This file is not read.", filename="notes.txt")
    save("python-attachments.eml", m, "With attachments", t(4)["says"] + ["Attachment: plan.pdf (application/pdf)", "Attachment: notes.txt (text/plain)"], ["This file is not read.", "JVBERi0"])
    inner = mail("The first mail", 5)
    inner.set_content("\n\n".join(t(5)["says"]))
    m = mail("Fwd: The first mail", 6)
    m.set_content("Please see below.\n")
    m.add_attachment(inner)
    save("python-forwarded.eml", m, "Fwd: The first mail", ["Please see below."])
    expect("python-forwarded.eml", ["The first mail", "Date: 2026-03-07 09:30 +01:00"] + t(5)["says"], section="The first mail")
    m = mail("Re: Water meters", 6)
    m.set_content(t(6)["says"][0] + "\n\nOn 1 March 2026 Bo Falk wrote:\n> " + t(6)["says"][1] + "\n>> " + t(6)["says"][2] + "\n\n" + t(6)["says"][3] + "\n")
    save("python-reply.eml", m, "Re: Water meters", t(6)["says"][:1] + ["On 1 March 2026 Bo Falk wrote:"] + t(6)["says"][1:], ["> "])
    from email.mime.multipart import MIMEMultipart
    from email.mime.text import MIMEText
    m = MIMEMultipart("mixed")
    m["Subject"] = "Old interface"
    m["From"] = "ana@harbour.example"
    m["Date"] = "3 Mar 2026 08:00:00 GMT"
    for sentence in t(7)["says"]:
        m.attach(MIMEText(sentence, "plain", "utf-8"))
    save("python-mime-parts.eml", m.as_bytes(), "Old interface", ["From: ana@harbour.example"] + t(7)["says"])
    flowed = "".join(s.replace(" the ", " the \r\n") + "\r\n\r\n" for s in t(8)["says"])
    save("by-hand-flowed.eml", f"From: Ana <ana@harbour.example>\r\nDate: Tue, 3 Mar 2026 23:30:00 -0500\r\nSubject: School\r\n kitchen\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8; format=flowed\r\n\r\n{flowed}".encode(), "School kitchen", t(8)["says"])
    save("by-hand-no-subject.eml", f"From - Tue Mar  3 10:00:00 2026\nX-Mozilla-Status: 0001\nFrom: ana@harbour.example\nTo: undisclosed-recipients:;\n\n{t(9)['says'][0]}\n".encode(), "Mail without a subject", [t(9)["says"][0]])
    words = "=?shift_jis?B?" + __import__("base64").b64encode("予約の件".encode("shift_jis")).decode() + "?="
    save("by-hand-japanese.eml", f"From: =?utf-8?q?Ana_R=C3=BAiz?= <ana@harbour.example>\nSubject: {words}\nDate: Wed, 4 Mar 2026 10:00:00 +0900\nMIME-Version: 1.0\nContent-Type: text/plain; charset=shift_jis\nContent-Transfer-Encoding: 8bit\n\n".encode() + "予約は電話でも取れること。\n".encode("shift_jis"), "予約の件", ["予約は電話でも取れること。"])
    save("by-hand-digest.eml", ("From: list@harbour.example\nSubject: Digest\nDate: Wed, 4 Mar 2026 10:00:00 +0100\nMIME-Version: 1.0\nContent-Type: multipart/digest; boundary=\"==x==\"\n\npreamble\n--==x==\n\nFrom: ana@harbour.example\nSubject: One\n\n" + t(0)["says"][0] + "\n--==x==\n\nFrom: bo@harbour.example\nSubject: Two\n\n" + t(0)["says"][1] + "\n--==x==--\nepilogue\n").encode(), "Digest", [], ["preamble", "epilogue"])
    expect("by-hand-digest.eml", [t(0)["says"][0]], section="One")
    expect("by-hand-digest.eml", [t(0)["says"][1]], section="Two")
    perl = lambda code, name: open(path(name), "wb").write(subprocess.run(["perl", "-e", code], check=True, capture_output=True, cwd=work).stdout)
    q = lambda text: "q{" + text + "}"
    name = "perl-mime-lite.eml"
    perl(f"use MIME::Lite; my $m = MIME::Lite->new(From=>'ana@harbour.example', To=>'bo@harbour.example', Subject=>'Orchard', Date=>'Thu, 5 Mar 2026 10:00:00 +0100', Type=>'multipart/mixed'); $m->attach(Type=>'TEXT', Data=>{q(chr(10).join(t(2)['says']))}); $m->attach(Type=>'image/png', Data=>'x', Filename=>'map.png', Disposition=>'attachment'); print $m->as_string;", name)
    expect(name, ["Orchard"] + t(2)["says"] + ["Attachment: map.png (image/png)"], section="Orchard")
    name = "perl-email-mime.eml"
    perl(f"use Email::MIME; print Email::MIME->create(header_str=>[From=>'ana@harbour.example', To=>'bo@harbour.example', Subject=>'Gl{chr(92)}x{{e4}}ser', Date=>'Thu, 5 Mar 2026 11:00:00 +0100'], attributes=>{{content_type=>'text/plain', charset=>'UTF-8', encoding=>'base64'}}, body_str=>{q(chr(10).join(t(4)['says']))})->as_string;".replace("'Gl", '"Gl').replace("ser'", 'ser"'), name)
    expect(name, ["Gläser"] + t(4)["says"], section="Gläser")
    name = "perl-email-stuffer.eml"
    perl(f"use Email::Stuffer; print Email::Stuffer->from('ana@harbour.example')->to('bo@harbour.example')->subject('Lamp')->header('Date', 'Fri, 6 Mar 2026 11:00:00 +0100')->text_body({q(chr(10).join(t(9)['says']))})->html_body('<p>Only in the HTML.</p>')->as_string;", name)
    expect(name, ["Lamp"] + t(9)["says"], section="Lamp")
    expect(name, ["Only in the HTML."], shown="no")
    name = "git-format-patch.eml"
    repository = os.path.join(work, "repository")
    os.makedirs(repository)
    environment = dict(os.environ, GIT_AUTHOR_NAME="Ana Ruiz", GIT_AUTHOR_EMAIL="ana@harbour.example", GIT_COMMITTER_NAME="Ana Ruiz", GIT_COMMITTER_EMAIL="ana@harbour.example", GIT_AUTHOR_DATE="2026-03-07T10:00:00+0100", GIT_COMMITTER_DATE="2026-03-07T10:00:00+0100")
    git = lambda *more: subprocess.run(["git", *more], check=True, cwd=repository, env=environment, capture_output=True).stdout
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "First")
    open(os.path.join(repository, "plan.txt"), "w").write("A plan.\n")
    git("add", ".")
    git("commit", "-q", "-m", "Add the plan\n\n" + "\n\n".join(t(1)["says"]))
    open(path(name), "wb").write(git("format-patch", "-1", "--stdout"))
    expect(name, ["[PATCH] Add the plan"] + t(1)["says"], section="[PATCH] Add the plan")


if __name__ == "__main__":
    for make in (pptx, xlsx, odt, eml):
        make()
        print(make.__name__, "made")
    for kind, lines in rows.items():
        with open(os.path.join(out, kind, "expected.tsv"), "w", encoding="utf-8") as target:
            target.write("file\tshown\tpage\tsection\ttext\n")
            for line in lines:
                target.write("\t".join(line) + "\n")
    shutil.rmtree(work)
