import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** A certificate that signs itself, and its key: two PEM files. */
export interface Certificate {
  readonly keyFile: string;
  readonly certificateFile: string;
  /** PEM: what clients have to trust. */
  readonly certificate: string;
}

/**
 * Needs openssl.
 *
 * @param names what it is for, such as `IP:127.0.0.1` or `DNS:updates.example.com`
 * @param directory for the two files
 */
export async function makeCertificate(
  directory: string,
  names: readonly string[],
): Promise<Certificate> {
  const [keyFile, certificateFile] = ['key.pem', 'certificate.pem'].map((name) =>
    path.join(directory, name),
  ) as [string, string];
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=Slipway test', '-addext', `subjectAltName=${names.join(',')}`];
  const output = ['-days', '2', '-keyout', keyFile, '-out', certificateFile];
  await promisify(execFile)('openssl', ['req', '-x509', ...options, ...subject, ...output]);
  return { keyFile, certificateFile, certificate: await readFile(certificateFile, 'utf8') };
}
