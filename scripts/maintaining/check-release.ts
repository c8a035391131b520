import { hasEarlyNotes } from './before-first.ts';
import { newestHeading } from './changelog.ts';
import { NO_OWNER, readOwner } from './owner-text.ts';

/** What a release is made of. Paths are relative to the root of the project. */
export interface ReleaseSources {
  /** The tag, such as `v0.1.0`; undefined when a maintainer publishes by hand. */
  readonly tag: string | undefined;
  readonly packageJson: string;
  readonly packageLock: string;
  readonly changelog: string;
  /** The documents, by path. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The reasons why these sources must not become a release, each with what to do. */
export function findObstacles(sources: ReleaseSources): readonly string[] {
  const { version } = JSON.parse(sources.packageJson) as { version: string };
  const locked = JSON.parse(sources.packageLock) as { version: string };
  const obstacles: string[] = [];
  if (sources.tag !== undefined && sources.tag !== `v${version}`) {
    obstacles.push(
      `The tag is ${sources.tag}, and package.json has the version ${version}. A release tag cannot be deleted: give package.json the next patch version with "npm version", and tag that.`,
    );
  }
  if (locked.version !== version) {
    obstacles.push(
      `package-lock.json has the version ${locked.version}. Change versions with "npm version", which changes both files.`,
    );
  }
  const heading = newestHeading(sources.changelog);
  if (
    heading === undefined ||
    !/^\S+ - \d{4}-\d\d-\d\d$/.test(heading) ||
    heading.split(' ')[0] !== version
  ) {
    obstacles.push(
      `The newest heading of CHANGELOG.md is "${heading ?? ''}", not "${version} - DATE". Call "npm version ${version} --no-git-tag-version --allow-same-version".`,
    );
  }
  if (readOwner(sources.packageJson) === NO_OWNER) {
    obstacles.push('The files name no account on GitHub. Call "npm run owner -- ACCOUNT".');
  }
  const isPrerelease = version.includes('-');
  for (const [file, text] of sources.documents) {
    if (!isPrerelease && hasEarlyNotes(text)) {
      obstacles.push(
        `${file} says that no version is released. Call "npm version", which removes the note.`,
      );
    }
  }
  return obstacles;
}
