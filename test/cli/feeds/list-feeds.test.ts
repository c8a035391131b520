import { expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { listFeeds } from '../../../src/cli/feeds/list-feeds.ts';
import { DEFAULT_TIERS, parseTierTable } from '../../../src/domain/tier.ts';
import { offerJson } from '../../releases/offer-json.ts';

const EXE = { os: 'windows', arch: 'x64', format: 'nsis' } as const;
const ZIP = { os: 'macos', arch: 'arm64', format: 'zip' } as const;

function channel(offers: readonly OfferJson[], more: Partial<ChannelJson> = {}): ChannelJson {
  return { inherits: null, offers: [...offers], retired: [], ...more };
}

const ANY = { tiers: DEFAULT_TIERS, channel: undefined };

it('lists each kind of file once, with the newest active release that has it', () => {
  const stable = channel([
    offerJson('1.0.0', [ZIP, EXE]),
    offerJson('1.10.0', [EXE]),
    offerJson('1.9.0', [EXE]),
    offerJson('2.0.0', [EXE], { status: 'paused' }),
  ]);
  const [listed] = listFeeds({ application: 'desktop', channels: { stable } }, ANY);
  expect(listed?.files.map(({ format, version }) => `${format} ${version}`)).toEqual([
    'nsis 1.10.0',
    'zip 1.0.0',
  ]);
});

it('adds the files of inherited channels, and leaves out channels that clients do not see', () => {
  const channels = {
    stable: channel([offerJson('1.0.0', [EXE])]),
    beta: channel([offerJson('1.1.0-beta.1', [ZIP])], { inherits: 'stable' }),
    next: channel([], { hidden: true }),
  };
  const listed = listFeeds({ application: 'desktop', channels }, ANY);
  expect(listed.map(({ name, files }) => [name, files.map(({ version }) => version)])).toEqual([
    ['stable', ['1.0.0']],
    ['beta', ['1.0.0', '1.1.0-beta.1']],
  ]);
  expect(() =>
    listFeeds({ application: 'desktop', channels }, { ...ANY, channel: 'next' }),
  ).toThrow(/No channel "next" in desktop/);
});

it('says which channels need an access token', () => {
  const tiers = parseTierTable({ free: [], pro: ['channel:desktop/beta'] });
  const channels = { stable: channel([]), beta: channel([]) };
  const listed = listFeeds({ application: 'desktop', channels }, { ...ANY, tiers });
  expect(listed.map(({ name, isRestricted }) => [name, isRestricted])).toEqual([
    ['stable', false],
    ['beta', true],
  ]);
});
