import type { Arch, Format, Platform } from '../domain/platform.ts';

/** What one build tool's habits say of a file. */
export interface Clues {
  readonly platform?: Platform;
  readonly format?: Format;
  /** Contradicting evidence is refused, so it says where it is from. */
  readonly arch?: Evidence;
  /** For when nothing states an architecture: what the tool leaves unsaid. */
  readonly usualArch?: Arch;
  /** The tool leaves the architecture out of the name, so that two machines' builds collide. */
  readonly nameLacksArch?: boolean;
  /** Its own header says nothing of the program inside: installers are 32-bit programs everywhere. */
  readonly isSelfExtracting?: boolean;
  /** Why the file is not published although it is a package. */
  readonly skip?: string;
}

const MARKS =
  /^builder-(debug\.yml|effective-config\.yaml)$|^[\w.]+-(mac|linux(-\w+)?)\.yml$|^(latest|beta|alpha)\.yml$/;

/** Whether a file of this name beside a package says that electron-builder wrote both. */
export function isMarkOfElectronBuilder(name: string): boolean {
  return MARKS.test(name);
}

export interface Evidence {
  readonly arch: Arch;
  /** Completes "says arm64": `the folder make/zip/darwin/arm64`. */
  readonly source: string;
}
