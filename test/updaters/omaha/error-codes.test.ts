import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { createErrorLedger, createSwitchedLoad, get, release } from '../../server/support.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** As `test/server/error-codes.test.ts`, for the questions of Omaha. */

const OMAHA = 'POST /feeds/{app}/{channel}/omaha/v1/update';
const OMAHA_URL = '/feeds/desktop/stable/omaha/v1/update';

const ledger = createErrorLedger();

describe('error codes of Omaha', () => {
  const load = createSwitchedLoad();
  let service: TestService;
  let unloaded: TestService;

  beforeAll(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    service = await createTestService({ env: { TIERS: JSON.stringify(tiers) }, load });
    unloaded = await createTestService({ start: false });
    await release(service, '0.1.0', ['windows x64 nsis']);
    await release(service, '6.0.0', ['windows x64 nsis'], { channel: 'insider' });
  }, 60_000);
  afterAll(() => Promise.all([service.close(), unloaded.close()]));

  const ask = (
    status: number,
    code: ErrorCode,
    payload: string,
    { url = OMAHA_URL, from = service } = {},
  ) => ledger.produce(from, OMAHA, status, code, { url, payload });

  it('feeds, by POST', async () => {
    await ask(400, 'invalid_request', '<request');
    await ask(400, 'malformed_json', '{');
    await ask(400, 'invalid_version', omahaCheck('one'));
    await ask(400, 'unknown_format', omahaCheck('1.0'), { url: `${OMAHA_URL}?format=floppy` });
    const insider = OMAHA_URL.replace('stable', 'insider');
    await ask(403, 'not_entitled', omahaCheck('1.0'), { url: insider });
    await ask(404, 'unknown_file', omahaCheck('1.0'), { url: `${OMAHA_URL}/more` });
    await ask(413, 'body_too_large', 'x'.repeat(17 * 1024));
    await ask(503, 'catalog_unavailable', omahaCheck('1.0'), { from: unloaded });
  });

  it('overloaded', async () => {
    load.set(true);
    await ask(503, 'overloaded', omahaCheck('1.0'));
    load.set(false);
  });

  it('are exactly those that the OpenAPI document lists', async () => {
    const { body } = await get(service, '/openapi.json');
    ledger.expectDocumented(body, ['feeds'], (operation) => operation === OMAHA);
  });
});

function omahaCheck(version: string): string {
  return `<request protocol="3.0"><os platform="win" arch="x64"/><app appid="a" version="${version}"><updatecheck/></app></request>`;
}
