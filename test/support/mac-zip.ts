import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { seededBytes } from './electron-build.ts';

/** An application of Electron in a zip for macOS, as electron-builder packs it. */

/** Text that compresses about as well as JavaScript. */
function script(seed: number, bytes: number): Buffer {
  const words: string[] = [];
  let state = seed + 1;
  for (let length = 0; length < bytes; length += words.at(-1)?.length ?? 0) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    words.push(`const v${state % 997} = require('${state.toString(36)}');\n`);
  }
  return Buffer.from(words.join('')).subarray(0, bytes);
}

/** An `app.asar` with a list of its files, as Electron packs it. */
function asar(files: readonly Buffer[]): Buffer {
  let offset = 0;
  const list = files.map((content, index) => {
    const entry = [`${index}.js`, { size: content.length, offset: String(offset) }];
    offset += content.length;
    return entry;
  });
  const native = { size: 1, unpacked: true };
  const tree = { files: { lib: { files: Object.fromEntries(list) }, 'a.node': native } };
  const json = Buffer.from(JSON.stringify(tree));
  const padded = Math.ceil(json.length / 4) * 4;
  const head = Buffer.alloc(16 + padded);
  head.writeUInt32LE(4, 0);
  head.writeUInt32LE(8 + padded, 4);
  head.writeUInt32LE(4 + padded, 8);
  head.writeUInt32LE(json.length, 12);
  json.copy(head, 16);
  return Buffer.concat([head, ...files]);
}

export const FILES = Array.from({ length: 300 }, (_, index) =>
  script(index, index % 50 === 0 ? 200_000 : 4_000),
);
/** The files with a change in some of them. */
export const edited = (...indexes: readonly number[]) =>
  FILES.map((content, index) =>
    indexes.includes(index) ? Buffer.concat([Buffer.from('// changed\n'), content]) : content,
  );

/** @param isStreamed true writes the sizes of the `app.asar` behind its data */
export async function macZip(
  version: string,
  files: readonly Buffer[],
  isStreamed = false,
): Promise<Buffer> {
  const zip = new ZipFile();
  const root = 'App.app/Contents';
  const plist = `<plist><dict><key>CFBundleShortVersionString</key><string>${version}</string></dict></plist>`;
  zip.addBuffer(Buffer.from(plist), `${root}/Info.plist`, { mode: 0o100644 });
  zip.addBuffer(seededBytes(400_000, 'framework'), `${root}/MacOS/App`, { mode: 0o100755 });
  const content = asar(files);
  const name = `${root}/Resources/app.asar`;
  if (isStreamed) zip.addReadStream(Readable.from([content]), name, { mode: 0o100600 });
  else zip.addBuffer(content, name, { mode: 0o100600 });
  zip.addBuffer(Buffer.from('../MacOS/App'), `${root}/Resources/link`, { mode: 0o120777 });
  zip.end({ comment: 'a comment', forceZip64Format: false });
  return buffer(zip.outputStream);
}
