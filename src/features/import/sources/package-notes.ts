import { readStarts } from '../../../builds/archive/read-starts.ts';
import type { StatedFile } from './source.ts';

/** The release notes inside a package of Squirrel. */

const NUSPEC_BYTES_MAX = 64 * 1024;

/**
 * The notes of the first full package that has notes. Null when no package has notes; a package that cannot be read
 * counts as a package without notes.
 */
export async function readPackageNotes(
  files: readonly Pick<StatedFile, 'name' | 'path'>[],
): Promise<string | null> {
  for (const { name, path } of files) {
    if (path === undefined || !/-full\.nupkg$/i.test(name)) continue;
    let nuspecs = 0;
    const entries = await readStarts(path, 'zip', (entry) => {
      // A package has one, and a hostile package may have any number.
      if (nuspecs > 0) return 'stop';
      if (!/^[^/]+\.nuspec$/i.test(entry)) return 0;
      nuspecs += 1;
      return NUSPEC_BYTES_MAX;
    });
    const nuspec = 'problem' in entries ? undefined : entries[0]?.start.toString();
    const notes = nuspec === undefined ? undefined : notesIn(nuspec);
    if (notes !== undefined) return notes;
  }
  return null;
}

/** Squirrel converts Markdown notes to HTML, and writes the HTML to a CDATA section. */
function notesIn(nuspec: string): string | undefined {
  const begin = /<releaseNotes>/i.exec(nuspec);
  if (begin === null) return undefined;
  const rest = nuspec.slice(begin.index + begin[0].length);
  const end = rest.search(/<\/releaseNotes>/i);
  if (end === -1) return undefined;
  const text = rest.slice(0, end).trim();
  const isSection = text.startsWith('<![CDATA[') && text.endsWith(']]>');
  const section = isSection ? text.slice('<![CDATA['.length, -']]>'.length) : undefined;
  const notes = (section ?? unescaped(text)).trim();
  return notes === '' ? undefined : notes;
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}
