import { describe, expect, it } from 'vitest';
import { unpackRevision } from '../../../src/catalog/documents/packed-document.ts';
import {
  channelsInSteps,
  type RevisionJson,
} from '../../../src/catalog/documents/revision-document.ts';
import { fullnessOf } from '../../../src/catalog/documents/revision-size.ts';
import { liveRevisionSequence } from '../../../src/catalog/live/live-revision.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { revisionSequence } from '../../../src/catalog/reading/sequences.ts';
import { isAppError } from '../../../src/core/errors.ts';
import { runAtOnce } from '../../../src/core/steps.ts';
import { renderEnvelope } from '../../../src/store/sequence/envelope.ts';
import { setUpLarge } from '../documents/large-revision.ts';

/** A service parses a revision offer by offer, and must read and refuse the same documents as a publisher. */

const live = liveRevisionSequence('desktop');
const whole = revisionSequence('desktop');

async function makeSigned(): Promise<RevisionJson> {
  const { deps, offer } = setUpLarge();
  await offer(300);
  const revision = await readRevision(deps, 'desktop');
  if (revision === undefined) throw new Error('No revision was made.');
  const { stable } = revision.signed.channels;
  if (stable === undefined) throw new Error('The revision has no channel.');
  const dropped = {
    retired: ['0.1.0', '0.2.0'],
    keep: 300,
    kept_out: [{ version: '0.1.0', at: '2026-11-20T09:00:00.000Z' }],
    expect: [{ os: 'linux' as const, arch: 'x64' as const }],
  };
  return {
    ...revision.signed,
    hint: 7,
    channels: { stable: { ...stable, ...dropped } },
    removed_versions: ['0.3.0'],
  };
}

/** The error as a publisher and as a service report it. */
async function refusals(bytes: Uint8Array, number = 1): Promise<readonly unknown[]> {
  return Promise.all(
    [whole, live].map(async ({ parse }) => {
      try {
        await parse(bytes, number);
        return 'sound';
      } catch (error) {
        return isAppError(error) ? [error.code, error.message] : error;
      }
    }),
  );
}

describe('a revision as a service reads it', () => {
  it('has the channels, the digest and the links that a publisher reads, in any spelling', async () => {
    const signed = await makeSigned();
    const bytes = renderEnvelope(signed);
    const spellings = [
      bytes,
      Buffer.from(JSON.stringify(JSON.parse(`${Buffer.from(bytes)}`), null, 1)),
    ];
    for (const document of spellings) {
      const parsed = await live.parse(document, 1);
      const { digest } = await whole.parse(document, 1);
      const { document: packed, ...facts } = parsed;
      expect(Buffer.from(await unpackRevision(packed)).equals(Buffer.from(document))).toBe(true);
      expect(facts).toEqual({
        signed: { revision: 1, previous: null, skipped: [] },
        digest,
        channels: runAtOnce(channelsInSteps(signed)),
        drafts: [],
        displayName: null,
        fullness: fullnessOf(document.byteLength, signed.channels),
        refused: [],
      });
    }
  });

  it('is refused with the error that a publisher gets', async () => {
    const signed = await makeSigned();
    const { stable } = signed.channels;
    const offers = stable?.offers ?? [];
    const withStable = (changed: object) => ({
      ...signed,
      channels: { stable: { ...stable, ...changed } },
    });
    const documents = [
      withStable({ offers: [...offers, { version: 'x' }] }),
      withStable({ offers: [{ ...offers[0], status: 'gone' }, ...offers] }),
      withStable({ offers: {} }),
      withStable({ retired: ['1.0.0', 'x'] }),
      withStable({ retired: [1] }),
      withStable({ kept_out: [{ version: '0.1.0', at: 'yesterday' }] }),
      withStable({ kept_out: { '0.1.0': '2026-11-20T09:00:00.000Z' } }),
      withStable({ kept_out: [null] }),
      withStable({ keep: 0 }),
      withStable({ expect: [{ os: 'linux', arch: 'universal' }] }),
      { ...signed, removed_versions: ['v1'] },
      { ...signed, removed_versions: { length: 1 } },
      withStable({ inherits: 7 }),
      { ...signed, channels: { stable, beta: null } },
      { ...signed, channels: { offers: [offers[0]], retired: ['1.0.0'] } },
      { ...signed, change_id: 'x' },
      { ...signed, schema_version: 3 },
      { ...signed, application: 'other' },
      { ...signed, revision: 2 },
    ].map(renderEnvelope);
    const bytes = Buffer.from(renderEnvelope(signed));
    const altered = Buffer.from(
      `${bytes}`.replace('"mandatory_for":"<0.9.0"', '"mandatory_for":null'),
    );
    for (const document of [...documents, altered, bytes.subarray(0, 9_000), Buffer.from('null')]) {
      const [publisher, service] = await refusals(document);
      expect(publisher).not.toBe('sound');
      expect(service).toEqual(publisher);
    }
  });

  it('ignores fields that this version does not know, also lists of offers', async () => {
    const signed = { ...(await makeSigned()), offers: [{}], later: { retired: ['x'] } };
    expect(await refusals(renderEnvelope(signed))).toEqual(['sound', 'sound']);
  });
});
