import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { fromFdPromise } from 'yauzl';
import { systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import { textInPlist } from '../property-list.ts';
import { limitScan } from './mac-application.ts';
import { createSignatureReader, type MachOSignature } from './mach-o-signature.ts';

/** The facts that a macOS application in an archive states about itself. */
export interface MacFacts extends Partial<MachOSignature> {
  /** True when the ticket of Apple's notarization is stapled to the application. */
  readonly ticket: boolean;
  /** `CFBundleShortVersionString`. */
  readonly version: string | undefined;
  /** `SUPublicEDKey`: the key with which Sparkle verifies updates of this build. */
  readonly sparkleKey: string | undefined;
}

const PLIST = /^(?:\.\/)?[^/]+\.app\/Contents\/Info\.plist$/;
const PROGRAM = /^(?:\.\/)?[^/]+\.app\/Contents\/MacOS\/[^/]+$/;
/** `stapler` writes the ticket here. */
const TICKET = /^(?:\.\/)?[^/]+\.app\/Contents\/CodeResources$/;
const PLIST_BYTES_MAX = 256 * 1024;

/** Gets the bytes of one file. Returns true when it needs no more. */
type Reader = (chunk: Buffer) => boolean;
/** Returns undefined for a file whose bytes are not needed. */
type Visit = (name: string) => Reader | undefined;

/**
 * Reads an application in a `.zip` or `.tar.gz`; undefined for an archive that cannot be read or has no application.
 *
 * @throws the system's error when the file itself cannot be read
 */
export async function readMacFacts(
  path: string,
  format: 'zip' | 'tar.gz',
): Promise<MacFacts | undefined> {
  let plist: Buffer | undefined;
  let ticket = false;
  let program: ReturnType<typeof createSignatureReader> | undefined;
  const visit: Visit = (name) => {
    if (TICKET.test(name)) ticket = true;
    if (PROGRAM.test(name) && program === undefined) {
      program = createSignatureReader();
      return program.update;
    }
    if (!PLIST.test(name)) return undefined;
    return (chunk) => {
      plist = Buffer.concat([plist ?? Buffer.alloc(0), chunk]).subarray(0, PLIST_BYTES_MAX);
      return plist.length === PLIST_BYTES_MAX;
    };
  };
  try {
    await (format === 'zip' ? visitZip(path, visit) : visitTar(path, visit));
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error) !== undefined) throw error;
    return undefined;
  }
  if (plist === undefined) return undefined;
  return {
    ...program?.finish(),
    ticket,
    version: textInPlist(plist, 'CFBundleShortVersionString'),
    sparkleKey: textInPlist(plist, 'SUPublicEDKey'),
  };
}

async function visitZip(path: string, visit: Visit): Promise<void> {
  const file = await openPlainFile(path);
  try {
    const zip = await fromFdPromise(file.fd, { autoClose: false });
    for await (const entry of zip.eachEntry()) {
      const read = visit(entry.fileName);
      if (read === undefined) continue;
      for await (const chunk of limitScan(await zip.openReadStreamPromise(entry))) {
        if (read(chunk)) break;
      }
    }
  } finally {
    await file.close();
  }
}

async function visitTar(path: string, visit: Visit): Promise<void> {
  const archive = extract();
  const file = await openPlainFile(path);
  // The stream closes the file. The callback does nothing, because the loop below receives every error.
  pipeline(file.createReadStream(), createGunzip(), limitScan, archive, () => {});
  for await (const entry of archive) {
    const read = entry.header.type === 'file' ? visit(entry.header.name) : undefined;
    if (read === undefined) {
      entry.resume();
      continue;
    }
    // Reads the entry to its end. When a reader leaves an entry early, tar-stream ends the whole archive.
    let isDone = false;
    for await (const chunk of entry) {
      if (!isDone && chunk instanceof Uint8Array) isDone = read(Buffer.from(chunk));
    }
  }
}
