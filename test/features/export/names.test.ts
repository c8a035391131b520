import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { escapeXml } from '../../../src/core/xml.ts';
import { createMentions } from '../../../src/features/export/mentions.ts';
import { findUnanswered } from '../../../src/features/export/unanswered.ts';
import { publishWebBuild, seededBytes } from '../../support/electron-build.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { describeContent, signFeed } from '../../support/signed-feed.ts';
import { createScene, exported, filesIn, type Scene } from './scene.ts';

/** Files that documents name in another way than `{version}/{filename}`. */

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

afterEach(() => scene.service.close());

const FEED = 'feeds/desktop/stable/electron';

async function releaseSigned(version: string): Promise<string> {
  const filename = `My App-${version}.exe`;
  const built = await makeArtifact(`${scene.service.directory}/${version}`, {
    platform: 'windows',
    format: 'nsis',
    filename,
    content: filename,
  });
  const text = signFeed({ version, files: [describeContent(encodeURI(filename), filename)] });
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const facts = { path: '', size: bytes.length, stagingPercentage: null, lists: [], elsewhere: [] };
  const signed = [{ ...facts, name: 'latest.yml', bytes, sha256 }];
  await publish(scene.service, { version, artifacts: [built], signed });
  await scene.service.refresh();
  return text;
}

describe('the files of an export', () => {
  it('of signed documents are beside the document, which is exported byte for byte', async () => {
    await releaseSigned('1.0.0');
    const text = await releaseSigned('2.0.0');
    await exported(scene);
    const files = await filesIn(scene.target);
    expect(files.get(`${FEED}/latest.yml`)?.toString()).toBe(text);
    for (const version of ['1.0.0', '2.0.0']) {
      const name = `My App-${version}.exe`;
      for (const path of [`${FEED}/${name}`, `${FEED}/${version}/${name}`]) {
        expect(files.get(path)?.toString(), path).toBe(name);
      }
    }
  });

  it('of web installers have their package where the installer looks for it', async () => {
    const bytes = seededBytes(50_000, 'package');
    const shipped = await publishWebBuild(scene.service, { version: '1.0.0', bytes });
    await scene.service.refresh();
    await exported(scene);
    const files = await filesIn(scene.target);
    for (const path of ['app-1.0.0-x64.nsis.7z', '1.0.0/app-1.0.0-x64.nsis.7z']) {
      expect(files.get(`${FEED}/${path}`)?.equals(shipped.package), path).toBe(true);
    }
  });
});

const NAME = fc.string({ minLength: 1, maxLength: 30 }).filter((name) => !/[/\\\p{C}]/u.test(name));

describe('the search for names in documents', () => {
  it('finds each name as YAML, JSON, XML and addresses have it', () => {
    fc.assert(
      fc.property(NAME, fc.constantFrom('1.0.0', '1.0.0-beta.1', '1.0.0+5'), (name, version) => {
        const address = `https://x.example/f/${encodeURIComponent(version)}/${encodeURIComponent(name)}`;
        const alone = [name, encodeURIComponent(name), encodeURI(name)];
        const written = [
          (text: string) =>
            stringify({ path: text }, { defaultStringType: 'QUOTE_SINGLE', lineWidth: 0 }),
          (text: string) => JSON.stringify({ path: text }),
          (text: string) => `<enclosure url="${escapeXml(text)}"/>`,
        ];
        for (const write of written) {
          const mentionOf = (text: string) =>
            createMentions([{ body: Buffer.from(write(text)) }])(version, name);
          for (const text of alone) expect(mentionOf(text), write(text)).toBe('beside_document');
          expect(mentionOf(address), write(address)).not.toBe('no');
        }
      }),
    );
  });

  it('tells a name below its version from one beside the document', () => {
    const mentionOf = (text: string) =>
      createMentions([{ body: Buffer.from(text) }])('1.0.0+5', 'App.exe');
    expect(mentionOf('url: 1.0.0%2B5/App.exe')).toBe('below_version');
    expect(mentionOf('url: App.exe')).toBe('beside_document');
    expect(mentionOf('url: 1.0.0%2B5/App.exe\npath: App.exe')).toBe('beside_document');
    expect(mentionOf('url: Other.exe')).toBe('no');
  });
});

describe('addresses that the service does not answer', () => {
  it('are found in every kind of document, and not those that are exported', () => {
    const url = 'https://x.example/base';
    const at = (name: string) => `${url}/feeds/a/stable/sparkle/${name}`;
    const body = Buffer.from(
      `<x url="${at('1.0.0/A%20b.zip')}"/> "${at('1.0.0/c.zip')}" '${at('2.0.0/d.zip')}?q=1' <![CDATA[${at('3.0.0/e.zip')}]]>`,
    );
    const paths = new Set(['feeds/a/stable/sparkle/1.0.0/A b.zip']);
    const document = { path: 'appcast.xml', body, contentType: 'text/xml' };
    const found = findUnanswered([document], paths, url);
    expect(found.map(({ versions }) => versions.join())).toEqual(['1.0.0', '2.0.0', '3.0.0']);
  });
});
