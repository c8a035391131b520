import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderApiPage } from '../../scripts/site/api-page.ts';
import { renderAllPages, renderLlms } from '../../scripts/site/llms.ts';
import { renderOpenapi } from '../../scripts/site/openapi.ts';
import { DOCS, readPages } from '../../scripts/site/pages.ts';

const GROUPS = readPages();
const PAGES = GROUPS.flatMap(({ pages }) => pages);

describe('the pages of the website', () => {
  it('are all documents, each once, with a title and what it is for', () => {
    const documents = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.md') && file !== 'README.md');
    expect(PAGES.map(({ file }) => file).sort()).toEqual(documents.sort());
    for (const { file, title, purpose } of PAGES) {
      expect([file, title]).not.toEqual([file, file]);
      expect(purpose, file).toMatch(/^[a-z]/);
    }
    expect(PAGES[0]?.file).toBe('getting-started.md');
  });
});

describe('llms.txt', () => {
  it('has the form of llmstxt.org: a title, a summary, and lists of links', () => {
    const text = renderLlms('https://docs.example.com/slipway/', 'A summary.', GROUPS);
    const [title, , summary, , ...rest] = text.split('\n');
    expect([title, summary]).toEqual(['# Slipway', '> A summary.']);
    const lines = rest.filter((line) => line.startsWith('- '));
    expect(lines).toHaveLength(PAGES.length);
    for (const line of lines) {
      expect(line).toMatch(
        /^- \[[^\]]+\]\(https:\/\/docs\.example\.com\/slipway\/[\w/-]+\.md\): \S/i,
      );
    }
    expect(rest.filter((line) => line.startsWith('#')).every((line) => /^## \S/.test(line))).toBe(
      true,
    );
  });

  it('is complete in llms-full.txt', () => {
    const text = renderAllPages('# The skill\n', GROUPS);
    expect(text).toContain('# The skill');
    for (const { file, text: page } of PAGES) {
      expect(text).toContain(`<!-- ${file} -->\n\n${page}`);
    }
  });
});

describe('the page of the HTTP API', () => {
  it('has the document of the service, and loads nothing from other hosts', async () => {
    const document = JSON.parse(await renderOpenapi());
    expect(document.openapi).toMatch(/^3\./);
    expect(Object.keys(document.paths)).toContain('/api/v1/desktop/check-update');
    expect(JSON.stringify(document)).not.toContain('(/docs');
    expect(renderApiPage()).not.toMatch(/(src|href)="(https?:)?\/\//);
  });
});
