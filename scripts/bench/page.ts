import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PROJECT } from './workspace.ts';

/** Writes the results into `docs/performance.md`. */

const PAGE = path.join(PROJECT, 'docs/performance.md');
const START = '<!-- Written by "npm run bench -- --write". -->';
const END = '<!-- The end of what the bench wrote. -->';

/** The machine that measured, in one line. */
export function describeMachine(): string {
  const processors = os.cpus();
  const model = processors[0]?.model.trim() || 'unknown model';
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${processors.length} × ${model}.`;
}

/** @param tables rendered in Markdown @throws Error when the page has lost its markers */
export async function writePage(now: Date, tables: readonly string[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${PAGE} does not contain ${START} and ${END}.`);
  const date = now.toISOString().slice(0, 10);
  const results = [START, '', `Measured on ${date}: ${describeMachine()}`, '', ...tables].join(
    '\n',
  );
  await writeFile(PAGE, page.slice(0, start) + results + page.slice(end));
}
