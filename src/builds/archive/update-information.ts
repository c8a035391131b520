/**
 * The update information of an AppImage, in a section of the ELF file. `appimagetool` writes the address of updates
 * there, such as `zsync|https://updates.example.com/App-x86_64.AppImage.zsync`.
 *
 * @see https://github.com/AppImage/AppImageSpec/blob/master/draft.md#update-information
 */

/** Reads `length` bytes from `start`; undefined when the file has fewer. */
export type ReadBytes = (start: number, length: number) => Promise<Buffer | undefined>;

const SECTION = '.upd_info';
const SECTIONS_MAX = 1000;
const NAMES_BYTES_MAX = 64 * 1024;
const INFORMATION_BYTES_MAX = 4096;

/** The offset of a field, and its size in bytes. */
type Field = readonly [at: number, bytes: number];
interface Layout {
  readonly headerBytes: number;
  readonly sections: Field;
  readonly sectionBytes: number;
  readonly sectionCount: number;
  readonly namesIndex: number;
  readonly offset: Field;
  readonly size: Field;
}

/** The layouts by the class in the header: 1 for 32 bits, 2 for 64 bits. */
const LAYOUTS: Readonly<Record<number, Layout>> = {
  1: {
    headerBytes: 52,
    sections: [0x20, 4],
    sectionBytes: 40,
    sectionCount: 0x30,
    namesIndex: 0x32,
    offset: [0x10, 4],
    size: [0x14, 4],
  },
  2: {
    headerBytes: 64,
    sections: [0x28, 8],
    sectionBytes: 64,
    sectionCount: 0x3c,
    namesIndex: 0x3e,
    offset: [0x18, 8],
    size: [0x20, 8],
  },
};

/** The address from which an AppImage updates with zsync; undefined when the file states none, or is no AppImage. */
export async function readZsyncAddress(read: ReadBytes): Promise<string | undefined> {
  const [kind, address] = (await readUpdateInformation(read))?.split('|') ?? [];
  return kind === 'zsync' && address !== '' ? address : undefined;
}

async function readUpdateInformation(read: ReadBytes): Promise<string | undefined> {
  const start = await read(0, 64);
  const layout = LAYOUTS[start?.[4] ?? 0];
  if (start === undefined || layout === undefined) return undefined;
  const isElf = start.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'));
  // All processors that AppImages exist for are little-endian.
  if (!isElf || start[5] !== 1) return undefined;
  const count = start.readUInt16LE(layout.sectionCount);
  const at = numberAt(start, layout.sections);
  if (count === 0 || count > SECTIONS_MAX || at === undefined) return undefined;
  const table = await read(at, count * layout.sectionBytes);
  if (table === undefined) return undefined;
  const sections = Array.from({ length: count }, (_, index) => {
    const entry = table.subarray(index * layout.sectionBytes);
    const offset = numberAt(entry, layout.offset);
    const size = numberAt(entry, layout.size);
    return { name: entry.readUInt32LE(0), offset: offset ?? 0, size: size ?? 0 };
  });
  const names = sections[start.readUInt16LE(layout.namesIndex)];
  if (names === undefined || names.size > NAMES_BYTES_MAX) return undefined;
  const texts = await read(names.offset, names.size);
  const found = sections.find(({ name }) => texts !== undefined && textAt(texts, name) === SECTION);
  if (found === undefined) return undefined;
  const bytes = await read(found.offset, Math.min(found.size, INFORMATION_BYTES_MAX));
  return bytes === undefined ? undefined : textAt(bytes, 0);
}

function numberAt(bytes: Buffer, [at, size]: Field): number | undefined {
  if (size === 4) return bytes.readUInt32LE(at);
  const value = Number(bytes.readBigUInt64LE(at));
  return Number.isSafeInteger(value) ? value : undefined;
}

/** The text up to the next zero byte. */
function textAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end);
}
