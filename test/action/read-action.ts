import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../cli/support.ts';

export interface Step {
  readonly id: string;
  readonly shell: string;
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Action {
  readonly [key: string]: unknown;
  readonly inputs: Readonly<
    Record<string, { description: string; required: boolean; default?: string }>
  >;
  readonly outputs: Readonly<Record<string, { description: string; value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export async function readAction(): Promise<Action> {
  return parse(await readFile(path.join(ROOT, 'action.yml'), 'utf8'));
}
