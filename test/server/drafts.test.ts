import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDraft } from '../../src/releases/publish/open-draft.ts';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION, release } from './support.ts';

/** No public answer of a service tells that there is a draft: each is the same with it and without it. */

const WINDOWS = 'windows x64 nsis';
const DRAFTED = '1.1.0';
const FILE = `App-${DRAFTED}-windows-x64.nsis`;

let service: TestService;

beforeAll(async () => {
  service = await createTestService({
    env: { PUBLIC_URL: 'https://updates.example.com', PUBLIC_GROUP_MIN: '1' },
  });
  await release(service, '1.0.0', [WINDOWS]);
});
afterAll(() => service.close());

const draft = (version: string, request: Partial<PublishRequest> = {}) =>
  release(service, version, [WINDOWS], { mode: 'draft', ...request });

const UPDATES = [
  { current_version: '1.0.0' },
  { current_version: DRAFTED },
  { current_version: '0.9.0', manual: true, installation_id: 'a', channel: 'beta' },
  { current_version: '0.9.0', allow_downgrade: true, channel: 'nightly' },
  { current_version: '0.9.0', app: 'secret' },
].map((body) => ({ platform: 'windows', arch: 'x64', ...body }));

const PAGES = [
  LATEST_VERSION,
  `${LATEST_VERSION}?channel=nightly`,
  `${LATEST_VERSION}?app=secret`,
  `${DOWNLOAD}/windows`,
  `${DOWNLOAD}/windows?version=${DRAFTED}`,
  `${DOWNLOAD}/windows?version=${DRAFTED}&channel=nightly`,
  `${DOWNLOAD}/windows?version=1.3.0-beta.1&channel=nightly`,
  `${DOWNLOAD}/windows?app=secret`,
  '/feeds/desktop/stable/electron/latest.yml',
  '/feeds/desktop/nightly/electron/latest.yml',
  '/feeds/secret/stable/electron/latest.yml',
  '/feeds/desktop/stable/tauri/windows/x86_64/1.0.0',
  `/feeds/desktop/stable/${DRAFTED}/${FILE}`,
  `/feeds/desktop/nightly/${DRAFTED}/${FILE}`,
  `/feeds/desktop/stable/electron/${FILE}`,
  '/api/v1/system/status',
  '/api/v1/metrics/public/live',
  '/monitoring/health',
  '/monitoring/overview',
  '/api/v1/metrics/public/live?app=secret',
  '/readyz',
];

/** Every public answer, without what differs between two equal questions: ids of requests, the revision, shared counts. */
async function ask(): Promise<Readonly<Record<string, string>>> {
  const { http } = service.app;
  const answers: Record<string, string> = {};
  for (const body of UPDATES) {
    const answer = await http.inject({ method: 'POST', url: CHECK_UPDATE, body });
    answers[JSON.stringify(body)] = `${answer.statusCode} ${answer.body}`;
  }
  for (const url of PAGES) {
    for (const method of ['GET', 'HEAD'] as const) {
      const headers = { accept: 'application/json' };
      const answer = await http.inject({ method, url, headers });
      answers[`${method} ${url}`] = `${answer.statusCode} ${answer.body}`;
    }
  }
  const masked = Object.entries(answers).map(([question, answer]) => [
    question,
    answer
      .replace(/"request_id":"[^"]*"/g, '"request_id"')
      .replace(/("(?:catalog_)?revision"):\d+/g, '$1')
      .replace(/("\w*(?:age|uptime)\w*_seconds"):[\d.]+/g, '$1')
      .replace(/revision \d+, confirmed [^.]* ago/g, 'revision')
      .replace(/(?:\d{4}-\d\d-\d\dT[\d:.]+Z)/g, 'TIME')
      // The signature of a link.
      .replace(/\?[^"]*signature=[^"]*/gi, ''),
  ]);
  return Object.fromEntries(masked);
}

it('is the same with drafts as without, for an offered version, a channel and an application', async () => {
  // Counts of the first questions are part of later answers.
  await ask();
  const before = await ask();
  expect(before[`GET ${LATEST_VERSION}`]).toMatch(/^200 .*"version":"1\.0\.0"/);
  expect(before[`GET ${LATEST_VERSION}?channel=nightly`]).toMatch(/^404 .*unknown_channel/);
  expect(before[`GET ${LATEST_VERSION}?app=secret`]).toMatch(/^404 .*unknown_application/);

  await draft(DRAFTED);
  await draft('1.3.0-beta.1', { channel: 'nightly' });
  await draft('1.0.0', { application: 'secret' });
  const during = await ask();
  const { body: overview } = await service.app.http.inject('/monitoring/overview');
  expect(overview).not.toMatch(/nightly|1\.1\.0|secret/);
  expect(withoutCounts(during)).toEqual(withoutCounts(before));
  // Operators read how long drafts wait on which channel; these metrics are not public.
  const metrics = (await service.app.metrics.metrics()).split('\n');
  const others = metrics.filter((line) => !line.startsWith('slipway_draft_age_seconds'));
  expect(others.join('\n')).not.toMatch(/1\.1\.0|nightly|1\.3\.0/);

  const request = { application: 'desktop', channel: 'stable', version: DRAFTED };
  await openDraft({ ...service, actor: 'test' }, { ...request, allowPrerelease: false });
  await service.refresh();
  const after = await ask();
  expect(after[`GET ${LATEST_VERSION}`]).toMatch(/^200 .*"version":"1\.1\.0"/);
  expect(after[JSON.stringify(UPDATES[0])]).toMatch(/^200 .*"version":"1\.1\.0"/);
  expect(after[`GET ${DOWNLOAD}/windows?version=${DRAFTED}`]).toMatch(/^200/);
  expect(after[`GET ${LATEST_VERSION}?channel=nightly`]).toMatch(/^404 .*unknown_channel/);
});

/** Live metrics count the questions of this test. */
function withoutCounts(
  answers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const masked = Object.entries(answers).map(([question, answer]) => [
    question,
    /metrics|overview/.test(question) ? answer.replaceAll(/\d+/g, 'N') : answer,
  ]);
  return Object.fromEntries(masked);
}
