import type { Arch, Format, Platform } from '../domain/platform.ts';

/** The conventions of a build tool tell these facts about a file. */
export interface Clues {
  readonly platform?: Platform;
  readonly format?: Format;
  /** The architecture, with its source: the error for contradicting evidence lists the sources. */
  readonly arch?: Evidence;
  /** The architecture that the tool leaves out of names. It counts when nothing else states an architecture. */
  readonly usualArch?: Arch;
  /** True when the tool leaves the architecture out of the name. Then builds for two targets have the same name. */
  readonly nameLacksArch?: boolean;
  /**
   * True for a self-extracting program: it is 32-bit for every target, and its header says nothing about the program
   * inside.
   */
  readonly isSelfExtracting?: boolean;
  /** Says why the file is not published although it is a package. */
  readonly skip?: string;
}

const MARKS =
  /^builder-(debug\.yml|effective-config\.yaml)$|^[\w.]+-(mac|linux(-\w+)?)\.yml$|^(latest|beta|alpha)\.yml$/;

/** True when a file of this name beside a package shows that electron-builder wrote both. */
export function isMarkOfElectronBuilder(name: string): boolean {
  return MARKS.test(name);
}

export interface Evidence {
  readonly arch: Arch;
  /** The subject of "… says arm64": `the folder make/zip/darwin/arm64`. */
  readonly source: string;
}
