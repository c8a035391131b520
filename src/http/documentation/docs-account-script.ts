/**
 * What the page of the signed-in document runs in the browser.
 *
 * It signs in as a desktop client does, whatever cookie mode says: the service's own origin need not be
 * among the website's. Tokens are in memory alone, and the session ends with the page.
 */
export const ACCOUNT_PAGE_SCRIPT = `'use strict';

const find = (id) => document.getElementById(id);
const form = find('sign-in');
const button = form.querySelector('button');
let session;

class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

const addressOf = (path) => new URL('../../api/v1/' + path, location.href).href;

async function ask(path, { body, token, last = false } = {}) {
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (token !== undefined) headers.authorization = 'Bearer ' + token;
  const request = {
    method: body === undefined ? 'GET' : 'POST',
    body: JSON.stringify(body),
    headers,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    keepalive: last,
    signal: AbortSignal.timeout(20000),
  };
  let response;
  try {
    response = await fetch(addressOf(path), request);
  } catch {
    throw new Refusal('The service does not answer. Check the connection, and try again.');
  }
  if (response.status === 204) return undefined;
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  throw new Refusal(sentenceOf(response, answer), response.status);
}

function sentenceOf(response, problem) {
  if (problem === undefined || typeof problem.detail !== 'string') {
    return 'The service answered ' + response.status + ', and not why.';
  }
  if (problem.code === 'request_forgery') {
    return 'This service takes sign-ins from its website alone: ' + location.origin +
      ' is not among its WEBSITE_ORIGINS.';
  }
  const fields = (problem.errors || []).map(({ pointer, detail }) => pointer.slice(1) + ': ' + detail);
  const wait = response.headers.get('retry-after');
  const again = wait === null ? [] : ['Try again in ' + wait + ' seconds.'];
  return [problem.detail, ...fields, ...again].join('\\n');
}

function platform() {
  const name = (navigator.userAgentData && navigator.userAgentData.platform) || navigator.platform;
  if (/^win/i.test(name)) return 'windows';
  return /^(mac|iphone|ipad)/i.test(name) ? 'macos' : 'linux';
}

/** Says which browser this is, and nothing that would open anything. */
function deviceId() {
  const name = 'slipway-docs-device';
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const fresh = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  try {
    const known = localStorage.getItem(name);
    if (known !== null) return known;
    localStorage.setItem(name, fresh);
  } catch {
    // Storage is refused: the browser is a new one each time.
  }
  return fresh;
}

function take(answer) {
  clearTimeout(session.timer);
  session.access = answer.access_token;
  session.refresh = answer.refresh_token;
  session.isStale = false;
  session.timer = setTimeout(() => { session.isStale = true; }, (answer.expires_in - 60) * 1000);
  if (session.ui !== undefined) session.ui.preauthorizeApiKey('session', session.access);
}

/** Before each request: an access token is good for minutes, and people read for longer. */
function freshen() {
  const { isStale, client, refresh } = session;
  if (!isStale) return Promise.resolve();
  session.refreshing ??= ask('auth/refresh', {
    body: { refresh_token: refresh, platform: client.platform, device: { id: client.device.id } },
  }).then(take, (error) => {
    if (error.status === 401) {
      forget();
      find('problem').textContent = error.message;
    }
    throw error;
  }).finally(() => { if (session !== undefined) session.refreshing = undefined; });
  return session.refreshing;
}

async function signIn(email, password) {
  const client = { platform: platform(), device: { id: deviceId(), name: 'The page at /docs/account' } };
  session = { client };
  const answer = await ask('auth/login', { body: { email, password, ...client } });
  take(answer);
  const spec = await ask('openapi.json', { token: session.access });
  find('who').textContent = answer.account.email + ' (' + answer.account.tier + ')';
  show(spec);
}

function show(spec) {
  const place = document.createElement('div');
  find('interface').replaceChildren(place);
  session.ui = SwaggerUIBundle({
    domNode: place,
    spec,
    layout: 'BaseLayout',
    tryItOutEnabled: true,
    presets: [SwaggerUIBundle.presets.apis],
    requestInterceptor: async (request) => {
      const before = 'Bearer ' + session.access;
      await freshen();
      // What was typed under Authorize stays.
      if (request.headers.Authorization === before) request.headers.Authorization = 'Bearer ' + session.access;
      return request;
    },
    responseInterceptor: (response) => {
      if (response.status === 401 && session !== undefined) session.isStale = true;
      return response;
    },
    onComplete: () => session.ui.preauthorizeApiKey('session', session.access),
  });
}

function forget() {
  if (session !== undefined) clearTimeout(session.timer);
  session = undefined;
  find('interface').replaceChildren();
  showSession();
}

function showSession() {
  const isSignedIn = session !== undefined;
  form.hidden = isSignedIn;
  find('signed-in').hidden = !isSignedIn;
}

const endSession = (last) =>
  ask('auth/logout', { body: { scope: 'local', refresh_token: session.refresh }, last });

/** Runs what a button is for, once at a time, and says what went wrong. */
async function run(pressed, task) {
  if (pressed.disabled) return;
  pressed.disabled = true;
  find('problem').textContent = '';
  try {
    await task();
  } catch (error) {
    find('problem').textContent =
      error instanceof Refusal ? error.message : 'Something went wrong on this page: ' + error.message;
  } finally {
    pressed.disabled = false;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  run(button, async () => {
    try {
      await signIn(form.elements.email.value.trim(), form.elements.password.value);
    } catch (error) {
      if (session.refresh !== undefined) endSession(true).catch(() => undefined);
      forget();
      throw error;
    }
    form.elements.password.value = '';
    showSession();
    find('who').focus();
  });
});

find('sign-out').addEventListener('click', (event) => {
  run(event.currentTarget, async () => {
    await endSession(false);
    forget();
    form.elements.email.focus();
  });
});

// Nothing is kept to come back with, so nothing is left open.
addEventListener('pagehide', () => {
  if (session === undefined || session.refresh === undefined) return;
  endSession(true).catch(() => undefined);
  forget();
});
`;
