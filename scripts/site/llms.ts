import type { PageGroup } from './pages.ts';

/** Files for tools that read documentation: https://llmstxt.org. */

/** The index of the documents lets its reader say "I want to … my own project". */
const addressed = (purpose: string): string =>
  purpose
    .replace(/\bmy\b/g, 'your')
    .replace(/\bmyself\b/g, 'yourself')
    .replace(/\bI\b/g, 'you');

/**
 * @param site - the address of the website, with a slash at its end
 * @param summary - what Slipway is, in one sentence
 */
export function renderLlms(site: string, summary: string, groups: readonly PageGroup[]): string {
  const sections = groups.map(({ title, pages }) => {
    const lines = pages.map(
      ({ file, title: name, purpose }) => `- [${name}](${site}${file}): to ${addressed(purpose)}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Slipway

> ${summary}

To publish an application with Slipway, read [SKILL.md](${site}SKILL.md) first: it has the commands of each step, with exit
codes. [llms-full.txt](${site}llms-full.txt) has all pages in one file. [openapi.json](${site}api/openapi.json) describes
the HTTP API.

${sections.join('\n')}`;
}

/** All pages in one text. A line before each page names its file. */
export function renderAllPages(skill: string, groups: readonly PageGroup[]): string {
  const pages = groups.flatMap(({ pages: each }) => each);
  return [
    `<!-- SKILL.md -->\n\n${skill}`,
    ...pages.map(({ file, text }) => `<!-- ${file} -->\n\n${text}`),
  ].join('\n');
}
