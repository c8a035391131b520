import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The pages of the documentation, for the website. Their order is the order of the index, `docs/README.md`. */

export const DOCS = path.resolve(import.meta.dirname, '../../docs');

interface Page {
  /** Relative to `docs`, such as `clients/README.md`. */
  readonly file: string;
  readonly title: string;
  /** What a reader wants who opens the page, as the index has it. */
  readonly purpose: string;
  readonly text: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly Page[];
}

const GROUPS: Readonly<Record<string, string>> = {
  '.': 'Slipway',
  publishing: 'Publish',
  clients: 'Connect an updater',
  website: 'Website',
  operations: 'Operate the service',
  maintaining: 'Maintain Slipway',
};

/** All pages but the index, in groups. */
export function readPages(): readonly PageGroup[] {
  const purposes = purposesOf(readFileSync(path.join(DOCS, 'README.md'), 'utf8'));
  const order = [...purposes.keys()];
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort((one, other) => order.indexOf(one) - order.indexOf(other));
  return Object.entries(GROUPS).map(([folder, title]) => ({
    title,
    pages: files
      .filter((file) => path.posix.dirname(file) === folder)
      .map((file) => {
        const text = readFileSync(path.join(DOCS, file), 'utf8');
        const heading = /^# (.+)$/m.exec(text)?.[1] ?? file;
        return { file, title: heading, purpose: purposes.get(file) ?? heading, text };
      }),
  }));
}

/** The first column of the index for each page that it links to, in the order of the index. */
function purposesOf(index: string): ReadonlyMap<string, string> {
  const purposes = new Map<string, string>();
  const rows = [...index.matchAll(/^\| ([^|]+) \| (.+) \|$/gm)];
  // A row for a whole page says more than a row for a part of it.
  for (const link of [/\]\(([^)#]+\.md)\)/g, /\]\(([^)#]+\.md)#[^)]*\)/g]) {
    for (const [, purpose = '', links = ''] of rows) {
      for (const [, file = ''] of links.matchAll(link)) {
        if (!purposes.has(file)) purposes.set(file, purpose);
      }
    }
  }
  return purposes;
}
