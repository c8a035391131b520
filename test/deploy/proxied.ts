import { createHash } from 'node:crypto';
import type { ReaderDeps } from '../../src/catalog/reading/read.ts';
import type { Certificate } from '../support/certificate.ts';
import { seededBytes } from '../support/electron-build.ts';
import type { Running } from '../support/process.ts';
import type { ProxyClient } from './proxy-client.ts';
import type { ProxyProcess } from './proxy-process.ts';

/** A proxy with two processes behind it, as its tests see it. */

/** Where the service is: at the root of a host, or below a path of it. */
export interface Variant {
  readonly name: string;
  readonly host: string;
  /** Empty for the root. */
  readonly basePath: string;
  /**
   * The part of the suite that runs. One variant runs the whole suite. Each other proxy at the root runs the tests of
   * requests and answers. A proxy below a path runs only the tests of addresses, because its files include the same parts.
   */
  readonly extent: 'whole' | 'proxy' | 'addresses';
}

export interface ProxySetting {
  readonly variant: Variant;
  /** For the files of the proxy. */
  readonly directory: string;
  readonly certificate: Certificate;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Ports of the two processes, on 127.0.0.1. */
  readonly upstreamPorts: readonly [number, number];
  /** The directory `objects` of a directory store whose files the proxy sends. */
  readonly objects?: string;
}

export interface StartedProxy extends ProxyProcess {
  /** Everything that the proxy logged so far, in files and on its output. */
  readonly logged: () => Promise<string>;
}

export interface ProxyKind {
  readonly variants: readonly Variant[];
  start(setting: ProxySetting): Promise<StartedProxy>;
}

/** What the tests use. They read `client`, `proxy` and `processes` when they run: a suite is defined before these start. */
export interface Proxied {
  readonly variant: Variant;
  readonly client: ProxyClient;
  readonly proxy: StartedProxy;
  /** The two; a test that ends one puts the next into its place. */
  readonly processes: Running[];
  /** The origin of the bucket. */
  readonly storeUrl: string;
  /** The store that the processes serve. */
  readonly catalogs: ReaderDeps;
  /** Starts a process on the port of the first or the second. */
  start(index: 0 | 1): Promise<Running>;
  /** Asks for a path of the service, below the path of PUBLIC_URL. */
  readonly ask: ProxyClient['ask'];
  post(address: string, body: object): ReturnType<ProxyClient['ask']>;
}

/** More than the sockets between the process and the client buffer. */
export const SIZE = 24 * 1024 * 1024;
export const CONTENT = seededBytes(SIZE, 'behind a proxy');
const FEED = '/feeds/desktop/stable/electron';
export const DOCUMENT = `${FEED}/latest.yml`;
export const FILE = `${FEED}/2.0.0/App-Setup.exe`;
export const CHECK = '/api/v1/desktop/check-update';
/** Tries a minute from one address, for each of the two processes. */
export const TRIES = 6;

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
