import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { get, release, setDisplayName } from '../../../server/support.ts';
import { hasProgram } from '../../../support/programs.ts';
import { createTestService } from '../../../support/service.ts';

const hasXmllint = await hasProgram('xmllint');

it.skipIf(!hasXmllint)('xmllint finds the Atom feed of the releases well-formed', async () => {
  const env = { PUBLIC_URL: 'https://updates.example.com/slipway', BRAND_NAME: 'Acme & Söhne' };
  const service = await createTestService({ env });
  const hostile = '</title> ]]> <!-- & &nbsp; \u{1f600} "';
  for (const version of ['1.0.0', '1.1.0']) {
    const notes = { und: `# Changes\n\n<b> & [x](https://example.com/${version}) ${hostile}` };
    await release(service, version, ['windows x64 nsis', 'linux x64 deb'], { notes });
  }
  for (const name of [null, hostile]) {
    await setDisplayName(service, name);
    const { body } = await get(service, '/apps/desktop/releases.atom');
    const { status, stderr } = spawnSync('xmllint', ['--noout', '-'], { input: body });
    expect([status, String(stderr)]).toEqual([0, '']);
  }
  await service.close();
});
