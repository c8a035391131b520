import { describe, expect, it } from 'vitest';
import type { OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { changedTargets } from '../../../src/catalog/writing/changed-targets.ts';
import { offerJson } from '../../releases/offer-json.ts';

const WINDOWS = { os: 'windows', arch: 'x64', format: 'nsis' } as const;
const MAC = { os: 'macos', arch: 'arm64', format: 'zip' } as const;
const LINUX = { os: 'linux', arch: 'x64', format: 'deb' } as const;
const channels = (...offers: OfferJson[]) => ({ stable: { offers } });

describe('the builds that a change is about', () => {
  const old = offerJson('1.0.0', [LINUX]);
  const offer = offerJson('1.1.0', [WINDOWS, MAC]);

  it('are all builds of a new offer, and the added ones of an offer that gets more', () => {
    expect(changedTargets({}, channels(old))).toEqual(['linux-x64']);
    expect(changedTargets(channels(old), channels(old, offer))).toEqual([
      'macos-arm64',
      'windows-x64',
    ]);
    const more = offerJson('1.1.0', [WINDOWS, MAC, LINUX]);
    expect(changedTargets(channels(old, offer), channels(old, more))).toEqual(['linux-x64']);
    const msi = offerJson('1.1.0', [WINDOWS, MAC, { ...WINDOWS, format: 'msi' }]);
    expect(changedTargets(channels(offer), channels(msi))).toEqual(['windows-x64']);
  });

  it('are those of an offer with another status, and of a removed one', () => {
    const yanked = { ...offer, status: 'yanked' as const };
    expect(changedTargets(channels(old, offer), channels(old, yanked))).toEqual([
      'macos-arm64',
      'windows-x64',
    ]);
    expect(changedTargets(channels(old, offer), channels(offer))).toEqual(['linux-x64']);
    expect(changedTargets({ stable: { offers: [old] } }, {})).toEqual(['linux-x64']);
  });

  it('are none when no offer changes', () => {
    expect(changedTargets(channels(old), channels({ ...old }))).toEqual([]);
    expect(changedTargets(channels(old), { ...channels(old), beta: { offers: [] } })).toEqual([]);
  });
});
