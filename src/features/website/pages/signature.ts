import { html } from 'ghtml';
import { parseMinisignSignature } from '../../../domain/minisign.ts';
import type { Artifact } from '../../../domain/release.ts';
import { type ArtifactSignature, MINISIGN, SPARKLE_ED25519 } from '../../../domain/signature.ts';
import { commandName } from './verify.ts';

/** The signatures of a file, with the commands that verify them. */

const NAMES: Readonly<Record<ArtifactSignature['scheme'], string>> = {
  [MINISIGN]: 'minisign signature',
  [SPARKLE_ED25519]: 'Sparkle EdDSA signature',
};

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** The first bytes of an Ed25519 public key in the form that the commands of OpenSSL read (RFC 8410), in base64. */
const KEY_HEAD = 'MCowBQYDK2VwAyEA';

/** The signatures of a file. The page shows the details only after a click, because few visitors verify a signature. */
export function signaturesOf({
  filename,
  signatures,
}: Pick<Artifact, 'filename' | 'signatures'>): string {
  return signatures
    .map(
      (signature) => html`
<details class="signature"><summary>${NAMES[signature.scheme]}</summary>
!${signature.keyId === '' ? '' : html`<p>Key <code>${signature.keyId}</code></p>`}
<p><code>${signature.value.trim()}</code></p>
!${howToVerify(signature, commandName(filename))}</details>`,
    )
    .join('');
}

/**
 * The commands that verify a signature. A malformed signature gets no command, because its text could make the
 * visitor's shell run something else.
 */
function howToVerify({ scheme, value }: ArtifactSignature, file: string): string {
  const text = value.trim();
  if (!BASE64.test(text)) return '';
  const save = (suffix: string): string =>
    `printf '%s' '${text}' | openssl base64 -d -A > ${withSuffix(file, suffix)}`;
  if (scheme === MINISIGN && parseMinisignSignature(text) !== undefined) {
    return html`<p>Save the signature, and verify it with the publisher’s public key, which Tauri calls <code>pubkey</code>:</p>
<pre tabindex="0"><code>${save('.minisig')}
minisign -Vm ${file} -P PUBLIC_KEY</code></pre>`;
  }
  if (scheme !== SPARKLE_ED25519) return '';
  return html`<p>Verify it with the publisher’s public key, which the application has as <code>SUPublicEDKey</code>:</p>
<pre tabindex="0"><code>${save('.sig')}
printf '%s%s' ${KEY_HEAD} PUBLIC_KEY | openssl base64 -d -A > key.der
openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in ${file} -sigfile ${withSuffix(file, '.sig')}</code></pre>`;
}

/** @param file the result of {@link commandName}, which may be in quotes */
function withSuffix(file: string, suffix: string): string {
  return file.endsWith('"') ? `${file.slice(0, -1)}${suffix}"` : file + suffix;
}
