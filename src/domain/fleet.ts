import { bucketSeed } from './installation-bucket.ts';
import type { Format } from './platform.ts';
import { type Target, targetName } from './target.ts';
import type { UpdateQuery } from './update-query.ts';
import { type Version, versionText } from './version.ts';

/** A fleet: the installations of an application, in groups of equal installations. */

export interface Machine extends Target {
  /** The only format that the installation can update with; null: the usual ones of the platform. */
  readonly format: Format | null;
  /** The version of the system; null: new enough for every release. */
  readonly osVersion: string | null;
}

/** Installations with the same version on the same kind of machine. */
export interface FleetGroup extends Machine {
  readonly channel: string;
  readonly version: Version;
  readonly count: number;
}

/** The most installations in a fleet. A larger fleet takes minutes, and gives the same shares. */
export const FLEET_MAX = 100_000_000;

/** `stable 1.2.0 windows-x64 nsis 10.0`: equal for two groups of equal installations. */
export function groupName({ channel, version, ...machine }: FleetGroup): string {
  return `${channel} ${versionText(version)} ${machineName(machine)}`;
}

/** `windows-x64 nsis 10.0`; shorter when the format or the version of the system is not stated. */
export function machineName({ format, osVersion, ...target }: Machine): string {
  return [targetName(target), format, osVersion].filter((part) => part !== null).join(' ');
}

/** Joins equal groups, in the order of their first occurrence. Leaves out empty ones. */
export function joinGroups(groups: Iterable<FleetGroup>): readonly FleetGroup[] {
  const joined = new Map<string, FleetGroup>();
  for (const group of groups) {
    if (group.count === 0) continue;
    const name = groupName(group);
    const count = group.count + (joined.get(name)?.count ?? 0);
    joined.set(name, { ...group, count });
  }
  return [...joined.values()];
}

export function sizeOf(groups: readonly FleetGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

/** The question that one installation on the machine asks when it checks for an update. */
export function updateQueryOf(
  { platform, arch, format, osVersion }: Machine,
  from: {
    readonly application: string;
    readonly channel: string;
    readonly version: Version;
    readonly installationId: string;
  },
): UpdateQuery {
  return {
    application: from.application,
    channel: from.channel,
    currentVersion: from.version,
    platform,
    arch,
    formats: format === null ? null : [format],
    osVersion,
    osGate: osVersion === null ? 'client' : 'server',
    installationId: from.installationId,
    isManual: false,
    allowDowngrade: false,
    purpose: 'update',
    signatureScheme: null,
  };
}

/**
 * Divides a whole number into whole parts in proportion to weights. The parts with the largest remainders are rounded
 * up, so that the sum of all parts is exact.
 *
 * @param weights not negative, and not all 0
 */
export function apportion(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const parts = exact.map(Math.floor);
  const order = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  const missing = total - parts.reduce((a, b) => a + b, 0);
  for (const { index } of order.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}

/**
 * The ids of the installations of a group. Each id depends only on the seed, the name of the group and the number of
 * the installation, so a larger fleet contains the installations of a smaller fleet.
 */
export function createInstallationIds(seed: number, group: FleetGroup): (index: number) => string {
  return createIds(seed, groupName(group));
}

/** Ids that look like random UUIDs, and depend only on the seed and the name. */
export function createIds(seed: number, name: string): (index: number) => string {
  // Each of the four words has its own sequence, so that no two names share an id.
  const starts = [0, 1, 2, 3].map((word) => bucketSeed(`${seed}\n${word}\n${name}`));
  const [a = 0, b = 0, c = 0, d = 0] = starts;
  return (index) => uuidOf(wordAt(a, index), wordAt(b, index), wordAt(c, index), wordAt(d, index));
}

/** The number at a place of a pseudo-random sequence (SplitMix32). */
function wordAt(start: number, index: number): number {
  let word = (start + Math.imul(index, 0x9e3779b9)) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

/** The four words as a UUID of version 4. */
function uuidOf(a: number, b: number, c: number, d: number): string {
  const version = (b & 0xffff_0fff) | 0x4000;
  const variant = (c & 0x3fff_ffff) | 0x8000_0000;
  const second = hexOf(version);
  const third = hexOf(variant);
  return `${hexOf(a)}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${hexOf(d)}`;
}

/** The digits of each byte: a table is five times faster than `toString`. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(word: number): string {
  return `${HEX[word >>> 24]}${HEX[(word >>> 16) & 255]}${HEX[(word >>> 8) & 255]}${HEX[word & 255]}`;
}
