import { isAlias, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** Reads untrusted YAML in linear time. */

/** In UTF-16 units. The library needs some microseconds for each unit. */
const LENGTH_MAX = 512 * 1024;
const DEPTH_MAX = 100;
/**
 * Resolving one alias may take as long as reading the document, and the value of an alias may contain further aliases.
 */
const ALIASES_MAX = 100;

/** Says in a clause why a text was not read. */
interface YamlProblem {
  readonly problem: string;
}

/**
 * The value of a YAML document, or why it was not read.
 *
 * The library compares each key with all other keys, and describes each error with the surrounding text. Both take
 * quadratic time. So this function compares the keys itself, and describes only the first error.
 */
export function parseYaml(text: string): { readonly value: unknown } | YamlProblem {
  if (text.length > LENGTH_MAX) {
    return { problem: `it has ${text.length} characters; YAML may have at most ${LENGTH_MAX}` };
  }
  try {
    const lineCounter = new LineCounter();
    const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
    const document = parseDocument(text, { ...options, lineCounter });
    const [error] = document.errors;
    const at = error === undefined ? findExcess(document) : { ...error, why: '' };
    if (at !== undefined) {
      const { line, col } = lineCounter.linePos(at.pos[0]);
      return { problem: `it is not valid YAML (line ${line}, column ${col})${at.why}` };
    }
    return { value: document.toJS() };
  } catch {
    // The text nests too deep for the stack, or has an alias without its anchor.
    return { problem: 'it is not valid YAML' };
  }
}

interface Excess {
  readonly pos: readonly [number, ...number[]];
  readonly why: string;
}

/** Finds the first place with a duplicate key, with too much nesting, or with an alias beyond the limit. */
function findExcess(document: ReturnType<typeof parseDocument>): Excess | undefined {
  let found: Excess | undefined;
  let aliases = 0;
  const stop = (node: { readonly range?: readonly number[] | null | undefined }, why: string) => {
    found = { pos: [node.range?.[0] ?? 0], why };
    return visit.BREAK;
  };
  visit(document, {
    Node(_key, node, path) {
      if (path.length > 2 * DEPTH_MAX) return stop(node, ': it nests too deep');
      if (isAlias(node) && ++aliases > ALIASES_MAX) return stop(node, ': it has too many aliases');
      return undefined;
    },
    Map(_key, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) return stop(key, ': its map has this key twice');
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
