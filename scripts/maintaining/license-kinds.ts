import { BUILT_IN } from './production-lock.ts';

/** The licences of packages, as package-lock.json states them: the field `license` of each package.json. */

/** SPDX identifiers of permissive licences, which ask for no more than a notice. */
const ACCEPTED = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'],
  'PSF-2.0',
]);
/** Also accepted for tools that only developers run, and whose code is in nothing that is published. */
const ACCEPTED_TOOLS = new Set([...ACCEPTED, 'MPL-2.0', 'Python-2.0']);

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

function packagesOf(lock: string): readonly (readonly [string, LockedPackage])[] {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockedPackage>> };
  return Object.entries(packages).filter(([folder]) => folder !== '');
}

const isBuiltIn = (folder: string): boolean =>
  BUILT_IN.some((name) => folder === `node_modules/${name}`);

/** An SPDX expression such as `(MIT OR EUPL-1.1+)`: one side of an OR is enough, and both sides of an AND count. */
function isAccepted(expression: string, accepted: ReadonlySet<string>): boolean {
  const plain = expression.replace(/[()]/g, '');
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((license) => accepted.has(license.trim())));
}

/** The packages with a licence of another kind, or without one, such as `name 1.2.3: GPL-3.0`. */
export function findUnknownLicenses(lock: string): readonly string[] {
  return packagesOf(lock)
    .filter(
      ([folder, { license, dev }]) =>
        license === undefined ||
        !isAccepted(license, dev && !isBuiltIn(folder) ? ACCEPTED_TOOLS : ACCEPTED),
    )
    .map(
      ([folder, { version, license }]) =>
        `${folder.replace(/^.*node_modules\//, '')} ${version}: ${license ?? 'no licence'}`,
    );
}

/** How many packages have each licence, the most frequent first: of the published package, and of the tools. */
export function countLicenses(
  lock: string,
): ReadonlyMap<string, readonly (readonly [string, number])[]> {
  const count = (isTool: boolean) => {
    const counts = new Map<string, number>();
    for (const [, { license = 'no licence', dev = false }] of packagesOf(lock)) {
      if (dev === isTool) counts.set(license, (counts.get(license) ?? 0) + 1);
    }
    return [...counts].sort(([, one], [, other]) => other - one);
  };
  return new Map([
    ['Packages that users install', count(false)],
    ['Tools of developers', count(true)],
  ]);
}
