import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { DOCS, readPages } from '../../scripts/site/pages.ts';

/** The website of the documentation. It has no text of its own but the first screen: the pages are those in `docs`. */

const ROOT = path.resolve(DOCS, '..');
const { description, homepage, repository } = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
) as { description: string; homepage: string; repository: { url: string } };
const FORGE = repository.url.replace(/^git\+(.*)\.git$/, '$1');
const BASE = new URL(homepage).pathname;

/** A ship on a slipway. */
const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3451b2" d="M4 16h24l-4 7H9zM14 5h4v9h-4z"/><path fill="#8b95b5" d="M2 25l28 3v2H2z"/></svg>')}`;

const asIndex = (file: string): string => file.replace(/(^|\/)README\.md$/, '$1index.md');

/** Sends links to files outside `docs` to the repository. A link to no file ends the build. */
function linkToRepository(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('repository-links', (state) => {
    const from: string = state.env.realPath ?? state.env.path;
    const links = state.tokens
      .flatMap(({ children }) => children ?? [])
      .filter(({ type }) => type === 'link_open');
    for (const link of links) {
      const href = link.attrGet('href') ?? '';
      if (href === '' || /^([a-z][a-z+.-]*:|#|\/)/i.test(href)) continue;
      const [, to = '', rest = ''] = /^([^?#]*)(.*)$/.exec(href) ?? [];
      const target = path.resolve(path.dirname(from), decodeURI(to));
      if (!existsSync(target)) throw new Error(`${from}: ${href} leads to no file`);
      const isPage = !path.relative(DOCS, target).startsWith('..') && target.endsWith('.md');
      const kind = statSync(target).isDirectory() ? 'tree' : 'blob';
      const outside = `${FORGE}/${kind}/main/${path.relative(ROOT, target)}${rest}`;
      link.attrSet('href', isPage ? asIndex(to) + rest : outside);
    }
  });
}

/** Vite looks for Vue beside the pages. It is beside this configuration, where the server's build runs. */
const vueForPages = {
  name: 'vue-for-pages',
  enforce: 'pre' as const,
  resolveId: (source: string, _importer: string | undefined, { ssr }: { ssr?: boolean }) =>
    ssr === true && /^vue(\/|$)/.test(source) ? { id: source, external: true } : undefined,
};

export default defineConfig({
  title: 'Slipway',
  description: `${description}.`,
  lang: 'en',
  base: BASE,
  srcDir: '../docs',
  outDir: 'dist',
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: ICON }]],
  rewrites: asIndex,
  sitemap: { hostname: homepage },
  markdown: { config: linkToRepository },
  vite: { plugins: [vueForPages] },
  transformPageData(page) {
    if (page.relativePath !== 'index.md') return;
    Object.assign(page.frontmatter, {
      layout: 'home',
      hero: {
        name: 'Slipway',
        text: 'Updates for desktop applications, from your own bucket',
        tagline:
          'Publish a build with one command. The service offers it to Electron, Tauri, Velopack, Sparkle and Squirrel applications within five seconds, and stops a bad release as quickly.',
        actions: [
          { theme: 'brand', text: 'Get started', link: '/getting-started' },
          { theme: 'alt', text: 'Compare', link: '/comparison' },
          { theme: 'alt', text: 'GitHub', link: FORGE },
        ],
      },
      features: [
        {
          title: 'Nothing else to run',
          details:
            'The bucket is the only database. No object in it is overwritten, and clients see a complete release or none.',
          link: '/concepts',
        },
        {
          title: 'Your updater stays',
          details:
            'Twelve protocols. The tests run electron-updater, Velopack, zsync and Squirrel.Windows, and check the others by their source code.',
          link: '/clients/',
        },
        {
          title: 'Releases that you can stop',
          details:
            'Staged rollouts, pause, yank and rollback, each with a preview of who gets what.',
          link: '/publishing/bad-release',
        },
        {
          title: 'Keys that you keep',
          details:
            'With signed releases, a stolen key of the bucket publishes nothing, and applications can verify it.',
          link: '/operations/trust',
        },
      ],
    });
  },
  themeConfig: {
    nav: [
      { text: 'Documentation', link: '/getting-started' },
      { text: 'Commands', link: '/publishing/commands' },
      { text: 'HTTP API', link: '/api/index.html', target: '_self' },
    ],
    sidebar: readPages().map(({ title, pages }) => ({
      text: title,
      collapsed: title !== 'Slipway',
      items: pages.map((page) => ({
        text: page.title,
        link: `/${asIndex(page.file).replace(/(?:index)?\.md$/, '')}`,
      })),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: FORGE }],
    editLink: { pattern: `${FORGE}/edit/main/docs/:path`, text: 'Edit this page' },
    footer: { message: 'Apache-2.0' },
  },
});
