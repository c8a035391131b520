import path from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectSameOutput } from '../../cli/dry-run.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { intakeOf, submission } from './support.ts';

describe('--dry-run', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: TestService;
  let message: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    service = await createTestService({ env: { DATA_DIR: path.join(directory.path, 'data') } });
    const { clock, randomness, app } = service;
    const intake = intakeOf({ store: app.privateStore, clock, randomness });
    message = (await intake.submit(submission({ email: 'ada@example.com' }))).id;
  });
  afterAll(() => Promise.all([service.close(), directory.remove()]));

  it.each(['redeliver', 'erase', 'erase'])('contact %s', (verb) =>
    expectSameOutput(directory.path, ['contact', verb, message], 0),
  );
});
