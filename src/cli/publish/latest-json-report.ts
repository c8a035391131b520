import { checkCommonRelease } from '../../releases/publish/check-common-release.ts';
import type { PublishResult } from '../../releases/publish/publish-release.ts';
import { tauri } from '../../updaters/tauri/tauri.ts';

/** What `publish` says about Tauri's latest.json, which has one version for all platforms. */

/** One sentence for each reason why the document does not state the release to some clients. */
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
  const needs = checkCommonRelease(after, version, question.query, question.machines);
  if (needs === undefined) return [];
  const [missing, gated] = [exactNames(needs.missing), exactNames(needs.needsOsVersion)];
  return [
    ...(missing.length === 0
      ? []
      : [
          `Note: Tauri's latest.json does not offer ${version} until that release has builds for ${missing.join(', ')}.`,
        ]),
    ...(needs.needsVersion
      ? [
          `Note: Tauri's latest.json offers ${version} only to clients that state their version, because of --requires. Their address has to end with ?current_version={{current_version}}.`,
        ]
      : []),
    ...(gated.length === 0
      ? []
      : [
          `Note: Tauri's latest.json offers the builds of ${version} for ${gated.join(', ')} only to clients that state the version of their system, because these builds have a minimum system version. Their address needs os_version=….${needs.isHeldByOsVersion ? ` Clients without it are not offered ${version} on any platform.` : ''}`,
        ]),
  ];
}

/** The release may have another bundle type for `linux-x86_64`: `linux-x86_64-appimage` says which one is meant. */
function exactNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => !names.some((other) => other.startsWith(`${name}-`)));
}
