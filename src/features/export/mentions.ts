import { escapeXml } from '../../core/xml.ts';
import type { PlannedDocument } from './plan.ts';

/** Finds the files that the documents of a dialect name, with or without the version before the name. */

export type Mention = 'no' | 'below_version' | 'beside_document';

/**
 * Searches the documents for the names of files. It may also find a name in a release note. The export then has one
 * file more.
 */
export function createMentions(
  documents: readonly Pick<PlannedDocument, 'body'>[],
): (version: string, filename: string) => Mention {
  const texts = [...new Set(documents.map(({ body }) => body))].map((body) =>
    body.toString('utf8'),
  );
  return (version, filename) => {
    const before = `${encodeURIComponent(version)}/`;
    let found: Mention = 'no';
    for (const name of spellingsOf(filename)) {
      for (const text of texts) {
        for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
          if (!text.startsWith(before, at - before.length)) return 'beside_document';
          found = 'below_version';
        }
      }
    }
    return found;
  };
}

/** The spellings of a name in YAML, JSON and XML, with and without percent-encoding. */
function spellingsOf(filename: string): ReadonlySet<string> {
  const plain = [filename, encodeURIComponent(filename), encodeURI(filename)];
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const inYaml = (text: string) => text.replaceAll("'", "''");
  return new Set(plain.flatMap((text) => [text, inJson(text), inYaml(text), escapeXml(text)]));
}
