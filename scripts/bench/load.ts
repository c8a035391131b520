import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

/** Requests from a process of their own, so that the server's figures are the server's. */

const CONNECTIONS = 10;
const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon');

export interface Load {
  readonly url: string;
  readonly body: string;
  readonly requests: number;
}

interface Result {
  readonly '2xx': number;
  readonly duration: number;
  readonly errors: number;
}

/**
 * Sends so many equal POST requests.
 *
 * @returns requests a second
 * @throws when one of them was not answered with success
 */
export async function sendLoad({ url, body, requests }: Load): Promise<number> {
  const args = [AUTOCANNON, '--json', '--no-progress', '--renderStatusCodes', 'false'];
  args.push('-m', 'POST', '-H', 'content-type=application/json', '-b', body);
  args.push('-c', String(CONNECTIONS), '-a', String(requests), url);
  const started = performance.now();
  const result = JSON.parse(await run(args)) as Result;
  if (result['2xx'] !== requests) {
    throw new Error(`Of ${requests} requests to ${url} only ${result['2xx']} succeeded.`);
  }
  const seconds = result.duration > 0 ? result.duration : (performance.now() - started) / 1000;
  return requests / seconds;
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    client.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    client.once('error', reject);
    client.once('close', () => resolve(output));
  });
}
