import type { Steps } from '../core/steps.ts';
import type { Decision } from './decide-update.ts';
import { createIds, createInstallationIds, type FleetGroup, sizeOf } from './fleet.ts';
import { type Answer, createInstallation, type Installation } from './shared-decisions.ts';
import { type Course, type CourseEnd, type CourseInput, createCourses } from './update-course.ts';
import { compareVersions, type Version, versionText } from './version.ts';

/** Follows the installations of a fleet through the updates that they are offered. */

/** The number of installations that run a version at each of the times. */
interface Running {
  readonly version: Version;
  readonly counts: readonly number[];
}

/** Installations that are offered nothing newer when all plans have ended. */
export interface Ending {
  readonly version: Version;
  readonly count: number;
  /** The reason why they are offered nothing. */
  readonly reason: Exclude<Decision['reason'], 'offer'>;
  readonly path: Decision['path'];
  /**
   * For stranded installations: the newest release that they could run, but cannot reach because of the `requires` of
   * this or other releases. Null for installations that are not stranded.
   */
  readonly missed: Version | null;
}

/** The updates of the installations of a group. */
export interface GroupFate {
  readonly group: FleetGroup;
  /** Newest first. */
  readonly running: readonly Running[];
  readonly endings: readonly Ending[];
  /** The same number for all groups that get the same updates, apart from chance. */
  readonly pattern: number;
}

interface SimulationInput extends CourseInput {
  readonly groups: readonly FleetGroup[];
  /** See `createInstallationIds`. */
  readonly seed: number;
  /** Called with the number of installations that are done. */
  readonly onProgress?: (done: number) => void;
}

const INSTALLATIONS_PER_STEP = 4_000;

/**
 * The fate of each group. The function keeps counts in memory, and no installations.
 *
 * The groups must name channels in `channels`.
 */
export function* simulateUpdates(input: SimulationInput): Steps<readonly GroupFate[]> {
  const { application, groups, seed, onProgress, times } = input;
  const courseFor = createCourses(input);
  const patternOf = createPatterns();
  const fates: GroupFate[] = [];
  const installation = createInstallation(application);
  const size = sizeOf(groups);
  let done = 0;
  let followed = 0;
  for (const group of groups) {
    const course = courseFor(group);
    const tally = createTally(group, times.length);
    const idOf = createInstallationIds(seed, group);
    for (let index = 0; index < group.count; index++) {
      installation.become(idOf(index));
      const end = course.follow(group.version, installation, tally.reached);
      const count = installation.isDivided ? 1 : group.count;
      tally.add(end, count);
      done += count;
      if (++followed % INSTALLATIONS_PER_STEP === 0) {
        if (done < size) onProgress?.(done);
        yield;
      }
      if (count === group.count) break;
    }
    fates.push(tally.fate(patternOf(course, group.version, installation)));
  }
  onProgress?.(size);
  return fates;
}

/** The number of ids in a pattern. It is large enough to distinguish the effects of rollouts on a group. */
const PATTERN_IDS = 32;

/**
 * Gives groups with the same outcome the same number. It follows the same few ids in each group, so that chance does
 * not separate two small groups.
 */
function createPatterns() {
  const idOf = createIds(0, 'patterns');
  const ids = Array.from({ length: PATTERN_IDS }, (_, index) => idOf(index));
  const numbers = new Map<string, number>();
  return (course: Course, version: Version, installation: Installation): number => {
    const texts: string[] = [];
    const reached: Version[] = [];
    for (const id of ids) {
      installation.become(id);
      course.follow(version, installation, reached);
      for (const each of reached) {
        // The text is empty when the installation keeps its version, so that neighboring versions have one pattern.
        texts.push(compareVersions(each, version) === 0 ? '' : versionText(each));
      }
      if (!installation.isDivided) break;
    }
    const text = texts.join();
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
}

function createTally(group: FleetGroup, timesCount: number) {
  const reached: Version[] = [];
  const running = new Map<Version, number[]>();
  const ends = new Map<Answer, Map<Answer, number>>();
  const countsOf = (version: Version): number[] => {
    const known = running.get(version);
    if (known !== undefined) return known;
    // Equal versions of two offers are different objects.
    const equal = [...running.keys()].find((other) => versionText(other) === versionText(version));
    const counts = (equal && running.get(equal)) ?? Array.from({ length: timesCount }, () => 0);
    running.set(version, counts);
    return counts;
  };
  return {
    reached,
    add: ({ answer, freed }: CourseEnd, count: number): void => {
      for (let index = 0; index < timesCount; index++) {
        const version = reached[index];
        if (version === undefined) continue;
        const counts = countsOf(version);
        counts[index] = (counts[index] ?? 0) + count;
      }
      const counts = ends.get(answer) ?? new Map<Answer, number>();
      ends.set(answer, counts.set(freed, (counts.get(freed) ?? 0) + count));
    },
    fate: (pattern: number): GroupFate => ({
      group,
      running: [...new Map([...running].map(([version, counts]) => [counts, version]))]
        .map(([counts, version]) => ({ version, counts }))
        .sort((a, b) => compareVersions(b.version, a.version)),
      endings: [...ends].flatMap(([answer, counts]) => endingsOf(answer, counts)),
      pattern,
    }),
  };
}

function endingsOf(
  { version, decision }: Answer,
  counts: ReadonlyMap<Answer, number>,
): readonly Ending[] {
  // The last answer is never an offer.
  if (decision.reason === 'offer') return [];
  const { reason, path } = decision;
  return [...counts].map(([freed, count]) => {
    const missed = freed.decision.reason === 'offer' ? freed.decision.offer.version : null;
    return { version, count, reason, path, missed };
  });
}
