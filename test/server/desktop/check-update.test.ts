import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUpdateAnswerSchema } from '../../../src/answers/check-update/check-update-text.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

describe('POST /api/v1/desktop/check-update', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await createTestService({ store: 'directory' });
  });

  afterEach(() => service.close());

  const check = async (body: object) => {
    const response = await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/desktop/check-update',
      payload: body,
    });
    return { status: response.statusCode, body: response.json() };
  };

  it('offers the newer release, with a link whose bytes match', async () => {
    const artifact = await makeArtifact(`${service.directory}/1`, { content: 'version two' });
    await publish(service, { version: '1.0.0', artifacts: [{ ...artifact }] });
    await publish(service, { version: '2.0.0', artifacts: [artifact], notes: { und: 'New.' } });
    await service.refresh();
    await service.listen();
    const { status, body } = await check({
      current_version: 'v1.0.0',
      platform: 'win32',
      arch: 'x86_64',
    });
    expect(status).toBe(200);
    expect(checkUpdateAnswerSchema.parse(body)).toMatchObject({
      update_available: true,
      reason: 'offer',
      version: '2.0.0',
      latest_version: '2.0.0',
      notes: 'New.',
      platform: 'windows',
      download: { filename: 'App-Setup.exe', size: 11, format: 'nsis' },
    });
    const file = await fetch(body.download.url);
    expect(await file.text()).toBe('version two');
  });

  it('answers "no update" with a reason', async () => {
    await publish(service, {
      version: '1.0.0',
      artifacts: [await makeArtifact(service.directory)],
    });
    await service.refresh();
    const { body } = await check({ current_version: '1.0.0', platform: 'windows', arch: 'x64' });
    expect(body).toEqual({
      update_available: false,
      reason: 'up_to_date',
      app: 'desktop',
      channel: 'stable',
      current_version: '1.0.0',
      latest_version: '1.0.0',
      catalog_revision: 1,
      check_again_after_seconds: 14_400,
    });
  });
});
