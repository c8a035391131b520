import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUpdateAnswerSchema } from '../../../src/answers/check-update/check-update-text.ts';
import { REASONS } from '../../../src/domain/decide-update.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, get, LATEST_VERSION, release, setStatus } from '../support.ts';

describe('POST /api/v1/desktop/check-update, reason by reason', () => {
  let service: TestService;
  const seen = new Set<string>();

  beforeEach(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    service = await createTestService({ env: { TIERS: JSON.stringify(tiers) } });
  });
  afterEach(() => service.close());

  /** Every answer must have exactly the documented fields, and agree with latest-version. */
  const ask = async (body: Record<string, unknown>) => {
    const { status, headers, body: answer } = await check(service, body);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    seen.add(answer.reason);
    const query = new URLSearchParams({
      platform: String(body.platform ?? 'windows'),
      arch: String(body.arch ?? 'x64'),
      channel: String(body.channel ?? 'stable'),
    });
    const latest = await get(service, `${LATEST_VERSION}?${query}`);
    expect(answer.latest_version).toBe(latest.status === 200 ? latest.body.version : null);
    return checkUpdateAnswerSchema.parse(answer);
  };

  it('offer, with every field', async () => {
    await release(service, '2.0.0', ['windows x64 nsis'], { notes: { und: 'News' } });
    const answer = await ask({ installation_id: 'i', os_version: '10.0.1', locale: 'en' });
    expect(answer).toMatchObject({
      update_available: true,
      reason: 'offer',
      app: 'desktop',
      channel: 'stable',
      current_version: '1.0.0',
      latest_version: '2.0.0',
      catalog_revision: 1,
      check_again_after_seconds: 14_400,
      version: '2.0.0',
      mandatory: false,
      downgrade: false,
      notes: 'News',
      platform: 'windows',
      arch: 'x64',
      download: { filename: 'App-2.0.0-windows-x64.nsis', format: 'nsis', signatures: [] },
    });
  });

  it('up_to_date: a release without a native build for a machine that has them', async () => {
    await release(service, '1.0.0', ['windows x64 nsis', 'windows arm64 nsis']);
    await release(service, '1.1.0', ['windows x64 nsis']);
    const arm64 = { arch: 'aarch64' };
    expect(await ask(arm64)).toMatchObject({ reason: 'up_to_date', latest_version: '1.0.0' });
    expect(await ask({ ...arm64, current_version: '0.9.0' })).toMatchObject({
      version: '1.0.0',
      arch: 'arm64',
    });
    expect(await ask({ arch: 'x64' })).toMatchObject({ version: '1.1.0', arch: 'x64' });
    const endsNative = [{ platform: 'windows', arch: 'arm64' }] as const;
    await release(service, '1.2.0', ['windows x64 nsis'], { endsNative });
    expect(await ask(arm64)).toMatchObject({ version: '1.2.0', arch: 'x64' });
  });

  it('up_to_date: the same version, a newer one, and one that differs in build metadata', async () => {
    await release(service, '2.0.0', ['windows x64 nsis']);
    for (const current_version of ['2.0.0', 'v2.0.0', '2.0.0+build.7', '3.0.0-alpha']) {
      expect(await ask({ current_version })).toMatchObject({ reason: 'up_to_date' });
    }
    expect(await ask({ current_version: '2.0.0-rc.1' })).toMatchObject({ reason: 'offer' });
  });

  it('no_release: when everything was yanked', async () => {
    await release(service, '2.0.0', ['windows x64 nsis']);
    await setStatus(service, 'yank', '2.0.0');
    expect(await ask({})).toMatchObject({ reason: 'no_release', latest_version: null });
  });

  it('paused: no client is offered it, and no client is downgraded; resume undoes it', async () => {
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis']);
    await setStatus(service, 'pause', '2.0.0');
    expect(await ask({})).toMatchObject({ reason: 'paused', latest_version: '1.0.0' });
    expect(await ask({ current_version: '2.0.0' })).toMatchObject({ reason: 'up_to_date' });
    expect(await ask({ current_version: '0.9.0' })).toMatchObject({ version: '1.0.0' });
    await setStatus(service, 'resume', '2.0.0');
    expect(await ask({})).toMatchObject({ reason: 'offer', version: '2.0.0' });
  });

  it('held_by_rollout: the newest release is for other installations first', async () => {
    await release(service, '1.0.0', ['windows x64 nsis']);
    const rollout = { text: '0', freezeWindows: [] };
    await release(service, '2.0.0', ['windows x64 nsis'], { rollout });
    const held = { reason: 'held_by_rollout', latest_version: '1.0.0' };
    expect(await ask({ installation_id: 'i' })).toMatchObject(held);
    expect(await ask({ current_version: '0.9.0' })).toMatchObject({ version: '1.0.0' });
  });

  it('yanked: falls back to the older release, and offers the next release to clients that run it', async () => {
    await release(service, '1.5.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis']);
    await setStatus(service, 'yank', '2.0.0');
    expect(await ask({})).toMatchObject({ version: '1.5.0' });
    expect(await ask({ current_version: '2.0.0' })).toMatchObject({ reason: 'up_to_date' });
    await release(service, '2.0.1', ['windows x64 nsis']);
    expect(await ask({ current_version: '2.0.0' })).toMatchObject({ version: '2.0.1' });
  });

  it('unsupported_platform, and an older release for a platform the newest lacks', async () => {
    await release(service, '1.5.0', ['macos universal zip']);
    await release(service, '2.0.0', ['windows x64 nsis']);
    const linux = { platform: 'linux' };
    expect(await ask(linux)).toMatchObject({ reason: 'unsupported_platform' });
    expect(await ask({ arch: 'ia32' })).toMatchObject({ reason: 'unsupported_platform' });
    const mac = await ask({ platform: 'darwin', arch: 'aarch64' });
    expect(mac).toMatchObject({ version: '1.5.0', arch: 'universal', latest_version: '1.5.0' });
  });

  it('unsupported_format: a client that states its format is offered no other', async () => {
    await release(service, '2.0.0', ['windows x64 nsis', 'windows x64 zip']);
    expect(await ask({ format: 'msi' })).toMatchObject({ reason: 'unsupported_format' });
    expect(await ask({ format: 'zip' })).toMatchObject({ download: { format: 'zip' } });
    expect(await ask({})).toMatchObject({ download: { format: 'nsis' } });
  });

  it('unsupported_os_version: the system is too old, or the client does not state it', async () => {
    await release(service, '2.0.0', [
      { machine: 'windows x64 nsis', minimumOsVersion: '10.0.19045' },
    ]);
    for (const os_version of [undefined, '6.1.7601', 'Windows XP']) {
      expect(await ask({ os_version })).toMatchObject({ reason: 'unsupported_os_version' });
    }
    expect(await ask({ os_version: '10.0.22631' })).toMatchObject({ reason: 'offer' });
  });

  it('must_step_through: first the stepping stone, then the newest', async () => {
    await release(service, '3.0.0', ['windows x64 nsis'], { requires: '>=2.0.0' });
    expect(await ask({})).toMatchObject({ reason: 'must_step_through', latest_version: '3.0.0' });
    await release(service, '2.0.0', ['windows x64 nsis']);
    expect(await ask({})).toMatchObject({ version: '2.0.0', latest_version: '3.0.0' });
    expect(await ask({ current_version: '2.0.0' })).toMatchObject({ version: '3.0.0' });
  });

  it('not_entitled: other tiers learn nothing about a channel for some tiers, from any version', async () => {
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis'], { channel: 'insider' });
    for (const current_version of ['1.0.0', '2.0.0', '3.0.0']) {
      const answer = await ask({ channel: 'insider', current_version });
      expect(answer).toEqual({
        update_available: false,
        reason: 'not_entitled',
        app: 'desktop',
        channel: 'insider',
        current_version,
        latest_version: null,
        catalog_revision: 2,
        check_again_after_seconds: 14_400,
      });
    }
    expect(await ask({})).toMatchObject({ reason: 'up_to_date' });
  });

  it('mandatory for the versions that its publisher named', async () => {
    await release(service, '2.0.0', ['windows x64 nsis'], { mandatoryFor: '<1.2.0' });
    expect(await ask({ current_version: '1.1.9' })).toMatchObject({ mandatory: true });
    expect(await ask({ current_version: '1.2.0-beta' })).toMatchObject({ mandatory: true });
    expect(await ask({ current_version: '1.2.0' })).toMatchObject({ mandatory: false });
  });

  it('takes every alias of a platform and an architecture', async () => {
    await release(service, '2.0.0', ['windows x64 nsis', 'macos arm64 zip', 'linux armv7 deb']);
    for (const platform of ['windows', 'win', 'win32', 'win64', 'WINDOWS']) {
      for (const arch of ['x64', 'x86_64', 'amd64', 'X64']) {
        expect(await ask({ platform, arch })).toMatchObject({ reason: 'offer', arch: 'x64' });
      }
    }
    for (const platform of ['macos', 'mac', 'osx', 'darwin']) {
      expect(await ask({ platform, arch: 'aarch64' })).toMatchObject({ arch: 'arm64' });
    }
    expect(await ask({ platform: 'linux', arch: 'armv7l' })).toMatchObject({ arch: 'armv7' });
  });

  it('offers x64 builds to arm64 Windows and macOS, which emulate x64, and not to Linux', async () => {
    await release(service, '2.0.0', ['windows x64 nsis', 'macos x64 zip', 'linux x64 appimage']);
    const arch = 'arm64';
    expect(await ask({ platform: 'windows', arch })).toMatchObject({ arch: 'x64' });
    expect(await ask({ platform: 'macos', arch })).toMatchObject({ arch: 'x64' });
    expect(await ask({ platform: 'linux', arch })).toMatchObject({
      reason: 'unsupported_platform',
      latest_version: null,
    });
  });

  it('notes in the language of the request', async () => {
    const notes = { und: 'News', de: 'Neues', 'pt-BR': 'Novidades' };
    await release(service, '2.0.0', ['windows x64 nsis'], { notes });
    for (const [locale, text] of [
      ['de-AT', 'Neues'],
      ['DE', 'Neues'],
      ['pt', 'Novidades'],
      ['ja', 'News'],
      ['__proto__', 'News'],
    ]) {
      expect(await ask({ locale })).toMatchObject({ notes: text });
    }
  });

  it('a pre-release channel also offers newer stable releases; stable offers no pre-release', async () => {
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0-beta.1', ['windows x64 nsis'], { channel: 'beta' });
    const beta = { channel: 'beta' };
    expect(await ask(beta)).toMatchObject({ version: '2.0.0-beta.1', channel: 'beta' });
    expect(await ask({})).toMatchObject({ reason: 'up_to_date' });
    await release(service, '2.0.0', ['windows x64 nsis']);
    const answer = await ask({ ...beta, current_version: '2.0.0-beta.1' });
    expect(answer).toMatchObject({ version: '2.0.0', channel: 'beta' });
    expect(await ask({ channel: 'latest' })).toMatchObject({ channel: 'stable' });
  });

  it('another application by its name', async () => {
    await release(service, '7.0.0', ['linux x64 deb'], { application: 'helper' });
    const { body } = await check(service, { app: 'helper', platform: 'linux' });
    expect(body).toMatchObject({ app: 'helper', version: '7.0.0' });
  });

  it('ignores unknown fields and an invalid bearer token', async () => {
    await release(service, '2.0.0', ['windows x64 nsis']);
    expect(await ask({ color: 'red', nested: { deep: [1] } })).toMatchObject({ reason: 'offer' });
    const response = await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/desktop/check-update',
      headers: { authorization: 'Bearer nonsense' },
      payload: { current_version: '1.0.0', platform: 'windows', arch: 'x64' },
    });
    expect(response.statusCode).toBe(200);
  });

  it('has produced every reason', () => {
    expect([...seen].sort()).toEqual([...REASONS].sort());
  });
});
