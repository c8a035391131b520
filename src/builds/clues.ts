import type { Arch, Format, Platform } from '../domain/platform.ts';

/** The conventions of a build tool tell these facts about a file. */
export interface Clues {
  readonly platform?: Platform;
  readonly format?: Format;
  /** Names its source: the error for contradicting evidence lists the sources. */
  readonly arch?: Evidence;
  /** The architecture that the tool leaves out of names, for a file that states none. */
  readonly usualArch?: Arch;
  /** The tool leaves the architecture out of the name, so that builds of two targets have the same name. */
  readonly nameLacksArch?: boolean;
  /** Its header tells nothing about the program inside: self-extracting programs are 32-bit for every target. */
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
