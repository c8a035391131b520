import { expect, it } from 'vitest';
import { readVersion, systemClock } from '../../src/core/system.ts';
import { ask as askDirectly } from '../../src/features/doctor/ask-over-http.ts';
import { diagnoseAddress } from '../../src/features/doctor/diagnose/address.ts';
import type { Ask } from '../../src/features/doctor/diagnose/ask.ts';
import type { Proxied } from './proxied.ts';

/** What `slipway doctor --url` says of the delivered files. */
export function defineDoctor(at: Proxied): void {
  const { host, basePath } = at.variant;
  const url = `https://${host}${basePath}`;

  /** No resolver knows the host. */
  const ask: Ask = async (address, question = {}) => {
    const { origin, pathname, search } = new URL(address);
    const { method, headers, body } = question;
    if (new URL(address).host !== host) return askDirectly(address, question);
    const send = origin.startsWith('https:') ? at.client.ask : at.client.askPlain;
    const answer = await send(`${pathname}${search}`, {
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    });
    return {
      status: answer.status,
      failure: undefined,
      headers: { get: (name) => answer.headers[name]?.toString() ?? null },
      text: answer.body.toString(),
    };
  };

  it('doctor finds nothing wrong from outside', async () => {
    const checks = await diagnoseAddress({
      ...{ ask, url, clock: systemClock, version: readVersion() },
      ...{ catalogs: at.catalogs, application: 'desktop' },
    });
    // No root of trust is installed where this test asks, so nothing is compared with the service's.
    const compared = checks.filter(({ name }) => name !== 'root of trust');
    expect(compared.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(checks).toHaveLength(19);
  });
}
