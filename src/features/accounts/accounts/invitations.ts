import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../core/errors.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { createSettled } from '../../../store/sequence/create-settled.ts';
import {
  END_KEPT_MS_MIN,
  type EndDeps,
  endKey,
  eraseSequence,
  isEnded,
} from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION, type Sealed } from '../../../store/sequence/envelope.ts';
import { defineSequence, seal } from '../../../store/sequence/sealed.ts';
import { readSoundDocument, type Sequence } from '../../../store/sequence/sequence.ts';
import {
  accountPrefix,
  INVITATIONS_ROOT,
  type InvitationName,
  invitationKey,
  invitationPrefix,
  invitationsPrefix,
  parseInvitationKey,
} from '../keys.ts';
import { accountIdOf, readAccount } from './account.ts';

/**
 * Invitations to register. Each invitation has a code for one address. The service shows the code once and stores only
 * its hash. The code is valid for some days.
 */

export const INVITATION_DAYS_MAX = 30;
const DAY_MS = 86_400_000;
const INVITATION_BYTES_MAX = 4 * 1024;
const CODE_FORM = /^sli_[\w-]{32}$/;

const timeSchema = z.iso.datetime();

export const invitationSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('invitation'),
  account: z.string().describe('The id that an embedded account of the address has.'),
  invitation: z.string().describe('The digest of the code.'),
  change_id: z.uuid(),
  email: z.string(),
  created_at: timeSchema,
  expires_at: timeSchema,
});

type InvitationJson = z.output<typeof invitationSchema>;

export interface Invitation {
  readonly email: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

function invitationSequence(name: InvitationName): Sequence<Sealed<InvitationJson>> {
  return defineSequence({
    name: 'invitation',
    schema: invitationSchema,
    documentBytesMax: INVITATION_BYTES_MAX,
    key: () => invitationKey(name),
    endKey: endKey(invitationPrefix(name)),
    expected: () => ({ ...name }),
  });
}

/**
 * The service stores an invitation below the id that an embedded account of the address has, and erases it with that
 * account.
 */
const nameOf = (email: string, code: string): InvitationName => ({
  account: accountIdOf('embedded', email),
  invitation: createHash('sha256').update(`slipway invitation\n${code}`).digest('hex').slice(0, 32),
});

/**
 * Invites an address.
 *
 * @param email see `normalizeEmail`
 * @returns the invitation and its code; nothing stores the code
 * @throws AppError `account_exists`, `outcome_unknown`
 */
export async function invite(
  deps: AppendDeps,
  email: string,
  days: number,
): Promise<Invitation & { readonly code: string }> {
  const { store, clock, randomness } = deps;
  await refuseKnown(store, email);
  const code = `sli_${randomBytes(24).toString('base64url')}`;
  const name = nameOf(email, code);
  const now = clock.now();
  const document: InvitationJson = {
    schema_version: SCHEMA_VERSION,
    type: 'invitation',
    ...name,
    change_id: randomness.id(),
    email,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + days * DAY_MS).toISOString(),
  };
  await createSettled(deps, invitationKey(name), invitationSequence(name).render(seal(document)));
  return { ...summaryOf(document), code };
}

/** @throws AppError `account_exists` */
async function refuseKnown(store: ObjectStore, email: string): Promise<void> {
  const id = accountIdOf('embedded', email);
  if ((await readAccount(store, id)) !== undefined) {
    throw new AppError('account_exists', `${email} already has an account.`);
  }
  // The service is erasing an account of this address. The end of the erasure would also delete the new invitation.
  if (await isEnded(store, accountPrefix(id))) {
    const why = `The account of ${email} is being erased. Invite the address again in two hours.`;
    throw new AppError('account_exists', why);
  }
}

/**
 * True when an address may register with a code. The function makes the same two requests for every well-formed code.
 */
export async function isInvited(
  deps: EndDeps,
  email: string,
  code: string | undefined,
): Promise<boolean> {
  if (code === undefined || !CODE_FORM.test(code)) return false;
  return (await readOpen(deps, nameOf(email, code))) !== undefined;
}

/** Undefined for an invitation that was used, withdrawn or erased, that has expired, or that is corrupt. */
async function readOpen(
  { store, clock }: EndDeps,
  name: InvitationName,
): Promise<InvitationJson | undefined> {
  const [document, ended] = await Promise.all([
    readSoundDocument(store, invitationSequence(name), 1),
    isEnded(store, invitationPrefix(name)),
  ]);
  if (document === undefined || ended) return undefined;
  return Date.parse(document.signed.expires_at) > clock.now() ? document.signed : undefined;
}

/**
 * Ends and deletes the invitations of an address. After a failure, run it again.
 *
 * @returns the number of invitations that ended
 */
export function endInvitations(
  deps: EndDeps,
  email: string,
  reason: 'used' | 'withdrawn' | 'erased',
): Promise<number> {
  return endInvitationsOf(deps, accountIdOf('embedded', email), reason);
}

/**
 * Ends and deletes invitations as {@link endInvitations} does.
 *
 * @param account the id that an embedded account of the address has
 */
export async function endInvitationsOf(
  deps: EndDeps,
  account: string,
  reason: 'used' | 'withdrawn' | 'erased',
): Promise<number> {
  let ended = 0;
  for await (const name of listNames(deps.store, invitationsPrefix(account))) {
    await eraseSequence(deps, invitationPrefix(name), { reason, keptMs: END_KEPT_MS_MIN });
    ended++;
  }
  return ended;
}

/** The open invitations, with the newest first. */
export async function listInvitations(deps: EndDeps): Promise<readonly Invitation[]> {
  const found: Invitation[] = [];
  for await (const name of listNames(deps.store, INVITATIONS_ROOT)) {
    const document = await readOpen(deps, name);
    if (document !== undefined) found.push(summaryOf(document));
  }
  return found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** Ends and deletes the invitations that have expired or are corrupt. */
export async function endExpiredInvitations(deps: EndDeps): Promise<void> {
  for await (const name of listNames(deps.store, INVITATIONS_ROOT)) {
    if ((await readOpen(deps, name)) !== undefined) continue;
    const ending = { reason: 'expired', keptMs: END_KEPT_MS_MIN };
    await eraseSequence(deps, invitationPrefix(name), ending);
  }
}

async function* listNames(store: ObjectStore, prefix: string): AsyncIterable<InvitationName> {
  for await (const { key } of store.list(prefix)) {
    const name = parseInvitationKey(key);
    if (name !== undefined) yield name;
  }
}

function summaryOf(document: InvitationJson): Invitation {
  return {
    email: document.email,
    createdAt: document.created_at,
    expiresAt: document.expires_at,
  };
}
