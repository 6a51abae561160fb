// A server of `ws`: a socket names a topic, and what is posted is sent to all sockets of its topic.

import { WebSocketServer } from 'ws';
import { serve } from './serve.mjs';

const topics = new Map();
const server = serve((topic, text) => {
  for (const socket of topics.get(topic) ?? []) socket.send(text);
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data) => {
    const topic = data.toString();
    if (!topics.has(topic)) topics.set(topic, new Set());
    topics.get(topic).add(socket);
    socket.on('close', () => topics.get(topic).delete(socket));
    socket.send('subscribed');
  });
});
