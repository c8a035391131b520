/** CHANGELOG.md, whose newest heading is `## Unreleased`, or `## VERSION - DATE` once the version is prepared. */

const UNRELEASED = '## Unreleased';

/**
 * Gives the changes that wait for a release their version and date.
 *
 * @param date - such as `2026-12-01`
 * @throws Error when no changes wait, or the version has a heading already
 */
export function releaseChanges(changelog: string, version: string, date: string): string {
  const heading = `## ${version} - ${date}`;
  if (changelog.split('\n').some((line) => line.startsWith(`## ${version} `))) {
    throw new Error(
      `CHANGELOG.md already has a heading for ${version}. Choose the next version, or undo this one with "git restore .".`,
    );
  }
  if (!changelog.split('\n').includes(UNRELEASED)) {
    throw new Error(
      `CHANGELOG.md has no heading "${UNRELEASED}". Add it at the top, with the changes of ${version}.`,
    );
  }
  return changelog.replace(`${UNRELEASED}\n`, `${heading}\n`);
}

/** The newest heading, without its marks; undefined when there is none. */
export function newestHeading(changelog: string): string | undefined {
  return /^## (.+)$/m.exec(changelog)?.[1];
}

/**
 * The text below the heading of a version, for the notes of the release.
 *
 * @throws Error when the version has no heading, or no text below it
 */
export function notesOf(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} - `));
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (notes === undefined || notes === '') {
    throw new Error(`CHANGELOG.md has no changes below a heading "## ${version} - DATE".`);
  }
  return `${notes}\n`;
}

/**
 * Text whose relative links lead to files on GitHub. On the page of a release, they would lead nowhere.
 *
 * @param files - the address of the files of the release, with a slash at its end
 */
export function withAbsoluteLinks(text: string, files: string): string {
  return text.replace(/\]\((?![a-z]+:|#)/g, `](${files}`);
}
