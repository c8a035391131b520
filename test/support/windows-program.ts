import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { seededBytes } from './electron-build.ts';

/** Installers that makensis makes, and signatures by osslsigncode with a certificate that is made at run time. */

const run = promisify(execFile);

/** Makes an installer that carries `payloadBytes` bytes, which are not compressed. */
export async function makeInstaller(directory: string, payloadBytes: number): Promise<string> {
  const script = path.join(directory, 'installer.nsi');
  await writeFile(path.join(directory, 'payload.bin'), seededBytes(payloadBytes, 'payload'));
  await writeFile(
    script,
    'Name App\nOutFile unsigned.exe\nSetCompress off\nInstallDir $TEMP\\app\nRequestExecutionLevel user\nSection\nSetOutPath $INSTDIR\nFile payload.bin\nSectionEnd\n',
  );
  await run('makensis', ['-V1', script], { cwd: directory });
  return path.join(directory, 'unsigned.exe');
}

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** @param subject such as `/O=App GmbH/CN=App GmbH` */
export async function makeCertificate(directory: string, subject: string): Promise<Certificate> {
  const certificate = path.join(directory, 'certificate.pem');
  const key = path.join(directory, 'key.pem');
  const self = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3', '-subj', subject];
  await run('openssl', [...self, '-keyout', key, '-out', certificate]);
  return { certificate, key };
}

/** @param options further options of osslsigncode, such as `-nest` */
export async function signProgram(
  { certificate, key }: Certificate,
  from: string,
  to: string,
  options: readonly string[] = ['-h', 'sha256'],
): Promise<void> {
  const files = ['-certs', certificate, '-key', key, '-in', from, '-out', to];
  await run('osslsigncode', ['sign', ...options, ...files]);
}
