import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import parseJson5 from 'json5/lib/parse.js';
import { parse as parseToml, TomlError } from 'smol-toml';
import { isRecord, type JsonRecord } from '../../core/json-record.ts';
import { readPlainText } from '../../core/plain-file.ts';
import type { ConfigurationFile } from '../../domain/configuration-file.ts';
import { hasCode, misuse } from '../refusal.ts';
import { parseYaml } from '../yaml.ts';

/** Reads files of a project. A path may be missing, or not a regular file, and a file may be malformed or large. */

/** A larger file is not a configuration. */
const BYTES_MAX = 1024 * 1024;
/** The parser of TOML is recursive: each level of lists and inline tables needs more of the stack. */
const TOML_DEPTH_MAX = 100;
/** Directories of dependencies and of earlier builds. */
const SKIPPED =
  /^(node_modules|bower_components|bin|obj|dist|out|target|build|vendor|Pods|DerivedData|\..+)$/;
const ENTRIES_MAX = 5_000;

/**
 * Reads a text file without its byte order mark. Undefined when the file does not exist, and for a directory.
 *
 * @throws AppError `invalid_request` for a file that is too large or cannot be read, and for a pipe or a device
 */
export async function readText(directory: string, name: string): Promise<string | undefined> {
  const path = join(directory, name);
  try {
    if ((await stat(path)).isDirectory()) return undefined;
    const text = await readPlainText(path, BYTES_MAX);
    if (text !== undefined) return text;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    if (hasCode(error, 'EACCES', 'EPERM')) throw misuse(path, 'it cannot be read', error);
    throw error;
  }
  throw misuse(path, `it has more than the ${BYTES_MAX} bytes that a configuration may have`);
}

/**
 * Reads a JSON, JSON5, YAML or TOML file, by its extension. Undefined when there is no such file.
 *
 * @throws AppError `invalid_request` for text that is not what its extension says, or not an object
 */
export async function readConfiguration(
  directory: string,
  name: string,
): Promise<JsonRecord | undefined> {
  const text = await readText(directory, name);
  if (text === undefined) return undefined;
  const path = join(directory, name);
  const value = parseText(text, path, name);
  if (isRecord(value)) return value;
  throw misuse(path, 'it is not an object. Correct it, and run the command again');
}

/** The file with the syntax that its extension says. */
export function configurationFile(file: string): ConfigurationFile {
  if (/\.ya?ml$/i.test(file)) return { file, syntax: 'yaml' };
  if (/\.toml$/i.test(file)) return { file, syntax: 'toml' };
  return { file, syntax: /\.json$/i.test(file) ? 'json' : 'javascript' };
}

function parseText(text: string, path: string, name: string): unknown {
  if (/\.toml$/i.test(name)) return readToml(text, path);
  if (/\.ya?ml$/i.test(name)) return readYaml(text, path);
  return name === 'package.json' ? readJson(text, path) : readJson5(text, path);
}

function readYaml(text: string, path: string): unknown {
  const read = parseYaml(text);
  if ('value' in read) return read.value;
  throw misuse(path, `${read.problem}. Correct it, and run the command again`);
}

function readToml(text: string, path: string): unknown {
  try {
    return parseToml(text, { maxDepth: TOML_DEPTH_MAX, integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const at = error instanceof TomlError ? error : undefined;
    throw broken(path, 'TOML', at?.line, at?.column);
  }
}

function readJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, line, column] = /line (\d+) column (\d+)/.exec(String(error)) ?? [];
    throw broken(path, 'JSON', line, column);
  }
}

function readJson5(text: string, path: string): unknown {
  try {
    // The library prints a warning for each of these separators in a text.
    return parseJson5(text.replace(/[\u2028\u2029]/g, ' '));
  } catch (error) {
    const { lineNumber, columnNumber } = error as JsonRecord;
    throw broken(path, 'JSON', lineNumber, columnNumber);
  }
}

/** The error states only the position, because messages of parsers repeat text of the file. */
function broken(path: string, kind: string, line: unknown, column: unknown) {
  const where = line === undefined ? '' : ` (line ${line}, column ${column})`;
  return misuse(path, `it is not valid ${kind}${where}. Correct it, and run the command again`);
}

/**
 * Replaces each comment of JavaScript by a space, and keeps texts in quotes. A quote or a comment without an
 * end matches up to the end of its line or of the text. Otherwise the expression would search the rest of the text
 * again after each opening, in quadratic time for a hostile text.
 */
export function withoutComments(text: string): string {
  return text.replace(
    /("(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|`(?:\\[\s\S]|[^`\\])*`?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
    (_match, quoted?: string) => quoted ?? ' ',
  );
}

/** The names in a directory, sorted; empty when the directory cannot be read. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory).catch(() => [])).sort();
}

/**
 * The files with a matching name below a directory, the least deep first. The paths are relative to the directory, with
 * `/`. Does not follow links, and leaves out directories of dependencies and of builds.
 */
export async function findFiles(
  directory: string,
  name: RegExp,
  depthMax = 3,
): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [''];
  let left = ENTRIES_MAX;
  for (let depth = 0; depth < depthMax && level.length > 0 && left > 0; depth++) {
    const next: string[] = [];
    for (const prefix of level) {
      const entries = await readdir(join(directory, prefix), { withFileTypes: true }).catch(
        () => [],
      );
      left -= entries.length;
      if (left < 0) break;
      for (const entry of entries) {
        if (entry.isFile() && name.test(entry.name)) found.push(`${prefix}${entry.name}`);
        if (entry.isDirectory() && !SKIPPED.test(entry.name)) next.push(`${prefix}${entry.name}/`);
      }
    }
    found.sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
    level = next.sort();
  }
  return found;
}
