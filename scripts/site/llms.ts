import type { PageGroup } from './pages.ts';

/** Files for tools that read documentation: https://llmstxt.org. */

/**
 * @param site - the address of the website, with a slash at its end
 * @param summary - what Slipway is, in one sentence
 */
export function renderLlms(site: string, summary: string, groups: readonly PageGroup[]): string {
  const sections = groups.map(({ title, pages }) => {
    const lines = pages.map(
      ({ file, title: name, purpose }) =>
        `- [${name}](${site}${file})${purpose === undefined ? '' : `: read it to ${purpose}`}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Slipway

> ${summary}

To publish an application with Slipway, read [SKILL.md](${site}SKILL.md) first: it has every command in order, with exit
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
