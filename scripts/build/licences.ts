import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Metafile } from 'esbuild';

/** The licences of the packages in a bundle. Most licences require that every copy contains their text. */

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\..*|-.*)?$/i;

/** The files whose code is at least partly in the bundle. */
export function bundledFiles({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
}

interface Licensed {
  readonly name: string;
  readonly texts: readonly string[];
}

/**
 * Comment lines with the name, version and licence of each package. When packages have the same text, the result
 * contains this text only once.
 *
 * @param inputs the files of the bundle, relative to `root`
 * @throws Error for a package that states no licence
 */
export async function renderLicences(root: string, inputs: readonly string[]): Promise<string> {
  const packages = await Promise.all(packagesOf(inputs).map((each) => readLicence(root, each)));
  const byText = new Map<string, string[]>();
  for (const { name, texts } of packages) {
    for (const text of texts) byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  const sections = [...byText].map(([text, names]) => `${names.join(', ')}:\n\n${text}`);
  const all = ['Packages in this file', ...packages.map(({ name }) => name), '', ...sections];
  const lines = all.join('\n').split('\n');
  return `${lines.map((line) => `// ${line}`.trimEnd()).join('\n')}\n`;
}

/** The folders of the packages. The name after the last `node_modules/` may have a scope. */
function packagesOf(inputs: readonly string[]): readonly string[] {
  const folders = inputs.flatMap((file) => {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
    return match?.[1] === undefined ? [] : [match[1]];
  });
  return [...new Set(folders)].sort();
}

async function readLicence(root: string, folder: string): Promise<Licensed> {
  const directory = path.resolve(root, folder);
  const { name, version, license } = JSON.parse(
    await readFile(path.join(directory, 'package.json'), 'utf8'),
  );
  if (typeof license !== 'string') {
    throw new Error(`${folder} states no licence in its package.json. Do not bundle it.`);
  }
  const files = (await readdir(directory)).filter((file) => LICENCE_FILE.test(file)).sort();
  const texts = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(directory, file), 'utf8');
      return text.replaceAll('\r\n', '\n').trim();
    }),
  );
  return { name: `${name} ${version} (${license})`, texts };
}
