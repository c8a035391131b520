import type { Blocked, Stranded, Waiting } from '../../releases/forecast/summarize-simulation.ts';

/** Why installations do not get a newer release, in words. */

const BLOCKED: Readonly<Record<Blocked, string>> = {
  paused: 'is paused',
  yanked: 'is yanked',
  held_by_rollout: 'is not offered to them by its rollout',
  must_step_through: 'requires another version itself',
  unsupported_platform: 'has no build for them',
  unsupported_format: 'has no file of their format',
  unsupported_os_version: 'needs a newer system',
  no_native_build: 'has no native build for them',
  not_for_machine: 'has no build for them',
};

/** Releases in between that a sentence names. */
const NAMED_MAX = 3;

/** `1.5.0 requires >=1.4.0; 1.4.0 is paused` */
export function blockedSentence({ missed, requires, between }: Stranded): string {
  const rule = `${missed} requires ${requires}`;
  if (between.length === 0) return `${rule}, and no release in between is listed`;
  const named = between.slice(0, NAMED_MAX);
  const rest = between.length - named.length;
  const reasons = named.map(({ version, outcome }) => `${version} ${BLOCKED[outcome]}`);
  return [rule, ...reasons, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

const WAITING: Readonly<Record<Waiting['reason'], (release: string) => string>> = {
  held_by_rollout: (release) => `the rollout of ${release} does not reach them`,
  paused: (release) => `${release} is paused`,
  must_step_through: (release) => `${release} requires another version first`,
  unsupported_platform: (release) => `${release} has no build for their machines`,
  unsupported_format: (release) => `${release} has no file of their format`,
  unsupported_os_version: (release) => `${release} needs a newer system`,
  up_to_date: () => 'there is none',
  no_release: () => 'the channel offers no release',
  not_entitled: () => 'the channel is closed to them',
  withdrawn: () => 'their version was withdrawn, and they are not offered a newer release',
};

export function waitingSentence({ reason, withheld }: Waiting): string {
  return WAITING[reason](withheld ?? 'the newest release');
}
