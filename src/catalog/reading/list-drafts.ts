import { findNativeBuild } from '../../domain/compatible-arches.ts';
import { type Target, targetName } from '../../domain/target.ts';
import { newestTextFirst } from '../../domain/version.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import {
  type ChannelJson,
  type Channels,
  channelEntries,
  type RevisionJson,
} from '../documents/revision-document.ts';

/** Drafts, for publishers, operators and admins. No public answer may contain a draft. */

/** A release that a channel holds back. */
export interface ListedDraft {
  readonly channel: string;
  readonly draft: DraftJson;
  /** The expected targets for which the draft has no native build. */
  readonly missing: readonly Target[];
}

/** Every draft of every channel, newest version first, then by channel. */
export function listDrafts({ channels }: Pick<RevisionJson, 'channels'>): readonly ListedDraft[] {
  return channelEntries(channels)
    .flatMap(([channel, { drafts = [] }]) => drafts.map((draft) => describeDraft(channel, draft)))
    .sort(
      (a, b) =>
        newestTextFirst(a.draft.version, b.draft.version) || (a.channel < b.channel ? -1 : 1),
    );
}

export function draftIn({ drafts }: ChannelJson, version: string): DraftJson | undefined {
  return drafts?.find((draft) => draft.version === version);
}

/** The channels with a draft of a version, in the order of display. */
export function channelsDrafting(
  channels: Channels,
  version: string,
): readonly (readonly [string, DraftJson])[] {
  return channelEntries(channels).flatMap(([name, channel]) => {
    const draft = draftIn(channel, version);
    return draft === undefined ? [] : [[name, draft] as const];
  });
}

export function describeDraft(channel: string, draft: DraftJson): ListedDraft {
  return { channel, draft, missing: missingTargets(draft.expect, draft.artifacts) };
}

/** The expected targets for which no build is native. */
export function missingTargets(
  expect: ChannelJson['expect'],
  artifacts: DraftJson['artifacts'],
): readonly Target[] {
  const builds = artifacts.map(({ os: platform, arch }) => ({ platform, arch }));
  return (expect ?? [])
    .map(({ os: platform, arch }) => ({ platform, arch }))
    .filter((target) => findNativeBuild(builds, target) === undefined);
}

/** `windows-x64, macos-arm64`. */
export function targetNames(targets: readonly Target[]): string {
  return targets.map(targetName).join(', ');
}
