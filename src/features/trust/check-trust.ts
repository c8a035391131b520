import { optionOf } from '../../catalog/reading/draft-text.ts';
import { listDrafts } from '../../catalog/reading/list-drafts.ts';
import { readRevision } from '../../catalog/reading/read.ts';
import type { ApplicationTrust } from '../../catalog/trust/application-trust.ts';
import { keyList } from '../../catalog/trust/root.ts';
import type { Trust } from '../../catalog/trust/trust.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { CLOCK_DIFFERENCE_MAX_MS } from '../../core/clock.ts';
import { counted } from '../../core/counted.ts';
import { isAppError } from '../../core/errors.ts';
import { formatTime } from '../../core/time-text.ts';
import { findUncovered } from '../../releases/trust/find-uncovered.ts';

/** The result of verifying everything that is signed about an application. */
interface TrustCheck {
  /** Each row names an object and its state. */
  readonly facts: readonly (readonly [string, string])[];
  /** Each entry is a sentence. The list is empty when all is right. */
  readonly problems: readonly string[];
}

/** `trust check` warns the operator this long before something expires. */
const WARNED_BEFORE_MS = 30 * 86_400_000;

/** @throws AppError `store_unavailable`, `store_denied` */
export async function checkTrust(
  deps: WriterDeps & { readonly trust: Trust },
  trust: ApplicationTrust,
): Promise<TrustCheck> {
  const { application, anchor } = trust;
  const root = await trust.newestRoot();
  // Expiries count by the store's clock, which the process knows after the store's first answer.
  const now = deps.clock.now();
  const facts: [string, string][] = [];
  const problems: string[] = [];
  const offset = deps.store.clockOffsetMs?.() ?? 0;
  if (Math.abs(offset) > CLOCK_DIFFERENCE_MAX_MS) {
    problems.push(
      `The clock of this machine is ${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'behind' : 'ahead of'} the store's. Set it. All times here are the store's.`,
    );
  }
  const add = (what: string, expiresAt: number, command: string): void => {
    facts.push([what, `expires ${formatTime(new Date(expiresAt).toISOString())}`]);
    if (expiresAt > now + WARNED_BEFORE_MS) return;
    const verb = expiresAt <= now ? 'expired' : 'expires';
    const time = formatTime(new Date(expiresAt).toISOString());
    problems.push(`${what} ${verb} on ${time}. Renew it: ${command}.`);
  };
  add(`root ${root.version}`, root.expiresAt, 'slipway trust rotate');
  const removed = [...anchor.operators.keys()].filter((id) => !root.operators.has(id));
  if (root.version > anchor.version) {
    const out = `slipway trust show --out root-${root.version}.json`;
    facts.push(['TRUST_ROOT', `has root ${anchor.version}; to replace it: ${out}`]);
  }
  if (removed.length > 0) {
    problems.push(
      `TRUST_ROOT has root ${anchor.version}, whose keys ${keyList(anchor, removed)} were removed since. A process without a saved state trusts them again when an attacker deletes the newer roots: replace TRUST_ROOT on each machine.`,
    );
  }
  if ((await trust.delegationsAt(root.firstRevision)).roles === undefined) {
    facts.push([
      'roles',
      'the root does not state them; to make one that does: slipway trust rotate',
    ]);
  }
  const rootProblem = trust.rootProblem();
  if (rootProblem !== undefined) problems.push(rootProblem);
  try {
    const newest = await readRevision(deps, application);
    if (newest === undefined) return { facts, problems };
    facts.push([`catalog revision ${newest.signed.revision}`, 'signed']);
    const gap = trust.gapProblem();
    if (gap !== undefined) problems.push(gap);
    for (const [channel, role] of (await trust.rolesOf(newest.signed)) ?? []) {
      const count = role.statements.size;
      facts.push([`role of ${channel}`, `version ${role.version}, ${counted(count, 'release')}`]);
      if (role.expiresAt <= now + WARNED_BEFORE_MS) {
        problems.push(
          `The role of ${channel} expires on ${formatTime(new Date(role.expiresAt).toISOString())}: the next signed release renews it.`,
        );
      }
    }
    for (const { channel, version } of await findUncovered(deps, newest.signed)) {
      problems.push(
        `${version} is not offered on ${channel}: too few keys signed it. Sign it (slipway sign ${version}${optionOf(channel)}), or yank it.`,
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
