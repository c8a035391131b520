import { afterAll, beforeEach, expect, it } from 'vitest';
import { isAppError } from '../../../src/core/errors.ts';
import { offerSigned } from '../../../src/releases/trust/offer-signed.ts';
import { signWaiting, type WaitingRelease } from '../../../src/releases/trust/sign-draft.ts';
import { ci, k1, k2, must, useTrustedWorld } from '../../catalog/trust/trusted-world.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** What people are told when the state changes between what they saw and the offer. */

const temporary = await makeTemporaryDirectory();
const world = await useTrustedWorld();
const { publisher, publishTo, readDraft, offeredCold } = world;
afterAll(() => temporary.remove());

beforeEach(async () => {
  world.begin();
  await world.initDelegated();
  await publishTo('stable', '1.2.0', ci);
});

async function sign(waiting: WaitingRelease) {
  const deps = publisher(k1, k2);
  const { role } = await signWaiting(deps, must(deps.trust.of('desktop')), waiting, [k1, k2]);
  return must(role);
}

/** An operator adds a file to the draft, and so replaces its manifest. */
async function replaceDraft(): Promise<void> {
  const file = { filename: 'App-1.2.0.AppImage', platform: 'linux', format: 'appimage' } as const;
  const artifacts = [await makeArtifact(temporary.path, file)];
  await publish(publisher(ci), { version: '1.2.0', artifacts });
}

async function refusalOf(offering: Promise<unknown>): Promise<string> {
  const error = await offering.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isAppError(error, 'state_changed')) throw new Error(`It ended with ${error}.`);
  return error.message;
}

it.each(['before', 'after'])(
  'a draft that was replaced %s people signed what they saw is named, and not offered',
  async (moment) => {
    const waiting = await readDraft('1.2.0');
    if (moment === 'before') await replaceDraft();
    const role = await sign(waiting);
    if (moment === 'after') await replaceDraft();
    const present = await readDraft('1.2.0');
    const [seen, now] = [waiting, present].map(({ draft }) => draft.manifest.digest.slice(0, 12));
    expect(seen).not.toBe(now);
    expect(await refusalOf(offerSigned(publisher(k1, k2), waiting, role))).toBe(
      `The draft of 1.2.0 on stable was replaced meanwhile: you signed the manifest ${seen}, and the draft has the manifest ${now} now. Nothing was offered. Look at the new draft, and sign it if it is right: "slipway sign 1.2.0"; the others have to sign again, too.`,
    );
    expect(await offeredCold()).toBe('1.1.0');
    const again = await readDraft('1.2.0');
    await offerSigned(publisher(k1, k2), again, await sign(again));
    expect(await offeredCold()).toBe('1.2.0');
  },
);

it('another release of the channel that was signed at the same time is named as the reason', async () => {
  await publishTo('stable', '1.3.0', ci);
  const first = await readDraft('1.2.0');
  const second = await readDraft('1.3.0');
  const roles = [await sign(first), await sign(second)] as const;
  const offering = [
    offerSigned(publisher(k1, k2), first, roles[0]),
    offerSigned(publisher(k1, k2), second, roles[1]),
  ];
  const results = await Promise.allSettled(offering);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const loser = results.findIndex(({ status }) => status === 'rejected');
  const version = ['1.2.0', '1.3.0'][loser];
  expect(await refusalOf(must(offering[loser]))).toBe(
    `Another release or setting of stable was signed at the same time, so the signatures of ${version} are for an older state. Nothing is lost: run "slipway sign ${version}" again; the others have to sign again, too.`,
  );
  const again = await readDraft(must(version));
  await offerSigned(publisher(k1, k2), again, await sign(again));
  expect(await offeredCold()).toBe('1.3.0');
});
