import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The pages of the documentation, for the website. Their order is the order of the index, `docs/README.md`. */

export const DOCS = path.resolve(import.meta.dirname, '../../docs');

interface Page {
  /** Relative to `docs`, such as `clients/README.md`. */
  readonly file: string;
  readonly title: string;
  /** What a reader wants who opens the page, as the index has it; undefined for the index. */
  readonly purpose: string | undefined;
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
  const purposes = purposesOf(readPage('README.md').text);
  const order = [...purposes.keys()];
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort((one, other) => order.indexOf(one) - order.indexOf(other));
  return Object.entries(GROUPS).map(([folder, title]) => ({
    title,
    pages: files
      .filter((file) => path.posix.dirname(file) === folder)
      .map((file) => ({ ...readPage(file), purpose: purposes.get(file) })),
  }));
}

function readPage(file: string): Page {
  const text = readFileSync(path.join(DOCS, file), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
  return { file, title, purpose: undefined, text };
}

/** The first column of the index for each page that it links to, in the order of the index. */
function purposesOf(index: string): ReadonlyMap<string, string> {
  const purposes = new Map<string, string>();
  const rows = [...index.matchAll(/^\| ([^|]+) \| (.+) \|$/gm)];
  // A row for a whole page says more than a row for a part of it.
  for (const link of [/\]\(([^)#]+\.md)\)/g, /\]\(([^)#]+\.md)#[^)]*\)/g]) {
    for (const [, purpose = '', links = ''] of rows) {
      for (const [, file = ''] of links.matchAll(link)) {
        if (existsSync(path.join(DOCS, file)) && !purposes.has(file)) purposes.set(file, purpose);
      }
    }
  }
  return purposes;
}
