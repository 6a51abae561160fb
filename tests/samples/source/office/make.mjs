// Adds the samples of PPTX, XLSX and EML that libraries of JavaScript make, and their rows to expected.tsv.
//
// Usage: node make.mjs FOLDER-OF-SAMPLES, after make.py, in a folder with the packages pptxgenjs, exceljs, xlsx,
// write-excel-file, nodemailer, mimetext and emailjs.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.cwd(), 'x.js'))
const out = process.argv[2]
const topics = JSON.parse(readFileSync(new URL('./topics.json', import.meta.url), 'utf8'))
const NAMES = ['Key', 'Wish', 'Priority']
const path = name => join(out, name.split('.').pop(), name)
const expect = (name, texts, { page = '', section = '', shown = 'yes' } = {}) => {
  for (const text of texts) appendFileSync(join(out, name.split('.').pop(), 'expected.tsv'), [name, shown, page, section, text].join('\t') + '\n')
}
const named = cells => cells.map((cell, at) => `${NAMES[at]}: ${cell}`).join(' | ')

async function pptx() {
  const Deck = require('pptxgenjs')
  let deck = new Deck()
  let name = 'pptxgenjs-bullets.pptx'
  for (const at of [0, 1]) {
    const slide = deck.addSlide()
    slide.addText(topics[at].title, { x: 1, y: 0.4, w: 8, h: 1, fontSize: 24 })
    slide.addText(topics[at].says.map(text => ({ text, options: { bullet: true, breakLine: true } })), { x: 1, y: 1.5, w: 8, h: 3 })
    slide.addNotes(topics[at].note)
    expect(name, [topics[at].title, ...topics[at].says], { page: at + 1, section: `Slide ${at + 1}` })
    expect(name, [topics[at].note], { page: at + 1, section: 'Notes' })
  }
  await deck.writeFile({ fileName: path(name), compression: true })

  deck = new Deck()
  name = 'pptxgenjs-table.pptx'
  let slide = deck.addSlide()
  slide.addTable([NAMES, ...topics[2].rows].map(cells => cells.map(text => ({ text }))), { x: 0.5, y: 1, w: 9 })
  expect(name, [NAMES, ...topics[2].rows].map(cells => cells.join(' | ')), { page: 1, section: 'Slide 1' })
  await deck.writeFile({ fileName: path(name), compression: true })

  deck = new Deck()
  name = 'pptxgenjs-master.pptx'
  deck.defineSlideMaster({
    title: 'M', slideNumber: { x: 0.3, y: 5 },
    objects: [{ placeholder: { options: { name: 'title', type: 'title', x: 1, y: 0.2, w: 8, h: 1 }, text: '' } }, { placeholder: { options: { name: 'body', type: 'body', x: 1, y: 1.5, w: 8, h: 3 }, text: '' } }],
  })
  for (const at of [3, 4]) {
    slide = deck.addSlide({ masterName: 'M' })
    slide.addText(topics[at].title, { placeholder: 'title' })
    slide.addText(topics[at].says.map(text => ({ text, options: { breakLine: true } })), { placeholder: 'body' })
    expect(name, [topics[at].title, ...topics[at].says], { page: at - 2, section: topics[at].title })
  }
  await deck.writeFile({ fileName: path(name), compression: true })

  deck = new Deck()
  name = 'pptxgenjs-arabic-hidden.pptx'
  deck.rtlMode = true
  slide = deck.addSlide()
  slide.addText('يجب أن يحفظ النظام كل حجز', { x: 1, y: 1, w: 8, h: 1, rtlMode: true })
  expect(name, ['يجب أن يحفظ النظام كل حجز'], { page: 1, section: 'Slide 1' })
  slide = deck.addSlide()
  slide.hidden = true
  slide.addText(topics[5].says[0], { x: 1, y: 1, w: 8, h: 1 })
  slide.addNotes(topics[5].note)
  expect(name, [topics[5].says[0], topics[5].note], { shown: 'no' })
  slide = deck.addSlide()
  slide.addText(topics[5].says[1], { x: 1, y: 1, w: 8, h: 1, fill: { color: '112233' }, color: 'FFFFFF' })
  slide.addText(topics[5].says[2], { x: 40, y: 1, w: 8, h: 1 })
  expect(name, [topics[5].says[1]], { page: 3, section: 'Slide 3' })
  expect(name, [topics[5].says[2]], { shown: 'no' })
  await deck.writeFile({ fileName: path(name), compression: true })

  deck = new Deck()
  name = 'pptxgenjs-chart.pptx'
  slide = deck.addSlide()
  slide.addText([{ text: topics[6].says[0].slice(0, 12), options: { bold: true } }, { text: topics[6].says[0].slice(12), options: { italic: true } }], { x: 1, y: 0.3, w: 8, h: 1 })
  slide.addChart(deck.ChartType.bar, [{ name: 'Depth', labels: ['May', 'June'], values: [3, 4] }], { x: 1, y: 1.5, w: 6, h: 3 })
  expect(name, [topics[6].says[0]], { page: 1, section: 'Slide 1' })
  await deck.writeFile({ fileName: path(name), compression: true })
}

async function xlsx() {
  const Excel = require('exceljs')
  let book = new Excel.Workbook()
  let name = 'exceljs-sheets.xlsx'
  for (const at of [0, 1]) {
    const sheet = book.addWorksheet(topics[at].title)
    sheet.addRow(NAMES)
    topics[at].rows.forEach(cells => sheet.addRow(cells))
    expect(name, topics[at].rows.map(named), { section: topics[at].title })
  }
  await book.xlsx.writeFile(path(name))

  book = new Excel.Workbook()
  name = 'exceljs-hidden.xlsx'
  let sheet = book.addWorksheet('Wishes')
  sheet.columns = [{ header: 'Key' }, { header: 'Wish' }, { header: 'Priority' }, { header: 'Draft', hidden: true }]
  ;[...topics[2].rows, ...topics[3].rows].forEach(cells => sheet.addRow([...cells, 'A hidden remark.']))
  sheet.getRow(3).hidden = true
  book.addWorksheet('Old', { state: 'hidden' }).addRow(['A hidden sheet.'])
  expect(name, [topics[2].rows[0], ...topics[3].rows].map(named), { section: 'Wishes' })
  expect(name, ['A hidden remark.', 'A hidden sheet.', topics[2].rows[1][1], 'Draft'], { shown: 'no' })
  await book.xlsx.writeFile(path(name))

  book = new Excel.Workbook()
  name = 'exceljs-values.xlsx'
  sheet = book.addWorksheet('Values')
  sheet.addRow(['Wish', 'Due', 'Sum', 'Page'])
  sheet.addRow([{ richText: [{ font: { bold: true }, text: topics[4].says[0].slice(0, 10) }, { text: topics[4].says[0].slice(10) }] }, new Date(Date.UTC(2026, 4, 6)), { formula: '1+2', result: 3 }, { text: 'the plan', hyperlink: 'https://harbour.example/plan' }])
  expect(name, [`Wish: ${topics[4].says[0]} | Due: 2026-05-06 | Sum: 3 | Page: the plan`], { section: 'Values' })
  expect(name, ['1+2', 'harbour.example'], { shown: 'no' })
  await book.xlsx.writeFile(path(name))

  name = 'exceljs-stream.xlsx'
  const stream = new Excel.stream.xlsx.WorkbookWriter({ filename: path(name), useSharedStrings: false, useStyles: false })
  sheet = stream.addWorksheet('Stream')
  ;[NAMES, ...topics[5].rows].forEach(cells => sheet.addRow(cells).commit())
  sheet.commit()
  await stream.commit()
  expect(name, topics[5].rows.map(named), { section: 'Stream' })

  const SheetJS = require('xlsx')
  for (const [kind, options] of [['shared', { bookSST: true, compression: true }], ['plain', { bookSST: false, compression: false }]]) {
    name = `sheetjs-${kind}.xlsx`
    const made = SheetJS.utils.book_new()
    for (const at of [6, 7]) {
      SheetJS.utils.book_append_sheet(made, SheetJS.utils.json_to_sheet(topics[at].rows.map(([Key, Wish, Priority]) => ({ Key, Wish, Priority }))), topics[at].title)
      expect(name, topics[at].rows.map(named), { section: topics[at].title })
    }
    SheetJS.writeFile(made, path(name), options)
  }
  name = 'sheetjs-dates.xlsx'
  const made = SheetJS.utils.book_new()
  SheetJS.utils.book_append_sheet(made, SheetJS.utils.aoa_to_sheet([['Wish', 'Due'], [topics[8].says[0], new Date(Date.UTC(2026, 2, 2))]], { dateNF: 'yyyy-mm-dd', UTC: true }), 'Days')
  SheetJS.writeFile(made, path(name))
  expect(name, [`Wish: ${topics[8].says[0]}`], { section: 'Days' })
}

async function eml() {
  const mailer = require('nodemailer').createTransport({ streamTransport: true, buffer: true })
  const send = async (name, options, texts, gone = []) => {
    const date = new Date(Date.UTC(2026, 2, 9, 9))
    const { message } = await mailer.sendMail({ from: 'Ana Ruiz <ana@harbour.example>', to: 'bo@harbour.example', date, messageId: `<${name}@harbour.example>`, ...options })
    writeFileSync(path(name), message)
    expect(name, [options.subject, 'From: Ana Ruiz <ana@harbour.example>', 'Date: 2026-03-09 09:00 +00:00', ...texts], { section: options.subject })
    expect(name, gone, { shown: 'no' })
  }
  const says = at => topics[at].says
  await send('nodemailer-text.eml', { subject: 'Bicycles', text: says(7).join('\n\n') }, says(7))
  await send('nodemailer-both.eml', { subject: 'Grüße aus der Küche', text: 'Grüße!\n\n' + says(8).join('\n\n'), html: '<p>Only in the HTML.</p>' }, ['Grüße!', ...says(8)], ['Only in the HTML.'])
  await send('nodemailer-html-picture.eml', { subject: 'With a picture', html: says(9).map(s => `<p>${s}</p>`).join('') + '<img src="cid:a">', attachments: [{ filename: 'lamp.png', content: 'x', cid: 'a' }, { filename: 'Übersicht 2026.pdf', content: '%PDF-not read' }] }, [...says(9), 'Attachment: Übersicht 2026.pdf (application/pdf)'])
  await send('nodemailer-calendar.eml', { subject: 'A meeting', text: says(0).join('\n'), icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\nSUMMARY:not read\nEND:VCALENDAR' } }, says(0), ['VCALENDAR'])

  const { createMimeMessage } = await import(join(process.cwd(), 'node_modules/mimetext/dist/mimetext.node.es.js'))
  let name = 'mimetext.eml'
  const message = createMimeMessage()
  message.setSender({ name: 'Ana Ruiz', addr: 'ana@harbour.example' })
  message.setRecipient('bo@harbour.example')
  message.setSubject('Glass 🍾')
  message.setHeader('Date', 'Tue, 10 Mar 2026 10:00:00 +0100')
  message.addMessage({ contentType: 'text/plain', data: says(4).join('\n\n') })
  message.addMessage({ contentType: 'text/html', data: '<b>Only in the HTML.</b>' })
  writeFileSync(path(name), message.asRaw())
  expect(name, ['Glass 🍾', 'From: Ana Ruiz <ana@harbour.example>', ...says(4)], { section: 'Glass 🍾' })
  expect(name, ['Only in the HTML.'], { shown: 'no' })

  const { Message } = await import(join(process.cwd(), 'node_modules/emailjs/email.js')).catch(() => require('emailjs'))
  name = 'emailjs.eml'
  const mail = new Message({ from: 'ana@harbour.example', to: 'bo@harbour.example', subject: 'Singers', date: 'Wed, 11 Mar 2026 10:00:00 +0100', text: says(3).join('\n\n'), attachment: [{ data: says(3).map(s => `<p>${s}</p>`).join(''), alternative: true }] })
  const chunks = []
  await new Promise((done, failed) => mail.stream().on('data', chunk => chunks.push(Buffer.from(chunk))).on('end', done).on('error', failed))
  writeFileSync(path(name), Buffer.concat(chunks))
  expect(name, ['Singers', ...says(3)], { section: 'Singers' })
}

for (const make of [pptx, xlsx, eml]) {
  await make()
  console.log(make.name, 'made')
}
