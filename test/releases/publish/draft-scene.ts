import type { ChannelJson, Channels } from '../../../src/catalog/documents/revision-document.ts';
import { listDrafts } from '../../../src/catalog/reading/list-drafts.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { isAppError } from '../../../src/core/errors.ts';
import type { Arch, Format, Platform } from '../../../src/domain/platform.ts';
import { parseTarget, targetName } from '../../../src/domain/target.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** What the tests of drafts share: short ways to add builds to release 1.5.0, to open it, and to look at it. */

const BUILDS: Readonly<Record<string, readonly [Platform, Arch, Format, string]>> = {
  windows: ['windows', 'x64', 'nsis', 'App.exe'],
  macos: ['macos', 'arm64', 'zip', 'App.zip'],
  universal: ['macos', 'universal', 'zip', 'App-universal.zip'],
  linux: ['linux', 'x64', 'appimage', 'App.AppImage'],
};
export const expecting = (...names: string[]) => ({ expect: names.map(parseTarget) });
export const ALL = expecting('windows-x64', 'macos-arm64', 'linux-x64');
export const MINUTE = 60_000;

export async function createScene() {
  const directory = await makeTemporaryDirectory();
  const clock = createFixedClock();
  const store = createMemoryStore({ clock });
  const parts = { store, clock, randomness: createSeededRandomness(1), actor: 'test' };

  const build = (name: string, content = name) => {
    const [platform, arch, format, filename] = BUILDS[name] ?? ['linux', 'x64', 'deb', name];
    const fields = { platform, arch, format, filename, content };
    return makeArtifact(`${directory.path}/${content}`, fields);
  };
  /** Publishes builds as 1.5.0, such as `windows`, or `windows:2` for other bytes. */
  const add = async (names: string, request: Partial<PublishRequest> = {}) => {
    const artifacts = await Promise.all(
      names.split(' ').map((name) => build(name.split(':')[0] ?? '', name)),
    );
    parts.clock.advance(MINUTE);
    return publish(parts, { version: '1.5.0', artifacts, ...request });
  };
  const open = (request: Partial<Parameters<typeof openDraft>[1]> = {}) =>
    openDraft(parts, {
      application: 'desktop',
      channel: 'stable',
      version: '1.5.0',
      allowPrerelease: false,
      ...request,
    });
  const change = (verb: StatusVerb, channel?: string) =>
    changeStatus(parts, verb, { application: 'desktop', version: '1.5.0', channel, reason: null });
  const promote = (to: string, fields = {}) =>
    promoteRelease(parts, {
      application: 'desktop',
      version: '1.5.0',
      to,
      create: true,
      allowPrerelease: false,
      ...fields,
    });
  const signed = async () => {
    const revision = await readRevision(parts, 'desktop');
    if (revision === undefined) throw new Error('Nothing was published.');
    return revision.signed;
  };
  const state = async () => {
    const { channels, change: last } = await signed();
    const offers = Object.entries(channels).flatMap(([name, channel]) =>
      channel.offers.map((offer) => `${name} ${offer.version} ${offer.artifacts.length}`),
    );
    const drafts = listDrafts({ channels }).map(
      ({ channel, draft, missing }) =>
        `${channel} ${draft.version} ${draft.artifacts.length} -${missing.map(targetName)}`,
    );
    return { last: last.kind, offers: offers.sort(), drafts };
  };
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return isAppError(error) ? `${error.code}: ${error.message}` : `no refusal: ${error}`;
  };
  const set = (name: string, edit: (channel: ChannelJson) => ChannelJson) =>
    changeCatalog(parts, 'desktop', (channels: Channels) => ({
      plan: undefined,
      edit: {
        change: { kind: 'channel', version: null, channels: [name], reason: null },
        channels: {
          ...channels,
          [name]: edit(channels[name] ?? { inherits: null, offers: [], retired: [] }),
        },
      },
    }));

  const remove = () => directory.remove();
  return {
    parts,
    directory,
    build,
    add,
    open,
    change,
    promote,
    signed,
    state,
    refusal,
    set,
    remove,
  };
}
