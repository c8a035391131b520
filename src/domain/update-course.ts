import { type ChannelView, createChannelView } from './channel.ts';
import { type FleetGroup, type Machine, machineName } from './fleet.ts';
import { compareOsVersions, parseOsVersion } from './os-version.ts';
import { type Answer, createSharedDecisions, type Installation } from './shared-decisions.ts';
import type { Version } from './version.ts';

/** Follows the updates of installations from one time to the next, until all plans have ended. */

export interface CourseInput {
  readonly application: string;
  readonly channels: ReadonlyMap<string, ChannelView>;
  /** Ascending. At each time, every installation asks until nothing newer is offered. */
  readonly times: readonly number[];
}

/** The time when every plan has ended. */
const AT_THE_END = Number.POSITIVE_INFINITY;

export interface CourseEnd {
  readonly answer: Answer;
  /** The answer that the installation would get next if no release had a `requires`. */
  readonly freed: Answer;
}

/** The updates of one kind of machine over time. */
export interface Course {
  /** @param reached the function fills this list with the version that the installation runs at each time */
  follow(version: Version, installation: Installation, reached: Version[]): CourseEnd;
}

/** Creates one course for all groups of a channel whose machines are offered the same. */
export function createCourses(input: CourseInput): (group: FleetGroup) => Course {
  const channels = new Map<string, ReturnType<typeof createChannelCourses>>();
  return (group) => {
    const courseOn = channels.get(group.channel) ?? createChannelCourses(input, group.channel);
    channels.set(group.channel, courseOn);
    return courseOn(group);
  };
}

function createChannelCourses(
  { application, channels, times }: CourseInput,
  channel: string,
): (machine: Machine) => Course {
  const view = channels.get(channel);
  if (view === undefined) throw new Error(`The simulation has no channel ${channel}.`);
  const decisions = times.map((time) => createSharedDecisions({ application, view }, time));
  const atTheEnd = createSharedDecisions({ application, view }, AT_THE_END);
  const freeView = withoutRequirements(view);
  const whenFree = createSharedDecisions({ application, view: freeView }, AT_THE_END);
  const kindOf = createMachineKinds(view);
  const courses = new Map<string, Course>();
  const createCourse = (machine: Machine): Course => {
    const moments = decisions.map((decisionsOn) => decisionsOn(machine));
    const end = atTheEnd(machine);
    const free = whenFree(machine);
    return {
      follow: (version, installation, reached) => {
        let current = version;
        for (const [index, moment] of moments.entries()) {
          current = moment.follow(current, installation).version;
          reached[index] = current;
        }
        const answer = end.follow(current, installation);
        return { answer, freed: free.answerTo(answer.version, installation) };
      },
    };
  };
  return (machine) => {
    const kind = kindOf(machine);
    const course = courses.get(kind) ?? createCourse(machine);
    courses.set(kind, course);
    return course;
  };
}

/**
 * Returns a function whose result is equal for machines that are offered the same. A fleet may have thousands of system
 * versions, but only the minimum versions that a system version satisfies matter.
 */
function createMachineKinds({ offers }: ChannelView): (machine: Machine) => string {
  const artifacts = offers.flatMap((offer) => offer.artifacts);
  const minima = [...new Set(artifacts.map(({ minimumOsVersion }) => minimumOsVersion))]
    .filter((minimum) => minimum !== null)
    .map(parseOsVersion);
  return ({ osVersion, ...machine }) => {
    const actual = osVersion === null ? null : parseOsVersion(osVersion);
    const reached = minima.map((minimum) => {
      if (actual === null) return 'not stated';
      return (
        actual !== undefined && minimum !== undefined && compareOsVersions(actual, minimum) >= 0
      );
    });
    return [machineName({ ...machine, osVersion: null }), ...reached].join();
  };
}

/** The channel as if every release could be installed from every version. */
function withoutRequirements(view: ChannelView): ChannelView {
  const offers = view.offers.map((offer) => ({ ...offer, requires: null }));
  const { name, givesEarlyAccess, allowsDowngrade } = view;
  const channel = { name, inherits: null, givesEarlyAccess, allowsDowngrade, offers };
  return createChannelView({ ...channel, retired: new Set() }, []);
}
