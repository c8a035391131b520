import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createRequire } from 'node:module';
import { stringify } from 'yaml';

/**
 * electron-builder's signed update documents, by the rules of its source: an Ed25519 signature over lines that name the
 * version, the staging percentage and every file.
 */

// The parser that electron-updater reads documents with.
const { load } = createRequire(createRequire(import.meta.url).resolve('electron-updater'))(
  'js-yaml',
) as { load(text: string): UpdateInfo };

interface UpdateInfo {
  readonly version: string;
  readonly files: readonly {
    readonly url: string;
    readonly sha512: string;
    readonly size?: number;
  }[];
  readonly stagingPercentage?: number;
  readonly signature?: string;
  readonly packages?: Readonly<Record<string, object>>;
}

const KEYS = generateKeyPairSync('ed25519');

function canonical({ version, stagingPercentage, files }: UpdateInfo): Buffer {
  const lines = files.map(({ url, sha512, size }) => `file:${url}\t${sha512}\t${size ?? '-'}`);
  const head = ['EBUM1', `version:${version}`, `staging:${stagingPercentage ?? '-'}`];
  return Buffer.from([...head, ...lines.sort()].join('\n'));
}

/** What `latest.yml` states of a file. */
export function describeContent(url: string, content: string | Uint8Array) {
  const sha512 = createHash('sha512').update(content).digest('base64');
  return { url, sha512, size: Buffer.byteLength(content) };
}

/** A signed document. Its layout is not what Slipway or the library would write. */
export function signFeed(info: UpdateInfo): string {
  const signature = sign(null, canonical(info), KEYS.privateKey).toString('base64');
  const keyId = createHash('sha256')
    .update(KEYS.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  const signed = { ...info, signature, signatures: [{ keyId, signature }] };
  return `# signed\n${stringify(signed, { indent: 4, defaultStringType: 'QUOTE_DOUBLE' })}\n\n`;
}

/** Whether a client with the public key accepts a document. */
export function isAccepted(document: string): boolean {
  const info = load(document);
  const { signature } = info;
  if (signature === undefined) return false;
  return verify(null, canonical(info), KEYS.publicKey, Buffer.from(signature, 'base64'));
}
