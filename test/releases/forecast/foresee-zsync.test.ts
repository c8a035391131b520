import { describe, expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { foreseeZsync } from '../../../src/releases/forecast/foresee-zsync.ts';
import { zsyncSentences } from '../../../src/releases/forecast/zsync-text.ts';
import { offerJson } from '../offer-json.ts';

/** AppImages that update with zsync: they are offered the newest release that they may have, or nothing. */

function offer(
  version: string,
  over: Partial<OfferJson> = {},
  format: 'appimage' | 'deb' = 'appimage',
): OfferJson {
  return offerJson(version, [{ os: 'linux', arch: 'x64', format }], over);
}

const stable = (newest: OfferJson | null, retired: string[] = []): Record<string, ChannelJson> => ({
  stable: {
    inherits: null,
    offers: [offer('1.0.0'), ...(newest === null ? [] : [newest])],
    retired,
  },
});

const foresee = (before: OfferJson, after: OfferJson | null, retired?: string[]) =>
  foreseeZsync({ before: stable(before), after: stable(after, retired) }, 0);

describe('what a change means for AppImages that update with zsync', () => {
  const at = { channels: ['stable'], before: '1.1.0' };

  it('they are offered nothing while the newest release is paused or yanked', () => {
    const paused = foresee(offer('1.1.0'), offer('1.1.0', { status: 'paused' }));
    expect(paused).toEqual([{ ...at, after: null, mayReturn: true }]);
    expect(zsyncSentences(paused)).toEqual([
      'AppImages that update with zsync report an error on stable from now on, and stay as they are: they state no version, and would install an older release over a newer one. This ends with the next release that they can be offered, or when 1.1.0 is resumed.',
    ]);
    const yanked = foresee(offer('1.1.0'), offer('1.1.0', { status: 'yanked' }));
    expect(yanked).toEqual([{ ...at, after: null, mayReturn: false }]);
    expect(zsyncSentences(yanked)[0]).toMatch(/can be offered\.$/);
  });

  it('they install the older release when the newest is retired or its share is lowered', () => {
    const older = [{ ...at, after: '1.0.0', mayReturn: false }];
    const retired = foresee(offer('1.1.0'), null, ['1.1.0']);
    expect(retired).toEqual(older);
    expect(zsyncSentences(retired)).toEqual([
      'AppImages that update with zsync state no version, so they install 1.0.0 over 1.1.0 on stable. To leave them on 1.1.0, pause or yank it instead.',
    ]);
    const rollout: OfferJson['rollout'] = {
      salt: 'salt',
      plan: '5%',
      linear: false,
      freeze_windows: [],
      steps: [{ share: 500, after_seconds: 0 }],
      clock: { at: '2026-11-21T09:00:00Z', elapsed_ms: 0, running: true },
    };
    expect(foresee(offer('1.1.0'), offer('1.1.0', { rollout }))).toEqual(older);
  });

  it('nothing changes for them with a newer release, and for packages that zsync does not update', () => {
    expect(foresee(offer('1.1.0', { status: 'yanked' }), offer('1.1.1'))).toEqual([]);
    expect(foresee(offer('1.1.0', {}, 'deb'), offer('1.1.0', { status: 'yanked' }, 'deb'))).toEqual(
      [],
    );
  });
});
