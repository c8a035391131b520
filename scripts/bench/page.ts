import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PROJECT } from './context.ts';

/** Writes the results into `docs/performance.md`. For every benchmark, this page has a block between two markers. */

const PAGE = path.join(PROJECT, 'docs/performance.md');

/** The machine of the measurement, in one line. */
export function describeMachine(): string {
  const processors = os.cpus();
  const model = processors[0]?.model.trim() || 'unknown model';
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${processors.length} × ${model}.`;
}

/** @param tables rendered in Markdown @throws Error when the page has no block for the benchmark */
export async function writePage(now: Date, name: string, tables: readonly string[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [start, end] = [`<!-- bench ${name} -->`, `<!-- end of ${name} -->`];
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${PAGE} does not contain ${start} and ${end}.`);
  const machine = `Measured on ${now.toISOString().slice(0, 10)}: ${describeMachine()}`;
  const block = [start, '', machine, '', ...tables, end].join('\n');
  await writeFile(PAGE, `${before}${block}${after}`);
}
