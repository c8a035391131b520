import { listed } from '../../core/counted.ts';
import type { Rollback } from './roll-back.ts';

/** Says what a rollback does not do, in whole sentences. @param to the version that stays */
export function rollbackSentences(to: string, plan: Rollback): readonly string[] {
  const { withdrawn, inherited } = plan;
  const [newest] = withdrawn;
  const which = withdrawn.length === 1 ? newest?.version : 'a yanked release';
  return [
    ...plan.held.map(
      (version) =>
        `${version} is held back on ${plan.channel}, and stays: it is offered when its last missing build is published. To discard it: slipway retire ${version}.`,
    ),
    `Clients on ${which} keep it until they are offered a newer one. No client goes back to ${to} by itself unless its application allows downgrades, and no release gets another version number.`,
    `To move these clients to the old code, build its source again under a version above ${newest?.version}, and publish that. Clients that send allow_downgrade go back to ${to} where the channel allows it; see docs/clients/own-updater.md in Slipway's repository.`,
    ...(inherited.length === 0 ? [] : [inheritedSentence(plan, to)]),
  ];
}

function inheritedSentence({ channel, inherited }: Rollback, to: string): string {
  const releases = listed(inherited.map((each) => `${each.version} (${each.channel})`));
  const names = [...new Set(inherited.map((each) => each.channel))];
  const commands = names.map((name) => `slipway rollback --to ${to} --channel ${name}`).join(', ');
  return `Clients of ${channel} also see newer releases of the channels that it inherits: ${releases}. These stay. To withdraw them as well: ${commands}.`;
}
