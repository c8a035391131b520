import { findHoldingMachines } from '../../src/operations/find-holding-machines.ts';
import type { PublishResult } from '../../src/operations/publish-release.ts';
import { tauri } from '../../src/protocols/tauri.ts';

/** What `publish` says about Tauri's latest.json, which has one version for all platforms. */

/** One sentence when builds are missing without which the document does not state the release. */
export function latestJsonWarnings({
  application,
  channel,
  version,
  after,
  held,
}: Pick<
  PublishResult,
  'application' | 'channel' | 'version' | 'after' | 'held'
>): readonly string[] {
  const address = { path: ['latest.json'], query: {}, headers: {}, body: undefined };
  const question = tauri.parseRequest({ application, channel, ...address });
  if (held !== null || question?.machines === undefined) return [];
  const names = findHoldingMachines(after, version, question.query, question.machines);
  // The release may have another bundle type for `linux-x86_64`: `linux-x86_64-appimage` says which one is missing.
  const exact = names.filter((name) => !names.some((other) => other.startsWith(`${name}-`)));
  if (exact.length === 0) return [];
  return [
    `Note: Tauri's latest.json does not offer ${version} until it has builds for ${exact.join(', ')}.`,
  ];
}
