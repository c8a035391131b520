import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { publicKeyOf } from '../../../src/catalog/trust/public-key.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { systemClock } from '../../../src/core/system.ts';
import { minisignKeyOf } from '../../../src/features/demo/sign-build.ts';
import { createSeededRandomness } from '../../support/clock.ts';
import { publishBuild, seededBytes } from '../../support/electron-build.ts';
import { signMinisign } from '../../support/minisign-key.ts';
import { buildPackages } from '../../support/nupkg-build.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import type { TestService } from '../../support/service.ts';
import { createTestService } from '../../support/service.ts';
import { createSignedService } from '../../support/signed-service.ts';
import { startMonitoringStub } from '../monitoring/stub.ts';
import { release } from '../support.ts';

/**
 * A service whose every documented operation has an answer: two releases with files for all dialects, a root of trust,
 * accounts, a contact form, a billing portal, and links that it serves itself. Keys, ids and the time are the same in
 * each run, so that its answers are the same as well.
 */
export interface ApiScene {
  readonly service: TestService;
  /**
   * A service whose identity provider sends mail, and whose links expire. The other one has accounts of its own, and
   * public links.
   */
  readonly mailing: TestService;
  close(): Promise<void>;
}

export const VERSION = '1.1.0';
const NOW = Date.parse('2026-11-21T09:00:00Z');

/** @param publicUrl absent: the address at which the service listens */
export async function createApiScene(publicUrl?: string): Promise<ApiScene> {
  const [captcha, gotrue] = await Promise.all([startMonitoringStub(), startMonitoringStub()]);
  captcha.answerJson({ success: true });
  gotrue.answerJson({});
  const parts = {
    clock: { now: () => NOW, sleep: skipSleep },
    randomness: createSeededRandomness(47),
  };
  const common = {
    AUTH_PER_ADDRESS: '999999',
    ...(publicUrl === undefined ? {} : { PUBLIC_URL: publicUrl }),
  };
  const signed = await createSignedService({
    signers: [signerOf('the publisher')],
    ...parts,
    env: {
      ...common,
      TIERS: JSON.stringify({ free: ['developer_keys', 'analytics', 'explain'] }),
      BILLING_PORTAL_URL: 'https://billing.example.com/enter',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SECRET: 'secret',
      CAPTCHA_VERIFY_URL: captcha.baseUrl,
      PUBLIC_FILES_URL: publicUrl ?? 'https://files.example.com',
    },
  });
  const mailing = await createTestService({
    ...parts,
    store: 'directory',
    env: {
      ...common,
      IDENTITY_PROVIDER: 'gotrue',
      GOTRUE_URL: gotrue.baseUrl,
      GOTRUE_API_KEY: 'key',
    },
  });
  const { service, trust } = signed;
  const directory = path.join(service.directory, 'builds');
  await publishAll({ ...service, trust, directory });
  await service.refresh();
  await release(mailing, VERSION, ['windows x64 nsis']);
  return {
    service,
    mailing,
    close: async () => {
      await Promise.all([signed.close(), mailing.close(), captcha.close(), gotrue.close()]);
    },
  };
}

/** The time stands still, so that an answer has the same time in each run. Short pauses pass at once; limits of time stay. */
async function skipSleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (ms > 2_000) return systemClock.sleep(ms, signal);
  await new Promise((resolve) => setImmediate(resolve));
}

type Publisher = Parameters<typeof publishBuild>[0];

/** Publishes the files of a release job by job, as a pipeline with a job for each build tool does. */
async function publishAll(parts: Publisher): Promise<void> {
  const version = VERSION;
  const notes = { notes: { und: `What is new in ${version}.` } };
  const squirrel = await buildPackages('squirrel', parts.directory, [version]);
  const velopack = await buildPackages('velopack', parts.directory, [version], {
    channel: 'win-x64',
  });
  const packages = [...squirrel, ...velopack].map(({ directory }) => directory);
  for (const kind of ['nsis', 'mac', 'appimage'] as const) {
    const bytes = seededBytes(20_000, `${kind} ${version}`);
    const directory = path.join(parts.directory, `${kind} ${version}`);
    await publishBuild({ ...parts, directory }, { kind, version, bytes }, notes);
  }
  const builds = [...packages, await writeAppcast(parts.directory, version)];
  for (const directory of builds) {
    const build = await readBuildOutput({ paths: [directory], version });
    await publish(parts, { version, ...build, ...notes });
  }
  await publish(parts, {
    version,
    artifacts: await makeOthers(parts.directory, version),
    ...notes,
  });
}

/** A build for .NET with an appcast that its publisher signed. */
async function writeAppcast(root: string, version: string): Promise<string> {
  const directory = path.join(root, `appcast ${version}`);
  await mkdir(directory, { recursive: true });
  const filename = `App-${version}-arm64-Setup.exe`;
  const content = `${filename} bytes`;
  const signatureOf = (text: string) =>
    sign(null, Buffer.from(text), privateKeyOf('sparkle')).toString('base64');
  const feed = `<?xml version="1.0"?>
<rss xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle" version="2.0"><channel><item>
  <sparkle:version>${version}</sparkle:version>
  <enclosure url="${filename}" length="${content.length}" sparkle:os="windows" sparkle:edSignature="${signatureOf(content)}"/>
</item></channel></rss>
`;
  await writeFile(path.join(directory, filename), content);
  await writeFile(path.join(directory, 'appcast.xml'), feed);
  await writeFile(path.join(directory, 'appcast.xml.signature'), signatureOf(feed));
  return directory;
}

/** The files of build tools that leave no document of their own. */
async function makeOthers(root: string, version: string) {
  const key = minisignKeyOf(privateKeyOf('minisign'), 7);
  const tauri = `app_${version}_universal.app.tar.gz`;
  const comment = `timestamp:1\tfile:${tauri}\tversion:${version}`;
  const value = signMinisign(key, `${tauri} bytes`, { comment });
  const files = [
    { platform: 'windows', arch: 'x64', format: 'msix', filename: `App-${version}-x64.msix` },
    {
      platform: 'macos',
      arch: 'universal',
      format: 'tar.gz',
      filename: tauri,
      signatures: [{ scheme: 'minisign', keyId: key.keyId, value }],
    },
  ] as const;
  const directory = path.join(root, `others ${version}`);
  return Promise.all(
    files.map((file) => makeArtifact(directory, { ...file, content: `${file.filename} bytes` })),
  );
}

/** An Ed25519 key that is the same in each run: its seed is a digest of its name (RFC 8410, section 7). */
function privateKeyOf(name: string) {
  const seed = createHash('sha256').update(name).digest();
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return createPrivateKey({
    key: Buffer.concat([prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}

function signerOf(name: string): Signer {
  const key = privateKeyOf(name);
  return {
    key: publicKeyOf(createPublicKey(key)),
    name,
    sign: async (bytes) => sign(null, bytes, key),
  };
}
