import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { AppError, isAppError } from './errors.ts';
import { isRecord } from './json-record.ts';

/** Parses XML from outside, and prepares text for XML. Only this file imports the XML library. */

/** An element. Its names are exactly as in the document, with their prefix. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Its own text, with CDATA sections and without the text of its children. */
  readonly text: string;
}

/** The deepest nesting, in levels: a document with more levels could exhaust the stack. */
const DEPTH_MAX = 64;
/** The longest message of the library, in characters: the library repeats text of the document in its messages. */
const MESSAGE_LENGTH_MAX = 200;
const ATTRIBUTES = ':@';
const TEXT = '#text';
const CDATA = '#cdata';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  cdataPropName: CDATA,
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  trimValues: false,
  maxNestedTags: DEPTH_MAX,
  entityDecoder: {
    decode: decodeReferences,
    // The parser calls this function for every document type declaration, even for a declaration without entities.
    addInputEntities: () => {
      throw new AppError(
        'invalid_request',
        'The XML has a document type declaration (<!DOCTYPE>), which is not accepted. Remove it.',
      );
    },
    setExternalEntities: () => {},
    setXmlVersion: () => {},
    reset: () => {},
  },
});

const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Leaves out characters that XML cannot contain, and does not change unknown entities. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (written, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name] ?? written;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const character = code > 0x10ffff ? '' : String.fromCodePoint(code);
    return XML_CHARACTER.test(character) ? character : '';
  });
}

/**
 * Parses a document.
 *
 * It refuses a document type declaration, and so every entity except the five of XML: other entities can name files of
 * the machine, and grow without limit.
 *
 * @throws AppError `invalid_request` for text that is not well-formed, that has a declaration of a document type, or
 *   that is nested more than 64 deep
 */
export function parseXml(text: string): XmlElement {
  const checked = XMLValidator.validate(text);
  if (checked !== true) {
    const { msg, line } = checked.err;
    const why = msg.slice(0, MESSAGE_LENGTH_MAX);
    throw new AppError('invalid_request', `The text is not well-formed XML: line ${line}: ${why}`);
  }
  let nodes: readonly unknown[];
  try {
    nodes = parser.parse(text);
  } catch (error) {
    if (isAppError(error)) throw error;
    const why = (error instanceof Error ? error.message : String(error)).slice(
      0,
      MESSAGE_LENGTH_MAX,
    );
    throw new AppError('invalid_request', `The XML cannot be read: ${why}`, { cause: error });
  }
  const [root, ...others] = elementsOf(nodes);
  if (root !== undefined && others.length === 0) return root;
  throw new AppError('invalid_request', 'The XML needs exactly one root element.');
}

function elementsOf(nodes: readonly unknown[]): readonly XmlElement[] {
  return nodes.flatMap((node) => {
    if (!isRecord(node)) return [];
    const name = Object.keys(node).find((key) => key !== ATTRIBUTES);
    if (name === undefined || name === TEXT || name === CDATA) return [];
    const inside = listOf(node[name]);
    const attributes = isRecord(node[ATTRIBUTES]) ? node[ATTRIBUTES] : {};
    return [
      {
        name,
        attributes: Object.fromEntries(
          Object.entries(attributes).map(([key, value]) => [key, String(value)]),
        ),
        children: elementsOf(inside),
        text: inside.map(textOf).join(''),
      },
    ];
  });
}

function textOf(node: unknown): string {
  if (!isRecord(node)) return '';
  if (TEXT in node) return String(node[TEXT]);
  return CDATA in node ? listOf(node[CDATA]).map(textOf).join('') : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The children of an element with a name. */
export function childrenOf({ children }: XmlElement, name: string): readonly XmlElement[] {
  return children.filter((child) => child.name === name);
}

/** The text of the first child with a name, without space around it; undefined when there is no such child. */
export function childText(element: XmlElement, name: string): string | undefined {
  return childrenOf(element, name)[0]?.text.trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * Prepares text for the content of an element or for an attribute in quotes. Leaves out characters that XML 1.0 cannot
 * contain, because one such character makes the whole document unreadable.
 */
export function escapeXml(text: string): string {
  return [...text]
    .filter((character) => XML_CHARACTER.test(character))
    .map((character) => ENTITIES[character] ?? character)
    .join('');
}

/** The characters that XML 1.0 allows (section 2.2). */
const XML_CHARACTER = /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
