import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

/** Volumes of other kinds than the one that the tests run on, mounted for a suite. */

interface Kind {
  /** For the reason of a skipped suite. */
  readonly needs: string;
  /** @param directory empty; whatever is made beside it is removed with it */
  mount(directory: string): void;
  /** Gives back what mounting it took, after it is unmounted. */
  release?(directory: string): void;
}

const FOLDING: Kind = {
  needs: 'root, FUSE and lowntfs-3g (Debian: ntfs-3g)',
  mount: (directory) => {
    const image = `${directory}.img`;
    writeFileSync(image, '');
    truncateSync(image, 512 * 1024 * 1024);
    run('mkntfs', '--force', '--fast', '--quiet', image);
    // As Windows sees it: names fold, and those that Windows reserves are refused.
    run('lowntfs-3g', '-o', 'ignore_case,windows_names', image, directory);
  },
};

const WITHOUT_LINKS: Kind = {
  needs: 'root, a loop device, FUSE and exFAT (Debian: exfat-fuse, exfatprogs)',
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
  needs: 'root',
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
 * A suite on a mounted volume. Where it cannot be mounted the suite is skipped with the reason; in CI
 * that is a failure.
 */
export function describeVolume(
  name: string,
  kind: Kind,
  parent: string,
  define: (directory: string) => void,
): void {
  const directory = join(parent, name.replaceAll(/\W+/g, '-'));
  mkdirSync(directory, { recursive: true });
  try {
    kind.mount(directory);
  } catch (error) {
    const reason = `${name}: skipped, because mounting it needs ${kind.needs}`;
    if (process.env.CI) throw new Error(`${reason}, which CI must have`, { cause: error });
    console.log(`${reason} (${String(error).split('\n')[0]}).`);
    describe.skip(reason, () => define(directory));
    return;
  }
  describe(name, () => {
    afterAll(() => {
      run('umount', directory);
      kind.release?.(directory);
    });
    define(directory);
  });
}

export function remountReadOnly(directory: string): void {
  run('mount', '-o', 'remount,ro', directory);
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { stdio: 'pipe', timeout: 60_000, encoding: 'utf8' });
}
