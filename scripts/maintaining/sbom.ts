import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { productionLock } from './production-lock.ts';
import { readProjectFile } from './project-files.ts';

/**
 * Prints the SBOM of the package, in CycloneDX. `npm sbom --omit dev` alone leaves out a package that a tool of
 * developers needs as well, such as zod (npm 11.19), so npm gets a lock file without the tools.
 */
const { packageJson, packageLock } = productionLock(
  readProjectFile('package.json'),
  readProjectFile('package-lock.json'),
);
const temporary = mkdtempSync(path.join(tmpdir(), 'slipway-sbom-'));
// npm names the application after its folder.
const directory = path.join(temporary, 'slipway');
try {
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'package.json'), packageJson);
  writeFileSync(path.join(directory, 'package-lock.json'), packageLock);
  const options = [
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
  ];
  const sbom = execFileSync('npm', ['sbom', ...options], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  process.stdout.write(sbom);
} finally {
  rmSync(temporary, { recursive: true });
}
