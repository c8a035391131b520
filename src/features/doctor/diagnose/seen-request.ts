import type { Finding } from '../../../core/check.ts';
import { type AddressDeps, answered, parse, type Reply } from './ask.ts';
import { failed, ok, warning } from './finding.ts';

/** Checks how requests of clients reach the service. The service itself answers with the request that it saw. */

/** The address at which a service answers with a {@link SeenRequest}. */
export const SEEN_REQUEST_PATH = '/api/v1/system/request';

export interface SeenRequest {
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

/** An address for documentation (RFC 5737), which no client has. */
const FORGED_ADDRESS = '192.0.2.123';
/** electron-updater asks for up to 1,000 ranges at once. */
const LONG_HEADER = `bytes=${Array.from({ length: 1000 }, (_, n) => `${n * 1e9}-${n * 1e9 + 9}`).join(',')}`;
const SEVERAL = 12;
const COMPARED = ['public_url', 'version', 'is_proxy_trusted', 'has_forwarded_for'] as const;
const CLOCK_DIFFERENCE_MAX_MS = 30_000;

/** @returns `seen`: the request as the service saw it; undefined when the reply is not from the service */
async function see(
  { ask, url }: AddressDeps,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly seen: SeenRequest | undefined; readonly reply: Reply }> {
  const reply = await ask(`${url}${SEEN_REQUEST_PATH}`, { headers });
  return { seen: reply.status === 200 ? parse<SeenRequest>(reply.text) : undefined, reply };
}

const noSuchAnswer = (reply: Reply): Finding =>
  failed(
    `A request for ${SEEN_REQUEST_PATH} ${answered(reply)}, and not the answer of Slipway.`,
    'Upgrade the service to the version of this command, and let the proxy pass /api/ on to it.',
  );

/** Makes a check that sends one request. @param judge gets the request as the service saw it */
function checkSeen(
  judge: (seen: SeenRequest, deps: AddressDeps) => Finding,
  headers?: Readonly<Record<string, string>>,
): (deps: AddressDeps) => Promise<Finding> {
  return async (deps) => {
    const { seen, reply } = await see(deps, headers);
    return seen === undefined ? noSuchAnswer(reply) : judge(seen, deps);
  };
}

export const checkPublicUrl = checkSeen((seen, deps) => {
  if (seen.public_url === deps.url)
    return ok(`The service gives clients the address ${seen.public_url}.`);
  return failed(
    `The service gives clients the address ${seen.public_url}.`,
    `Set PUBLIC_URL of the service to ${deps.url}, or use ${seen.public_url} in --url.`,
  );
});

export async function checkClientAddress(deps: AddressDeps): Promise<Finding> {
  const plain = await see(deps);
  if (plain.seen === undefined) return noSuchAnswer(plain.reply);
  const { seen, reply } = await see(deps, { 'x-forwarded-for': FORGED_ADDRESS });
  if (seen === undefined) return noSuchAnswer(reply);
  const { address } = seen;
  // This command sends the first request without the header. If the header arrives, a proxy added it.
  const isProxied = plain.seen.has_forwarded_for || new URL(deps.url).protocol === 'https:';
  if (address === FORGED_ADDRESS) {
    return failed(
      `A client can choose its own address: the service took ${FORGED_ADDRESS} from the X-Forwarded-For header of this command.`,
      'Set TRUST_PROXY to the addresses of your proxies only, and let the outermost proxy replace X-Forwarded-For.',
    );
  }
  if (seen.is_proxy_trusted) return ok(`The service sees this machine as ${address}.`);
  if (isProxied) {
    return failed(
      `The service sees every client as ${address}, which is the address of the proxy: all clients share its rate limits.`,
      `Set TRUST_PROXY of the service to ${address}, or to the range of your proxies.`,
    );
  }
  return ok(`The service sees this machine as ${address}; it trusts no proxy.`);
}

export const checkTokens = checkSeen(
  (seen) =>
    seen.has_authorization
      ? ok('The Authorization header reaches the service.')
      : failed(
          'The proxy drops the Authorization header: the service treats clients with a token as anonymous.',
          'Let the proxy pass Authorization on.',
        ),
  { authorization: 'Bearer doctor' },
);

export async function checkLongHeaders(deps: AddressDeps): Promise<Finding> {
  const { seen, reply } = await see(deps, { range: LONG_HEADER });
  const length = `${Math.ceil(LONG_HEADER.length / 1000)} kB`;
  if (seen !== undefined && seen.header_bytes > LONG_HEADER.length) {
    return ok(`Headers of ${length} reach the service.`);
  }
  if (seen !== undefined) {
    return failed(
      'The proxy drops the Range header: differential downloads of Electron applications become full ones, and interrupted downloads begin again.',
      'Let the proxy pass Range and If-Range on.',
    );
  }
  return warning(
    `A request with ${length} of headers ${answered(reply)}: differential downloads of Electron applications become full ones.`,
    'Allow headers of 32 KiB: in nginx "large_client_header_buffers 4 32k;", in HAProxy "tune.bufsize 49152".',
  );
}

export async function checkCaching(deps: AddressDeps): Promise<Finding> {
  const first = await see(deps);
  const second = await see(deps);
  if (first.seen === undefined) return noSuchAnswer(first.reply);
  if (first.seen.request_id !== second.seen?.request_id)
    return ok('No cache stores answers that say no-store.');
  return failed(
    'Two requests got the same answer, although it says no-store: a proxy or a CDN stores it.',
    'Let the proxy and the CDN follow Cache-Control.',
  );
}

/** Sends several requests at the same time, so that a balancer gives them to different processes. */
export async function checkProcesses(deps: AddressDeps): Promise<Finding> {
  const answers = await Promise.all(Array.from({ length: SEVERAL }, () => see(deps)));
  const missing = answers.find(({ seen }) => seen === undefined);
  if (missing !== undefined) return noSuchAnswer(missing.reply);
  const differing = COMPARED.filter(
    (name) => new Set(answers.map(({ seen }) => seen?.[name])).size > 1,
  );
  if (differing.length === 0) return ok(`${SEVERAL} requests at the same time got equal answers.`);
  return failed(
    `The processes behind this address differ: ${differing.join(', ')}.`,
    'Give all processes the same version and the same settings: PUBLIC_URL and TRUST_PROXY. The other findings may be those of one process.',
  );
}

export const checkClock = checkSeen((seen, { clock }) => {
  const seconds = Math.round((Date.parse(seen.time) - clock.now()) / 1000);
  if (Math.abs(seconds) * 1000 <= CLOCK_DIFFERENCE_MAX_MS) {
    return ok(
      `The clocks of the service and of this machine agree within ${Math.abs(seconds) + 1} s.`,
    );
  }
  return warning(
    `The clock of the service is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the clock of this machine.`,
    'Set the clock that is wrong: links and tokens depend on it.',
  );
});

export const checkVersion = checkSeen((seen, deps) => {
  if (seen.version === deps.version)
    return ok(`The service and this command are version ${seen.version}.`);
  return warning(
    `The service is version ${seen.version}, and this command is version ${deps.version}.`,
    "Upgrade services first, then publishers. See docs/operations/upgrade.md in Slipway's repository.",
  );
});
