// What both servers share: `POST /<topic>` with a text publishes it. They end when their standard input closes.

import { createServer } from 'node:http';

/** Starts a server that calls `publish` with a topic and a text, and prints its port. */
export function serve(publish) {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part) => { text += part; });
    request.on('end', () => {
      publish(request.url.slice(1), text);
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
  process.stdin.on('end', () => process.exit()).resume();
  return server;
}
