import { counted, listed } from '../../../core/counted.ts';
import { shareText } from '../../../domain/rollout-text.ts';
import { foreseeUnserved, unservedSentence } from '../../../releases/forecast/foresee-unserved.ts';
import { foreseeZsync } from '../../../releases/forecast/foresee-zsync.ts';
import { wideSentence } from '../../../releases/forecast/wide-change-text.ts';
import { zsyncSentences } from '../../../releases/forecast/zsync-text.ts';
import { rollbackSentences } from '../../../releases/withdraw/rollback-text.ts';
import { withdrawalSentences } from '../../../releases/withdraw/withdrawal-text.ts';
import type { Change } from './change-request.ts';
import type { Made } from './make-change.ts';

/**
 * Describes the effects of a change in whole sentences, the most important first. @param now the time by the store's
 * clock, in milliseconds since the epoch
 */
export function consequencesOf(change: Change, made: Made, now: number): readonly string[] {
  if (!made.changed) return ['The catalog is already in this state, so nothing would change.'];
  return [
    ...foreseeUnserved(made, now).map(unservedSentence),
    ...ownConsequences(change, made, now),
    ...zsyncSentences(foreseeZsync(made, now)),
  ];
}

function ownConsequences(change: Change, made: Made, now: number): readonly string[] {
  switch (change.kind) {
    case 'pause':
    case 'resume':
    case 'yank':
      return statusConsequences(change.kind, change.version, made, now);
    case 'rollback':
      return rollbackConsequences(change.to, made);
    case 'rollout':
      return rolloutConsequences(change.version, made, now);
    case 'notes':
      return [
        change.markdown === null
          ? `The notes of ${change.version} in ${change.locale} are removed. The files stay the same.`
          : `Updaters and pages show the new notes of ${change.version} when they ask again. The files stay the same.`,
      ];
  }
}

function statusConsequences(
  verb: 'pause' | 'resume' | 'yank',
  version: string,
  { status, after }: Made,
  now: number,
): readonly string[] {
  if (status === undefined) return [];
  const { channels } = status;
  if (status.isReasonOnly) {
    return ['Only the recorded reason changes. Clients get the same as before.'];
  }
  const on = channels.join(', ');
  const more = withdrawalSentences(verb, version, status);
  switch (verb) {
    case 'resume': {
      const what = `Resuming ${version}`;
      return [wideSentence(what, { after }, { version, channels }, now), ...more];
    }
    case 'pause':
      return [
        `No client of ${on} is offered ${version} until you resume it. Clients that have it keep it.`,
        ...more,
      ];
    case 'yank':
      return [
        `${version} is withdrawn from ${on} permanently: a yank cannot be undone.`,
        `Clients that have ${version} keep it until they are offered a newer release. No client is offered it any more.`,
        ...more,
      ];
  }
}

function rollbackConsequences(to: string, { rollback }: Made): readonly string[] {
  if (rollback === undefined) return [];
  const { withdrawn, channel } = rollback;
  const versions = listed(withdrawn.map(({ version }) => version));
  return [
    `This yanks ${counted(withdrawn.length, 'release')} permanently: ${versions}. Then ${to} is the newest release of ${channel} again.`,
    ...rollbackSentences(to, rollback),
  ];
}

function rolloutConsequences(
  version: string,
  { rollouts = [], after }: Made,
  now: number,
): readonly string[] {
  const isLowered = rollouts.some((rollout) => rollout.after < rollout.before);
  const from = [...new Set(rollouts.map((rollout) => shareText(rollout.before)))].join(', ');
  const channels = rollouts.map(({ channel }) => channel);
  const what = `The new plan of ${version}, which is at ${from} now,`;
  const lead = wideSentence(what, { after }, { version, channels }, now);
  return isLowered
    ? [lead, 'Clients that have the release keep it. To withdraw it from all clients, yank it.']
    : [lead];
}
