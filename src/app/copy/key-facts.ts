import {
  APPLICATION_LISTS_ROOT,
  APPLICATIONS_ROOT,
  HINTS_ROOT,
  parseCatalogKey,
} from '../../catalog/keys.ts';
import { OPEN_ROOT, parseMessageKey } from '../../contact/keys.ts';
import {
  parseAccountKey,
  parseDeveloperKeyKey,
  parseDeveloperKeyListKey,
  parseInvitationKey,
  parseSessionKey,
  SESSIONS_ROOT,
} from '../../identity/keys.ts';
import { PROBE_ROOT } from '../../object-store/keys.ts';
import { COPY_KINDS, type KeyFacts } from '../../operations/copy/copy-plan.ts';
import type { ListingPass } from '../../operations/copy/copy-side.ts';
import { isMarker } from '../../sequence/end.ts';
import { parseUsageKey } from '../../usage/keys.ts';
import { PRIVATE_ROOTS } from '../key-roots.ts';
import { HOUSEKEEPING_ROOT } from '../keys.ts';

/** Parses every key of a store, with the parsers of the rooms that write them. */

const NAMING: readonly ListingPass[] = [
  { root: APPLICATION_LISTS_ROOT, kinds: ['application list'] },
  { root: HINTS_ROOT, kinds: ['hint'] },
  { root: APPLICATIONS_ROOT, kinds: ['revision', 'manifest'] },
  { root: SESSIONS_ROOT, kinds: ['session'] },
];
const named = NAMING.flatMap(({ kinds }) => kinds);

/**
 * The listings of a source, in their order. Publishers and services may write meanwhile, so an object is listed before
 * those that it names: they were stored before it.
 */
export const SOURCE_PASSES: readonly ListingPass[] = [
  ...NAMING,
  { root: '', kinds: COPY_KINDS.filter((kind) => !named.includes(kind)) },
];
export const TARGET_PASSES: readonly ListingPass[] = [{ root: '', kinds: COPY_KINDS }];

/** @returns `passing` for a temporary object, or one about this store only; undefined for a key that no room writes */
export function factsOf(key: string): KeyFacts | 'passing' | undefined {
  if (key.startsWith(PROBE_ROOT) || key.startsWith(HOUSEKEEPING_ROOT)) return 'passing';
  return catalogFacts(key) ?? privateFacts(key);
}

function catalogFacts(key: string): KeyFacts | undefined {
  const parsed = parseCatalogKey(key);
  switch (parsed?.kind) {
    case 'application list':
    case 'hint': {
      const { kind, number } = parsed;
      return { kind, sequence: kind, number, fields: { number } };
    }
    case 'revision': {
      const { kind, application, number } = parsed;
      const fields = { application, revision: number };
      return { kind, sequence: `${kind} ${application}`, number, application, fields };
    }
    case 'manifest': {
      const { kind, application, version, number } = parsed;
      const name = { application, version };
      const sequence = `${kind} ${application} ${version}`;
      return { kind, sequence, number, ...name, fields: { ...name, number } };
    }
    case 'artifact':
    case 'carried':
      return { ...parsed, sequence: key, number: 1 };
    default:
      return undefined;
  }
}

function privateFacts(key: string): KeyFacts | undefined {
  if (!PRIVATE_ROOTS.some(({ prefix }) => key.startsWith(prefix))) return undefined;
  if (isMarker(key)) return { kind: 'end', sequence: key, number: 1 };
  if (key.startsWith(OPEN_ROOT)) return { kind: 'open marker', sequence: key, number: 1 };
  const facts = accountFacts(key) ?? developerKeyFacts(key) ?? messageFacts(key);
  return facts ?? { kind: 'private', sequence: key, number: 1 };
}

function accountFacts(key: string): KeyFacts | undefined {
  const account = parseAccountKey(key);
  if (account !== undefined) {
    const { of, number } = account;
    return { kind: 'account', sequence: `account ${of}`, number, fields: { account: of, number } };
  }
  const session = parseSessionKey(key);
  if (session?.counter === undefined) return undefined;
  const sequence = `session ${session.account} ${session.session}`;
  return { kind: 'session', sequence, number: session.counter, fields: { ...session } };
}

function developerKeyFacts(key: string): KeyFacts | undefined {
  const kind = 'private';
  const invitation = parseInvitationKey(key);
  if (invitation !== undefined)
    return { kind, sequence: key, number: 1, fields: { ...invitation } };
  const list = parseDeveloperKeyListKey(key);
  if (list !== undefined) {
    const { of: account, number } = list;
    return { kind, sequence: `keys of ${account}`, number, fields: { account, number } };
  }
  const [, account = ''] = key.split('/');
  const own = parseDeveloperKeyKey(account, key);
  if (own === undefined || own.usedOn !== undefined) return undefined;
  return { kind, sequence: key, number: 1, fields: { account, key: own.id } };
}

function messageFacts(key: string): KeyFacts | undefined {
  const kind = 'private';
  const message = parseMessageKey(key);
  if (message !== undefined) {
    const { of: id, number } = message;
    return { kind, sequence: `message ${id}`, number, fields: { id, number } };
  }
  const usage = parseUsageKey(key);
  if (usage === undefined) return undefined;
  const { counter, number } = usage;
  const sequence = `usage ${counter ?? 'totals'}`;
  return { kind, sequence, number, fields: { ...(counter && { counter }), number } };
}
