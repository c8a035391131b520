import { posix } from 'node:path';
import { textInXml } from '../property-list.ts';
import { nameInIdentifier } from './application-name.ts';
import { textOf } from './loose.ts';
import { type FoundTool, type Stated, stated } from './project.ts';
import { findFiles, namesIn, readText } from './project-files.ts';

/** Recognizes an application with Sparkle: by the feed in its Info.plist, or by an appcast. */

const INFO_PLIST = /(^|-)Info\.plist$/;
const OUTPUT = 'updates';

export async function readSparkle(directory: string): Promise<FoundTool | undefined> {
  const plist = await findInfoPlist(directory);
  const [appcast] = await findFiles(directory, /^appcast[\w.-]*\.xml$/i);
  if (plist === undefined && appcast === undefined) return undefined;
  const key = plist === undefined ? undefined : stringIn(plist.text, 'SUPublicEDKey');
  const folder = appcast === undefined ? OUTPUT : posix.dirname(appcast);
  return {
    kind: 'sparkle',
    shownBy: plist?.file ?? appcast ?? '',
    output: folder,
    platforms: ['macos'],
    targets: [],
    name: statedIn(plist, 'CFBundleName'),
    otherNames: await otherNames(directory, plist),
    version: statedIn(plist, 'CFBundleShortVersionString'),
    build: { kind: 'own' },
    updaters: ['sparkle'],
    ...(key === undefined ? {} : { publicKey: key }),
    remarks: [],
  };
}

interface Plist {
  readonly file: string;
  readonly text: string;
}

async function findInfoPlist(directory: string): Promise<Plist | undefined> {
  for (const file of await findFiles(directory, INFO_PLIST)) {
    const text = await readText(directory, file);
    if (text?.includes('<key>SUFeedURL</key>')) return { file, text };
  }
  return undefined;
}

function stringIn(text: string, key: string): string | undefined {
  return textOf(textInXml(text, key));
}

function statedIn(plist: Plist | undefined, key: string): Stated | undefined {
  if (plist === undefined) return undefined;
  return stated(stringIn(plist.text, key), `the ${key} of ${plist.file}`);
}

async function otherNames(directory: string, plist: Plist | undefined): Promise<readonly Stated[]> {
  const identifier = statedIn(plist, 'CFBundleIdentifier');
  const projects = (await namesIn(directory)).filter((name) => name.endsWith('.xcodeproj'));
  return [
    ...(identifier === undefined
      ? []
      : [{ ...identifier, text: nameInIdentifier(identifier.text) }]),
    ...projects.map((name) => ({ text: posix.basename(name, '.xcodeproj'), source: name })),
  ];
}
