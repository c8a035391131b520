import type { MetadataReference } from '../documents/trust-document.ts';
import type { StatedRoles } from './channel-role.ts';

/** The facts that decide whether a revision may name its roles. */
export interface NamedRoles {
  /** The number of the revision. */
  readonly revision: number;
  /** The roles that the revision names, by the names of the channels. */
  readonly named: ReadonlyMap<string, MetadataReference>;
  /** The channels whose named role too few keys signed, as the ruling root counts keys. */
  readonly refused: ReadonlySet<string>;
  /** Sentences about the named roles that are missing or altered, by the names of the channels. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** The roles that the ruling root states. */
  readonly stated: StatedRoles;
}

/**
 * Says why a revision must not name its roles: the end of a sentence about the revision. Undefined: it may.
 *
 * An operator alone chooses what a revision names. So these rules need no history, and a process that remembers nothing
 * checks them too:
 * - The version of a role is at most the number of the revision. Each new version needs a revision, and an operator must
 *   not use up the versions.
 * - No role is older than the ruling root states, and no other role has the stated version. People signed the statement.
 * - Enough keys signed each role, unless the ruling root states this very role: when people remove keys, a role may lose
 *   its signatures. A root of before roots stated roles says nothing about that, so such a role only offers nothing.
 * - Each role is there, unless the ruling root states it. No process can read a state whose role is missing, so an operator
 *   who names a role that never existed would stop every command, the removal of the operator's key too.
 */
export function findRoleProblem({
  revision,
  named,
  refused,
  unreadable,
  stated,
}: NamedRoles): string | undefined {
  for (const [channel, { version, digest }] of named) {
    const floor = stated?.get(channel);
    if (version > revision) {
      return `names version ${version} of the role of ${channel}, which is above its own number`;
    }
    if (floor?.version === version && floor.digest !== digest) {
      return `names another version ${version} of the role of ${channel} than the root of trust states`;
    }
    if (floor?.version === version) continue;
    const why = unreadable.get(channel);
    if (why !== undefined) {
      return `names version ${version} of the role of ${channel}, which no process can read: ${why.replace(/\.$/, '')}`;
    }
    if (stated === undefined || !refused.has(channel)) continue;
    return `names version ${version} of the role of ${channel}, which too few keys of ${channel} signed`;
  }
  for (const [channel, floor] of stated ?? []) {
    const version = named.get(channel)?.version ?? 0;
    if (version >= floor.version) continue;
    return `names version ${version} of the role of ${channel}, and the root of trust states version ${floor.version}`;
  }
  return undefined;
}
