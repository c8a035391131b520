import { spawn } from 'node:child_process';
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

/**
 * @param command a command line for the shell of the system. It may contain a secret, so no message repeats it
 * @param name the signer in messages
 */
export function createCommandSigner(
  key: PublicKey,
  command: string,
  { name = 'The command', timeoutMs = TIMEOUT_MS }: { name?: string; timeoutMs?: number } = {},
): Signer {
  return { key, name, sign: (bytes) => runSigner({ command, name, timeoutMs }, bytes) };
}

async function runSigner(
  { command, name, timeoutMs }: { command: string; name: string; timeoutMs: number },
  bytes: Uint8Array,
): Promise<Uint8Array> {
  const failed = (why: string, cause?: unknown): AppError =>
    new AppError('signer_failed', `${name} ${why}.`, { cause });
  // A group of its own, so that the time limit also ends what the shell has started.
  const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const kill = (): void => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      child.kill('SIGKILL');
    }
    // A process outside the group may keep the pipes open.
    for (const pipe of child.stdio) pipe?.destroy();
  };
  const output: Buffer[] = [];
  let length = 0;
  let problem = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-500);
  });
  // When the command does not read its input, the pipe breaks. The exit code and the output say enough.
  child.stdin.on('error', () => {});
  child.stdin.end(bytes);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      kill();
      reject(failed(`did not answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      output.push(chunk);
      if (length <= OUTPUT_BYTES_MAX) return;
      kill();
      reject(failed('printed more than a signature'));
    });
    child.on('error', (error) => reject(failed('could not be started', error)));
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(decode(Buffer.concat(output)));
      else reject(failed(`failed with exit code ${code}${detailOf(problem)}`));
    });
  });
}

function detailOf(problem: string): string {
  const text = problem.trim().replace(/\.$/, '');
  return text === '' ? '' : `: ${text}`;
}

/** Key stores print a signature as bytes, as base64 or as hex. */
function decode(output: Buffer): Uint8Array {
  const text = output.toString('latin1').trim();
  if (/^([0-9a-f]{2}){64,80}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[\w+/-]{84,110}={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  return output;
}
