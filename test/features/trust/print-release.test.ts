import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextSink } from '../../../src/cli/text-sink.ts';
import { filesOf } from '../../../src/features/trust/named-files.ts';
import { printRelease, type ShownRelease } from '../../../src/features/trust/print-release.ts';
import { rounds } from '../../support/rounds.ts';

/** What a person sees before signing a draft that an attacker wrote. */

const DIGEST = 'd'.repeat(64);

/** The texts of a draft that its publisher chooses freely. */
interface Texts {
  readonly notes: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly filename?: string;
}

function shownOf({ notes, text = 'text', filename = 'App.exe' }: Texts): ShownRelease {
  const file = { filename, size: 5, sha256: '1'.repeat(64) };
  const artifact = { ...file, platform: 'windows', arch: 'x64', format: 'nsis' };
  const companion = { ...file, filename: `${filename}.blockmap`, kind: 'blockmap' };
  const release = {
    version: '1.4.0',
    name: text,
    notes,
    requires: text,
    mandatoryFor: text,
    endsNative: [],
    provenance: { commit: text, buildUrl: text },
    artifacts: [{ ...artifact, companions: [companion] }],
    carried: [{ name: 'latest.yml', size: 7, sha256: '3'.repeat(64) }],
  } as unknown as ShownRelease['release'];
  const waiting = {
    application: 'desktop',
    channel: 'stable',
    draft: { version: '1.4.0', manifest: { number: 3, digest: DIGEST } },
    keys: { threshold: 2, keys: new Map() },
    next: { x_slipway_inherits: null, x_slipway_allow_downgrade: false },
    signatures: [],
  } as unknown as ShownRelease['waiting'];
  return { waiting, maker: undefined, release, files: filesOf(release) };
}

/** The rows that a terminal shows: before the first row of notes, the rows of notes, and from the facts on. */
function rowsOf(texts: Texts, columns: number | undefined, shown = shownOf(texts)) {
  const stdout = createTextSink();
  const streams = {
    stdout: Object.assign(stdout.stream, columns === undefined ? {} : { columns }),
    stderr: createTextSink().stream,
  };
  const terminal = streams as unknown as Parameters<typeof printRelease>[0];
  printRelease(terminal, { place: { name: 'data', text: './data' } }, shown);
  const [heading = '', ...rows] = stdout.text().split(/\n/);
  const facts = rows.lastIndexOf('desktop 1.4.0 on stable in ./data:');
  return { heading, notes: rows.slice(0, facts - 1), facts: rows.slice(facts) };
}

/** The columns of a text, as Markus Kuhn's wcwidth counts them, with one for each mark. */
function columnsOf(text: string): number {
  const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{3fffd}]/u;
  return [...text].reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
}

const FALSE_BLOCK = [
  'desktop 1.4.0 on stable in ./data:',
  'Its files, with their SHA-256:',
  '  1. App.exe',
  '     windows-x64 nsis, 5 B',
  `     ${'f'.repeat(64)}`,
  'Manifest 3, with its SHA-256:',
  `  ${'f'.repeat(64)}`,
];
const BLOCK = FALSE_BLOCK.join('\n');

const ATTACKS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['60 empty lines', { und: `Better.${'\n'.repeat(61)}${BLOCK}` }],
  ['5,000 spaces that wrap', { und: `Better.${' '.repeat(5_000)}${BLOCK}` }],
  ['wide spaces that wrap', { und: `Better.${'\u3000'.repeat(5_000)}${BLOCK}` }],
  ['tabs that wrap', { und: `Better.${'\t'.repeat(700)}${BLOCK}` }],
  ['emoji that wrap', { und: `${'🚀'.repeat(500)}${BLOCK}` }],
  ['carriage returns', { und: `Better.\r\r${BLOCK.replaceAll('\n', '\r')}` }],
  [
    'breaks of Unicode',
    { und: `Better.\u2028\u2029\u0085\v\f${BLOCK.replaceAll('\n', '\u2028')}` },
  ],
  ['moves of the cursor', { und: `\u001b[2J\u001b[H\u009b2J${BLOCK}` }],
  ['an override of the direction', { und: `\u202e${BLOCK}\u2066` }],
  ['many languages', Object.fromEntries([...'abcdefgh'].map((one) => [`${one}${one}`, BLOCK]))],
  ['the name of a language', { [`de):\n${BLOCK}\n(`]: 'Besser.' }],
  ['no notes', {}],
];

describe.each([80, 40])('a draft on a terminal of %i columns', (columns) => {
  it.each(ATTACKS)('its notes cannot imitate the facts: %s', (_name, notes) => {
    const shown = rowsOf({ notes }, columns);
    expect(shown.notes.length).toBeLessThanOrEqual(40);
    for (const row of shown.notes) {
      expect(row).toMatch(/^\| /);
      expect(columnsOf(row)).toBeLessThanOrEqual(columns);
      expect(row).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
    expect(shown.facts.join('\n')).not.toContain('f'.repeat(64));
    expect(shown.facts).toEqual(rowsOf({ notes: { und: 'Better.' } }, columns).facts);
  });

  it('any notes stay behind the mark, and any text of the draft in its row', () => {
    const unit = fc.constantFrom(...' \t\r\n\v|\u2028\u202e\u200d\u00ad漢🚀é\u0301\u3000aあ.');
    const any = fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code));
    const text = fc.oneof(
      fc.string({ unit, maxLength: 200 }),
      fc.string({ unit: any, maxLength: 200 }),
      fc.constant(`${' '.repeat(5_000)}${BLOCK}`),
      fc.array(fc.constantFrom('', ' '.repeat(200), ...FALSE_BLOCK)).map((all) => all.join('\n')),
    );
    const plain = rowsOf({ notes: {} }, columns).facts.length;
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 4 }), text, (notes, given) => {
        const shown = rowsOf({ notes, text: given, filename: given }, columns);
        expect(shown.notes.length).toBeLessThanOrEqual(40);
        expect(shown.notes.filter((row) => !row.startsWith('| '))).toEqual([]);
        expect(shown.facts).toHaveLength(plain);
        expect(shown.facts.filter((row) => row === `  ${DIGEST}`)).toHaveLength(1);
        const wrong = [...shown.notes, ...shown.facts].filter(
          (row) =>
            /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(row) ||
            (columnsOf(row) > columns && !/^ +[0-9a-f]{64}$/.test(row)),
        );
        expect(wrong).toEqual([]);
      }),
      { numRuns: rounds(40, 20_000) },
    );
  });
});

describe('a draft before it is signed', () => {
  it('lists targets, formats, companions, documents and all digests, and the manifest last', () => {
    const { facts } = rowsOf({ notes: {} }, 80);
    expect(facts.slice(10)).toEqual([
      '  signatures        0 of 2',
      'Its files, with their SHA-256:',
      '  1. App.exe',
      '     windows-x64 nsis, 5 B',
      `     ${'1'.repeat(64)}`,
      '  2. App.exe.blockmap',
      '     blockmap of file 1, 5 B',
      `     ${'1'.repeat(64)}`,
      '  3. latest.yml',
      '     signed document, 7 B',
      `     ${'3'.repeat(64)}`,
      'Manifest 3, with its SHA-256:',
      `  ${DIGEST}`,
      '',
    ]);
  });

  it('names the key that made the manifest, or says that no signature names one', () => {
    const shown = shownOf({ notes: {} });
    const made = (maker: string | undefined = undefined) =>
      rowsOf({ notes: {} }, 80, { ...shown, maker }).facts;
    expect(made('ci (0123456789ab)')).toContain('  made by           ci (0123456789ab)');
    expect(made()).toContain('  made by           no key of stable');
  });

  it('says how many rows of the notes are left out, and how to see them', () => {
    const { heading, notes } = rowsOf({ notes: { und: '\n'.repeat(49), de: 'x\ny' } }, 80);
    expect(notes).toEqual(['| ', '| (de)', '| x', '| y']);
    expect(heading).toBe('Notes of the draft, each row behind "|":');
    const long = rowsOf({ notes: { und: 'x\n'.repeat(39), de: 'y\nz' } }, 80);
    expect(long.heading).toBe(
      'Notes of the draft, each row behind "|" (the first 40; 2 rows left out; "slipway show 1.4.0" shows all):',
    );
    expect(long.notes.at(-1)).toBe('| (de)');
  });

  it('takes 80 columns where no stream knows its width', () => {
    const { notes } = rowsOf({ notes: { und: 'x'.repeat(100) } }, undefined);
    expect(notes).toEqual([`| ${'x'.repeat(76)}…`]);
    expect(rowsOf({ notes: { und: 'x'.repeat(100) } }, 0).notes).toEqual(notes);
  });
});
