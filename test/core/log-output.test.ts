import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { createLineRenderer, openLogOutput } from '../../src/core/log-output.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

const REQUEST = {
  ...{ level: 30, time: 0, pid: 1, hostname: 'host', request_id: 'r', method: 'GET' },
  ...{ url: '/livez', remote_address: '192.0.2.1', status: 200, duration_ms: 0.4, msg: 'request' },
};

/** What a log writes into a file. */
async function written(
  format: 'auto' | 'json' | 'text',
  isTTY: boolean,
  lines: string,
): Promise<string> {
  const directory = await makeTemporaryDirectory();
  const file = path.join(directory.path, 'log');
  const handle = await open(file, 'w');
  try {
    (await openLogOutput(format, { fd: handle.fd, isTTY })).write(lines);
    return await readFile(file, 'utf8');
  } finally {
    await handle.close();
    await directory.remove();
  }
}

describe('the output of the log', () => {
  const line = `${JSON.stringify(REQUEST)}\n`;

  it('is JSON where no terminal reads it, unchanged', async () => {
    expect(await written('auto', false, line + line)).toBe(line + line);
    expect(await written('json', true, line)).toBe(line);
  });

  it('is text on a terminal, one line for each line', async () => {
    for (const text of [
      await written('auto', true, line + line),
      await written('text', false, line + line),
    ]) {
      expect(text).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: GET \/livez 200, 0\.4 ms, 192\.0\.2\.1\n/);
      expect(text.trim().split('\n')).toHaveLength(2);
      expect(text).not.toContain('hostname');
    }
  });

  it('shows the facts of other lines, and the stack of an error', async () => {
    const render = await createLineRenderer(false);
    const facts = {
      level: 50,
      time: 0,
      msg: 'failed',
      key: 'apps/desktop',
      err: { type: 'Error', message: 'no', stack: 'Error: no\n    at x' },
    };
    const text = render(JSON.stringify(facts));
    expect(text).toContain('ERROR: failed {"key":"apps/desktop"}');
    expect(text).toContain('at x');
  });

  it('shows what an expected error says, without its stack', async () => {
    const render = await createLineRenderer(false);
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const cause = new Error('UnknownError');
    const err = new AppError('invalid_configuration', 'Set S3_BUCKET.', { cause });
    logger.warn({ err }, 'failed');
    const text = render(lines.join(''));
    expect(text).toMatch(/WARN: failed \{"reason":"Set S3_BUCKET\."\}\n$/);
  });

  it('never passes control characters of clients on to the terminal', async () => {
    const render = await createLineRenderer(false);
    const hostile = '/\u001b]0;title\u0007\u009b31m\r';
    for (const facts of [
      { ...REQUEST, url: hostile },
      { level: 30, msg: hostile, list: [hostile] },
    ]) {
      const text = render(JSON.stringify(facts));
      expect(text.trimEnd()).not.toMatch(/(?!\n)\p{Cc}/u);
      expect(text).toContain('title');
    }
  });
});
