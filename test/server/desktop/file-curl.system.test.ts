import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { hasProgram } from '../../support/programs.ts';
import { createTestService } from '../../support/service.ts';
import { DOWNLOAD, get, release } from '../support.ts';

const run = promisify(execFile);

it.skipIf(!(await hasProgram('curl')))(
  'curl resumes a signed link where it was cut off',
  async () => {
    const service = await createTestService({ store: 'directory' });
    try {
      await service.listen();
      const content = 'a program of some length'.repeat(1_000);
      await release(service, '1.0.0', [{ machine: 'windows x64 nsis', content }]);
      const link = String((await get(service, `${DOWNLOAD}/windows`)).headers.location);
      const file = path.join(service.directory, 'partial');
      await writeFile(file, content.slice(0, 321));
      await run('curl', ['-sS', '--fail', '-C', '-', '-o', file, link]);
      expect(await readFile(file, 'utf8')).toBe(content);
    } finally {
      await service.close();
    }
  },
);
