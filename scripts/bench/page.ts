import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PROJECT } from './context.ts';

/** Writes the results into the documents. For every block of tables, one document has a start and an end marker. */

const PAGES = ['docs/performance.md', 'docs/performance-details.md'];

/** The machine of the measurement, in one line. */
export function describeMachine(): string {
  const processors = os.cpus();
  const model = processors[0]?.model.trim() || 'unknown model';
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${processors.length} × ${model}.`;
}

/** @param table rendered in Markdown @throws Error when no page has the block */
export async function writePage(now: Date, name: string, table: string): Promise<void> {
  const [start, end] = [`<!-- bench ${name} -->`, `<!-- end of ${name} -->`];
  for (const file of PAGES.map((page) => path.join(PROJECT, page))) {
    const [before, rest] = (await readFile(file, 'utf8')).split(start);
    const after = rest?.split(end)[1];
    if (after === undefined) continue;
    const machine = `Measured on ${now.toISOString().slice(0, 10)}: ${describeMachine()}`;
    const block = [start, '', machine, '', table, end].join('\n');
    return writeFile(file, `${before}${block}${after}`);
  }
  throw new Error(`None of ${PAGES.join(', ')} contains ${start} and ${end}.`);
}
