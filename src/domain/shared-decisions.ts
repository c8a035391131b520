import type { ChannelView } from './channel.ts';
import { type Decision, decideUpdate } from './decide-update.ts';
import { type Machine, updateQueryOf } from './fleet.ts';
import { bucketOf, installationHash } from './installation-bucket.ts';
import type { Offer } from './offer.ts';
import { ALL_CLIENTS, NO_CLIENTS, type Rollout, type Share, shareAt } from './rollout.ts';
import { compareVersions, type Version, versionText } from './version.ts';

/**
 * Decisions that equal installations share. `decideUpdate` runs once for all installations that get the same result
 * from each rollout in the decision. So a million installations need a few dozen decisions, and the bucket of each
 * installation.
 */

/**
 * One object that represents all installations, one after the other. It remembers the buckets of the current
 * installation.
 */
export interface Installation {
  readonly id: string;
  /**
   * True when a decision has read the bucket of the installation in some rollout. Otherwise, all installations with the
   * same version and machine get the same answer.
   */
  readonly isDivided: boolean;
  become(id: string): void;
  bucketIn(rollout: Rollout): number;
}

export function createInstallation(application: string): Installation {
  let id = '';
  let installation: number | undefined;
  const buckets = new Map<number, number>();
  return {
    get id() {
      return id;
    },
    get isDivided() {
      return buckets.size > 0;
    },
    become: (next) => {
      id = next;
      installation = undefined;
      buckets.clear();
    },
    bucketIn: ({ seed }) => {
      const known = buckets.get(seed);
      if (known !== undefined) return known;
      installation ??= installationHash(application, id);
      const bucket = bucketOf(seed, installation);
      buckets.set(seed, bucket);
      return bucket;
    },
  };
}

/** The decision for installations of one version, machine and moment. */
export interface Answer {
  readonly version: Version;
  readonly decision: Decision;
}

/**
 * Divides installations by their bucket. The branch `inside` is for buckets below the share. A branch is undefined
 * until an installation needs it.
 */
interface Split {
  readonly rollout: Rollout;
  readonly share: Share;
  readonly branches: { inside: Tree | undefined; outside: Tree | undefined };
}

type Tree = Split | Answer;

interface SharedDecisions {
  /** The answer of `decideUpdate` for this installation when it runs the version. */
  answerTo(version: Version, installation: Installation): Answer;
  /** Asks again with each offered version, until nothing newer is offered. */
  follow(version: Version, installation: Installation): Answer;
}

/**
 * The decisions of one moment, by machine.
 *
 * @param now by the store's clock; infinite: when all plans have ended
 */
export function createSharedDecisions(
  { application, view }: { readonly application: string; readonly view: ChannelView },
  now: number,
): (machine: Machine) => SharedDecisions {
  const splitsFor = createSplits(view, now);
  return (machine) => {
    const trees = new Map<string, Tree>();
    const splitsOf = splitsFor(machine);
    const answerTo = (version: Version, installation: Installation): Answer => {
      const name = versionText(version);
      const tree = trees.get(name);
      const known = find(tree, installation);
      if (known !== undefined) return known;
      const from = { application, channel: view.name, version, installationId: installation.id };
      const decision = decideUpdate(updateQueryOf(machine, from), view, now);
      const answer = { version, decision };
      trees.set(name, insert(tree, splitsOf(version, decision), answer, installation));
      return answer;
    };
    return {
      answerTo,
      follow: (version, installation) => {
        let answer = answerTo(version, installation);
        // Each step leads to a newer version, so this ends.
        while (answer.decision.reason === 'offer') {
          answer = answerTo(answer.decision.offer.version, installation);
        }
        return answer;
      },
    };
  };
}

function find(tree: Tree | undefined, installation: Installation): Answer | undefined {
  let found = tree;
  while (found !== undefined && 'branches' in found) {
    found = found.branches[sideOf(found, installation)];
  }
  return found;
}

function sideOf({ rollout, share }: Omit<Split, 'branches'>, installation: Installation) {
  return installation.bucketIn(rollout) < share ? 'inside' : 'outside';
}

/** Adds an answer to the tree, below the splits that lead to this answer. */
function insert(
  tree: Tree | undefined,
  [split, ...rest]: readonly Omit<Split, 'branches'>[],
  answer: Answer,
  installation: Installation,
): Tree {
  if (split === undefined) return answer;
  const branches =
    tree !== undefined && 'branches' in tree
      ? tree.branches
      : { inside: undefined, outside: undefined };
  const side = sideOf(split, installation);
  branches[side] = insert(branches[side], rest, answer, installation);
  return { ...split, branches };
}

/**
 * Finds the rollouts that a decision looked at, in the order of the decision: the newest offer first. Two decisions
 * with the same result at the first rollout look at the same second rollout, so they can share a tree.
 */
function createSplits(view: ChannelView, now: number) {
  const order = new Map(view.offers.map(({ version }, index) => [versionText(version), index]));
  const all = view.offers.flatMap((offer, index) => splitBy(offer, now, index));

  return ({ platform, arch }: Machine) => {
    const fitting = new Set(all.length === 0 ? [] : view.offersFor(platform, arch).offers);
    const splits = all.filter(({ offer }) => fitting.has(offer));
    return (version: Version, decision: Decision): readonly Omit<Split, 'branches'>[] => {
      if (splits.length === 0) return [];
      const outcomes = new Map(decision.path.map((step) => [step.version, step.outcome]));
      const shown = order.get(decision.path.at(-1)?.version ?? '') ?? -1;
      const offered =
        decision.reason === 'offer'
          ? (order.get(versionText(decision.offer.version)) ?? 0)
          : Number.POSITIVE_INFINITY;
      return splits.filter(({ offer, index }) => {
        if (index > offered || compareVersions(offer.version, version) <= 0) return false;
        const outcome = outcomes.get(versionText(offer.version));
        // A long path is cut off, so the decision may also have looked at the offers behind its end.
        return outcome === 'held_by_rollout' || outcome === 'offer' || index > shown;
      });
    };
  };
}

function splitBy(offer: Offer, now: number, index: number) {
  const { rollout } = offer;
  if (rollout === null) return [];
  const share = shareAt(rollout.ramp, now);
  // At 0 % and at 100 %, all installations get the same.
  return share > NO_CLIENTS && share < ALL_CLIENTS ? [{ rollout, share, offer, index }] : [];
}
