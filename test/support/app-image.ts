/** A program for Linux with the sections that an AppImage has, and with its update information. */
export function appImage(updateInformation: string, bits: 32 | 64 = 64): Buffer {
  const names = Buffer.from('\0.upd_info\0.shstrtab\0');
  const information = Buffer.alloc(1024);
  information.write(updateInformation);
  const isWide = bits === 64;
  const [headerBytes, sectionBytes] = isWide ? [64, 64] : [52, 40];
  const header = Buffer.alloc(headerBytes);
  header.write('\x7fELF', 'latin1');
  header.set([isWide ? 2 : 1, 1, 1], 4);
  header.writeUInt16LE(isWide ? 62 : 3, 18);
  const informationAt = headerBytes;
  const namesAt = informationAt + information.length;
  const sectionsAt = namesAt + names.length;
  if (isWide) header.writeBigUInt64LE(BigInt(sectionsAt), 0x28);
  else header.writeUInt32LE(sectionsAt, 0x20);
  const [sizeAt, countAt, indexAt] = isWide ? [0x3a, 0x3c, 0x3e] : [0x2e, 0x30, 0x32];
  header.writeUInt16LE(sectionBytes, sizeAt);
  header.writeUInt16LE(3, countAt);
  header.writeUInt16LE(2, indexAt);
  const section = (name: number, offset: number, size: number): Buffer => {
    const entry = Buffer.alloc(sectionBytes);
    entry.writeUInt32LE(name, 0);
    if (isWide) {
      entry.writeBigUInt64LE(BigInt(offset), 0x18);
      entry.writeBigUInt64LE(BigInt(size), 0x20);
    } else {
      entry.writeUInt32LE(offset, 0x10);
      entry.writeUInt32LE(size, 0x14);
    }
    return entry;
  };
  const sections = [
    section(0, 0, 0),
    section(1, informationAt, information.length),
    section(11, namesAt, names.length),
  ];
  return Buffer.concat([header, information, names, ...sections]);
}
