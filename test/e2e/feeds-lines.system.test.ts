import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { json, slipway } from '../cli/support.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { expectDifferential, openClient, releaseTwo, update } from './differential.ts';

/** The lines that `slipway feeds` prints, in the configuration of the real electron-updater. */

let service: TestService;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
});

afterEach(() => service.close());

it.each(['nsis', 'mac', 'appimage'] as const)(
  '%s: updates with the printed lines, and downloads what changed',
  async (kind) => {
    const { old, next } = await releaseTwo(service, kind);
    const env = { DATA_DIR: service.config.dataDirectory, PUBLIC_URL: await service.listen() };
    const listed = json(await slipway(['feeds', '--json'], { cwd: service.directory, env }));
    const [electron] = listed.channels[0].feeds;
    const texts = new Map<string, string>(
      electron.texts.map(({ into, text }: { into: string; text: string }) => [
        into.split(/[ ,]/)[0],
        text,
      ]),
    );
    const { provider, url, channel } = parse(String(texts.get('app-update.yml')));
    // electron-builder replaces the variable, and writes the rest as it is.
    const { publish } = parse(String(texts.get('electron-builder.yml')));
    expect({ ...publish, url: publish.url.replace(/\$\{arch\}$/, 'x64') }).toEqual({
      provider,
      url,
      channel,
    });
    const client = await openClient(service, {
      kind,
      url,
      config: { provider, channel },
      installed: old.file,
      configure: (updater) => {
        updater.requestHeaders = { 'x-current-version': '1.0.0' };
      },
    });
    expectDifferential(await update(client), next.file);
  },
);
