import { describe, expect, it } from 'vitest';
import { groupName } from '../../../src/domain/fleet.ts';
import { parseFleet } from '../../../src/features/simulate/parse-fleet.ts';

const read = (text: string | Uint8Array) =>
  parseFleet(typeof text === 'string' ? Buffer.from(text) : text, 'fleet.csv', 'stable').map(
    (group) => `${groupName(group)}: ${group.count}`,
  );
const HEADER = 'version,platform,arch,count';

describe('a fleet in a CSV file', () => {
  it('has a group for each row, with aliases and defaults', () => {
    expect(read(`${HEADER}\n1.0.0,windows,x64,10\nv1.1.0,darwin,aarch64,5\n`)).toEqual([
      'stable 1.0.0 windows-x64: 10',
      'stable 1.1.0 macos-arm64: 5',
    ]);
  });

  it('has the optional columns in any order', () => {
    const text = 'count,os_version,format,channel,arch,platform,version';
    expect(read(`${text}\n3,14.1,zip,beta,arm64,macos,1.0.0\n2,,,,x64,linux,1.0.0`)).toEqual([
      'beta 1.0.0 macos-arm64 zip 14.1: 3',
      'stable 1.0.0 linux-x64: 2',
    ]);
  });

  it('may have quotes, CRLF, a byte order mark, spaces and empty lines', () => {
    const text = `\uFEFF"Version", PLATFORM ,arch,count\r\n\r\n"1.0.0","windows",x64, 10\r\n1.0.0,win32,x64,0\r\n`;
    expect(read(text)).toEqual(['stable 1.0.0 windows-x64: 10']);
    // The number of a line counts the lines within quotes.
    expect(refusalOf(`${HEADER}\n"1.0\n",windows,x64,1\n1,windows,x64,1`)).toMatch(
      /^Line 4: "1" /m,
    );
  });

  it('joins equal rows', () => {
    expect(read(`${HEADER}\n1.0.0,windows,x64,10\n1.0.0,win,amd64,5`)).toEqual([
      'stable 1.0.0 windows-x64: 15',
    ]);
  });

  it('is refused with every bad line, and what to write instead', () => {
    const rows = [
      '1.0,windows,x64,1',
      '1.0.0,amiga,x64,1',
      '',
      '1.0.0,windows,sparc,1',
      '1.0.0,windows,universal,1',
      '1.0.0,windows,x64,1.5',
      '1.0.0,windows,x64,"1,000"',
      '1.0.0,windows,x64,-1',
      '1.0.0,windows,x64',
      '1.0.0,windows,x64,1,2',
      '1.0.0,windows,x64,1',
    ];
    const message = refusalOf(`${HEADER}\n${rows.join('\n')}`);
    const [first, ...lines] = message.split('\n');
    expect(first).toBe('fleet.csv has 9 rows that cannot be read; nothing was simulated.');
    expect(lines.map((line) => line.replace(/: .*/, ''))).toEqual(
      [2, 3, 5, 6, 7, 8, 9, 10, 11].map((line) => `Line ${line}`),
    );
    expect(message).toContain('Line 3: "amiga" is not a known platform; use one of');
    expect(message).toContain('Line 6: "universal" is a kind of build, and an installation has');
    expect(message).toContain('Line 8: "1,000" is not a count. Write a whole number');
    expect(message).toContain('Line 11: It has 5 fields, and the first line names 4 columns.');
  });

  it('names at most ten lines', () => {
    const message = refusalOf(`${HEADER}\n${'x,y,z,1\n'.repeat(25)}`);
    expect(message.split('\n')).toHaveLength(12);
    expect(message).toContain('… and 15 more.');
  });

  it('is refused after the rows that are read, and nothing after them is parsed', () => {
    const row = '\n1.0.0,windows,x64,1';
    const most = `${HEADER}${row.repeat(50_000)}`;
    expect(read(most)).toEqual(['stable 1.0.0 windows-x64: 50000']);
    // Parsing would fail at the open quote.
    const unparsable = `${row.repeat(10)}\n"`;
    expect(() => read(most + unparsable)).toThrow('more than the 50000 rows');
  });

  it.each([
    ['an empty file', '', /has no column version, platform, arch, count\. The first line names/],
    ['a missing column', 'version,platform,count\n', /has no column arch\./],
    ['semicolons', 'version;platform;arch;count\n', /by commas, not by semicolons/],
    ['an unknown column', `${HEADER},os_verison\n`, /unknown column "os_verison"\. Remove it/],
    ['a column twice', `${HEADER},count\n`, /has the column count twice/],
    ['no rows', `${HEADER}\n`, /has no installations\. Add rows/],
    ['only zeros', `${HEADER}\n1.0.0,windows,x64,0`, /has no installations/],
    ['too many installations', `${HEADER}\n1.0.0,windows,x64,9999999999`, /at most 100000000/],
    ['an open quote', `${HEADER}\n"1.0.0,windows,x64,1\n`, /not a CSV file near line 2/],
    ['a bad system', `${HEADER},os_version\n1.0.0,windows,x64,1,new`, /Line 2: "new" is not a v/],
    ['a bad format', `${HEADER},format\n1.0.0,windows,x64,1,exe`, /Line 2: "exe" is not a known f/],
    ['a bad channel', `${HEADER},channel\n1.0.0,windows,x64,1,A B`, /Line 2: "A B" is not a usabl/],
  ])('is refused: %s', (_what, text, message) => {
    expect(refusalOf(text)).toMatch(message);
  });

  it('is refused when it is not UTF-8', () => {
    expect(refusalOf(Buffer.from('\uFEFFversion', 'utf16le'))).toMatch(/is not UTF-8 text/);
  });
});

function refusalOf(text: string | Uint8Array): string {
  try {
    read(text);
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' });
    return (error as Error).message;
  }
  throw new Error('The file was not refused.');
}
