import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDn } from 'builder-util-runtime/out/rfc2253Parser.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProgramFacts } from '../../../src/builds/authenticode/program-facts.ts';
import { proveSignedLater } from '../../../src/builds/authenticode/signed-later.ts';
import { readSignedProgram } from '../../../src/builds/authenticode/signed-program.ts';
import { json, slipway } from '../../cli/support.ts';
import { blockmapOf } from '../../support/electron-build.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import {
  type Certificate,
  makeCertificate,
  makeInstaller,
  signProgram,
} from '../../support/windows-program.ts';

const isInstalled =
  (await hasProgram('makensis', '-VERSION')) &&
  (await hasProgram('osslsigncode')) &&
  (await hasProgram('openssl', 'version'));

const buildOf = (bytes: Buffer) => ({
  size: bytes.length,
  sha512: createHash('sha512').update(bytes).digest('hex'),
});

describe.skipIf(!isInstalled)('an installer that was signed after the build', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let own: Certificate;
  const at = (name: string) => path.join(directory.path, name);

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    own = await makeCertificate(directory.path, '/C=DE/O=App, Inc./CN=App, Inc.');
  });
  afterAll(() => directory.remove());

  /** The places of the fields that signing changes. */
  const fieldsOf = (program: Buffer) => {
    const optional = program.readUInt32LE(0x3c) + 24;
    const isWide = program.readUInt16LE(optional) === 0x20b;
    return { checksum: optional + 64, directory: optional + (isWide ? 112 : 96) + 4 * 8 };
  };

  /** Why a file is not `build`, signed later; undefined: it is, and the proof is about its present bytes. */
  async function reasonOf(name: string, build: { size: number; sha512: string }) {
    const proof = await proveSignedLater(at(name), build);
    if (typeof proof === 'string') return proof;
    expect(proof.signedSha512).toBe(buildOf(await readFile(at(name))).sha512);
    return undefined;
  }

  /** Why a file with these bytes is not `build`. */
  async function judge(bytes: Buffer, build: { size: number; sha512: string }) {
    await writeFile(at('judged.exe'), bytes);
    return reasonOf('judged.exe', build);
  }

  it('is recognized for every length modulo 8, with one and with two signatures', async () => {
    const lengths = new Set<number>();
    for (let payload = 20_000; payload < 20_008; payload++) {
      const unsigned = await makeInstaller(directory.path, payload);
      const build = buildOf(await readFile(unsigned));
      lengths.add(build.size % 8);
      await rm(at('signed.exe'), { force: true });
      await signProgram(own, unsigned, at('signed.exe'));
      expect(await reasonOf('signed.exe', build)).toBeUndefined();
      await rm(at('twice.exe'), { force: true });
      await signProgram(own, at('signed.exe'), at('twice.exe'), ['-nest', '-h', 'sha384']);
      expect(await reasonOf('twice.exe', build)).toBeUndefined();
      const program = await readSignedProgram(at('twice.exe'));
      if (typeof program !== 'object') throw new Error(program);
      expect(program.signatures.map(({ algorithm }) => algorithm)).toEqual(['sha256', 'sha384']);
      const { publisher } = await readProgramFacts(at('twice.exe'));
      expect(publisher).toBe('CN="App, Inc.", O="App, Inc.", C=DE');
      expect(parseDn(publisher ?? '').get('CN')).toBe('App, Inc.');
    }
    expect(lengths.size).toBe(8);
  });

  describe('whose bytes', () => {
    let unsigned: Buffer;
    let signed: Buffer;
    beforeAll(async () => {
      const file = await makeInstaller(directory.path, 30_001);
      unsigned = await readFile(file);
      await rm(at('signed.exe'), { force: true });
      await signProgram(own, file, at('signed.exe'));
      signed = await readFile(at('signed.exe'));
    });

    const changed = (bytes: Buffer, change: (copy: Buffer) => void): Buffer => {
      const copy = Buffer.from(bytes);
      change(copy);
      return copy;
    };

    it('had the right checksum, or keep their checksum, is recognized too', async () => {
      const { checksum } = fieldsOf(unsigned);
      const right = changed(unsigned, (copy) => {
        let sum = 0;
        const padded = Buffer.concat([copy, Buffer.alloc(copy.length % 2)]);
        padded.writeUInt32LE(0, checksum);
        for (let word = 0; word < padded.length; word += 2) {
          sum += padded.readUInt16LE(word);
          sum = (sum & 0xffff) + (sum >>> 16);
        }
        copy.writeUInt32LE(sum + copy.length, checksum);
      });
      expect(await judge(signed, buildOf(right))).toBeUndefined();
      const odd = changed(unsigned, (copy) => copy.writeUInt32LE(1234, checksum));
      const keeps = changed(signed, (copy) => copy.writeUInt32LE(1234, checksum));
      expect(await judge(keeps, buildOf(odd))).toBeUndefined();
      expect(await judge(signed, buildOf(odd))).toBe('without its signature, it has another hash');
    });

    it('differ anywhere is refused', async () => {
      const build = buildOf(unsigned);
      for (const position of [2, 400, 20_000, unsigned.length - 1]) {
        const flipped = changed(signed, (copy) => {
          copy[position] = (copy[position] ?? 0) ^ 1;
        });
        expect(await judge(flipped, build)).toMatch(/^(without its|its header)/);
      }
      expect(unsigned.length % 8).not.toBe(0);
      const filled = changed(signed, (copy) => copy.writeUInt8(1, unsigned.length));
      expect(await judge(filled, build)).toMatch(
        /bytes before its signature that no signing tool adds/,
      );
    });

    it('have a signature that does not fit them is refused', async () => {
      const otherFile = await makeInstaller(directory.path, 30_002);
      await rm(at('other-signed.exe'), { force: true });
      await signProgram(own, otherFile, at('other-signed.exe'));
      const other = await readFile(at('other-signed.exe'));
      const { directory: entry } = fieldsOf(signed);
      const table = other.subarray(other.readUInt32LE(entry));
      const start = signed.readUInt32LE(entry);
      const foreign = Buffer.concat([signed.subarray(0, start), table]);
      foreign.writeUInt32LE(table.length, entry + 4);
      expect(await judge(foreign, buildOf(unsigned))).toBe('its signature does not fit its bytes');
    });

    it('have a table with more than signatures, outside of the file, or cut off is refused', async () => {
      const build = buildOf(unsigned);
      const { directory: entry } = fieldsOf(signed);
      const start = signed.readUInt32LE(entry);
      const bytes = signed.readUInt32LE(entry + 4);
      const stuffed = Buffer.concat([signed, Buffer.from('stuffing')]);
      expect(await judge(stuffed, build)).toBe('its certificate table does not end the file');
      stuffed.writeUInt32LE(bytes + 8, entry + 4);
      expect(await judge(stuffed, build)).toBe('its certificate table is cut off');
      stuffed.writeUInt32LE(signed.readUInt32LE(start) + 8, start);
      expect(await judge(stuffed, build)).toBe('its certificate table holds more than signatures');
      const outside = changed(signed, (copy) => copy.writeUInt32LE(0xfffffff0, entry));
      expect(await judge(outside, build)).toBe('its certificate table does not end the file');
      const cut = signed.subarray(0, fieldsOf(signed).directory + 2);
      expect(await judge(cut, build)).toBe('its header is cut off');
      const none = changed(signed, (copy) => copy.fill(0, start + 8, start + 40));
      expect(await judge(none, build)).toMatch(/holds no Authenticode signature/);
    });

    it('were signed twice, the first time before the build stated its hash, is refused', async () => {
      const before = buildOf(signed);
      await rm(at('again.exe'), { force: true });
      await signProgram(own, at('signed.exe'), at('again.exe'), ['-nest', '-h', 'sha256']);
      expect(await reasonOf('again.exe', before)).toBe(
        'without its signature, it has another size',
      );
    });

    describe('are published', () => {
      const NAME = 'App-Setup-1.0.0.exe';
      const publish = async (file: Buffer, version: string, ...options: string[]) => {
        const dist = at('dist');
        await rm(dist, { recursive: true, force: true });
        await mkdir(dist);
        const name = NAME.replace('1.0.0', version);
        const sha512 = createHash('sha512').update(unsigned).digest('base64');
        const info = `version: ${version}\nfiles:\n  - url: ${name}\n    sha512: ${sha512}\n    size: ${unsigned.length}\n`;
        await writeFile(path.join(dist, name), file);
        await writeFile(path.join(dist, `${name}.blockmap`), await blockmapOf(unsigned));
        await writeFile(path.join(dist, 'latest.yml'), info);
        return slipway(['publish', version, 'dist', '--create', ...options], {
          cwd: directory.path,
        });
      };

      it('with the hash of the signed file, and with its own block map', async () => {
        const published = json(await publish(signed, '1.0.0', '--json'));
        expect(published).toMatchObject({
          repairs: [
            { filename: NAME, kind: 'signed_later' },
            { filename: NAME, kind: 'blockmap_replaced' },
          ],
          artifacts: [{ sha512: buildOf(signed).sha512, differential: true }],
        });
        const { stdout } = await slipway(['show', '1.0.0', '--json'], { cwd: directory.path });
        expect(JSON.parse(stdout)).toMatchObject({
          release: { artifacts: [{ unsigned_build: buildOf(unsigned) }] },
        });
        expect((await publish(signed, '1.0.0')).stdout).toContain(
          `${NAME} was signed after the build: without its signature, it is the file that latest.yml describes.`,
        );
      });

      it('when the publisher accepts other bytes, which the history keeps', async () => {
        const flipped = changed(signed, (copy) => copy.writeUInt8(1, 20_000));
        const name = 'App-Setup-2.0.0.exe';
        const refused = await publish(flipped, '2.0.0');
        expect(refused.stderr).toMatch(
          /Signing does not explain the difference: without its signature, it has another hash\. Build again, or add --rehash "App-Setup-2\.0\.0\.exe" to publish its present bytes\./,
        );
        expect((await publish(flipped, '2.0.0', '--rehash', 'App.exe')).stderr).toMatch(
          /--rehash "App\.exe" names no file of this build\. Files: App-Setup-2\.0\.0\.exe/,
        );
        const accepted = json(await publish(flipped, '2.0.0', '--json', '--rehash', name));
        expect(accepted.repairs).toMatchObject([{ kind: 'rehashed' }, {}]);
        expect(accepted.warnings).toContainEqual(
          expect.stringContaining(`The signature of ${name} does not fit its bytes`),
        );
        const { stdout } = await slipway(['history'], { cwd: directory.path });
        expect(stdout).toContain(`accepted other bytes than the build tool stated for ${name}`);
      });
    });
  });
});
