import { describe, expect, it } from 'vitest';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../../src/domain/signature.ts';
import type { SigningFacts } from '../../../src/domain/signing-facts.ts';
import {
  findDifferences,
  type Preflight,
  refuseFindings,
} from '../../../src/releases/publish/preflight.ts';
import { makeMinisignKey } from '../../support/minisign-key.ts';

const ACME = 'CN=Acme GmbH, O=Acme GmbH, C=DE';
const OTHER = 'CN=Other Ltd, O=Other Ltd, C=GB';

type File = Preflight['files'][number];

const windows = (signing: SigningFacts = {}, more: Partial<File> = {}): File => ({
  platform: 'windows',
  arch: 'x64',
  format: 'nsis',
  filename: 'App-Setup.exe',
  size: 1_000,
  sha256: '',
  sha512: '',
  minimumOsVersion: null,
  signatures: [],
  companions: [],
  object: '',
  signing,
  ...more,
});
const mac = (signing: SigningFacts, more: Partial<File> = {}) =>
  windows(signing, { platform: 'macos', format: 'zip', filename: 'App-mac.zip', ...more });

const release = (version: string, ...artifacts: readonly Artifact[]) =>
  ({ version, artifacts }) as unknown as Release;

const compare = (file: File, earlier: readonly Release[], more: Partial<Preflight> = {}) =>
  findDifferences({
    version: '2.0.0',
    files: [file],
    requires: null,
    earlier,
    sparkleKey: null,
    seen: [],
    ...more,
  });
const texts = (...given: Parameters<typeof compare>) =>
  compare(...given)
    .filter(({ isNew }) => isNew)
    .map(({ text }) => text);

describe('a file that is like the earlier ones', () => {
  it('has no differences', () => {
    const signing = { publisher: ACME, acceptedPublishers: ['Acme GmbH'] };
    expect(texts(windows(signing), [release('1.0.0', windows(signing))])).toEqual([]);
    const apple = { team: 'ABCDE12345', hardenedRuntime: true, ticket: true };
    expect(texts(mac(apple), [release('1.0.0', mac(apple))])).toEqual([]);
    expect(texts(windows(), [])).toEqual([]);
  });
});

describe('a file without a signature', () => {
  const signed = (scheme: typeof MINISIGN | typeof SPARKLE_ED25519) =>
    windows({}, { signatures: [{ scheme, value: 'a signature', keyId: 'KEY' }] });

  it('is said when the earlier one has a signature: no updater of that tool is offered it', () => {
    for (const scheme of [MINISIGN, SPARKLE_ED25519] as const) {
      const [text = '', ...others] = texts(windows(), [release('1.0.0', signed(scheme))]);
      expect(others).toEqual([]);
      expect(text).toMatch(/App-Setup\.exe has no signature, and the nsis of 1\.0\.0 has one/);
      expect(texts(signed(scheme), [release('1.0.0', signed(scheme))])).toEqual([]);
    }
    expect(texts(windows(), [release('1.0.0', windows())])).toEqual([]);
  });
});

describe('releases that cannot update to the new one', () => {
  it('are not compared', () => {
    const releases = [
      release('1.1.0', windows({ publisher: OTHER })),
      release('1.0.0', windows({ publisher: ACME })),
    ];
    const file = windows({ publisher: OTHER });
    expect(texts(file, releases)).toHaveLength(1);
    expect(texts(file, releases, { requires: '>=1.1.0' })).toEqual([]);
  });
});

describe('a signature', () => {
  const rules = (file: File) =>
    compare(file, []).map(({ requirement, isNew }) => [requirement, isNew]);

  it('that cannot be read is refused by a rule, and only then', () => {
    expect(rules(windows())).toEqual([['publisher', false]]);
    expect(rules(windows({}, { filename: 'App.msi', format: 'msi' }))).toEqual([]);
    expect(rules(mac({}))).toEqual([
      ['team', false],
      ['ticket', false],
    ]);
    expect(rules(mac({}, { format: 'dmg', filename: 'App.dmg' }))).toEqual([]);
  });

  it('that does not fit the bytes is said', () => {
    const found = texts(windows({}, { hasBrokenSignature: true }), []);
    expect(found).toEqual([expect.stringMatching(/^The signature of App-Setup\.exe does not fit/)]);
  });
});

describe('a signature that cannot be verified', () => {
  it('is said, and refused by a rule', () => {
    const file = windows({}, { signatureProblem: 'the key of its certificate did not make it' });
    expect(compare(file, [])).toEqual([
      {
        requirement: 'publisher',
        isNew: true,
        text: expect.stringMatching(
          /^The signature of App-Setup\.exe cannot be verified: the key of its certificate did not make it\./,
        ),
      },
    ]);
  });
});

describe('a certificate', () => {
  const AUTHORITY = 'CN=Example Authority';
  const by = (issuer: string | null | undefined) =>
    windows({ publisher: ACME, ...(issuer === undefined ? {} : { issuer }) });
  const found = (issuer: string | null | undefined, ...before: (string | null | undefined)[]) =>
    compare(
      by(issuer),
      before.map((each, index) => release(`1.${9 - index}.0`, by(each))),
    ).map(({ requirement, isNew, text }) => ({ requirement, isNew, text }));
  const refused = { requirement: 'publisher', isNew: true };
  const warned = { requirement: null, isNew: true };

  it.each([
    ['the same issuer', AUTHORITY, [AUTHORITY], []],
    ['its own key, as before', null, [null], []],
    ['its own key, and no earlier release', null, [], []],
    ['its own key, and earlier releases that state no issuer', null, [undefined], []],
    ['its own key', null, [AUTHORITY], [refused]],
    [
      'its own key, and the newest release states no issuer',
      null,
      [undefined, AUTHORITY],
      [refused],
    ],
    ['its own key, as only the newest release', null, [null, AUTHORITY], []],
    ['another issuer', 'CN=Other Authority', [AUTHORITY], [warned]],
    ['an issuer in place of its own key', AUTHORITY, [null], [warned]],
    ['an issuer that nothing states', undefined, [AUTHORITY], []],
  ])('that is signed by %s', (_what, issuer, before, expected) => {
    expect(found(issuer, ...before)).toEqual(
      expected.map((each) => ({ ...each, text: expect.stringContaining('App-Setup.exe') })),
    );
  });

  it('is compared in words that name both', () => {
    expect(found(null, AUTHORITY)[0]?.text).toMatch(
      /^The certificate of App-Setup\.exe is signed with its own key, and the certificate of 1\.9\.0 by CN=Example Authority\./,
    );
    expect(found('CN=Other', null)[0]?.text).toMatch(
      /is signed by CN=Other, and the certificate of 1\.9\.0 by its own key\. Anyone can make a certificate with the name CN=Acme GmbH/,
    );
  });
});

describe('a publisher', () => {
  const earlier = (accepted?: readonly string[]) => [
    release(
      '1.0.0',
      windows({ publisher: ACME, ...(accepted && { acceptedPublishers: accepted }) }),
    ),
  ];

  it.each([
    ['the common name', ['Acme GmbH'], ACME, true],
    ['another common name', ['Acme GmbH'], OTHER, false],
    ['the full name in another order', ['C=DE, O=Acme GmbH, CN=Acme GmbH'], ACME, true],
    ['a part of the full name', ['CN=Acme GmbH'], ACME, true],
    ['a full name with another country', ['CN=Acme GmbH, C=US'], ACME, false],
    ['one of two', ['Other Ltd', 'Acme GmbH'], ACME, true],
    ['a quoted name', ['CN="Acme, Inc."'], 'CN="Acme, Inc.", C=US', true],
    ['no name, which accepts all', [], OTHER, true],
    ['the last signer, without a configuration', undefined, ACME, true],
    ['another signer, without a configuration', undefined, OTHER, false],
  ])('that earlier builds accept by %s', (_what, accepted, publisher, isAccepted) => {
    const found = texts(windows({ publisher }), earlier(accepted));
    expect(found).toHaveLength(isAccepted ? 0 : 1);
    if (!isAccepted) expect(found[0]).toContain('so it refuses this update');
  });

  it('is said with the releases that refuse it, and with the checks of their clients', () => {
    const releases = [
      release('1.2.0', windows({ acceptedPublishers: ['Acme GmbH', 'Other Ltd'] })),
      release('1.1.0', windows({ acceptedPublishers: ['Acme GmbH'] })),
      release('1.0.0', windows({ acceptedPublishers: ['Acme GmbH'] })),
    ];
    const row = { channel: 'stable', platform: 'windows' };
    const seen = [
      { ...row, version: '1.0.0', checks: 40_000 },
      { ...row, version: '1.1.0', checks: 1_000 },
      { ...row, version: '1.2.0', checks: 7 },
      { ...row, platform: 'macos', version: '1.0.0', checks: 9 },
    ];
    expect(texts(windows({ publisher: OTHER }), releases, { seen })[0]).toContain(
      '2 of 3 earlier releases (41,000 checks in 30 days: 1.1.0, 1.0.0) accepts only Acme GmbH',
    );
  });

  it('that is missing is said after a signed release, and is refused when it is required', () => {
    const [after] = texts(windows({ publisher: null }), earlier());
    expect(after).toMatch(/is not signed, and the file of 1\.0\.0 is signed by CN=Acme GmbH/);
    const first = compare(windows({ publisher: null }), []);
    expect(first).toMatchObject([{ isNew: false, requirement: 'publisher' }]);
    expect(() => refuseFindings('desktop', first, ['team'])).not.toThrow();
    expect(() => refuseFindings('desktop', first, ['publisher'])).toThrow(
      /is not signed\. Sign it .* Nothing was published, because desktop requires "publisher"/,
    );
  });
});

describe('an application for macOS', () => {
  const before = [
    release('1.0.0', mac({ team: 'ABCDE12345', hardenedRuntime: true, ticket: true })),
  ];

  it.each([
    [{ team: 'ZZZZZ12345' }, /by the team ZZZZZ12345, and the file of 1\.0\.0 by the team ABCDE/],
    [{ team: null }, /is signed by no team, and/],
    [{ hardenedRuntime: false }, /no hardened runtime.*The file of 1\.0\.0 has it\./],
    [{ ticket: false }, /no stapled ticket of Apple.*The file of 1\.0\.0 has it\./],
  ])('that differs by %j is said', (signing, expected) => {
    const found = texts(mac(signing), before);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it('without a team and a ticket is refused when they are required', () => {
    const found = compare(mac({ team: null, ticket: false }), []);
    expect(found.map(({ requirement, isNew }) => [requirement, isNew])).toEqual([
      ['team', false],
      ['ticket', false],
    ]);
  });
});

describe('a key', () => {
  const [old, next] = [makeMinisignKey(0x1111), makeMinisignKey(0x2222)];
  const signedWith = (keyId: string, trusted?: string) =>
    windows(trusted === undefined ? {} : { trustedKeys: [{ scheme: MINISIGN, key: trusted }] }, {
      signatures: [{ scheme: MINISIGN, keyId, value: '' }],
    });
  // 1.1.0 is the rotation: signed with the old key, it brings the new one.
  const earlier = [
    release('1.1.0', signedWith(old.keyId, next.pubkey)),
    release('1.0.0', signedWith(old.keyId, old.pubkey)),
    release('0.9.0', signedWith(old.keyId)),
  ];

  it('that no release trusts, or only some, is said', () => {
    expect(texts(signedWith(next.keyId), earlier)[0]).toContain(
      `is signed with the Tauri key ${next.keyId}. 1 of 2 earlier releases (1.0.0) trust only the key ${old.keyId}`,
    );
    expect(texts(signedWith(old.keyId), earlier)[0]).toContain('1 of 2 earlier releases (1.1.0)');
    expect(texts(signedWith(next.keyId), earlier.slice(0, 1))).toEqual([]);
    expect(texts(signedWith('F'.repeat(16)), earlier)[0]).toContain('2 of 2');
  });

  it('of Sparkle is compared when it verified the signature', () => {
    const sparkle = (key: string) =>
      mac(
        { trustedKeys: [{ scheme: SPARKLE_ED25519, key }] },
        { signatures: [{ scheme: SPARKLE_ED25519, keyId: '', value: '' }] },
      );
    const releases = [release('1.0.0', sparkle('old'))];
    expect(texts(sparkle('new'), releases, { sparkleKey: 'new' })[0]).toMatch(
      /is signed with the Sparkle key new\. 1 of 1 earlier releases \(1\.0\.0\) trust only the key old/,
    );
    expect(texts(sparkle('new'), releases, { sparkleKey: 'old' })).toEqual([]);
    expect(texts(sparkle('new'), releases)).toEqual([]);
  });
});

describe('a file', () => {
  it.each([
    ['2.0.0', 0],
    ['2.0.0.1234', 0],
    ['2.0.0-beta.1', 0],
    ['1.9.0', 1],
    ['2.0.1', 1],
    ['build 7', 0],
  ])('that states the version %s inside has %i differences', (versionInside, count) => {
    expect(texts(windows({}, { versionInside }), [])).toHaveLength(count);
  });

  it.each([
    [500, 0],
    [499, 1],
    [1_500, 0],
    [1_501, 1],
  ])('of %i bytes after one of 1000 has %i differences', (size, count) => {
    expect(texts(windows({}, { size }), [release('1.0.0', windows())])).toHaveLength(count);
  });
});
