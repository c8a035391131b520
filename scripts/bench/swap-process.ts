import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { artifactKey } from '../../src/catalog/keys.ts';
import { releaseOf } from '../../src/catalog/manifest-document.ts';
import { type OfferJson, offerJsonOf } from '../../src/catalog/revision-document.ts';
import {
  type Applications,
  applicationsSequence,
  type Manifest,
  manifestSequence,
  type Revision,
  revisionSequence,
} from '../../src/catalog/sequences.ts';
import { loadConfig } from '../../src/config.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { seal } from '../../src/sequence/sealed.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { answerParent, type Question } from './child.ts';

/** Runs a service whose catalog has thousands of offers, and commits new revisions of the catalog. */

const APPLICATION = 'desktop';
const CONTENT = Buffer.from('an installer');
const logger = pino({ level: 'info' }, pino.destination('/dev/null'));

const store: ObjectStore = createMemoryStore({ clock: systemClock });
const revisions = revisionSequence(APPLICATION);
let offers: readonly OfferJson[] = [];
let latest: Revision | undefined;
let prepared: { readonly document: Revision; readonly bytes: Uint8Array } | undefined;
let service: Awaited<ReturnType<typeof buildApp>> | undefined;

answerParent({ open, prepare, commit, live });

/** @returns the address of check-update, once every release is in memory */
async function open({ directory, count }: Question): Promise<string> {
  offers = await Promise.all(Array.from({ length: Number(count) }, (_, n) => addRelease(n + 1)));
  const list: Applications = seal({
    schema_version: 1 as const,
    type: 'applications' as const,
    number: 1,
    skipped: [],
    ...made(),
    applications: [{ name: APPLICATION, created_at: made().at }],
  });
  await store.create(applicationsSequence.key(1), applicationsSequence.render(list));
  await prepare();
  await commit();
  const config = loadConfig({ DATA_DIR: String(directory) });
  service = await buildApp({
    config,
    clock: systemClock,
    randomness: systemRandomness,
    logger,
    store,
  });
  await service.catalog.start();
  service.background.start();
  await service.http.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.http.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  service.learnAddress(url);
  return `${url}/api/v1/${APPLICATION}/check-update`;
}

/** Renders the next revision before the measurement: in production another process does that. */
async function prepare(): Promise<number> {
  const number = (latest?.signed.revision ?? 0) + 1;
  const changed = offers.map((offer, index) =>
    index < number - 1 ? { ...offer, status: 'yanked' as const, reason: 'broken' } : offer,
  );
  const document: Revision = seal({
    schema_version: 1 as const,
    type: 'catalog_revision' as const,
    application: APPLICATION,
    revision: number,
    previous: latest === undefined ? null : { revision: number - 1, digest: latest.digest },
    skipped: [],
    ...made(),
    change: { kind: 'yank' as const, version: '1.0.1', channels: ['stable'], reason: 'broken' },
    channels: { stable: { prerelease: false, offers: changed, retired: [] } },
  });
  const bytes = revisions.render(document);
  prepared = { document, bytes };
  return bytes.length;
}

async function commit(): Promise<void> {
  if (prepared === undefined) throw new Error('Prepare a revision first.');
  latest = prepared.document;
  await store.create(revisions.key(latest.signed.revision), prepared.bytes);
}

async function live(): Promise<boolean> {
  const health = service?.catalog.application(APPLICATION)?.health();
  return health?.revision === latest?.signed.revision;
}

async function addRelease(n: number): Promise<OfferJson> {
  const version = `1.${Math.floor(n / 100)}.${n % 100}`;
  const sha256 = createHash('sha256').update(CONTENT).digest('hex');
  const sha512 = createHash('sha512').update(CONTENT).digest('hex');
  const places = ['windows', 'macos', 'linux'].flatMap((os) =>
    ['x64', 'arm64'].map((arch) => ({ os, arch })),
  );
  const formats = { windows: 'nsis', macos: 'dmg', linux: 'appimage' } as Record<string, string>;
  const manifest: Manifest = seal({
    schema_version: 1 as const,
    type: 'release_manifest' as const,
    application: APPLICATION,
    version,
    number: 1,
    skipped: [],
    ...made(),
    released_at: new Date(systemClock.now()).toISOString(),
    notes: { und: 'Fixes several errors.' },
    requires: null,
    mandatory_for: null,
    provenance: { commit: null, build_url: null },
    artifacts: places.map(({ os, arch }) => ({
      os,
      arch,
      format: formats[os],
      filename: `${os}-${arch}.bin`,
      size: CONTENT.length,
      sha256,
      sha512,
      minimum_os_version: null,
      signatures: [],
      companions: [],
      object: `artifacts/${sha256}/${os}-${arch}.bin`,
    })),
  } as never);
  for (const { os, arch } of places) {
    await store.create(artifactKey(APPLICATION, `artifacts/${sha256}/${os}-${arch}.bin`), CONTENT);
  }
  const sequence = manifestSequence(APPLICATION, version);
  await store.create(sequence.key(1), sequence.render(manifest));
  return offerJsonOf(releaseOf(manifest.signed), { number: 1, digest: manifest.digest });
}

function made() {
  return {
    change_id: systemRandomness.id(),
    at: new Date(systemClock.now()).toISOString(),
    by: 'bench',
  };
}
