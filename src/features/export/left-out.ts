import { shareAt } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { versionText } from '../../domain/version.ts';
import type { Protocol } from '../../updaters/protocol.ts';
import { PROTOCOLS, servesArtifact } from '../../updaters/registry.ts';
import type { OpenChannel, OpenFeeds, OpenRelease } from './open-feeds.ts';
import type { LeftOut } from './plan.ts';

/** The parts of the service that static files cannot replace, for the releases of an application. */

/** @param now the time by the store's clock; milliseconds since the epoch */
export function findLeftOut(
  { application, channels, restricted, unverified }: OpenFeeds,
  now: number,
): readonly LeftOut[] {
  const all = { application, channel: null, dialect: null, versions: [] };
  return [
    ...restricted.map(
      (channel): LeftOut => ({
        ...all,
        channel,
        reason: 'restricted_channel',
        detail:
          'It needs an access token, which a static server does not check. Its files are left out too.',
      }),
    ),
    ...unverified.map(
      (name): LeftOut => ({
        ...all,
        reason: 'unverified',
        detail: `${name}: its stored manifest does not match the catalog. Run "slipway verify".`,
      }),
    ),
    ...PROTOCOLS.filter((protocol) => protocol.listStatic === undefined)
      .filter((protocol) =>
        channels.some(({ offered }) =>
          offered.some((each) => artifactsFor(protocol, each).length > 0),
        ),
      )
      .map(
        (protocol): LeftOut => ({
          ...all,
          reason: 'needs_server',
          dialect: protocol.name,
          detail: `${protocol.title} sends its requests by POST, which a static server does not answer.`,
        }),
      ),
    ...channels.flatMap((channel) => [
      ...heldBack(application, channel, now),
      ...onlyFromVersions(application, channel),
      ...PROTOCOLS.flatMap((protocol) => ofDialect(application, channel, protocol)),
    ]),
  ];
}

function heldBack(application: string, { view }: OpenChannel, now: number): readonly LeftOut[] {
  return view.offers.flatMap(({ version, status, rollout }): readonly LeftOut[] => {
    const facts = {
      application,
      channel: view.name,
      dialect: null,
      versions: [versionText(version)],
    };
    if (status === 'paused') {
      const detail = 'It is paused, so no client gets it.';
      return [{ ...facts, reason: 'paused', detail }];
    }
    const share = rollout === null ? '100%' : shareText(shareAt(rollout.ramp, now));
    if (share === '100%') return [];
    const detail = `It is rolled out to ${share}, and a static file is for all clients. Export again when the rollout is at 100%.`;
    return [{ ...facts, reason: 'rollout', detail }];
  });
}

function onlyFromVersions(application: string, channel: OpenChannel): readonly LeftOut[] {
  const versions = channel.offered
    .filter(({ offer }) => offer.requires !== null)
    .map(({ release }) => release.version);
  if (versions.length === 0) return [];
  const detail =
    'A release with --requires is only for some versions. Clients whose address does not contain their version get the newest release without --requires. zsync clients get none while a release with --requires is the newest, because they would install an older one.';
  return [
    {
      reason: 'requires',
      application,
      channel: channel.view.name,
      dialect: null,
      versions,
      detail,
    },
  ];
}

function ofDialect(
  application: string,
  { view, offered }: OpenChannel,
  protocol: Protocol,
): readonly LeftOut[] {
  if (protocol.listStatic === undefined || protocol.osGate === 'client') return [];
  const facts = { application, channel: view.name, dialect: protocol.name };
  const versions = offered
    .filter((each) => artifactsFor(protocol, each).some((file) => file.minimumOsVersion !== null))
    .map(({ release }) => release.version);
  if (versions.length === 0) return [];
  const instead =
    protocol.installsOlder === true
      ? 'While such a release is the newest, they get none, because they would install an older one.'
      : 'They get the newest release that states none.';
  const detail = `For these clients, only the service compares a minimum version of the system. ${instead}`;
  return [{ ...facts, reason: 'minimum_system', versions, detail }];
}

function artifactsFor(protocol: Protocol, { release }: OpenRelease) {
  return release.artifacts.filter((artifact) => servesArtifact(protocol, artifact));
}
