// LiveKit's own SDK, with KEY and SECRET, behind a window:
//   POST /verify {token, inSeconds?}      what its TokenVerifier says of a token, now or later
//   POST /sign {body}                     a webhook's signature, and what its WebhookReceiver says of it
//   POST /rooms {host, room, identity}    makes, lists, asks, permits, removes and deletes by its RoomServiceClient

import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { AccessToken, RoomServiceClient, TokenVerifier, TrackSource, WebhookReceiver } from 'livekit-server-sdk';
import { listen, tell } from './beginning.mjs';

const { KEY, SECRET } = process.env;

async function verify({ token, inSeconds = 0 }) {
  const now = Date.now;
  const RealDate = Date;
  // The SDK asks the machine for the time.
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length ? given : [now() + inSeconds * 1000]));
    }
    static now() {
      return now() + inSeconds * 1000;
    }
  };
  try {
    return { claims: await new TokenVerifier(KEY, SECRET).verify(token) };
  } catch (error) {
    return { error: error.message };
  } finally {
    globalThis.Date = RealDate;
  }
}

async function sign({ body }) {
  const token = new AccessToken(KEY, SECRET, { ttl: '5m' });
  token.sha256 = createHash('sha256').update(body).digest('base64');
  const authorization = await token.toJwt();
  const { event } = await new WebhookReceiver(KEY, SECRET).receive(body, authorization);
  return { authorization, received: { event } };
}

async function rooms({ host, room, identity }) {
  const client = new RoomServiceClient(host, KEY, SECRET);
  const made = (await client.createRoom({ name: room, emptyTimeout: 60, maxParticipants: 5 })).name;
  const listed = (await client.listRooms([room])).map(({ name }) => name);
  const people = (await client.listParticipants(room)).map((one) => one.identity);
  const permission = { canSubscribe: true, canPublish: true, canPublishSources: [TrackSource.CAMERA, TrackSource.SCREEN_SHARE_AUDIO] };
  const permitted = await client.updateParticipant(room, identity, { permission })
    .then(() => true, (error) => error.code ?? error.message);
  const removed = await client.removeParticipant(room, identity).then(() => true, (error) => error.code ?? error.message);
  await client.deleteRoom(room);
  return { made, listed, people, permitted, removed, deleted: true };
}

const does = { '/verify': verify, '/sign': sign, '/rooms': rooms };
const window = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  let answer;
  try {
    answer = await does[request.url](JSON.parse(Buffer.concat(pieces)));
  } catch (error) {
    answer = { failed: error.message };
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
});
tell({ window: await listen(window) });
