import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { S3Server } from '../support/s3-server.ts';

/** The project's own programs as processes of their own: these can be killed. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** Runs a TypeScript file of the project with a store's settings and nothing else of ours. */
export function startChild(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Child {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = spawn(process.execPath, [path.join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // Writing to one that is gone is its end, not an error of the test.
  child.stdin.on('error', () => undefined);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { process: child, finished };
}

export function startCli(args: readonly string[], env: Readonly<Record<string, string>>): Child {
  return startChild('scripts/slipway.ts', args, env);
}

/** A bucket as the command line is told of it. */
export function s3Environment(
  server: S3Server,
  bucket: string,
  endpoint = server.endpoint,
): Record<string, string> {
  return {
    OBJECT_STORE: 's3',
    S3_BUCKET: bucket,
    S3_ENDPOINT: endpoint,
    S3_REGION: server.region,
    S3_FORCE_PATH_STYLE: 'true',
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
  };
}
