import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, type Server, startService } from './child-process.ts';
import { compare, comparedRow } from './compare.ts';
import type { BenchContext } from './context.ts';
import { startNginx } from './peers.ts';
import { readUsage } from './resource-usage.ts';
import { withStores } from './stores.ts';
import type { Row, Table } from './table.ts';

/** Measures a differential download: one request for many ranges of a large build, as electron-updater sends it. */

const FILE_MIB = 100;
const FILE_BYTES = FILE_MIB * 1024 * 1024;
const RANGES = 250;
const CONNECTIONS = 8;
const CLIENTS = 50;
const WARM_TURNS = 10;
const SAMPLED_EVERY_MS = 20;
const SLOW_MS = 2_000;
const FILE = '/feeds/large/stable/electron/1.0.0/Large.AppImage';

const MOVED_MAX = 1.03;
const NGINX_MAX = 2;
const SINGLE_RANGES_MAX = 1.5;
const MEMORY_MAX_MIB = 300;

interface Piece {
  readonly start: number;
  readonly length: number;
}

/**
 * The ranges are spread evenly over the file. Their lengths are 4 to 64 KiB, as the lengths of blocks in a block map.
 */
const PIECES: readonly Piece[] = Array.from({ length: RANGES }, (_, n) => ({
  start: Math.floor((n * FILE_BYTES) / RANGES) + ((n * 7_919) % 65_536),
  length: 4_096 + ((n * 40_503) % 61_440),
}));
const ASKED_BYTES = PIECES.reduce((sum, { length }) => sum + length, 0);
const textOf = ({ start, length }: Piece): string => `${start}-${start + length - 1}`;
const SEVERAL = `bytes=${PIECES.map(textOf).join(', ')}`;

export async function benchRanges(context: BenchContext): Promise<readonly Table[]> {
  const file = path.join(await context.makeDirectory(), 'Large.AppImage');
  await writeFile(file, randomBytes(FILE_BYTES));
  const artifact = `${file},os=linux,arch=x64,format=appimage`;
  const rows: Row[] = [];
  const notes: string[] = [];
  await withStores(context, async (store) => {
    context.progress(`ranges: publishing to ${store.name}`);
    const publish = ['publish', '1.0.0', artifact, '--app', 'large', '--create'];
    await runCommand(context, publish, store.env);
    const service = await startService(context, store.env);
    const ours = { url: service.url + FILE, ...openAgent(1) };
    const nginx =
      store.name === 'S3'
        ? undefined
        : await startNginx(context, '', file).catch((error: Error) => {
            notes.push(`nginx: skipped, because it does not start (${error.message}).`);
          });
    rows.push(movedRow(store.name, await bytesMoved(service)));
    if (nginx !== undefined) {
      const theirs = { url: `${nginx.url}/file`, ...openAgent(1) };
      const name = `${store.name}: ms ÷ nginx, the same request`;
      const row = compareTimes(
        context,
        name,
        NGINX_MAX,
        () => askAll(ours),
        () => askAll(theirs),
      );
      rows.push(await row);
    }
    if (store.name === 'S3') {
      const theirs = { url: await linkOf(service), ...openAgent(CONNECTIONS) };
      const name = `S3: ms ÷ ${RANGES} single ranges from the store`;
      const max = SINGLE_RANGES_MAX;
      rows.push(
        await compareTimes(
          context,
          name,
          max,
          () => askAll(ours),
          () => askEach(theirs),
        ),
      );
    }
    for (const pauseMs of [0, SLOW_MS]) {
      context.progress(`ranges: ${store.name}, ${CLIENTS} clients`);
      rows.push(memoryRow(store.name, pauseMs, await peakMib(service, pauseMs)));
    }
    ours.agent.destroy();
    await Promise.all([service, nginx].map((server) => server?.stop()));
  });
  const title = `ranges: ${RANGES} ranges of a build of ${FILE_MIB} MiB in one request`;
  const sum = (ASKED_BYTES / 2 ** 20).toFixed(1);
  return [
    {
      title,
      heading: ['', 'service', 'baseline', 'ratio', '95 % interval', 'pairs'],
      rows,
      notes: [
        `Ranges of 4 to 64 KiB, together ${sum} MiB.`,
        `The baseline of S3: single ranges by presigned URL on ${CONNECTIONS} connections, straight from the store.`,
        `Memory: the most that the process held while ${CLIENTS} clients asked at once. Slow: they read nothing for ${SLOW_MS / 1000} seconds.`,
        ...notes,
      ],
    },
  ];
}

interface Address {
  readonly url: string;
  readonly agent: Agent;
}

const openAgent = (maxSockets: number): Pick<Address, 'agent'> => ({
  agent: new Agent({ keepAlive: true, maxSockets }),
});

async function open({ url, agent }: Address, range: string): Promise<IncomingMessage> {
  const [response] = await once(get(url, { agent, headers: { range } }), 'response');
  if (response.statusCode !== 206) throw new Error(`${url} answered ${response.statusCode}.`);
  return response;
}

/** @returns the bytes of the body */
async function receive(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(response, 'end');
  return bytes;
}

async function askAll(address: Address): Promise<void> {
  const bytes = await receive(await open(address, SEVERAL));
  if (bytes < ASKED_BYTES) throw new Error(`${address.url} sent ${bytes} bytes.`);
}

async function askEach(address: Address): Promise<void> {
  const waiting = PIECES.values();
  const work = async (): Promise<void> => {
    for (const piece of waiting) await receive(await open(address, `bytes=${textOf(piece)}`));
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/** Compares the times of two downloads, in milliseconds. */
async function compareTimes(
  context: BenchContext,
  name: string,
  max: number,
  ours: () => Promise<void>,
  theirs: () => Promise<void>,
): Promise<Row> {
  const time = async (run: () => Promise<void>): Promise<number> => {
    const started = performance.now();
    await run();
    return performance.now() - started;
  };
  for (let turn = 0; turn < WARM_TURNS; turn++) await Promise.all([ours(), theirs()]);
  const service = () => time(ours);
  const baseline = () => time(theirs);
  return comparedRow(await compare(context, { name, service, baseline, limit: { max } }), 1);
}

/** The number of bytes that a client receives on its connection, including headers. */
async function bytesMoved(service: Server): Promise<number> {
  const response = await open({ url: service.url + FILE, ...openAgent(1) }, SEVERAL);
  const { socket } = response;
  await receive(response);
  socket.destroy();
  return socket.bytesRead;
}

async function linkOf(service: Server): Promise<string> {
  const { headers } = await fetch(service.url + FILE, { redirect: 'manual' });
  return headers.get('location') ?? '';
}

/** The highest memory of the process while the clients download, in MiB. */
async function peakMib(service: Server, pauseMs: number): Promise<number> {
  const address = { url: service.url + FILE, ...openAgent(CLIENTS) };
  let peak = 0;
  let isDone = false;
  const sampling = (async () => {
    while (!isDone) {
      peak = Math.max(peak, (await readUsage(service.pid)).residentMib);
      await sleep(SAMPLED_EVERY_MS);
    }
  })();
  const clients = Array.from({ length: CLIENTS }, async () => {
    const response = await open(address, SEVERAL);
    await sleep(pauseMs);
    await receive(response);
  });
  await Promise.all(clients);
  isDone = true;
  await sampling;
  address.agent.destroy();
  return peak;
}

function movedRow(store: string, moved: number): Row {
  const ratio = moved / ASKED_BYTES;
  return {
    cells: [`${store}: bytes moved ÷ bytes asked`, `${moved}`, `${ASKED_BYTES}`, ratio.toFixed(3)],
    target: { value: ratio, limit: { max: MOVED_MAX }, unit: ' ×' },
  };
}

function memoryRow(store: string, pauseMs: number, mib: number): Row {
  const clients = `${store}: memory, ${CLIENTS} ${pauseMs > 0 ? 'slow' : 'fast'} clients`;
  return {
    cells: [clients, `${Math.round(mib)} MiB`],
    target: { value: mib, limit: { max: MEMORY_MAX_MIB }, unit: ' MiB' },
  };
}
