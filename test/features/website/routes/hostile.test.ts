import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, release } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { buttonsOf, page } from './page-support.ts';

const NOTES = [
  '# <script>alert(1)</script>',
  '[a](javascript:alert(1)) ![b](https://example.com/pixel.png) <img src=x onerror=alert(1)>',
  'x'.repeat(10_000),
  'right\u202eleft\u2066',
  '>'.repeat(5_000),
  '] ]]> --> <!-- &amp; " \' `',
].join('\n\n');
const FILENAME = '"><script>alert(1)<b>gpj \'$(reboot)`;.exe';

describe('what publishers write, on the pages', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory' });
    await release(
      service,
      '1.0.0',
      [
        {
          machine: 'windows x64 nsis',
          filename: FILENAME,
          signatures: [{ scheme: 'minisign', keyId: '<i>', value: '"><script>' }],
        },
        { machine: 'macos universal dmg', filename: `${'long'.repeat(60)}.dmg` },
      ],
      { notes: { und: NOTES, '"><b>': 'x' } },
    );
  });
  afterAll(() => service.close());

  it.each(['/apps/desktop', '/apps/desktop/releases'])('stays text on %s', async (url) => {
    const { html, status } = await page(service, url);
    expect(status).toBe(200);
    expect(html).not.toMatch(/<script|<b>|<i>|<img|onerror="|[\u202a-\u202e\u2066-\u2069]/);
    expect(html).toContain(
      '<a href="https://example.com/pixel.png" rel="nofollow noopener noreferrer">b</a>',
    );
    expect(html).not.toMatch(/(?:sha256sum|Get-FileHash|certutil -hashfile) [^<]*reboot/);
  });

  it('stays text in the feed', async () => {
    const { body } = await get(service, '/apps/desktop/releases.atom');
    expect(String(body)).not.toMatch(/<script|<img|[\u202a-\u202e\u2066-\u2069]/);
  });

  it('does not keep a file from being downloaded', async () => {
    const { html } = await page(service, '/apps/desktop');
    for (const address of buttonsOf(html)) {
      expect((await get(service, address)).status).toBe(302);
    }
  });

  it('takes bounded memory, whatever clients ask for', async () => {
    const before = await page(service, '/apps/desktop');
    for (let n = 0; n < 50; n++) {
      const { headers } = await page(service, `/apps/desktop?x=${n}`, 'windows', {
        'accept-language': `x-${n}`,
      });
      expect(headers.etag).toBe(before.headers.etag);
    }
  });
});
