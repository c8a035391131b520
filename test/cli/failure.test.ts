import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../../src/cli/failure.ts';
import { AppError } from '../../src/core/errors.ts';
import { COMPLETE } from '../../src/features/package-commands.ts';
import { hashFile } from '../../src/releases/files/hash-file.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { slipway } from './support.ts';

const say = (error: unknown): string => sentenceOf(error, '1.2.3');

describe('the message of a failure', () => {
  it('for a system error has the path, the reason and what to do, and no stack', async () => {
    const missing = path.resolve('no-such-file');
    const error = await readFile('no-such-file').catch((reason: unknown) => reason);
    expect(say(error)).toBe(
      `${missing} failed on open: no such file or directory, ENOENT. Check the path. The file may have been removed meanwhile.`,
    );
    const strange = Object.assign(new Error('x'), { code: 'ESTRANGE' });
    expect(say(strange)).toBe(
      'A system call failed: ESTRANGE. Check it and run the command again.',
    );
  });

  it('for an AppError is the message of the error, with the reason of the system when the message lacks one', () => {
    const cause = Object.assign(new Error('x'), { code: 'EACCES' });
    expect(say(new AppError('invalid_artifact', 'a: it cannot be read', { cause }))).toBe(
      'a: it cannot be read (permission denied, EACCES).',
    );
    expect(say(new AppError('invalid_artifact', 'Not read (EACCES).', { cause }))).toBe(
      'Not read (EACCES).',
    );
    expect(say(new AppError('needs_create', 'Add --create.'))).toBe('Add --create.');
  });

  it('for an unexpected error says that it is a bug, with the stack', () => {
    const text = say(new TypeError('x is not a function'));
    expect(text).toMatch(/^This is a bug in slipway 1\.2\.3, not a mistake in the command\./);
    expect(text).toMatch(/TypeError: x is not a function\n +at /);
    expect(say('just text')).toMatch(/just text$/);
  });

  it('is JSON with --json, also for a system error', async () => {
    const directory = await makeTemporaryDirectory();
    const environment = () => {
      throw Object.assign(new Error('x'), { code: 'EACCES', syscall: 'access', path: '.env' });
    };
    const { runCommandLine } = await import('../../src/cli/command-line.ts');
    let stderr = '';
    const write = (text: string) => {
      stderr += text;
    };
    const sink = { write } as never;
    const terminal = {
      ...COMPLETE.roles,
      environment,
      stdin: process.stdin,
      stdout: sink,
      stderr: sink,
    };
    expect(await runCommandLine(['releases', '--json'], terminal, COMPLETE)).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/\.env failed on access: permission denied, EACCES\. Give/),
    });
    const { code } = await slipway(['releases'], { cwd: directory.path });
    expect(code).toBe(2);
    await directory.remove();
  });

  it('for a missing build file names it', async () => {
    const directory = await makeTemporaryDirectory();
    const artifact = await makeArtifact(directory.path);
    await directory.remove();
    await expect(hashFile(artifact, () => {})).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: `${artifact.path} cannot be read (ENOENT). Give this user access, or build again.`,
    });
  });
});
