import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderApiPage, SWAGGER_FILES, swaggerFile } from './api-page.ts';
import { renderAllPages, renderLlms } from './llms.ts';
import { renderOpenapi } from './openapi.ts';
import { readPages } from './pages.ts';

/** Adds to the website what VitePress does not make: the page of the HTTP API, and the files for tools. */
const ROOT = path.resolve(import.meta.dirname, '../..');
const SITE = path.join(ROOT, 'site/dist');
const { homepage, description } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(SITE, file)), { recursive: true });
  writeFileSync(path.join(SITE, file), text);
}

write('api/index.html', renderApiPage());
write('api/openapi.json', await renderOpenapi());
for (const file of SWAGGER_FILES) copyFileSync(swaggerFile(file), path.join(SITE, 'api', file));

const groups = readPages();
const skill = readFileSync(path.join(ROOT, 'SKILL.md'), 'utf8');
write('SKILL.md', skill);
write('llms.txt', renderLlms(homepage, `${description}.`, groups));
write('llms-full.txt', renderAllPages(skill, groups));
// The sources of the pages, to which llms.txt links.
const pages = groups.flatMap((group) => group.pages);
for (const { file, text } of pages) write(file, text);
console.log(`site/dist: ${pages.length + 2} pages`);
