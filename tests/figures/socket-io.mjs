// A server of Socket.IO: a socket names a room, and what is posted is sent to all sockets in its room.

import { Server } from 'socket.io';
import { serve } from './serve.mjs';

let io;
const server = serve((room, text) => io.to(room).emit('event', text));
io = new Server(server, { transports: ['websocket'], perMessageDeflate: false, pingInterval: 600_000 });
io.on('connection', (socket) => {
  socket.on('subscribe', (room) => {
    socket.join(room);
    socket.emit('subscribed');
  });
});
