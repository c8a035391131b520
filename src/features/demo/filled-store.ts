import { channelEntries } from '../../catalog/documents/revision-document.ts';
import type { Clock } from '../../core/clock.ts';
import type { PublishDeps } from '../../releases/publish/publish-release.ts';
import type { Counts } from '../../usage/counts.ts';
import { readUsage } from '../../usage/read-usage.ts';
import type { DemoProgress } from './take-step.ts';

/** What a demo store contains, for the summary. */

export interface FilledApplication {
  readonly name: string;
  readonly title: string;
  readonly channels: readonly string[];
  /** Includes drafts and yanked releases. */
  readonly releases: number;
  readonly artifacts: number;
  /** Revisions of its catalog. */
  readonly changes: number;
}

export function describeFilled(progress: DemoProgress): FilledApplication {
  const { application, channels, revision, artifacts } = progress;
  const published = application.steps.filter((step) => step.do === 'publish');
  return {
    name: application.name,
    title: application.title,
    channels: channelEntries(channels).map(([name]) => name),
    releases: new Set(published.map(({ version }) => version)).size,
    artifacts,
    changes: revision,
  };
}

/** All counts of a store together. */
export async function sumUsage(store: PublishDeps['store'], clock: Clock): Promise<Counts> {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const { rows } = await readUsage({ store, clock, log });
  const sum = { checks: 0, offers: 0, links: 0 };
  for (const row of rows) {
    sum.checks += row.checks;
    sum.offers += row.offers;
    sum.links += row.links;
  }
  return sum;
}
