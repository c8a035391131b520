import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { release } from '../server/support.ts';
import { hasProgram } from '../support/programs.ts';
import { createTestService, type TestService } from '../support/service.ts';

/** Appcasts, read by libxml2: the parser of Sparkle on macOS is made from it. */

const hasXmllint = await hasProgram('xmllint');

let service: TestService;

beforeAll(async () => {
  service = await createTestService();
  const hostile = ']]> <script>&amp;</script> <!-- -- \u0000\u0007\ufffe 😀 </description></item>';
  for (const [version, notes] of [
    ['1.0.0', hostile],
    ['2.0.0', `<p>${hostile}</p>`],
  ] as const) {
    await release(
      service,
      version,
      ['macos universal zip', 'windows x64 nsis', 'windows arm64 msi', 'linux x64 tar.gz'],
      { notes: { und: notes }, described: { name: hostile, notes: null } },
    );
  }
});
afterAll(() => service.close());

const xpath = async (text: string, path: string): Promise<string> => {
  const child = promisify(execFile)('xmllint', ['--xpath', path, '-']);
  child.child.stdin?.end(text);
  return (await child).stdout.trim();
};

describe.runIf(hasXmllint)('xmllint', () => {
  it.each([
    ['sparkle/appcast.xml', 2],
    ['sparkle/appcast.xml?current_version=2.0.0', 1],
    ['sparkle/appcast.xml?current_version=3.0.0', 0],
    ['winsparkle/appcast.xml', 4],
    ['netsparkle/appcast.xml', 3],
    ['netsparkle/appcast.xml?platform=linux&arch=x64', 1],
  ])('takes %s, with %s items', async (address, items) => {
    const { body } = await service.app.http.inject({ url: `/feeds/desktop/stable/${address}` });
    const { status, stderr } = spawnSync('xmllint', ['--noout', '-'], { input: body });
    expect([status, String(stderr)]).toEqual([0, '']);
    expect(await xpath(body, 'count(/rss/channel/item)')).toBe(String(items));
    const enclosures = 'count(/rss/channel/item/enclosure[@url][@length > 0])';
    expect(await xpath(body, enclosures)).toBe(String(items));
  });
});
