import type { WriterDeps } from '../../catalog/change.ts';
import { optionOf } from '../../catalog/draft-text.ts';
import { listDrafts } from '../../catalog/list-drafts.ts';
import { readRevision } from '../../catalog/read.ts';
import type { ApplicationTrust } from '../../catalog/trust/application-trust.ts';
import type { Trust } from '../../catalog/trust/trust.ts';
import { isAppError } from '../../core/errors.ts';
import { formatTime } from '../../core/time-text.ts';
import { findLost } from './change-root.ts';

/** The result of verifying everything that is signed about an application. */
interface TrustCheck {
  /** Rows for people: what, and its state. */
  readonly facts: readonly (readonly [string, string])[];
  /** Sentences. Empty: all is right. */
  readonly problems: readonly string[];
}

/** An operator has this time to renew something before it expires. */
const WARNED_BEFORE_MS = 30 * 86_400_000;

/** @throws AppError `store_unavailable`, `store_denied` */
export async function checkTrust(
  deps: WriterDeps & { readonly trust: Trust },
  trust: ApplicationTrust,
): Promise<TrustCheck> {
  const { application, anchor } = trust;
  const now = deps.clock.now();
  const facts: [string, string][] = [];
  const problems: string[] = [];
  const add = (what: string, expiresAt: number, command: string): void => {
    facts.push([what, `expires ${formatTime(new Date(expiresAt).toISOString())}`]);
    if (expiresAt > now + WARNED_BEFORE_MS) return;
    const verb = expiresAt <= now ? 'expired' : 'expires';
    const time = formatTime(new Date(expiresAt).toISOString());
    problems.push(`${what} ${verb} on ${time}. Renew it: ${command}.`);
  };
  const root = await trust.newestRoot();
  add(`root ${root.version}`, root.expiresAt, 'slipway trust rotate');
  if (root.version > anchor.version) {
    problems.push(
      `TRUST_ROOT has root ${anchor.version}, and the newest is root ${root.version}. A process that has lost its state trusts the keys of the older one when an attacker deletes the newer one: copy the newest root file to each machine.`,
    );
  }
  const rootProblem = trust.rootProblem();
  if (rootProblem !== undefined) problems.push(rootProblem);
  try {
    const newest = await readRevision(deps, application);
    if (newest === undefined) return { facts, problems };
    facts.push([`catalog revision ${newest.signed.revision}`, 'signed']);
    for (const [channel, role] of (await trust.rolesOf(newest.signed)) ?? []) {
      const count = role.statements.size;
      facts.push([`role of ${channel}`, `version ${role.version}, ${count} releases`]);
      if (role.expiresAt <= now + WARNED_BEFORE_MS) {
        problems.push(
          `The role of ${channel} expires on ${formatTime(new Date(role.expiresAt).toISOString())}: the next signed release renews it.`,
        );
      }
    }
    for (const { channel, version } of await findLost(deps, application, newest.signed.channels)) {
      problems.push(
        `${version} is not offered on ${channel}: too few keys signed it. Publish it again with a key, or yank it.`,
      );
    }
    for (const { channel, draft } of listDrafts(newest.signed)) {
      if (draft.opens !== 'when_signed') continue;
      const command = `slipway sign ${draft.version}${optionOf(channel)}`;
      facts.push([`draft ${draft.version} on ${channel}`, `waits for signatures: ${command}`]);
    }
  } catch (error) {
    if (!isAppError(error) || error.kind !== 'corrupt') throw error;
    problems.push(error.message);
  }
  const fresh = await trust.freshness({ again: true });
  if (fresh === undefined) problems.push('There is no valid timestamp: run slipway trust renew.');
  else {
    const time = formatTime(new Date(fresh.expiresAt).toISOString());
    facts.push(['timestamp', `revision ${fresh.revision.revision}, expires ${time}`]);
    if (fresh.expiresAt <= now) {
      problems.push(`The timestamp expired on ${time}: run slipway trust renew.`);
    }
  }
  return { facts, problems };
}
