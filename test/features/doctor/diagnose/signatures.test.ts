import { expect, it } from 'vitest';
import type { Trust } from '../../../../src/catalog/trust/trust.ts';
import type { AddressDeps, Reply } from '../../../../src/features/doctor/diagnose/ask.ts';
import {
  checkServedRoots,
  checkSignatures,
} from '../../../../src/features/doctor/diagnose/signatures.ts';
import { openTrust } from '../../../../src/releases/trust/open-trust.ts';
import { createFixedClock } from '../../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../../support/release.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { createSignedService } from '../../../support/signed-service.ts';
import { FRESH_MS, makeSigner, trusting } from '../../../support/trust.ts';

/** What `doctor` and `doctor --url` say of roots of trust that a machine, or the service, does not have. */

it('names each machine that has no root of trust of a signed application, or another one', async () => {
  const temporary = await makeTemporaryDirectory();
  const request = { version: '1.0.0', artifacts: [await makeArtifact(temporary.path)] };
  const signed = await createSignedService();
  const { store } = signed.service;
  const other = await createSignedService({ signers: [makeSigner('other')] });
  for (const each of [signed, other]) await each.publish(request);
  const forgetful = await createTestService({ store });
  const careless = await createTestService({ store, env: { TRUST_UNSIGNED: 'desktop' } });
  const settings = { root: undefined, key: undefined, passphrase: undefined, freshMs: FRESH_MS };
  const without = (...unsigned: readonly string[]): Promise<Trust> =>
    openTrust({
      store,
      clock: createFixedClock(),
      settings: { ...settings, unsigned },
      ask: async () => '',
    });
  const compare = (service: TestService, trust: Trust, catalogs?: object) =>
    checkServedRoots({
      ask: (url: string) => inject(service, url),
      url: 'http://updates.test',
      trust,
      catalogs,
    } as unknown as AddressDeps);
  try {
    const here = trusting(signed.service, [signed.root], ...signed.signers);
    const rootless = await without();
    const unsigned = await without('desktop');
    expect(await checkSignatures({ store, trust: here })).toMatchObject({
      outcome: 'ok',
      detail: 'TRUST_ROOT has the root of trust of desktop.',
    });
    expect(await checkSignatures({ store, trust: rootless })).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('Set TRUST_ROOT to the root file of desktop'),
    });
    expect(await checkSignatures({ store, trust: unsigned })).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('TRUST_UNSIGNED names them: desktop'),
    });

    const store1 = { store };
    expect(await compare(signed.service, here, store1)).toMatchObject({ outcome: 'ok' });
    expect(await compare(signed.service, here)).toMatchObject({ outcome: 'ok' });
    expect(await compare(other.service, here, store1)).toMatchObject({
      outcome: 'failed',
      detail: 'The service has another root 1 of desktop than TRUST_ROOT here.',
    });
    for (const trust of [here, rootless, unsigned]) {
      expect(await compare(careless, trust, store1)).toMatchObject({
        outcome: 'failed',
        detail: expect.stringContaining('The service has no root of trust of desktop'),
      });
      expect(await compare(forgetful, trust, store1)).toMatchObject({
        outcome: 'failed',
        detail: 'A request for the signed metadata of desktop got 503.',
      });
    }
    expect(await compare(signed.service, rootless, store1)).toMatchObject({
      outcome: 'skipped',
      detail: expect.stringContaining('Set TRUST_ROOT.'),
    });
    expect(await compare(signed.service, rootless)).toMatchObject({ outcome: 'skipped' });
  } finally {
    await Promise.all([signed, other, forgetful, careless].map((each) => each.close()));
    await temporary.remove();
  }
});

async function inject({ app }: TestService, url: string): Promise<Reply> {
  const { statusCode, body } = await app.http.inject({ url: new URL(url).pathname });
  return { status: statusCode, failure: undefined, headers: new Headers(), text: body };
}
