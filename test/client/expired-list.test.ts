import { afterAll, beforeAll, expect, it } from 'vitest';
import { signMetadata } from '../../src/catalog/trust/metadata.ts';
import { changeChannel } from '../../src/releases/channels/change-channel.ts';
import { keysOf, makeSigner } from '../support/trust.ts';
import { type ClientWorld, checked, openClientWorld, type Rule } from './world.ts';

/** The signed list of a channel expired. It must not block the channels that inherit from this channel. */

const signer = makeSigner('one');
const all = keysOf(1, signer);
let world: ClientWorld;

/** Makes a channel that inherits from another one. */
async function inherit(channel: string, inherits: string): Promise<void> {
  const { service, trust } = world.signed;
  const writer = { ...service, trust, actor: 'test', ensureConforming: async () => {} };
  const action = { kind: 'set', settings: { inherits } } as const;
  await changeChannel(writer, { application: 'desktop', channel, action, reason: null });
  await service.refresh();
}

beforeAll(async () => {
  const channels = { stable: all, beta: all, nightly: all };
  const root = () => ({ people: all, operators: [signer], channels });
  world = await openClientWorld({ signers: [signer], root });
  await world.release('1.1.0');
  await world.release('1.2.0-beta.1', { channel: 'beta' });
  await world.release('1.3.0-nightly.1', { channel: 'nightly' });
  await inherit('beta', 'stable');
  await inherit('nightly', 'beta');
});
afterAll(() => world.close());

/** The list of a channel as its keys signed it, but with an expiry in the past. */
const expired =
  (channel: string): Rule =>
  async (url) => {
    if (!url.endsWith(`.channel-${channel}.json`)) return undefined;
    const { signed } = (await (await fetch(url)).json()) as { signed: object };
    const expires = '2020-01-01T00:00:00Z';
    return Response.json(await signMetadata({ ...signed, expires } as never, [signer]));
  };

it('of an inherited channel: the releases of the own channel are still offered', async () => {
  for (const channel of ['beta', 'stable']) {
    const options = await world.options({ channel: 'nightly' }, expired(channel));
    expect(await checked(options)).toBe('1.3.0-nightly.1');
    // The saved list expired as well.
    expect(await checked(options)).toBe('1.3.0-nightly.1');
  }
});

it('of the own channel is an error', async () => {
  const options = await world.options({ channel: 'beta' }, expired('beta'));
  expect(await checked(options)).toBe('metadata_expired');
});

it('of an inherited channel: nothing behind it counts', async () => {
  await world.release('1.4.0');
  const on = (channel: string) => world.options({ channel: 'nightly' }, expired(channel));
  expect(await checked(await world.options({ channel: 'nightly' }))).toBe('1.4.0');
  expect(await checked(await on('stable'))).toBe('offer_not_signed');
  // The keys of stable signed it, but only the expired list of beta says that beta inherits from stable.
  expect(await checked(await on('beta'))).toBe('offer_not_signed');
});
