interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage extends Manifest {
  readonly dev?: boolean;
}

/** Developers' packages whose code a build puts into the published files: `scripts/build/`. */
export const BUILT_IN = ['preact', 'tuf-js', 'uplot'] as const;

/** package.json and package-lock.json without the packages that only developers have. */
export function productionLock(
  packageJson: string,
  packageLock: string,
): { readonly packageJson: string; readonly packageLock: string } {
  const { devDependencies, ...manifest } = JSON.parse(packageJson) as Manifest;
  const lock = JSON.parse(packageLock) as { packages: Readonly<Record<string, LockedPackage>> };
  const builtIn = Object.fromEntries(
    BUILT_IN.map((name) => [name, devDependencies?.[name] ?? '*']),
  );
  const dependencies = { ...manifest.dependencies, ...builtIn };
  const isKept = (folder: string): boolean =>
    lock.packages[folder]?.dev !== true ||
    BUILT_IN.some((name) => folder === `node_modules/${name}`);
  const packages = Object.entries(lock.packages).flatMap(([folder, { dev, ...locked }]) => {
    if (folder === '') {
      const { devDependencies: _, ...root } = locked;
      return [[folder, { ...root, dependencies }]];
    }
    if (!isKept(folder)) return [];
    // The build leaves out what a built-in package needs to fetch: applications fetch by their own means.
    const needed = Object.entries(locked.dependencies ?? {}).filter(
      ([name]) => dev !== true || isKept(`node_modules/${name}`),
    );
    return [[folder, { ...locked, dependencies: Object.fromEntries(needed) }]];
  });
  return {
    packageJson: JSON.stringify({ ...manifest, dependencies }),
    packageLock: JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }),
  };
}
