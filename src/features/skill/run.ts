import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Terminal } from '../../cli/terminal.ts';

/**
 * The build of the publisher in one file (`scripts/build/one-file.ts`) sets this constant, because that file has no
 * SKILL.md beside it.
 */
declare const SLIPWAY_SKILL: string | undefined;

export async function printSkill(terminal: Terminal): Promise<void> {
  terminal.stdout.write(readSkill());
}

/** SKILL.md is three folders above the sources and four above the compiled files. */
function readSkill(): string {
  if (typeof SLIPWAY_SKILL === 'string') return SLIPWAY_SKILL;
  const isCompiled = import.meta.filename.endsWith('.js');
  const root = path.join(import.meta.dirname, '../../..', isCompiled ? '..' : '');
  return readFileSync(path.join(root, 'SKILL.md'), 'utf8');
}
