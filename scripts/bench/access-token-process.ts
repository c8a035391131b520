import type { FastifyRequest } from 'fastify';
import { jwtVerify } from 'jose';
import { createCaptcha } from '../../src/captcha/captcha.ts';
import { DEFAULT_TIERS } from '../../src/domain/tier.ts';
import type { AccountsDeps } from '../../src/http/accounts/accounts-deps.ts';
import { requireFeature, requirePrincipal } from '../../src/http/accounts/authenticate.ts';
import { createAddressLimit } from '../../src/http/server/address-limit.ts';
import {
  createSigningKeys,
  importSigningKeys,
  SIGNATURE_ALGORITHM,
} from '../../src/identity/access-tokens/signing-keys.ts';
import { accountIdOf } from '../../src/identity/accounts/account.ts';
import { createDeveloperKey } from '../../src/identity/developer-keys/developer-keys.ts';
import { createIdentity } from '../../src/identity/identity.ts';
import { createPasswordHasher } from '../../src/identity/passwords/password-hasher.ts';
import { createEmbeddedProvider } from '../../src/identity/providers/embedded.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { Secret } from '../../src/secret.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { makeAccount } from './account.ts';
import { answerParent, readCpuMicros } from './child.ts';

/** Authenticates a request many times in one way. Each way has its own process, so that none warms up another. */

export interface CallCost {
  /** Counts all threads, because threads beside the event loop verify the signatures. */
  readonly cpuMicros: number;
  /** The time from a call to its result; the calls run one after the other. */
  readonly wallMicros: number;
}

const ISSUER = 'https://updates.example.com';
const log = { info: () => {}, warn: () => {}, error: () => {} };
const deps = {
  store: createMemoryStore({ clock: systemClock }),
  clock: systemClock,
  randomness: systemRandomness,
};
const signingKeys = await importSigningKeys(await createSigningKeys());
const identity = createIdentity({
  ...deps,
  log,
  provider: createEmbeddedProvider({ ...deps, passwords: createPasswordHasher() }),
  registration: 'open',
  sessionSecret: new Secret('not-a-secret'.repeat(4)),
  signingKeys,
  issuer: ISSUER,
});
const accounts: AccountsDeps = {
  identity,
  tiers: DEFAULT_TIERS,
  captcha: createCaptcha({ kind: 'none' }),
  tryLimit: createAddressLimit({ name: 'sign-ins', perMinute: 1e9 }),
  // The requests are counted, as in production, but never reach the limit.
  requestLimit: createAddressLimit({ name: 'tokens', perMinute: 1e9 }),
  cookies: { enabled: false, sameSite: 'Strict', origins: [] },
};
const email = 'ada@example.org';
const account = accountIdOf('embedded', email);
const token = await identity.accessTokens.issue({
  account,
  session: systemRandomness.id(),
  tier: 'pro',
  startedAt: systemClock.now(),
});
const request = {
  ip: '203.0.113.7',
  headers: { authorization: `Bearer ${token}` },
} as unknown as FastifyRequest;
const developerKey = await makeDeveloperKey();
const verifyingKey = openVerifyingKey();

const SUBJECTS: Readonly<Record<string, () => Promise<unknown>>> = {
  jose: verifyWithJose,
  accessTokens: () => identity.accessTokens.verify(token),
  principal: async () => {
    const { tier } = await requirePrincipal(accounts, request);
    requireFeature(accounts.tiers, tier, 'analytics');
  },
  developerKey: () => identity.developerKeys.verify(developerKey),
};

answerParent({
  measure: async ({ subject, calls }): Promise<CallCost> => {
    const call = SUBJECTS[String(subject)];
    if (call === undefined) throw new Error(`There is no subject ${subject}.`);
    const [cpu, started] = [readCpuMicros(), performance.now()];
    for (let done = 0; done < Number(calls); done++) await call();
    const wallMicros = ((performance.now() - started) * 1000) / Number(calls);
    return { cpuMicros: (readCpuMicros() - cpu) / Number(calls), wallMicros };
  },
});

function openVerifyingKey() {
  const key = signingKeys.verifying(signingKeys.signing.kid);
  if (key === undefined) throw new Error('The signing key cannot verify.');
  return key;
}

/** The library alone, with an already imported key and the same checks. */
async function verifyWithJose(): Promise<void> {
  await jwtVerify(token, verifyingKey, {
    algorithms: [SIGNATURE_ALGORITHM],
    typ: 'at+jwt',
    issuer: ISSUER,
    audience: `${ISSUER}/api`,
    requiredClaims: ['exp', 'iat', 'sub', 'sid', 'tier'],
    clockTolerance: 5,
    currentDate: new Date(),
  });
}

async function makeDeveloperKey(): Promise<string> {
  await makeAccount(deps.store);
  const { key } = await createDeveloperKey(deps, account, {
    name: 'bench',
    scopes: [{ application: 'desktop', access: 'read' }],
    expiresAt: new Date(Date.now() + 86_400_000),
  });
  return key;
}
