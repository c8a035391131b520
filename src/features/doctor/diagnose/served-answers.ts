import { type ReaderDeps, readApplications, readRevision } from '../../../catalog/reading/read.ts';
import type { Finding } from '../../../core/check.ts';
import { type AddressDeps, answered, parse } from './ask.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import { readingWithoutRoot } from './signatures.ts';

/** Checks that clients get the answers of the service unchanged, and get no other answers. */

/** The headers of FILES_OFFLOAD, which are for the proxy. */
const HANDING_OVER = ['x-accel-redirect', 'x-sendfile'] as const;

export async function checkBodies({ ask, url }: AddressDeps): Promise<Finding> {
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

export async function checkConditional({ ask, url }: AddressDeps): Promise<Finding> {
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

export async function checkRanges({ ask, url, application }: AddressDeps): Promise<Finding> {
  const latest = await ask(`${url}/api/v1/desktop/latest-version?app=${application}`);
  const file = parse<{ downloads?: { url?: string }[] }>(latest.text)?.downloads?.[0]?.url;
  if (file === undefined)
    return skipped(`${application} has no release that every client is offered.`);
  const headers = { range: 'bytes=0-0' };
  const first = await ask(file, { headers });
  const link = first.headers.get('location');
  const part = link === null ? first : await ask(link, { headers });
  const passedOn = HANDING_OVER.find((name) => part.headers.get(name) !== null);
  if (passedOn !== undefined) {
    return failed(
      `The proxy passes ${passedOn} on instead of sending the file: every download is empty.`,
      "Set up the proxy as docs/operations/behind-a-proxy.md in Slipway's repository says, or set FILES_OFFLOAD of the service to off.",
    );
  }
  if (part.status === 206 && part.text.length === 1)
    return ok(`One byte of ${file} can be downloaded.`);
  const host = new URL(link ?? file).origin;
  if (part.status === 200) {
    return failed(
      `${host} answers a range with the whole file.`,
      'Let what answers there pass Range on, and not collect whole answers.',
    );
  }
  return failed(
    `A download of ${file} ends at ${host}, which ${answered(part)}.`,
    link === null
      ? 'The log of the service says why. With a proxy, let it pass Range on.'
      : 'Check S3_PUBLIC_ENDPOINT, PUBLIC_FILES_URL, S3_REGION and the keys of the service: links are made from these. With FILES_OFFLOAD, the proxy must have the right to read the directory objects/apps of DATA_DIR.',
  );
}

export async function checkMetrics({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/metrics`);
  if (!/^# (HELP|TYPE) /m.test(reply.text)) return ok('Clients cannot read the metrics.');
  return failed(
    `Every client can read the metrics at ${url}/metrics, and they name objects of the store.`,
    'Do not let the proxy pass requests on to METRICS_PORT.',
  );
}

/** Clients that name no application get DEFAULT_APP of the service. */
export async function checkDefaultApplication({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/api/v1/desktop/latest-version`);
  const { code } = parse<{ code?: string }>(reply.text) ?? {};
  if (code !== 'unknown_application') return ok('Clients that name no application get an answer.');
  return warning(
    'Clients that name no application get 404: DEFAULT_APP of the service names an application that is not published.',
    'Set DEFAULT_APP of the service, or let every client name its application.',
  );
}

/** Checks the status that the service gives itself. */
export async function checkStatus({ ask, url }: AddressDeps): Promise<Finding> {
  const reply = await ask(`${url}/api/v1/system/status`);
  type Status = {
    status?: { indicator?: string };
    components?: { name: string; status: string; description: string }[];
  };
  const { status, components = [] } = parse<Status>(reply.text) ?? {};
  if (status?.indicator === undefined) {
    return failed(
      `A request for the status ${answered(reply)}, and not the status of Slipway.`,
      'Let the proxy pass /api/ on to the service.',
    );
  }
  if (status.indicator === 'none') return ok('The service says that all its components work.');
  const worse = components.filter((component) => component.status !== 'operational');
  const detail = worse.map(({ name, description }) => `${name}: ${description}`).join(' ');
  const remedy =
    'The log of the service says why. /readyz at METRICS_PORT of the service has every problem.';
  return status.indicator === 'minor' ? warning(detail, remedy) : failed(detail, remedy);
}

/** Checks that the service answers from the store that this command knows. */
export async function checkStore({ ask, url, catalogs }: AddressDeps): Promise<Finding> {
  if (catalogs === undefined) return skipped('This command knows no store to compare with.');
  const reply = await ask(`${url}/readyz`);
  type Readiness = {
    catalogs?: Readonly<Record<string, { revision?: number } | undefined>> | null;
  };
  const served = parse<Readiness>(reply.text)?.catalogs ?? undefined;
  if (served === undefined) {
    return failed(
      `A request for ${url}/readyz ${answered(reply)}, and not the readiness of Slipway.`,
      'Let the proxy pass /readyz on, or ask the service directly.',
    );
  }
  // The command reads its store after the answer, so the store has every revision that the service has read.
  const revisions = await newestRevisions(readingWithoutRoot(catalogs));
  const ahead = revisions.filter(([name, newest]) => (served[name]?.revision ?? 0) > newest);
  if (ahead.length > 0) {
    return failed(
      `The service uses another store: ${ahead.map(([name, newest]) => `${name} at revision ${served[name]?.revision}, and here at ${newest}`).join(', ')}.`,
      'Compare the store settings of the service with those of this command.',
    );
  }
  const behind = revisions.filter(([name, newest]) => (served[name]?.revision ?? 0) < newest);
  if (behind.length === 0) {
    return ok('The service answers from revisions with the newest numbers of this store.');
  }
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
