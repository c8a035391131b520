import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { setStatus } from '../../server/support.ts';
import { publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import {
  isAcceptedBySparkle,
  makeSparkleKey,
  signAppcast,
  signedContent,
} from '../../support/sparkle-key.ts';

/** Appcasts that their publisher signed, from the build output to what clients get. */

let service: TestService;

beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

const KEY = makeSparkleKey();
const MAC = { name: 'App.dmg', os: 'macos' } as const;
const WINDOWS = { name: 'Setup-x64.exe', os: 'windows' } as const;

/** Publishes a directory with one file and an appcast. @returns the appcast */
async function release(
  version: string,
  { name, os }: typeof MAC | typeof WINDOWS,
  sign: 'sparkle' | 'netsparkle' | 'no',
  request: Partial<PublishRequest> = {},
): Promise<string> {
  const directory = path.join(service.directory, version, os);
  await mkdir(directory, { recursive: true });
  const filename = name.replace(/[.-]/, `-${version}-universal$&`);
  const content = `${filename} bytes`;
  const feed = `<?xml version="1.0"?>
<rss xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle" version="2.0"><channel><item>
  <sparkle:version>${version}</sparkle:version>
  <sparkle:phasedRolloutInterval>86400</sparkle:phasedRolloutInterval>
  <enclosure url="${filename}" length="${content.length}" sparkle:os="${os}" sparkle:edSignature="${KEY.sign(content)}"/>
</item></channel></rss>
`;
  const text = sign === 'sparkle' ? signAppcast(feed, KEY) : feed;
  const put = (file: string, written: string) => writeFile(path.join(directory, file), written);
  await put(filename, content);
  await put('appcast.xml', text);
  if (sign === 'netsparkle') await put('appcast.xml.signature', KEY.sign(text));
  const build = await readBuildOutput({ paths: [directory], version });
  await publish(service, { version, ...build, ...request });
  await service.refresh();
  return text;
}

const ask = (address: string) =>
  service.app.http.inject({ url: `/feeds/desktop/stable/${address}` });

describe("Sparkle's signed appcast", () => {
  it('is served byte for byte, and a client that requires it accepts it and finds its file', async () => {
    const text = await release('1.0.0', MAC, 'sparkle');
    const { statusCode, rawPayload, body } = await ask('sparkle/appcast.xml');
    expect([statusCode, body]).toEqual([200, text]);
    const { content, signature } = signedContent(rawPayload);
    expect(isAcceptedBySparkle(KEY.publicKey, content, signature)).toBe(true);
    const [, name = ''] = /url="([^"]+)"/.exec(body) ?? [];
    expect((await ask(`sparkle/${name}`)).statusCode).toBe(302);
  });

  it('is that of the release before for clients outside a rollout', async () => {
    const first = await release('1.0.0', MAC, 'sparkle');
    const rollout = { text: '0', freezeWindows: [] };
    await release('2.0.0', MAC, 'sparkle', { rollout });
    expect((await ask('sparkle/appcast.xml?installation_id=a')).body).toBe(first);
    expect((await ask('sparkle/appcast.xml')).body).toBe(first);
  });

  it('is also the answer to a client that has the release, whatever its status', async () => {
    const text = await release('1.0.0', MAC, 'sparkle');
    await setStatus(service, 'yank', '1.0.0');
    expect((await ask('sparkle/appcast.xml?current_version=1.0.0')).body).toBe(text);
    expect((await ask('sparkle/appcast.xml')).body).not.toContain('<item>');
  });

  it('does not reach clients of the other dialects', async () => {
    await release('1.0.0', MAC, 'sparkle');
    const { statusCode, body } = await ask('netsparkle/appcast.xml?platform=macos&arch=arm64');
    expect([statusCode, body.includes('sparkle-signatures')]).toEqual([200, false]);
    expect(body).toContain('<enclosure');
    expect((await ask('sparkle/appcast.xml.signature')).statusCode).toBe(404);
  });

  it('is never replaced once it was offered', async () => {
    await release('1.0.0', MAC, 'sparkle');
    const [built] = (
      await readBuildOutput({
        paths: [path.join(service.directory, '1.0.0', 'macos')],
        version: '1.0.0',
      })
    ).signed;
    if (built === undefined) throw new Error('not signed');
    const other = { ...built, sha256: '0'.repeat(64), bytes: Buffer.from('other') };
    const again = publish(service, { version: '1.0.0', artifacts: [], signed: [other] });
    await expect(again).rejects.toThrow(/published with another signed sparkle-appcast\.xml/);
  });
});

describe("NetSparkle's signed appcast", () => {
  it('is served with its signature, at the address that the client makes', async () => {
    const text = await release('1.0.0', WINDOWS, 'netsparkle');
    const query = '?platform=windows&arch=x64';
    const { body } = await ask(`netsparkle/appcast.xml${query}`);
    expect(body).toBe(text);
    for (const address of [`appcast.xml${query}.signature`, 'appcast.xml.signature']) {
      const signature = await ask(`netsparkle/${address}`);
      expect(signature.statusCode).toBe(200);
      expect(isAcceptedBySparkle(KEY.publicKey, body, signature.body)).toBe(true);
    }
  });

  it('does not hide the files of a system that it has no items for', async () => {
    const windows = await release('1.0.0', WINDOWS, 'netsparkle');
    await release('1.0.0', MAC, 'no');
    expect((await ask('netsparkle/appcast.xml?platform=windows&arch=arm64')).body).toBe(windows);
    expect((await ask('netsparkle/appcast.xml')).body).toBe(windows);
    for (const query of ['?platform=macos&arch=arm64', '?platform=macos']) {
      const { body } = await ask(`netsparkle/appcast.xml${query}`);
      expect(body).toMatch(/App-1\.0\.0-universal\.dmg/);
      const { statusCode } = await ask(`netsparkle/appcast.xml${query}.signature`);
      expect(statusCode).toBe(404);
    }
  });

  it("may be in one release with Sparkle's", async () => {
    const windows = await release('1.0.0', WINDOWS, 'netsparkle');
    const mac = await release('1.0.0', MAC, 'sparkle');
    expect((await ask('sparkle/appcast.xml')).body).toBe(mac);
    expect((await ask('netsparkle/appcast.xml?platform=windows&arch=x64')).body).toBe(windows);
  });
});
