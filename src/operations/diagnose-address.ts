import { type ReaderDeps, readApplications, readRevision } from '../catalog/read.ts';
import type { Clock } from '../clock.ts';
import { type Ask, answered, type Reply } from './ask.ts';
import { type Check, type Finding, failed, ok, runChecks, skipped, warning } from './finding.ts';

/** Checks a running service from outside, through the proxies in front of it. */

export interface AddressDeps {
  readonly ask: Ask;
  readonly clock: Pick<Clock, 'now'>;
  /** The address that clients use, without a trailing slash. */
  readonly url: string;
  /** Of this command. */
  readonly version: string;
  /** The store that the service should serve; undefined when this command knows none. */
  readonly catalogs: ReaderDeps | undefined;
  /** Whose newest release is downloaded in part. */
  readonly application: string;
}

const SEEN_REQUEST_PATH = '/api/v1/system/request';

/** What that address answers, as far as checks use it. */
interface SeenRequest {
  readonly address: string;
  readonly has_forwarded_for: boolean;
  readonly is_proxy_trusted: boolean;
  readonly has_authorization: boolean;
  readonly header_bytes: number;
  readonly public_url: string;
  readonly version: string;
  readonly time: string;
  readonly request_id: string;
}

/** For documentation (RFC 5737): no client has it. */
const FORGED_ADDRESS = '192.0.2.123';
/** electron-updater asks for up to 1,000 ranges at once. */
const LONG_HEADER = `bytes=${Array.from({ length: 1000 }, (_, n) => `${n * 1e9}-${n * 1e9 + 9}`).join(',')}`;
const CLOCK_DIFFERENCE_MAX_MS = 30_000;
const PAGE = 'docs/operations/behind-a-proxy.md';

/** Sends requests to the public address of the service, and checks what reaches it. Stops when it does not answer. */
export async function diagnoseAddress(deps: AddressDeps): Promise<readonly Check[]> {
  return runChecks(
    {
      address: () => checkAddress(deps),
      encryption: () => checkEncryption(deps),
      'public address': () => checkPublicUrl(deps),
      'client address': () => checkClientAddress(deps),
      'access tokens': () => checkTokens(deps),
      'long headers': () => checkLongHeaders(deps),
      'request bodies': () => checkBodies(deps),
      'no caching': () => checkCaching(deps),
      'conditional requests': () => checkConditional(deps),
      'parts of files': () => checkRanges(deps),
      'metrics are inside': () => checkMetrics(deps),
      'clock of the service': () => checkClock(deps),
      'version of the service': () => checkVersion(deps),
      'same store': () => checkStore(deps),
    },
    { stopsAfter: 'address' },
  );
}

/** @returns what the service saw; undefined when the reply is not the service's */
async function see(
  { ask, url }: AddressDeps,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly seen: SeenRequest | undefined; readonly reply: Reply }> {
  const reply = await ask(`${url}${SEEN_REQUEST_PATH}`, { headers });
  return { seen: reply.status === 200 ? parse<SeenRequest>(reply.text) : undefined, reply };
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

const noSuchAnswer = (reply: Reply): Finding =>
  failed(
    `A request for ${SEEN_REQUEST_PATH} ${answered(reply)}, and not the answer of Slipway.`,
    'Upgrade the service to the version of this command, and let the proxy pass /api/ on to it.',
  );

async function checkAddress({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/livez`);
  const isSlipway = parse<{ status?: string }>(reply.text)?.status === 'ok';
  if (reply.status === 200 && isSlipway) return ok(`${url} answers.`);
  if (reply.status === 0) {
    return failed(
      `${url} ${answered(reply)}.`,
      'Check the name in the DNS, the port in the firewall, and the certificate of the proxy.',
    );
  }
  if (reply.status >= 300 && reply.status < 400) {
    return failed(
      `${url} redirects to ${reply.headers.get('location')}.`,
      'Use the address that it redirects to in --url, in PUBLIC_URL and in your applications: not every updater follows redirects.',
    );
  }
  if ([502, 503, 504].includes(reply.status)) {
    return failed(
      `The proxy at ${url} answers ${reply.status}.`,
      'Start the service, and check that the proxy sends requests to HOST and PORT of the service.',
    );
  }
  return failed(
    `${url}/livez ${answered(reply)}, and not the answer of Slipway.`,
    `Let the proxy pass this address on to the service. See ${PAGE}.`,
  );
}

async function checkEncryption({ ask, url }: AddressDeps): Promise<Finding> {
  const { protocol, host, port, pathname } = new URL(url);
  if (protocol === 'http:') {
    return warning(
      `${url} is not encrypted: an attacker on the network can read access tokens and change what updaters download.`,
      `Terminate TLS at a proxy, and give clients an https address. See ${PAGE}.`,
    );
  }
  if (port !== '') return ok('The certificate is valid.');
  const plain = await ask(`http://${host}${pathname}`);
  if (plain.status === 0 || (plain.headers.get('location') ?? '').startsWith('https://')) {
    return ok('The certificate is valid. Plain HTTP redirects to HTTPS, or does not answer.');
  }
  return warning(
    `The certificate is valid, but a request for http://${host}${pathname} ${answered(plain)}, and no redirect to HTTPS.`,
    'Let the proxy redirect plain HTTP to HTTPS.',
  );
}

async function checkPublicUrl(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps);
  if (seen === undefined) return noSuchAnswer(reply);
  if (seen.public_url === deps.url)
    return ok(`The service gives clients the address ${seen.public_url}.`);
  return failed(
    `The service gives clients the address ${seen.public_url}.`,
    `Set PUBLIC_URL of the service to ${deps.url}, or use ${seen.public_url} in --url.`,
  );
}

async function checkClientAddress(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps, { 'x-forwarded-for': FORGED_ADDRESS });
  if (seen === undefined) return noSuchAnswer(reply);
  const { address } = seen;
  if (address === FORGED_ADDRESS) {
    return failed(
      `A client can choose its own address: the service took ${FORGED_ADDRESS} from the X-Forwarded-For header of this command.`,
      'Set TRUST_PROXY to the addresses of your proxies only, and let the outermost proxy replace X-Forwarded-For.',
    );
  }
  if (seen.is_proxy_trusted) return ok(`The service sees this machine as ${address}.`);
  if (new URL(deps.url).protocol === 'https:') {
    return failed(
      `The service sees every client as ${address}, which is the address of the proxy: all clients share its rate limits.`,
      `Set TRUST_PROXY of the service to ${address}, or to the range of your proxies.`,
    );
  }
  return ok(`The service sees this machine as ${address}; it trusts no proxy.`);
}

async function checkTokens(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps, { authorization: 'Bearer doctor' });
  if (seen === undefined) return noSuchAnswer(reply);
  if (seen.has_authorization) return ok('The Authorization header reaches the service.');
  return failed(
    'The proxy drops the Authorization header: the service treats clients with a token as anonymous.',
    'Let the proxy pass Authorization on.',
  );
}

async function checkLongHeaders(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps, { range: LONG_HEADER });
  if (seen !== undefined && seen.header_bytes > LONG_HEADER.length) {
    return ok(`Headers of ${Math.ceil(LONG_HEADER.length / 1000)} kB reach the service.`);
  }
  return warning(
    `A request with ${Math.ceil(LONG_HEADER.length / 1000)} kB of headers ${answered(reply)}: differential downloads of Electron applications become full ones.`,
    'Allow headers of 32 KiB: in nginx "large_client_header_buffers 4 32k;", in HAProxy "tune.bufsize 49152".',
  );
}

async function checkBodies({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/api/v1/desktop/check-update`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current_version: 'doctor' }),
  });
  if (parse<{ code?: string }>(reply.text)?.code === 'invalid_request') {
    return ok('The proxy passes request bodies and problem documents on.');
  }
  return failed(
    `An update check with an invalid version ${answered(reply)}, and not the problem document of Slipway.`,
    'Let the proxy pass POST requests on, and answers of 400 and above unchanged.',
  );
}

async function checkCaching(deps: AddressDeps): Promise<Finding> {
  const [first, second] = [await see(deps), await see(deps)];
  if (first.seen === undefined) return noSuchAnswer(first.reply);
  if (first.seen.request_id !== second.seen?.request_id)
    return ok('No cache stores answers that say no-store.');
  return failed(
    'Two requests got the same answer, although it says no-store: a proxy or a CDN stores it.',
    'Let the proxy and the CDN follow Cache-Control.',
  );
}

async function checkConditional({ ask, url }: AddressDeps): Promise<Finding> {
  const address = `${url}/openapi.json`;
  const first = await ask(address);
  const etag = first.headers.get('etag');
  if (first.status !== 200 || etag === null) {
    return warning(
      `A request for ${address} ${answered(first)}, ${etag === null ? 'without' : 'with'} an ETag.`,
      'Let the proxy keep the ETag header: with it, clients do not download the same answer twice.',
    );
  }
  const again = await ask(address, { headers: { 'if-none-match': etag } });
  if (again.status === 304) return ok('A client that has the newest answer gets 304.');
  return warning(
    `A request with If-None-Match ${answered(again)} instead of 304.`,
    'Let the proxy pass If-None-Match on, and keep the ETag when it compresses answers.',
  );
}

async function checkRanges({ ask, url, application }: AddressDeps): Promise<Finding> {
  const latest = await ask(`${url}/api/v1/desktop/latest-version?app=${application}`);
  const file = parse<{ downloads?: { url?: string }[] }>(latest.text)?.downloads?.[0]?.url;
  if (file === undefined)
    return skipped(`${application} has no release that every client is offered.`);
  const headers = { range: 'bytes=0-0' };
  const first = await ask(file, { headers });
  const link = first.headers.get('location');
  const part = link === null ? first : await ask(link, { headers });
  if (part.status === 206 && part.text.length === 1)
    return ok('Clients can download a range of a file.');
  return failed(
    `A request for one byte of ${file} ${answered(part)}, with ${part.text.length} bytes.`,
    'Let the proxy pass Range on, and do not let it buffer whole answers.',
  );
}

async function checkMetrics({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/metrics`);
  if (!/^# (HELP|TYPE) /m.test(reply.text)) return ok('Clients cannot read the metrics.');
  return failed(
    `Every client can read the metrics at ${url}/metrics, and they name objects of the store.`,
    'Do not let the proxy pass requests on to METRICS_PORT.',
  );
}

async function checkClock(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps);
  if (seen === undefined) return noSuchAnswer(reply);
  const seconds = Math.round((Date.parse(seen.time) - deps.clock.now()) / 1000);
  if (Math.abs(seconds) * 1000 <= CLOCK_DIFFERENCE_MAX_MS) {
    return ok(
      `The clocks of the service and of this machine agree within ${Math.abs(seconds) + 1} s.`,
    );
  }
  return warning(
    `The clock of the service is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the clock of this machine.`,
    'Set the clock that is wrong: links and tokens depend on it.',
  );
}

async function checkVersion(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps);
  if (seen === undefined) return noSuchAnswer(reply);
  if (seen.version === deps.version)
    return ok(`The service and this command are version ${seen.version}.`);
  return warning(
    `The service is version ${seen.version}, and this command is version ${deps.version}.`,
    'Upgrade services first, then publishers. See docs/operations/upgrade.md.',
  );
}

/** Whether the service answers from the store that this command knows. */
async function checkStore({ ask, url, catalogs }: AddressDeps): Promise<Finding> {
  if (catalogs === undefined) return skipped('This command knows no store to compare with.');
  const revisions = await newestRevisions(catalogs);
  const reply = await ask(`${url}/readyz`);
  type Readiness = { catalogs?: Readonly<Record<string, { revision?: number } | undefined>> };
  const served = parse<Readiness>(reply.text)?.catalogs;
  if (served === undefined) {
    return failed(
      `A request for ${url}/readyz ${answered(reply)}, and not the readiness of Slipway.`,
      'Let the proxy pass /readyz on, or ask the service directly.',
    );
  }
  const behind = revisions.filter(([name, newest]) => (served[name]?.revision ?? 0) < newest);
  if (behind.length === 0)
    return ok('The service answers from the newest revisions of this store.');
  const list = behind.map(
    ([name, newest]) =>
      `${name} at revision ${served[name]?.revision ?? 'unknown'} instead of ${newest}`,
  );
  return failed(
    `The service answers from older revisions than those of this store, or uses another store: ${list.join(', ')}.`,
    'The service reads a change within five seconds: run this command again. If the check still fails, compare the store settings of the service with those of this command.',
  );
}

async function newestRevisions(
  deps: ReaderDeps,
): Promise<readonly (readonly [application: string, revision: number])[]> {
  const names = await readApplications(deps);
  return Promise.all(
    names.map(async (name) => {
      const revision = await readRevision(deps, name);
      return [name, revision?.signed.revision ?? 0] as const;
    }),
  );
}
