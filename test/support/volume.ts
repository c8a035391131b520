import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';

/** Mounts volumes of other kinds than the one that the tests run on. */

interface Kind {
  /** Commands that must be installed. */
  readonly commands: readonly string[];
  /** @param directory an empty directory; its parent is temporary, and may hold an image file */
  mount(directory: string): void;
  /** Releases further resources after the volume is unmounted. */
  release?(directory: string): void;
}

const FOLDING: Kind = {
  commands: ['mkntfs', 'lowntfs-3g'],
  mount: (directory) => {
    const image = `${directory}.img`;
    writeFileSync(image, '');
    truncateSync(image, 512 * 1024 * 1024);
    run('mkntfs', '--force', '--fast', '--quiet', image);
    // As on Windows: names ignore case, and the names that Windows reserves are refused.
    run('lowntfs-3g', '-o', 'ignore_case,windows_names', image, directory);
  },
};

const WITHOUT_LINKS: Kind = {
  commands: ['mkfs.exfat', 'losetup', 'mount.exfat-fuse'],
  mount: (directory) => {
    const image = `${directory}.img`;
    writeFileSync(image, '');
    truncateSync(image, 64 * 1024 * 1024);
    run('mkfs.exfat', image);
    const device = run('losetup', '--find', '--show', image).trim();
    try {
      run('mount.exfat-fuse', device, directory);
    } catch (error) {
      run('losetup', '--detach', device);
      throw error;
    }
  },
  release: (directory) => {
    const [device = ''] = run('losetup', '--associated', `${directory}.img`).split(':');
    run('losetup', '--detach', device);
  },
};

const temporary = (options: string): Kind => ({
  commands: ['mount'],
  mount: (directory) => {
    run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', directory);
  },
});

export const VOLUMES = {
  folding: FOLDING,
  withoutLinks: WITHOUT_LINKS,
  small: temporary('size=1m'),
  plain: temporary('size=8m'),
};

/**
 * Defines a suite that uses a mounted volume. Where the volume cannot be mounted, the suite is skipped with
 * the reason; in CI it fails.
 */
export function describeVolume(
  name: string,
  kind: Kind,
  parent: string,
  define: (directory: string) => void,
): void {
  const directory = join(parent, name.replaceAll(/\W+/g, '-'));
  const missing = kind.commands.filter((command) => !isInstalled(command));
  if (process.getuid?.() !== 0) missing.push('root');
  if (missing.length > 0) {
    const reason = `${name}: skipped, because mounting it needs ${missing.join(', ')}`;
    if (process.env.CI) throw new Error(`${reason}, but CI requires it`);
    console.log(`${reason} (Debian's packages: ntfs-3g, exfat-fuse, exfatprogs).`);
    describe.skip(reason, () => define(directory));
    return;
  }
  describe(name, () => {
    beforeAll(() => {
      mkdirSync(directory, { recursive: true });
      kind.mount(directory);
    });
    afterAll(() => {
      run('umount', directory);
      kind.release?.(directory);
    });
    define(directory);
  });
}

function isInstalled(command: string): boolean {
  const folders = ['/usr/sbin', '/sbin', ...(process.env.PATH ?? '').split(':')];
  return folders.some((folder) => existsSync(join(folder, command)));
}

export function remountReadOnly(directory: string): void {
  run('mount', '-o', 'remount,ro', directory);
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { stdio: 'pipe', timeout: 60_000, encoding: 'utf8' });
}
