import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../src/web/markdown.ts';
import { character } from '../support/character.ts';
import { cpuTimeOf } from '../support/cpu-time.ts';
import { rounds } from '../support/rounds.ts';

const ELEMENTS =
  'p h3 h4 h5 h6 a ul ol li em strong s code pre blockquote hr br table thead tbody tr th td'.split(
    ' ',
  );

/** The tags of HTML in which every `<` of the text is escaped. */
function tagsOf(html: string): { name: string; attributes: string[] }[] {
  return [...html.matchAll(/<\/?([a-z0-9]+)((?:\s+[a-z-]+="[^"<>]*")*)\s*\/?>/g)].map(
    ([, name = '', attributes = '']) => ({
      name,
      attributes: [...attributes.matchAll(/([a-z-]+="[^"]*")/g)].map(([, one = '']) => one),
    }),
  );
}

function expectHarmless(html: string): void {
  expect(html.match(/</g)?.length ?? 0, html).toBe(tagsOf(html).length);
  for (const { name, attributes } of tagsOf(html)) {
    expect(ELEMENTS).toContain(name);
    for (const attribute of attributes) {
      expect(attribute).toMatch(
        /^(href="(https?:\/\/|mailto:)|rel="nofollow noopener noreferrer"|class="(language-|align-)|start="\d)/i,
      );
    }
  }
}

describe('renderMarkdown', () => {
  it('renders what release notes have', () => {
    expect(renderMarkdown('**Fast** `x` ~~old~~\n\n- one\n- two')).toBe(
      '<p><strong>Fast</strong> <code>x</code> <s>old</s></p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n',
    );
  });

  it('puts headings below those of the page, and skips no level', () => {
    const levels = (text: string) =>
      renderMarkdown(text)
        .match(/<h\d/g)
        ?.map((tag) => tag.at(-1));
    expect(levels('# a\n## b\n# c')).toEqual(['3', '4', '3']);
    expect(levels('## a\n#### b\n##### c\n### d\n# e')).toEqual(['3', '4', '5', '4', '3']);
    expect(levels('# a\n## b\n### c\n#### d\n##### e\n###### f')).toEqual('345666'.split(''));
    expect(renderMarkdown('## a\n#### b')).toBe('<h3>a</h3>\n<h4>b</h4>\n');
  });

  it('gives links of the web and of mail a rel', () => {
    const rel = 'rel="nofollow noopener noreferrer"';
    expect(renderMarkdown('[a](https://example.com/a "t")')).toBe(
      `<p><a href="https://example.com/a" ${rel}>a</a></p>\n`,
    );
    expect(renderMarkdown('see https://example.com/x.')).toContain(
      `<a href="https://example.com/x" ${rel}>https://example.com/x</a>.`,
    );
    expect(renderMarkdown('[m](mailto:a@example.com)')).toContain('href="mailto:a@example.com"');
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](data:text/html,hi)',
    '[x](vbscript:x)',
    '[x](file:///etc/passwd)',
    '[x](//example.com/a)',
    '[x](http:/a)',
    '[x](/account)',
    '[x](#top)',
    '[x][1]\n\n[1]: javascript:alert(1)',
    '![x](javascript:alert(1))',
  ])('shows the text of %s and no link', (text) => {
    expect(renderMarkdown(text)).toBe('<p>x</p>\n');
  });

  it('makes no link of a file name', () => {
    expect(renderMarkdown('README.md and build.sh')).toBe('<p>README.md and build.sh</p>\n');
  });

  it('makes a link of an image, and only its text inside a link', () => {
    expect(renderMarkdown('![A *new* shot](https://example.com/a.png)')).toBe(
      '<p><a href="https://example.com/a.png" rel="nofollow noopener noreferrer">A new shot</a></p>\n',
    );
    expect(renderMarkdown('![](https://example.com/a.png)')).toContain(
      '>https://example.com/a.png<',
    );
    const nested = renderMarkdown('[![shot](https://example.com/a.png)](https://example.com/)');
    expect(nested.match(/<a /g)).toHaveLength(1);
    expect(nested).toContain('>shot</a>');
  });

  it('shows HTML as text', () => {
    const html = renderMarkdown(
      '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n<!-- a',
    );
    expectHarmless(html);
    expect(html).toContain('&lt;script&gt;');
  });

  it('aligns cells by a class: the policy refuses styles', () => {
    const html = renderMarkdown('| a | b |\n| :- | -: |\n| 1 | 2 |');
    expect(html).toContain('<td class="align-right">2</td>');
    expect(html).not.toContain('style');
  });

  it('removes characters that reorder text', () => {
    expect(renderMarkdown('a\u202eb\u2066c\u2069 \u200fd')).toBe('<p>abc \u200fd</p>\n');
  });

  it('shows a part of endless notes', () => {
    const html = renderMarkdown('word '.repeat(100_000));
    expect(html.length).toBeLessThan(132_000);
    expect(html).toMatch(/<p>…<\/p>\n$/);
  });

  it.each([
    ['quotes', '> '.repeat(30_000)],
    ['quotes with text', `${'>'.repeat(30_000)} a`],
    ['lists', '- '.repeat(30_000)],
    [
      'lines of deeper lists',
      Array.from({ length: 300 }, (_, n) => `${' '.repeat(2 * n)}- a`).join('\n'),
    ],
    ['emphasis', `${'*a **a '.repeat(8_000)}${' a** a*'.repeat(8_000)}`],
    ['asterisks', '*'.repeat(60_000)],
    ['open links', '['.repeat(60_000)],
    ['open images', '![a]('.repeat(10_000)],
    ['closed brackets', `${'['.repeat(20_000)}a${']'.repeat(20_000)}`],
    ['links in links', `${'['.repeat(5_000)}a${'](https://example.com)'.repeat(5_000)}`],
    ['backticks', Array.from({ length: 300 }, (_, n) => '`'.repeat(n)).join(' ')],
    ['references', '[a]: /b\n'.repeat(10_000)],
    ['a wide table', `${'|a'.repeat(5_000)}|\n${'|-'.repeat(5_000)}|\n${'|b\n'.repeat(2_000)}`],
    ['addresses', 'https://example.com/'.repeat(4_000)],
    ['slashes', 'http://'.repeat(10_000)],
    ['half an address', `https://${'a.'.repeat(30_000)}`],
    ['entities', '&amp'.repeat(20_000)],
    ['angles', '<a@'.repeat(20_000)],
    ['tildes', '~~a '.repeat(15_000)],
    ['one word', 'a'.repeat(60_000)],
  ])('renders hostile %s in little time, and not deep', (_name, text) => {
    let html = '';
    expect(cpuTimeOf(() => (html = renderMarkdown(text)))).toBeLessThan(4_000);
    let depth = 0;
    let deepest = 0;
    for (const [tag] of html.matchAll(/<\/?(?!br|hr)[a-z]\w*/g)) {
      depth += tag.startsWith('</') ? -1 : 1;
      deepest = Math.max(deepest, depth);
    }
    expect(deepest).toBeLessThanOrEqual(45);
    expect(depth).toBe(0);
  });

  it('renders no text to anything but known elements and links', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...'[ ]( ) ![ * ** _ ` ~~ > - # | \n \n\n < > " \' & javascript: https:// data: <a @ : / \\ &#106; &lt; \t <!-- --> = onerror'.split(
          ' ',
        ),
      ),
      fc.string({ unit: character, maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expectHarmless(renderMarkdown(pieces.join('')));
      }),
      { numRuns: rounds(100, 500) },
    );
  });
});
