// The least of an OpenID provider, whose answers a story may forge: POST /script says how the next ones differ from good
// ones, POST /rotate draws new keys. Everybody is logged in at once.
import http from 'node:http';
import { createHash, randomUUID } from 'node:crypto';
import { SignJWT, UnsecuredJWT, base64url, exportJWK, generateKeyPair } from 'jose';
import { listen, tell } from './beginning.mjs';

const { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const logIns = new Map();
let script = {};
let keys;

async function draw() {
  const pair = async (alg, kid, use) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    return { privateKey, public: { ...(await exportJWK(publicKey)), kid, alg, use } };
  };
  const generation = randomUUID().slice(0, 8);
  keys = {
    RS256: await pair('RS256', `rsa-${generation}`, 'sig'),
    ES256: await pair('ES256', `ec-${generation}`, 'sig'),
    PS256: await pair('PS256', `pss-${generation}`, 'sig'),
    'for-encryption': await pair('RS256', 'for-encryption', 'enc'),
    stranger: await pair('RS256', 'nobody'),
  };
}

async function idToken(nonce, accessToken) {
  const now = Math.floor(Date.now() / 1000) - (script.age ?? 0);
  const claims = {
    iss: issuer + (script.issuerSuffix ?? ''),
    aud: script.alsoFor ? [CLIENT_ID, script.alsoFor] : CLIENT_ID,
    sub: '42',
    iat: now,
    exp: now + (script.life ?? 3600),
    nonce,
    at_hash: base64url.encode(createHash('sha256').update(accessToken).digest().subarray(0, 16)),
    email: 'somebody@example.org',
    email_verified: true,
    name: 'Somebody',
    ...script.claims,
  };
  for (const name of Object.keys(claims)) if (claims[name] === null) delete claims[name];
  const how = script.sign ?? 'RS256';
  if (how === 'none') return new UnsecuredJWT(claims).encode();
  const shared = { secret: CLIENT_SECRET, public: JSON.stringify(keys.RS256.public) }[how];
  const alg = shared ? 'HS256' : (keys[how].public.alg);
  const kid = 'kid' in script ? script.kid : (shared || how === 'stranger' ? keys.RS256 : keys[how]).public.kid;
  const key = shared ? new TextEncoder().encode(shared.padEnd(32, ' ')) : keys[how].privateKey;
  const token = await new SignJWT(claims).setProtectedHeader(kid === null ? { alg } : { alg, kid }).sign(key);
  if (!script.tamper) return token;
  const [header, payload, signature] = token.split('.');
  const other = JSON.parse(new TextDecoder().decode(base64url.decode(payload)));
  return [header, base64url.encode(JSON.stringify({ ...other, sub: '1' })), signature].join('.');
}

async function answer(request, body) {
  const url = new URL(request.url, issuer);
  const asked = `${request.method} ${url.pathname}`;
  switch (asked) {
    case 'GET /.well-known/openid-configuration':
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      };
    case 'GET /keys':
      return { keys: [{ kty: 'of the future', kid: 'x' }, ...['RS256', 'ES256', 'PS256', 'for-encryption'].map((name) => keys[name].public)] };
    case 'GET /authorize': {
      const code = randomUUID();
      logIns.set(code, url.searchParams);
      const back = new URL(REDIRECT_URI);
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state'));
      back.searchParams.set('iss', script.answersAs ?? issuer);
      return { redirect: back.href };
    }
    case 'POST /token': {
      const sent = new URLSearchParams(body);
      const logIn = logIns.get(sent.get('code'));
      logIns.delete(sent.get('code'));
      const challenge = base64url.encode(createHash('sha256').update(sent.get('code_verifier')).digest());
      const isOurs = sent.get('client_id') === CLIENT_ID && sent.get('client_secret') === CLIENT_SECRET;
      if (!logIn || !isOurs || challenge !== logIn.get('code_challenge')) return { error: 'invalid_grant' };
      if (script.redirectTo) return { redirect: script.redirectTo };
      if (script.body) return script.body;
      const accessToken = randomUUID();
      const signed = await idToken(logIn.get('nonce'), accessToken);
      return script.answer ?? { access_token: accessToken, token_type: 'Bearer', expires_in: 3600, id_token: signed };
    }
    case 'POST /script':
      script = JSON.parse(body);
      return {};
    case 'POST /rotate':
      await draw();
      return {};
    default:
      return { error: 'not_found' };
  }
}

const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', async () => {
    const answered = await answer(request, body);
    if (answered.redirect) return response.writeHead(302, { location: answered.redirect }).end();
    const text = typeof answered === 'string' ? answered : JSON.stringify(answered);
    response.writeHead(answered.error ? 400 : 200, { 'content-type': 'application/json' }).end(text);
  });
});
await draw();
const port = await listen(server);
const issuer = `http://127.0.0.1:${port}`;
tell({ http: port, issuer });
