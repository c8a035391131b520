import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { canonicalize } from '@tufjs/canonical-json';
import { renderRole } from '../../src/catalog/trust/channel-role.ts';
import {
  type MetadataJson,
  parseMetadata,
  renderMetadata,
  signMetadata,
  tufTime,
} from '../../src/catalog/trust/metadata.ts';
import { publicKeyOf } from '../../src/catalog/trust/public-key.ts';
import type { Signer } from '../../src/catalog/trust/signer.ts';
import { createVerifier } from '../../src/client/verifier.ts';
import { signRoot } from '../../src/features/trust/change-root.ts';
import { renderEnvelope } from '../../src/store/sequence/envelope.ts';
import { type Compared, compare, comparedTable } from './compare.ts';
import type { BenchContext } from './context.ts';
import type { Table } from './table.ts';

/**
 * Measures the processor time of a check by the client for applications, on a channel with 5,000 signed releases. In the
 * baseline, the list of these releases is only parsed, and made canonical for one signature.
 */

const RELEASES = 5_000;
const CALLS = 10;
const FILE = { filename: 'App.exe', sha256: 'a'.repeat(64) };

export async function benchClient(context: BenchContext): Promise<readonly Table[]> {
  const { root, role, answer } = await makeRepository();
  const json = parseMetadata(role, 'The role');
  const baseline = async () => {
    for (let call = 0; call < CALLS; call += 1) {
      canonicalize(JSON.parse(Buffer.from(role).toString()).signed);
    }
  };
  const cache = await context.makeDirectory();
  const open = (isOffered: boolean) =>
    createVerifier({
      root,
      cache,
      url: 'http://updates.test',
      app: 'desktop',
      currentVersion: '1.0.0',
      platform: 'windows',
      arch: 'x64',
      fetch: async (url) => answer(String(url), isOffered),
    });
  const same = open(true);
  const subjects: Readonly<Record<string, () => Promise<unknown>>> = {
    'no offer': () => open(false).check(),
    'an offer, verified by a new updater': () => open(true).check(),
    'an offer, verified by the same updater again': () => same.check(),
  };
  const results: Compared[] = [];
  for (const [name, check] of Object.entries(subjects)) {
    const service = async () => {
      for (let call = 0; call < CALLS; call += 1) await check();
    };
    await service();
    results.push(
      await compare(context, {
        name,
        limit: { max: 2.5 },
        service: () => processorMs(service),
        baseline: () => processorMs(baseline),
      }),
    );
  }
  const bytes = (role.length / 1e6).toFixed(1);
  return [
    comparedTable(`A check by Slipway's client, with ${RELEASES} signed releases`, 'ms', results, [
      `The list of the releases has ${bytes} MB and ${Object.keys(Object(json.signed.targets)).length} entries. In the baseline, it is parsed and made canonical once.`,
      'The service is a function in the same process, so there is no network.',
    ]),
  ];
}

/** Milliseconds of processor time for each call. */
async function processorMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / CALLS;
}

async function makeRepository() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKeyOf(publicKey);
  const signer: Signer = { key, name: 'one', sign: async (bytes) => sign(null, bytes, privateKey) };
  const keys = new Map([[key.id, key]]);
  const all = { keys, threshold: 1 };
  const expires = tufTime(Date.now() + 86_400_000);
  const made = await signRoot(
    {
      application: 'desktop',
      version: 1,
      expiresAt: Date.now() + 86_400_000,
      firstRevision: 1,
      people: all,
      operators: keys,
      names: new Map(),
      channels: new Map([['stable', all]]),
      roles: new Map(),
    },
    undefined,
    [signer],
  );
  const manifest = renderManifest();
  const targets = Object.fromEntries([
    ...Array.from({ length: RELEASES }, (_, n) => target(`1.${n >> 5}.${n & 31}`, `${n}`)),
    target('9.0.0', manifest),
  ]);
  const content = { application: 'desktop', channel: 'stable', version: 1, expires, targets };
  const rights = { inherits: null, allowDowngrade: false };
  const seal = async (signed: MetadataJson['signed']): Promise<Uint8Array> =>
    renderMetadata(await signMetadata(signed, [signer]));
  const role = await seal(renderRole({ ...content, ...rights }));
  const common = { spec_version: '1.0.31', version: 1, expires, x_slipway_application: 'desktop' };
  const files: Readonly<Record<string, Uint8Array>> = {
    '1.targets.json': made.delegationsBytes,
    '1.channel-stable.json': role,
    '1.snapshot.json': await seal({
      _type: 'snapshot',
      ...common,
      meta: { 'targets.json': { version: 1 }, 'channel-stable.json': { version: 1 } },
    }),
    'timestamp.json': await seal({
      _type: 'timestamp',
      ...common,
      meta: { 'snapshot.json': { version: 1 } },
      x_slipway_signed_at: new Date().toISOString(),
    }),
  };
  const answer = (url: string, isOffered: boolean): Response => {
    const common = { check_again_after_seconds: 1 };
    if (url.endsWith('check-update')) {
      return Response.json(
        isOffered
          ? { update_available: true, ...common, version: '9.0.0', download: FILE }
          : { update_available: false, ...common, reason: 'up_to_date' },
      );
    }
    const name = url.slice(url.lastIndexOf('/') + 1);
    const bytes = /^[0-9a-f]{64}\./.test(name) ? manifest : files[name];
    return new Response(bytes && Buffer.from(bytes), { status: bytes === undefined ? 404 : 200 });
  };
  return { root: made.rootBytes, role, answer };
}

function target(version: string, bytes: Uint8Array | string) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const facts = {
    length: Math.max(1, bytes.length),
    hashes: { sha256 },
    custom: { statement: sha256 },
  };
  return [`desktop/stable/${version}/1.json`, facts] as const;
}

function renderManifest(): Uint8Array {
  const at = '2026-01-01T00:00:00.000Z';
  return renderEnvelope({
    schema_version: 1,
    type: 'release_manifest',
    application: 'desktop',
    version: '9.0.0',
    number: 1,
    change_id: '00000000-0000-4000-8000-000000000000',
    at,
    by: 'bench',
    skipped: [],
    catalog_revision: 0,
    released_at: at,
    notes: {},
    requires: null,
    mandatory_for: null,
    provenance: { commit: null, build_url: null },
    artifacts: [
      {
        os: 'windows',
        arch: 'x64',
        format: 'nsis',
        ...FILE,
        size: 1,
        sha512: 'b'.repeat(128),
        minimum_os_version: null,
        signatures: [],
        companions: [],
        object: `artifacts/${FILE.sha256}/${FILE.filename}`,
      },
    ],
  });
}
