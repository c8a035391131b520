import { expect, it } from 'vitest';
import {
  REVISION_BYTES_MAX,
  withdrawnBytes,
} from '../../../src/catalog/documents/revision-size.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { REASON_BYTES_MAX } from '../../../src/domain/reason.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { offerOf, setUpLarge } from './large-revision.ts';

it('a revision at its size limit: another offer is refused, and yank, pause, resume and retire still work', async () => {
  const { deps, store, offer } = setUpLarge();
  const each = withdrawnBytes({
    stable: { inherits: null, offers: [offerOf(99_999)], retired: [] },
  });
  const empty = withdrawnBytes({ stable: { inherits: null, offers: [], retired: [] } });
  const most = Math.floor((REVISION_BYTES_MAX - empty) / (each - empty));
  await expect(offer(most + 200)).rejects.toMatchObject({
    code: 'document_too_large',
    message: expect.stringContaining('Retire old releases first'),
  });
  await offer(most);
  const reason = '\\'.repeat(REASON_BYTES_MAX);
  for (const [verb, number] of [
    ['yank', 1],
    ['pause', 2],
    ['resume', 2],
    ['yank', 3],
    ['retire', 4],
  ] as const) {
    const { version } = offerOf(number);
    const request = { application: 'desktop', version, channel: undefined, reason };
    expect((await changeStatus(deps, verb, request)).changed, verb).toBe(true);
  }
  const { signed } = (await readRevision({ store }, 'desktop')) ?? {};
  expect(signed?.channels.stable?.offers).toHaveLength(most - 1);
});
