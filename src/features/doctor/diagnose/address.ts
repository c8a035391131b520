import type { Check, Finding } from '../../../core/check.ts';
import { type AddressDeps, answered, parse } from './ask.ts';
import { failed, ok, runChecks, warning } from './finding.ts';
import {
  checkCaching,
  checkClientAddress,
  checkClock,
  checkLongHeaders,
  checkProcesses,
  checkPublicUrl,
  checkTokens,
  checkVersion,
} from './seen-request.ts';
import {
  checkBodies,
  checkConditional,
  checkDefaultApplication,
  checkMetrics,
  checkRanges,
  checkStatus,
  checkStore,
} from './served-answers.ts';
import { checkServedRoots } from './signatures.ts';
import { checkServedStates } from './signed-states.ts';

/** Checks a running service from outside, through the proxies in front of it. */

const PAGE = "docs/operations/behind-a-proxy.md in Slipway's repository";

/**
 * Sends requests to the public address of the service, and checks what reaches the service. Stops when the service does
 * not answer.
 */
export async function diagnoseAddress(deps: AddressDeps): Promise<readonly Check[]> {
  return runChecks(
    {
      address: () => checkAddress(deps),
      encryption: () => checkEncryption(deps),
      'public address': () => checkPublicUrl(deps),
      caching: () => checkCaching(deps),
      'equal processes': () => checkProcesses(deps),
      'client address': () => checkClientAddress(deps),
      'access tokens': () => checkTokens(deps),
      'long headers': () => checkLongHeaders(deps),
      'request bodies': () => checkBodies(deps),
      'conditional requests': () => checkConditional(deps),
      ranges: () => checkRanges(deps),
      'private metrics': () => checkMetrics(deps),
      'clock of the service': () => checkClock(deps),
      'version of the service': () => checkVersion(deps),
      'default application': () => checkDefaultApplication(deps),
      'same store': () => checkStore(deps),
      'root of trust': () => checkServedRoots(deps),
      'signed states': () => checkServedStates(deps),
      'status of the service': () => checkStatus(deps),
    },
    { stopsAfter: 'address' },
  );
}

async function checkAddress({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/livez`);
  const isSlipway = parse<{ status?: string }>(reply.text)?.status === 'ok';
  if (reply.status === 200 && isSlipway) return ok(`${url} answers.`);
  if (reply.status === 0) return failed(`${url} ${answered(reply)}.`, remedyOf(reply.failure));
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

/** @param failure the reason as Node's TLS and DNS state it */
function remedyOf(failure = ''): string {
  if (/certificate has expired|not yet valid/i.test(failure)) return 'Renew the certificate.';
  if (/self.signed|unable to (get|verify)|unknown ca/i.test(failure)) {
    return 'Install the whole chain of the certificate at the proxy. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate, and run this command again.';
  }
  if (/altname|does not match/i.test(failure)) {
    return 'Get a certificate for this host name.';
  }
  return 'Check the name in the DNS, the port in the firewall, and that the proxy runs.';
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
