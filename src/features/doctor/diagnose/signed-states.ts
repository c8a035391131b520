import { decideStanding } from '../../../catalog/live/decide-freshness.ts';
import type { ApplicationTrust } from '../../../catalog/trust/application-trust.ts';
import type { Trust } from '../../../catalog/trust/trust.ts';
import type { Finding } from '../../../core/check.ts';
import type { Clock } from '../../../core/clock.ts';
import { formatTime } from '../../../core/time-text.ts';
import { type AddressDeps, parse } from './ask.ts';
import { failed, ok, skipped, warning } from './finding.ts';

/** Checks that services know the signed states of applications to be new: otherwise they answer no client. */

export interface SignedStatesDeps {
  /** Undefined: this command verifies no signatures. */
  readonly trust?: Trust | undefined;
  /** The time of the store. */
  readonly storeClock: Pick<Clock, 'now'>;
}

const REMEDY =
  'Look at the state with "slipway history", and run "slipway trust renew". A service with TRUST_KEY renews the timestamp each hour.';

/** Looks for the timestamps in the store. A copy of a store has none. */
export async function checkSignedStates(deps: SignedStatesDeps): Promise<Finding> {
  const { trust } = deps;
  if (trust === undefined || trust.applications.length === 0) {
    return skipped('TRUST_ROOT is not set here, so this check verifies no signed state.');
  }
  const verifying = trust.applications.flatMap((application) => trust.of(application) ?? []);
  const found = await Promise.all(
    verifying.map((each) => describeTimestamp(deps, each, trust.freshMs)),
  );
  const sentencesOf = (wanted: Described['outcome']): string =>
    found
      .filter(({ outcome }) => outcome === wanted)
      .map(({ sentence }) => sentence)
      .join(' ');
  if (sentencesOf('failed') !== '') return failed(sentencesOf('failed'), REMEDY);
  if (sentencesOf('warning') !== '') return warning(sentencesOf('warning'), REMEDY);
  return ok(sentencesOf('ok'));
}

interface Described {
  readonly outcome: 'ok' | 'warning' | 'failed';
  readonly sentence: string;
}

async function describeTimestamp(
  { storeClock }: SignedStatesDeps,
  verifying: ApplicationTrust,
  freshMs: number,
): Promise<Described> {
  const { application } = verifying;
  const consequence = 'A service that starts without a saved state answers 503.';
  const fresh = await verifying.freshness({ again: true });
  if (fresh === undefined) {
    const sentence = `${application} has no valid timestamp. ${consequence}`;
    return { outcome: 'failed', sentence };
  }
  const { expiresAt } = fresh;
  const time = formatTime(new Date(expiresAt).toISOString());
  switch (decideStanding({ isProven: true, now: storeClock.now(), freshMs, expiresAt })) {
    case 'expired':
      return {
        outcome: 'failed',
        sentence: `The timestamp of ${application} expired on ${time}. ${consequence}`,
      };
    case 'expiring':
      return {
        outcome: 'warning',
        sentence: `The timestamp of ${application} expires on ${time}.`,
      };
    default:
      return {
        outcome: 'ok',
        sentence: `The timestamp of ${application} is valid until ${time}.`,
      };
  }
}

/** Asks the service whether it refuses the clients of an application. */
export async function checkServedStates(deps: AddressDeps): Promise<Finding> {
  const refusals = (await readRefusals(deps)) ?? (await askForRefusal(deps));
  return refusals.length === 0
    ? ok('The service refuses no application because its signed state may be old.')
    : failed(refusals.join(' '), REMEDY);
}

/** @returns undefined when a proxy keeps /readyz for itself */
async function readRefusals({ ask, url }: AddressDeps): Promise<readonly string[] | undefined> {
  type Readiness = {
    catalogs?: Readonly<Record<string, { refusal?: string } | undefined>> | null;
  };
  const { catalogs } = parse<Readiness>((await ask(`${url}/readyz`)).text) ?? {};
  if (catalogs === undefined || catalogs === null) return undefined;
  return Object.values(catalogs).flatMap((catalog) => catalog?.refusal ?? []);
}

/** Asks for the default application as a visitor does. */
async function askForRefusal({ ask, url, application }: AddressDeps): Promise<readonly string[]> {
  const reply = await ask(`${url}/api/v1/desktop/latest-version?app=${application}`);
  const { code, detail } = parse<{ code?: string; detail?: string }>(reply.text) ?? {};
  return code === 'catalog_unavailable' && detail !== undefined ? [detail] : [];
}
