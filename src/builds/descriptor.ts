import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseOsVersion } from '../domain/os-version.ts';
import {
  type Arch,
  type Format,
  type Platform,
  parseArch,
  parseFormat,
  parsePlatform,
} from '../domain/platform.ts';
import { hasCode, misuse } from './refusal.ts';

/** `FILE,os=…,arch=…,format=…,name=…,minimum_os_version=…`: a file and what the publisher states about it. */

/** The facts that the publisher stated. Slipway infers all other facts. */
export interface Statement {
  readonly platform?: Platform;
  readonly arch?: Arch;
  readonly format?: Format;
  readonly filename?: string;
  readonly minimumOsVersion?: string;
}

/** The facts of a statement, as the publisher writes them after the path: `,os=linux,format=binary`. */
export function statedWords(statement: Statement | null): string {
  const { platform, arch, format, filename, minimumOsVersion } = statement ?? {};
  const words = {
    os: platform,
    arch,
    format,
    minimum_os_version: minimumOsVersion,
    name: filename,
  };
  return Object.entries(words)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `,${key}=${value}`)
    .join('');
}

interface PathArgument {
  /** Absolute. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly statement: Statement;
}

const KEYS = ['os', 'arch', 'format', 'name', 'minimum_os_version'] as const;
type Key = (typeof KEYS)[number];

/**
 * Parses an argument of the command line. An argument that is an existing path means that path, even when the path
 * contains commas. Otherwise the file is the longest existing path before a `,key=`. Follows links.
 *
 * @throws AppError `invalid_request`, `unknown_platform`, `unknown_arch`, `unknown_format`
 */
export async function parsePathArgument(argument: string): Promise<PathArgument> {
  if (argument === '' || argument.includes('\0')) {
    throw misuse(JSON.stringify(argument), 'it is not a path.');
  }
  const whole = await statOrUndefined(argument);
  if (whole !== undefined) return describe(argument, whole, {});
  const cuts = [...argument.matchAll(/,[a-z_]+=/gi)].map((match) => match.index).reverse();
  for (const cut of cuts) {
    const path = argument.slice(0, cut);
    const found = path === '' ? undefined : await statOrUndefined(path);
    if (found !== undefined)
      return describe(path, found, parseStatement(path, argument.slice(cut)));
  }
  throw misuse(
    resolve(argument.slice(0, cuts.at(-1) ?? argument.length)),
    'there is no such file. Check the path.',
  );
}

function describe(path: string, found: Stats, statement: Statement): PathArgument {
  if (!found.isDirectory() && !found.isFile()) {
    throw misuse(resolve(path), 'it is neither a file nor a directory');
  }
  if (found.isDirectory() && Object.keys(statement).length > 0) {
    throw misuse(
      resolve(path),
      'it is a directory, and os=, arch=, … describe a single file. Name the file.',
    );
  }
  return { path: resolve(path), isDirectory: found.isDirectory(), statement };
}

function parseStatement(path: string, text: string): Statement {
  const stated = new Map<Key, string>();
  for (const part of text.split(/,(?=[a-z_]+=)/i).filter((piece) => piece !== '')) {
    const at = part.indexOf('=');
    const key = part.slice(0, at).toLowerCase();
    const value = part.slice(at + 1).trim();
    if (!isKey(key)) {
      throw misuse(path, `${JSON.stringify(key)} is not a known key; use ${KEYS.join(', ')}`);
    }
    if (value === '') throw misuse(path, `${key}= has no value. Give one, or leave it out.`);
    if (stated.has(key)) throw misuse(path, `${key}= is given twice. Give it once.`);
    stated.set(key, value);
  }
  const os = stated.get('os');
  const arch = stated.get('arch');
  const format = stated.get('format');
  const filename = stated.get('name');
  const minimum = stated.get('minimum_os_version');
  return {
    ...(os === undefined ? {} : { platform: parsePlatform(os) }),
    ...(arch === undefined ? {} : { arch: parseArch(arch) }),
    ...(format === undefined ? {} : { format: parseFormat(format) }),
    ...(filename === undefined ? {} : { filename }),
    ...(minimum === undefined ? {} : { minimumOsVersion: parseMinimum(path, minimum) }),
  };
}

function parseMinimum(path: string, text: string): string {
  const version = parseOsVersion(text)?.join('.');
  if (version !== text) {
    throw misuse(
      path,
      `minimum_os_version=${text} is not a version of dotted numbers. Write it like 10.15 or 10.0.19045.`,
    );
  }
  return text;
}

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EINVAL')) return undefined;
    throw misuse(resolve(path), 'it cannot be read', error);
  }
}
