import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  type MetadataJson,
  renderMetadata,
  signedBytes,
  tufTime,
} from '../../src/catalog/trust/metadata.ts';
import { publicKeyOf, tufKeyOf } from '../../src/catalog/trust/public-key.ts';
import { sha256Of } from '../../src/client/saved-metadata.ts';

/**
 * A repository of TUF that exists only in this process. A test changes the content of a role, and
 * clients see it when the test publishes the role. It checks nothing, as attackers check nothing.
 */

export type TopLevelRole = 'root' | 'timestamp' | 'snapshot' | 'targets';
/** One delegated role is enough, because the client that is tested here knows only its version. */
type Role = TopLevelRole | 'delegated';

type Fields = MetadataJson['signed'];
type MetaFile = { version: number; length?: number; hashes?: { sha256: string } };
type RoleKeys = { keyids: string[]; threshold: number };
type Common = { _type: string; spec_version: string; version: number; expires: string };
type RootContent = Common & {
  consistent_snapshot: true;
  keys: Record<string, Fields>;
  roles: Record<TopLevelRole, RoleKeys>;
};
type ListContent = Common & { meta: Record<string, MetaFile> };
type TargetsContent = Common & {
  targets: Fields;
  delegations?: { keys: Record<string, Fields>; roles: Fields[] };
};

/** A key pair of a test. */
export interface TestKey {
  readonly id: string;
  /** The public key as TUF metadata state it. */
  readonly json: Fields;
  /** Signs bytes. @returns the signature as TUF metadata state it, in hex */
  sign(bytes: Uint8Array): string;
}

/** The schemes that the TUF specification names. */
export type Scheme = 'ecdsa-sha2-nistp256' | 'ed25519' | 'rsassa-pss-sha256';

/**
 * Makes a key pair.
 *
 * @param more more fields of the public key: its id follows from them too
 */
export function makeKey(scheme: Scheme = 'ecdsa-sha2-nistp256', more: Fields = {}): TestKey {
  if (scheme === 'rsassa-pss-sha256') {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
    const json = { keytype: 'rsa', scheme, keyval: { public: pem }, ...more };
    return keyOf(json, 'sha256', { key: privateKey, padding, saltLength });
  }
  const { publicKey, privateKey } =
    scheme === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const json = { ...tufKeyOf(publicKeyOf(publicKey)).toJSON(), ...more };
  return keyOf(json, scheme === 'ed25519' ? null : 'sha256', { key: privateKey });
}

function keyOf(
  json: Fields,
  hash: 'sha256' | null,
  key: { key: KeyObject; padding?: number; saltLength?: number },
): TestKey {
  const id = sha256Of(signedBytes(json));
  return { id, json, sign: (bytes) => sign(hash, bytes, key).toString('hex') };
}

/** A simulated repository, which a test may change in every way. */
export interface TufRepository {
  /** What the next publication of each role says, before its version counts up. */
  readonly root: RootContent;
  readonly timestamp: ListContent;
  readonly snapshot: ListContent;
  readonly targets: TargetsContent;
  /** The keys that sign each role. */
  readonly signers: Record<Role, TestKey[]>;
  /** The published texts of each role: version 1, version 2, and so on. */
  readonly published: Record<Role, string[]>;
  /** The names of the files that a client asked for. */
  readonly requests: string[];
  /** True: metadata state the length and the SHA-256 of other metadata. False at first. */
  statesDigests: boolean;
  /** Lets the root name a key for a role, once more when it names it already. */
  allowKey(role: TopLevelRole, key: TestKey): void;
  /** Lets the root name a key for a role, which the key signs from now on. */
  addKey(role: TopLevelRole, key?: TestKey): TestKey;
  /** Takes all keys from a role. @returns the key that signed first */
  revokeKeys(role: TopLevelRole): TestKey;
  /** Replaces the only key of a role. */
  rotateKey(role: TopLevelRole): void;
  /** Lets the targets metadata delegate to the delegated role. */
  delegate(): void;
  /** Signs roles in this order, and shows them to clients. Each but the first version counts up. */
  publish(...roles: readonly Role[]): void;
  /** Removes all versions of a role, so that the next one is version 1 again. */
  rollBack(role: TopLevelRole): void;
  /** The text of the newest version of a role. */
  newest(role: Role): string;
  /** Replaces the newest version of a role, without signing it again. */
  tamper(role: Role, change: (metadata: MetadataJson) => void): void;
  /** Answers requests: it takes the place of the global `fetch`. */
  readonly fetch: typeof globalThis.fetch;
}

const DAY_MS = 86_400_000;

/** A time as metadata state it. Negative days are in the past. */
export function inDays(days: number): string {
  return tufTime(Date.now() + days * DAY_MS);
}

/** Makes a repository whose roles have one key each, and are published as version 1. */
export function createTufRepository(): TufRepository {
  const common = (type: string): Common => ({
    _type: type,
    spec_version: '1.0.31',
    version: 1,
    expires: inDays(30),
  });
  const noKeys = (): RoleKeys => ({ keyids: [], threshold: 1 });
  const root: RootContent = {
    ...common('root'),
    consistent_snapshot: true,
    keys: {},
    roles: { root: noKeys(), timestamp: noKeys(), snapshot: noKeys(), targets: noKeys() },
  };
  const timestamp: ListContent = { ...common('timestamp'), meta: {} };
  const snapshot: ListContent = { ...common('snapshot'), meta: {} };
  const targets: TargetsContent = { ...common('targets'), targets: {} };
  const delegated: TargetsContent = { ...common('targets'), targets: {} };
  const contents = { root, timestamp, snapshot, targets, delegated };
  const signers: TufRepository['signers'] = {
    root: [],
    timestamp: [],
    snapshot: [],
    targets: [],
    delegated: [],
  };
  const published: TufRepository['published'] = {
    root: [],
    timestamp: [],
    snapshot: [],
    targets: [],
    delegated: [],
  };
  const requests: string[] = [];

  const newest: TufRepository['newest'] = (role) => {
    const text = published[role].at(-1);
    if (text === undefined) throw new Error(`No ${role} is published.`);
    return text;
  };

  const metaOf = (role: Role): MetaFile => {
    const { version } = contents[role];
    if (!repository.statesDigests) return { version };
    const text = newest(role);
    return { version, length: Buffer.byteLength(text), hashes: { sha256: sha256Of(text) } };
  };

  const publishRole = (role: Role): void => {
    const content = contents[role];
    if (published[role].length > 0) content.version += 1;
    const bytes = signedBytes(content);
    const signatures = signers[role].map(({ id, sign }) => ({ keyid: id, sig: sign(bytes) }));
    published[role].push(Buffer.from(renderMetadata({ signed: content, signatures })).toString());
    if (role === 'snapshot') timestamp.meta['snapshot.json'] = metaOf(role);
    if (role === 'targets' || role === 'delegated') snapshot.meta[`${role}.json`] = metaOf(role);
  };

  /** The text of a file of the repository; undefined: there is none. */
  const read = (file: string): string | undefined => {
    if (file === 'timestamp.json') return published.timestamp.at(-1);
    const [, version, role] = /^(\d+)\.(root|snapshot|targets)\.json$/.exec(file) ?? [];
    return role === undefined ? undefined : published[role as Role][Number(version) - 1];
  };

  const repository: TufRepository = {
    root,
    timestamp,
    snapshot,
    targets,
    signers,
    published,
    requests,
    statesDigests: false,
    allowKey: (role, key) => {
      root.keys[key.id] = key.json;
      root.roles[role].keyids.push(key.id);
    },
    addKey: (role, key = makeKey()) => {
      repository.allowKey(role, key);
      signers[role].push(key);
      return key;
    },
    revokeKeys: (role) => {
      const [first] = signers[role];
      if (first === undefined) throw new Error(`No key signs ${role}.`);
      signers[role] = [];
      root.roles[role].keyids = [];
      return first;
    },
    rotateKey: (role) => {
      repository.revokeKeys(role);
      repository.addKey(role);
    },
    delegate: () => {
      const key = makeKey();
      signers.delegated.push(key);
      const role = { name: 'delegated', keyids: [key.id], threshold: 1, terminating: false };
      const roles = [{ ...role, paths: ['delegatedpath/*'] }];
      targets.delegations = { keys: { [key.id]: key.json }, roles };
    },
    publish: (...roles) => {
      for (const role of roles) publishRole(role);
    },
    rollBack: (role) => {
      published[role] = [];
      contents[role].version = 1;
    },
    newest,
    tamper: (role, change) => {
      const metadata = JSON.parse(newest(role)) as MetadataJson;
      change(metadata);
      published[role].splice(-1, 1, JSON.stringify(metadata));
    },
    fetch: async (input) => {
      const file = new URL(String(input)).pathname.replace('/metadata/', '');
      requests.push(file);
      const text = read(file);
      return new Response(text ?? 'not found', { status: text === undefined ? 404 : 200 });
    },
  };

  for (const role of ['root', 'timestamp', 'snapshot', 'targets'] as const) repository.addKey(role);
  repository.publish('targets', 'snapshot', 'timestamp', 'root');
  return repository;
}
