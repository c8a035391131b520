import { describe, expect, it } from 'vitest';
import { SPARKLE_ED25519 } from '../../../src/domain/signature.ts';
import { netsparkle } from '../../../src/updaters/netsparkle/netsparkle.ts';
import { sparkle } from '../../../src/updaters/sparkle/sparkle.ts';
import { winsparkle } from '../../../src/updaters/winsparkle/winsparkle.ts';

/** The output of `slipway feeds` for Sparkle's family. */

const url = 'https://u.example/feeds/a&b/stable/x';
const feed = { application: 'a&b', url, isRestricted: false };
const known = { [SPARKLE_ED25519]: 'KEY' };
const unknown = {};

describe.each([sparkle, winsparkle, netsparkle])('$name', (protocol) => {
  it('names the address of its appcast, and the key when it is known', () => {
    const setUp = protocol.describeSetUp({ ...feed, publicKeys: known });
    expect(setUp.addresses.at(-1)?.url).toBe(`${url}/appcast.xml`);
    const texts = setUp.texts.map(({ text }) => text).join('\n');
    expect(texts).toContain('KEY');
    expect(texts).not.toContain('YOUR_PUBLIC_KEY');
    expect(setUp.notes.join('\n')).not.toMatch(/generate_keys/);
  });

  it('says how to find the key, and that a restricted channel needs a token', () => {
    const open = protocol.describeSetUp({ ...feed, publicKeys: unknown });
    expect(open.notes[0]).toMatch(/Replace YOUR_PUBLIC_KEY .*generate_keys/);
    const restricted = { ...feed, isRestricted: true, publicKeys: unknown };
    expect(protocol.describeSetUp(restricted).notes.join('\n')).toMatch(/access token/);
  });
});

it('escapes the address in Info.plist', () => {
  const { texts } = sparkle.describeSetUp({ ...feed, publicKeys: known });
  expect(texts[0]?.text).toContain('<string>https://u.example/feeds/a&amp;b/stable/x/appcast.xml');
});
