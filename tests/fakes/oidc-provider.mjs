// A real OpenID provider (npm oidc-provider) that logs everybody in by itself: as whom is said by the query `as` that a
// story adds to the address it is sent to; without it, as Ada. `as=denied`: somebody who says no.
import http from 'node:http';
import { Provider } from 'oidc-provider';
import { listen, tell } from './beginning.mjs';

// Whoever is named; their claims may be changed by POST /people/<name>.
const people = JSON.parse(process.env.PEOPLE);

let answer;
const server = http.createServer((request, response) => answer(request, response));
const port = await listen(server);
const issuer = process.env.ISSUER ?? `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: process.env.CLIENT_ID,
    client_secret: process.env.CLIENT_SECRET,
    redirect_uris: [process.env.REDIRECT_URI],
    grant_types: ['authorization_code'],
    response_types: ['code'],
  }],
  findAccount: (context, id) => people[id] && { accountId: id, claims: () => people[id] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'locale'] },
  // The address and the name are in the ID token, as at Google.
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  extraParams: ['as'],
  interactions: { url: (context, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['a key of tests'] },
  ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 3600, Session: 3600, Interaction: 600, Grant: 3600 },
});

provider.use(async (context, next) => {
  if (!context.path.startsWith('/interaction/')) return next();
  const { params, prompt, session, grantId } = await provider.interactionDetails(context.req, context.res);
  const name = params.as ?? 'ada';
  let result;
  if (name === 'denied') {
    result = { error: 'access_denied', error_description: 'somebody said no' };
  } else if (prompt.name === 'login') {
    result = { login: { accountId: name } };
  } else {
    const found = grantId && (await provider.Grant.find(grantId));
    const grant = found || new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    if (prompt.details.missingOIDCClaims) grant.addOIDCClaims(prompt.details.missingOIDCClaims);
    result = { consent: { grantId: await grant.save() } };
  }
  await provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: true });
});
provider.on('server_error', (context, error) => console.error('the provider failed:', error));

const answered = provider.callback();
answer = (request, response) => {
  const named = request.method === 'POST' && request.url.match(/^\/people\/(\w+)$/);
  if (!named) return answered(request, response);
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    people[named[1]] = JSON.parse(body);
    response.end();
  });
};
tell({ http: port, issuer });
