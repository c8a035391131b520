import { createHash } from 'node:crypto';
import { AppError } from '../../../src/core/errors.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import type { Skipped } from '../../../src/store/sequence/envelope.ts';
import type { Sequence } from '../../../src/store/sequence/sequence.ts';

/** The smallest sequence with everything one can have: a digest, a schema version, skipped numbers. */
export interface Page {
  readonly number: number;
  readonly changeId: string;
  readonly by: string;
  /** How many pages this writer counted before it: a lost change would show. */
  readonly before: number;
  readonly skipped: readonly Skipped[];
}

export const ledger: Sequence<Page> = {
  name: 'ledger',
  key: (number) => `ledger/${number}.json`,
  documentBytesMax: 4096,
  corruptNewest: 'skipped',
  changeId: (page) => page.changeId,
  render: (page) => {
    const json = JSON.stringify(page);
    return Buffer.from(`${digest(json)}${json}`);
  },
  parse: (bytes, number) => {
    const text = Buffer.from(bytes).toString();
    if (text === 'newer') throw new AppError('document_newer', `ledger/${number} is newer.`);
    const json = text.slice(64);
    if (text.slice(0, 64) !== digest(json)) {
      throw new AppError('document_corrupt', `ledger/${number}.json was altered.`);
    }
    return JSON.parse(json) as Page;
  },
};

export type Condition = 'whole' | 'truncated' | 'altered' | 'newer' | 'too large';

/** Puts a page of a condition under a number, as it may be found in a bucket. */
export async function storePage(
  store: ObjectStore,
  number: number,
  condition: Condition = 'whole',
  key = ledger.key,
): Promise<void> {
  const page = { number, changeId: `page-${number}`, by: 'other', before: number - 1, skipped: [] };
  const whole = Buffer.from(ledger.render(page));
  const bodies: Record<Condition, Buffer> = {
    whole,
    truncated: whole.subarray(0, 70),
    altered: Buffer.from(whole.toString().replace('other', 'OTHER')),
    newer: Buffer.from('newer'),
    'too large': Buffer.alloc(ledger.documentBytesMax + 1),
  };
  await store.create(key(number), bodies[condition]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
