import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { freshnessKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { createFreshness } from '../../../src/catalog/trust/freshness.ts';
import { signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import { openSigner } from '../../../src/releases/trust/open-signer.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { json, slipway } from '../../cli/support.ts';
import { createFixedClock } from '../../support/clock.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/**
 * A thief has the bucket and ci.key, the only key of beta and an operator's key. The keys of two people alone end what was
 * stolen, in one command, and what messages print works when it is typed.
 */
describe('a stolen key of an operator', () => {
  const directories: { remove(): Promise<void> }[] = [];
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const env = { TRUST_ROOT: 'root.json' };
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const at = (name: string): string => path.join(directory.path, name);
  const object = (key: string): string => at(`data/objects/${key}`);
  const PEOPLE = ['--key', 'k1.key', '--key', 'k2.key'];
  const REMOVE = [
    ...['trust', 'remove', 'ci.pub', '--channel', 'beta=new.pub', ...PEOPLE],
    ...['--key', 'new.key'],
  ];
  /** Removes the key after a look at the releases that the other keys sign again. */
  const removeKey = async (...more: string[]) => {
    const tried = await run(...REMOVE, ...more, '--dry-run', '--json');
    if (tried.code !== 0) return tried;
    return run(...REMOVE, ...more, '--releases', json(tried).releases);
  };
  const thief = async () => openSigner(at('ci.key'), () => Promise.reject(new Error('no')));
  const newest = async () => {
    const names = (await readdir(object('apps/desktop/catalog'))).sort();
    const text = await readFile(object(`apps/desktop/catalog/${names.at(-1)}`), 'utf8');
    return JSON.parse(text);
  };
  /** Stores a revision that the thief signed. */
  const forge = async (number: number, edit: (signed: ReturnType<typeof JSON.parse>) => void) => {
    const { signed: before, digest: known } = await newest();
    const signed = { ...structuredClone(before), revision: number };
    signed.previous = { revision: before.revision, digest: known };
    edit(signed);
    const digest = digestOf(signed);
    const signatures = [await signRevision(await thief(), digest)];
    await writeFile(
      object(revisionKey('desktop', number)),
      JSON.stringify({ signed, digest, signatures }),
    );
  };
  /** Signs a timestamp for a state that does not exist. */
  const timestamp = async (revision: number, root: number) => {
    const store = await openDirectoryStore(at('data/objects'));
    const { signed } = await newest();
    const clock = createFixedClock(Date.now());
    const version = await createFreshness(
      { store, clock, application: 'desktop' },
      {
        state: {
          revision,
          digest: 'd'.repeat(64),
          trust: { ...signed.trust, root: { ...signed.trust.root, version: root } },
        },
        signer: await thief(),
        after: Math.floor(Date.now() / 1000) + 30,
        now: Date.now(),
        freshMs: 7 * 86_400_000,
      },
    );
    return freshnessKey('desktop', version.version);
  };

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
    directories.push(directory);
    for (const name of ['k1', 'k2', 'ci', 'new']) {
      await run('trust', 'new-key', `${name}.key`, '--no-passphrase');
    }
    const channels = ['stable=k1.pub,k2.pub:2', 'beta=ci.pub'];
    const made = await slipway(
      [
        ...['trust', 'init', '--root', 'k1.pub,k2.pub:2', ...PEOPLE],
        ...channels.flatMap((channel) => ['--channel', channel]),
      ],
      { cwd: directory.path },
    );
    expect(made).toMatchObject({ code: 0 });
    await mkdir(at('dist'));
    await writeFile(at('dist/App-1.0.0-x86_64.AppImage'), 'app');
    const publish = ['publish', '1.0.0', 'dist', '--create', '--channel', 'beta'];
    expect(await run(...publish, '--key', 'ci.key')).toMatchObject({ code: 0 });
  });
  afterAll(() => Promise.all(directories.map((each) => each.remove())));

  const expectEnded = async () => {
    const checked = await run('trust', 'check');
    expect(checked.stdout).not.toContain('unknown');
    expect((await run('releases')).stdout).toMatch(/^1\.0\.0 +beta +active/m);
    const yank = ['yank', '1.0.0', '--channel', 'beta', '--yes'];
    expect(await run(...yank, '--key', 'ci.key')).toMatchObject({ code: 3 });
    expect(await run(...yank, '--key', 'new.key')).toMatchObject({ code: 0 });
  };

  it.each([
    ['names a revision far above the newest one', 99_999, 1],
    ['names a root that does not exist', 2, 99],
    ['names another digest of the newest revision', 2, 1],
  ])('whose timestamp %s, stops no removal', async (_name, revision, root) => {
    const key = await timestamp(revision, root);
    const refused = await run('releases');
    expect(refused).toMatchObject({ stdout: '' });
    expect(refused.stderr).toContain(key);
    expect(refused.stderr.split('Revision ').length).toBeLessThan(4);
    if (revision !== 2 || root !== 1)
      expect(refused.stderr).toContain(`delete this object: ${key}`);
    expect(await removeKey()).toMatchObject({ code: 0, stderr: '' });
    await expectEnded();
  });

  it.each([
    ['the highest version of a role', Number.MAX_SAFE_INTEGER],
    ['a version of a role that nobody signed', 3],
  ])(
    'whose revision names %s, is removed with the option that the message prints',
    async (_name, version) => {
      await forge(3, (signed) => {
        signed.trust.channels.beta = { version, digest: 'e'.repeat(64) };
      });
      const refused = await run(...REMOVE, '--dry-run');
      expect(refused).toMatchObject({ code: 1 });
      const [, option = ''] = /--skip-corrupt (\d+);/.exec(refused.stderr) ?? [];
      expect(option).toBe('3');
      expect(refused.stderr).not.toMatch(/[{}]|invalid_type/);
      expect(await removeKey('--skip-corrupt', option)).toMatchObject({ code: 0 });
      await expectEnded();
    },
  );

  it('whose revision has a number that no catalog can have yet, stops nothing', async () => {
    await forge(9_999_999_999, (signed) => {
      signed.previous = { revision: 9_999_999_998, digest: 'd'.repeat(64) };
    });
    expect((await run('releases')).stdout).toMatch(/^1\.0\.0 +beta +active/m);
    expect(await removeKey()).toMatchObject({ code: 0 });
    expect((await readdir(object('apps/desktop/catalog'))).sort()).toContain('0000000003.json');
    await expectEnded();
  });
});
