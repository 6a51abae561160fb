// A mail server that keeps what it is given, and fails as the addresses that are written to ask for:
//   later…    puts off (451) the first two tries      refused…  takes nothing (550)
//   cut…      takes the first letter whole and is gone before it says so
// SECURITY is NONE, STARTTLS or TLS (with files KEY and CERT); USER and PASSWORD must be given where they are set; PORT is
// taken where it is given. SILENT takes connections and never says a word.
// GET /letters gives what was taken, GET /heard the commands of all conversations, in their order.

import { createServer } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { listen, tell } from './beginning.mjs';

const { SECURITY = 'NONE', KEY, CERT, USER, PASSWORD, PORT = '0', SILENT } = process.env;
const letters = [];
const heard = [];
const tries = new Map();

const answer = (responseCode, text) => Object.assign(new Error(text), { responseCode });
const begins = (address, word) => address.startsWith(word);

function again(address) {
  tries.set(address, (tries.get(address) ?? 0) + 1);
  return tries.get(address);
}

const smtp = new SMTPServer({
  secure: SECURITY === 'TLS',
  key: KEY && readFileSync(KEY),
  cert: CERT && readFileSync(CERT),
  authOptional: !USER,
  allowInsecureAuth: SECURITY === 'NONE',
  disabledCommands: SECURITY === 'STARTTLS' ? [] : ['STARTTLS'],
  disableReverseLookup: true,
  onConnect(session, done) {
    heard.push('CONNECT');
    done();
  },
  onAuth(auth, session, done) {
    heard.push(`AUTH ${session.secure ? 'secure' : 'clear'}`);
    if (auth.username === USER && auth.password === PASSWORD) return done(null, { user: USER });
    return done(answer(535, 'Authentication failed'));
  },
  onMailFrom(from, session, done) {
    heard.push(`MAIL ${session.secure ? 'secure' : 'clear'}`);
    done();
  },
  onRcptTo({ address }, session, done) {
    heard.push(`RCPT ${address}`);
    if (begins(address, 'refused')) return done(answer(550, 'No such user here'));
    if (begins(address, 'later') && again(address) <= 2) return done(answer(451, 'Try again later'));
    return done();
  },
  async onData(stream, session, done) {
    const pieces = [];
    for await (const piece of stream) pieces.push(piece);
    const raw = Buffer.concat(pieces);
    const { text, html, subject, messageId, attachments, headers } = await simpleParser(raw);
    const to = session.envelope.rcptTo.map((one) => one.address);
    letters.push({
      to, from: session.envelope.mailFrom.address, subject, text, html, messageId, raw: raw.toString('latin1'),
      requestId: headers.get('x-request-id'), autoSubmitted: headers.get('auto-submitted'),
      user: session.user ?? null, secure: session.secure, attachments: attachments.map((one) => one.filename),
    });
    if (begins(to[0], 'cut') && again(to[0]) === 1) {
      for (const connection of smtp.connections) {
        if (connection.session === session) connection._socket.destroy();
      }
      return;
    }
    done();
  },
});
smtp.on('error', (error) => heard.push(`ERROR ${error.message}`));

const silent = createSocket(() => heard.push('CONNECT'));
const server = SILENT ? silent : smtp;
await new Promise((listening) => server.listen(Number(PORT), '127.0.0.1', listening));
const { port } = (SILENT ? silent : smtp.server).address();

const window = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request.url === '/heard' ? heard : letters));
});
tell({ smtp: port, window: await listen(window) });
