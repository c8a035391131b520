import { type Channels, channelsInSteps } from '../../catalog/documents/revision-document.ts';
import { runAtOnce } from '../../core/steps.ts';
import { findSuperfluous } from '../../domain/keep-newest.ts';
import type { Version } from '../../domain/version.ts';

/**
 * Drops the offers that a channel does not keep: see {@link findSuperfluous}. Each commit that adds an offer calls this
 * on the state that the commit changes.
 *
 * @param added a version that stays, because the commit adds it; undefined for none
 * @param now by the store's clock
 * @returns `dropped`: the versions, newest first
 */
export function withoutOldOffers(
  channels: Channels,
  name: string,
  { added, now }: { readonly added: Version | undefined; readonly now: number },
): { readonly channels: Channels; readonly dropped: readonly string[] } {
  const channel = channels[name];
  const keep = channel?.keep;
  if (channel === undefined || keep === undefined || channel.offers.length <= keep) {
    return { channels, dropped: [] };
  }
  const parsed = runAtOnce(channelsInSteps({ channels }));
  const drafted = Object.values(channels).flatMap(({ drafts = [] }) =>
    drafts.map(({ version }) => version),
  );
  const dropped = findSuperfluous({ channels: parsed, name, keep, added, drafted, now });
  if (dropped.length === 0) return { channels, dropped };
  const at = new Date(now).toISOString();
  const isDropped = new Set(dropped);
  const left = {
    ...channel,
    offers: channel.offers.filter(({ version }) => !isDropped.has(version)),
    retired: [...channel.retired, ...dropped],
    kept_out: [...(channel.kept_out ?? []), ...dropped.map((version) => ({ version, at }))],
  };
  return { channels: { ...channels, [name]: left }, dropped };
}
