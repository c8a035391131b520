import { isRecord, type JsonRecord } from '../../core/json-record.ts';

/**
 * The parts of TOML that configurations of build tools use: tables, texts, flags and lists of texts, and the inline table
 * of Cargo's inheritance. Anything else is left out, because no value of it is needed.
 */
export function parseToml(text: string): JsonRecord {
  const root: Record<string, unknown> = Object.create(null);
  let table = root;
  for (const line of joinLists(text)) {
    const header = /^\[([^[\]]+)\]$/.exec(line);
    if (header !== null) {
      table = tableAt(root, keysOf(header[1] ?? ''));
      continue;
    }
    // An entry of a list of tables: its keys must not count for the table before.
    if (line.startsWith('[[')) table = Object.create(null);
    const entry = /^([\w."'\s-]+)=\s*(\S.*)$/s.exec(line);
    const keys = keysOf(entry?.[1] ?? '');
    const last = keys.pop();
    const value = readValue(entry?.[2] ?? '');
    if (last !== undefined && value !== undefined) tableAt(table, keys)[last] = value;
  }
  return root;
}

/** `bundle.targets` and `"bundle".targets`; a key in kebab case is the same as in camel case, as in Tauri. */
function keysOf(text: string): string[] {
  return text
    .split('.')
    .map((key) => key.trim().replace(/^["']|["']$/g, ''))
    .filter((key) => key !== '')
    .map((key) => key.replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase()));
}

function tableAt(from: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  let table = from;
  for (const key of keys) {
    const below = table[key];
    const next: Record<string, unknown> = isRecord(below) ? below : Object.create(null);
    table[key] = next;
    table = next;
  }
  return table;
}

const TEXT = /^(?:"((?:\\.|[^"\\])*)"|'([^']*)')/;

function readValue(written: string): unknown {
  const text = TEXT.exec(written);
  if (text !== null) return text[1]?.replace(/\\(["\\])/g, '$1') ?? text[2];
  if (/^(true|false)\b/.test(written)) return written.startsWith('true');
  if (/^\{\s*workspace\s*=\s*true\s*,?\s*\}/.test(written)) return { workspace: true };
  if (!written.startsWith('[')) return undefined;
  return [...written.matchAll(/"((?:\\.|[^"\\])*)"?|'([^']*)'?/gs)].map(
    ([, double, single]) => double ?? single ?? '',
  );
}

/** The lines without comments; a list on several lines becomes one. */
function joinLists(text: string): readonly string[] {
  const lines: string[] = [];
  // The lines of a list that is still open. Only the newest is searched: a list can have any number of them.
  let open: string[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(/^((?:"(?:\\.|[^"\\])*"|'[^']*'|[^"'#])*)#.*$/, '$1').trim();
    if (line === '') continue;
    const end = line.lastIndexOf(']');
    const isOpen = /=\s*\[/.test(line.slice(end + 1)) || (open.length > 0 && end === -1);
    open.push(line);
    if (isOpen) continue;
    lines.push(open.join(' '));
    open = [];
  }
  return lines;
}
