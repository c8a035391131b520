import createMarkdownIt, { type MarkdownIt, type Token } from 'markdown-it';
import { withoutReordering } from './plain-text.ts';

/**
 * Release notes as HTML. Publishers write the notes, and visitors and admins see them. So the HTML has no scripts,
 * styles, forms, images or addresses that a page could load.
 */

/** In UTF-16 units. Notes of build tools have at most 64 KiB; the time to render grows with the length. */
const LENGTH_MAX = 128 * 1024;
/**
 * The deepest nesting of lists and quotes, and of emphasis inside a line. The renderer leaves out deeper content, and
 * deeper emphasis has no effect.
 */
const NESTING_MAX = 20;
/** The page's own headings are h1 and h2. */
const HEADING_MIN = 3;
const HEADING_MAX = 6;

/**
 * The addresses of the links that stay. A publisher writes relative links for another place, so they would be wrong on
 * a page.
 */
const LINKED = /^(?:https?:\/\/[^/]|mailto:)/i;
const LINK_REL = 'nofollow noopener noreferrer';

const renderer = createRenderer();

/**
 * Markdown (CommonMark with tables and strikethrough) as HTML for the content of a page. Its headings are h3 to h6.
 * HTML in the text is shown as text. An image becomes a link to the image.
 *
 * Renders at most 128 Ki characters, so that the time has a limit.
 */
export function renderMarkdown(text: string): string {
  const isCut = text.length > LENGTH_MAX;
  const rendered = renderer.render(withoutReordering(isCut ? text.slice(0, LENGTH_MAX) : text));
  return isCut ? `${rendered}<p>…</p>\n` : rendered;
}

function createRenderer(): MarkdownIt {
  const markdown = createMarkdownIt({ html: false, linkify: true, maxNesting: NESTING_MAX });
  // Without this line, names of files such as README.md would become links.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  // Accepts every link here, because `changeInline` removes the links that are not allowed, and keeps their text.
  markdown.validateLink = () => true;
  markdown.core.ruler.push('pages', ({ tokens }) => {
    orderHeadings(tokens);
    for (const token of tokens) {
      alignByClass(token);
      if (token.children !== null) token.children = changeInline(token.children);
    }
  });
  return markdown;
}

/** Gives each heading the level below its parent heading: screen readers report a skipped level. */
function orderHeadings(tokens: readonly Token[]): void {
  let parents: readonly number[] = [];
  for (const token of tokens) {
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1));
      parents = [...parents.filter((parent) => parent < level), level];
    }
    if (token.type === 'heading_open' || token.type === 'heading_close') {
      token.tag = `h${Math.min(HEADING_MIN + parents.length - 1, HEADING_MAX)}`;
    }
  }
}

/** Replaces the style attribute by a class, because the policy of the page refuses style attributes. */
function alignByClass(token: Token): void {
  const align = /^text-align:(left|center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
  token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null;
  if (align !== undefined) token.attrJoin('class', `align-${align}`);
}

/** Keeps only absolute links, turns images into links, and limits the nesting of elements. */
function changeInline(tokens: readonly Token[]): Token[] {
  const changed: Token[] = [];
  /** One entry for each open element: true when the element stays. */
  const open: boolean[] = [];
  let links = 0;
  for (const token of tokens) {
    if (token.type === 'image') {
      changed.push(...linkImage(token, links > 0));
      continue;
    }
    if (token.nesting === 1) {
      const isKept = token.type === 'link_open' ? allowLink(token) : open.length < NESTING_MAX;
      open.push(isKept);
      if (isKept && token.type === 'link_open') links += 1;
    }
    const isKept = token.nesting === 0 || (token.nesting === 1 ? open.at(-1) : open.pop());
    if (isKept === true) changed.push(token);
    if (isKept === true && token.type === 'link_close') links -= 1;
  }
  return changed;
}

function allowLink(token: Token): boolean {
  const href = String(token.attrGet('href') ?? '');
  if (!LINKED.test(href)) return false;
  token.attrs = [
    ['href', href],
    ['rel', LINK_REL],
  ];
  return true;
}

/** Turns an image into a link, because loading the image would tell another host who reads the page. */
function linkImage(image: Token, isInLink: boolean): Token[] {
  const TokenOf = image.constructor as new (type: string, tag: string, nesting: number) => Token;
  const text = new TokenOf('text', '', 0);
  const href = String(image.attrGet('src') ?? '');
  const alt = renderer.renderer.renderInlineAsText(image.children ?? [], renderer.options, {});
  text.content = alt.trim() === '' ? href : alt;
  const link = new TokenOf('link_open', 'a', 1);
  link.attrSet('href', href);
  return isInLink || !allowLink(link) ? [text] : [link, text, new TokenOf('link_close', 'a', -1)];
}
