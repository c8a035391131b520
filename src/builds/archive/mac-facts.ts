import { textInPlist } from '../property-list.ts';
import { createSignatureReader, type MachOSignature } from './mach-o-signature.ts';
import { type EntryReader, visitArchive } from './visit-archive.ts';

/** The facts that a macOS application in an archive states about itself. */
export interface MacFacts extends Partial<MachOSignature> {
  /** True when the ticket of Apple's notarization is stapled to the application. */
  readonly ticket: boolean;
  /** `CFBundleShortVersionString`. */
  readonly version: string | undefined;
  /** `CFBundleDisplayName`, or else `CFBundleName`. */
  readonly productName: string | undefined;
  /** `SUPublicEDKey`: the key with which Sparkle verifies updates of this build. */
  readonly sparkleKey: string | undefined;
}

/** The files of an application in the root of the archive. `stapler` writes the ticket to `CodeResources`. */
const FILE = /^(?:\.\/)?([^/]+)\.app\/Contents\/(?:(Info\.plist)|(CodeResources)|MacOS\/([^/]+))$/;
const PLIST_BYTES_MAX = 256 * 1024;
const APPLICATIONS_MAX = 2;
/** Limits the memory: the reader of a program keeps up to 128 KiB. */
const PROGRAMS_MAX = 32;

/** The parts of one application, as they stand in the archive. */
interface Application {
  plist: Buffer;
  hasTicket: boolean;
  /** By name: only the property list says which of them is the application's program. */
  readonly programs: Map<string, ReturnType<typeof createSignatureReader>>;
}

/**
 * Reads the application in a `.zip` or `.tar.gz`; undefined for an archive that cannot be read, or does not have exactly
 * one application.
 *
 * @throws AppError `invalid_artifact`; the system's error when the file itself cannot be read
 */
export async function readMacFacts(
  path: string,
  format: 'zip' | 'tar.gz',
): Promise<MacFacts | undefined> {
  const applications = new Map<string, Application>();
  const problem = await visitArchive(path, format, (file) => {
    const [, name, isPlist, isTicket, program] = FILE.exec(file) ?? [];
    if (name === undefined) return undefined;
    // Several applications are an error, and a hostile archive may have any number.
    if (applications.size === APPLICATIONS_MAX && !applications.has(name)) return 'stop';
    const known = applications.get(name);
    const application = known ?? { plist: Buffer.alloc(0), hasTicket: false, programs: new Map() };
    applications.set(name, application);
    if (isTicket !== undefined) application.hasTicket = true;
    if (isPlist !== undefined) return readPlist(application);
    if (program === undefined || application.programs.size === PROGRAMS_MAX) return undefined;
    const reader = createSignatureReader();
    application.programs.set(program, reader);
    return reader.update;
  });
  const [application, ...others] = [...applications.values()].filter(
    ({ plist }) => plist.length > 0,
  );
  if (problem !== undefined || application === undefined || others.length > 0) return undefined;
  const { plist, programs, hasTicket } = application;
  const program = programs.get(textInPlist(plist, 'CFBundleExecutable') ?? '');
  return {
    ...program?.finish(),
    ticket: hasTicket,
    version: textInPlist(plist, 'CFBundleShortVersionString'),
    productName: textInPlist(plist, 'CFBundleDisplayName') ?? textInPlist(plist, 'CFBundleName'),
    sparkleKey: textInPlist(plist, 'SUPublicEDKey'),
  };
}

function readPlist(application: Application): EntryReader {
  return (chunk) => {
    application.plist = Buffer.concat([application.plist, chunk]).subarray(0, PLIST_BYTES_MAX);
    return application.plist.length === PLIST_BYTES_MAX;
  };
}
