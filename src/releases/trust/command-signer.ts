import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PublicKey } from '../../catalog/trust/public-key.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import { AppError } from '../../core/errors.ts';

/**
 * Signs with a command, for keys that a person cannot read: a key store in the cloud, or a token. The command reads the
 * bytes from standard input, and prints the signature.
 */

/** A person may have to touch a token, or to confirm in another program. */
const TIMEOUT_MS = 120_000;
/** More bytes than any signature has, also as text. */
const OUTPUT_BYTES_MAX = 4_096;

/** @param command a command line for the shell of the system */
export function createCommandSigner(
  key: PublicKey,
  command: string,
  timeoutMs = TIMEOUT_MS,
): Signer {
  return { key, name: command, sign: (bytes) => runSigner(command, bytes, timeoutMs) };
}

async function runSigner(
  command: string,
  bytes: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array> {
  const failed = (why: string): AppError =>
    new AppError('signer_failed', `The signer "${command}" ${why}. Nothing was signed.`);
  // A group of its own, so that the time limit also ends what the shell has started.
  const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let isLate = false;
  const kill = (): void => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      child.kill('SIGKILL');
    }
  };
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, timeoutMs);
  const output: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= OUTPUT_BYTES_MAX) output.push(chunk);
    else kill();
  });
  let problem = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-500);
  });
  // When the command does not read its input, the pipe breaks. The exit code and the output say enough.
  child.stdin.on('error', () => {});
  child.stdin.end(bytes);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (isLate) throw failed(`did not answer within ${timeoutMs / 1000} s`);
    if (length > OUTPUT_BYTES_MAX) throw failed('printed more than a signature');
    if (code !== 0) throw failed(`failed with exit code ${code}: ${problem.trim()}`);
  } finally {
    clearTimeout(timer);
  }
  return decode(Buffer.concat(output));
}

/** Key stores print a signature as bytes, as base64 or as hex. */
function decode(output: Buffer): Uint8Array {
  const text = output.toString('latin1').trim();
  if (/^([0-9a-f]{2}){64,80}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[\w+/-]{84,110}={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  return output;
}
