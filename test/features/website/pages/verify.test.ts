import { describe, expect, it } from 'vitest';
import { signaturesOf } from '../../../../src/features/website/pages/signature.ts';
import { commandName, renderHashCommands } from '../../../../src/features/website/pages/verify.ts';

describe('the name of a file in a command', () => {
  it.each([
    ['App-1.0.0.exe', 'App-1.0.0.exe'],
    ['Acme Notes Setup (x64) 1.0.0.exe', '"Acme Notes Setup (x64) 1.0.0.exe"'],
    ['Äpp-1.0.dmg', '"Äpp-1.0.dmg"'],
    ['a; rm -rf ~', 'FILE'],
    ['$(reboot).exe', 'FILE'],
    ['`reboot`', 'FILE'],
    ['%PATH%.exe', 'FILE'],
    ['-rf', 'FILE'],
    ['a"b', 'FILE'],
    ["a'b", 'FILE'],
    ['a“b', 'FILE'],
    ['a!b', 'FILE'],
    ['a\u202egpj.exe', 'FILE'],
    [' a', 'FILE'],
  ])('%j is %s', (filename, expected) => {
    expect(commandName(filename)).toBe(expected);
  });
});

it('names the command of each system', () => {
  const text = renderHashCommands([
    ['windows', 'A.exe'],
    ['macos', 'A.dmg'],
    ['linux', 'A B.deb'],
  ]);
  expect(
    [...text.matchAll(/<pre tabindex="0"><code>([^<]*)</g)].map(([, command]) => command),
  ).toEqual([
    'Get-FileHash A.exe -Algorithm SHA256',
    'certutil -hashfile A.exe SHA256',
    'shasum -a 256 A.dmg',
    'sha256sum &#34;A B.deb&#34;',
  ]);
});

it('shows a signature that is not what its scheme says, and makes no command of it', () => {
  const text = signaturesOf({
    filename: 'A.zip',
    signatures: [
      { scheme: 'minisign', keyId: '<b>', value: "'; reboot #" },
      { scheme: 'minisign', keyId: '', value: 'c2lnbmVk' },
      { scheme: 'sparkle-ed25519', keyId: '', value: '$(reboot)' },
    ],
  });
  expect(text).not.toMatch(/openssl|<b>/);
  expect(text.match(/<details/g)).toHaveLength(3);
});
