import { createFollower, type Fetch } from './redirects.ts';
import { UpdaterError } from './updater-error.ts';

/** Requests to a service that may be slow, broken or hostile. */

export interface Http {
  /**
   * Passes the bytes of an answer on as they arrive.
   *
   * @throws UpdaterError `service_unavailable`, `service_refused`, `aborted`; whatever `begin` and `write` throw
   */
  stream(url: string, request: StreamRequest): Promise<void>;
  /** Reads a whole answer into memory. @throws UpdaterError like `stream`, also for 429 and for 500 and above */
  read(url: string, request: ReadRequest): Promise<ReadAnswer>;
  /** The time of the service in its last answer, in milliseconds since the epoch; undefined: it stated none. */
  serviceTime(): number | undefined;
}

interface ReadRequest {
  /** Bytes. A longer answer is an error. */
  readonly max: number;
  readonly signal?: AbortSignal | undefined;
  /** JSON to send with POST. */
  readonly body?: string;
}

interface ReadAnswer {
  readonly status: number;
  readonly bytes: Buffer;
}

interface StreamRequest extends ReadRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before the first byte. False ends the request without reading the answer. */
  begin(response: Pick<Response, 'status' | 'headers'>): boolean | Promise<boolean>;
  write(bytes: Uint8Array): Promise<void> | void;
}

interface HttpDeps {
  readonly fetch: Fetch;
  /** Sent with every request to the service, and to no other host. */
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** The time for an answer to begin, and for each pause in it; milliseconds. */
  readonly patienceMs: number;
}

/** The client ends an answer that is slower than this: a hostile service could otherwise keep it busy for ever. */
const BYTES_PER_SECOND_MIN = 4_096;

export function createHttp({ fetch, headers: common, now, patienceMs }: HttpDeps): Http {
  let serviceTime: number | undefined;
  const follow = createFollower(fetch, common);

  const stream: Http['stream'] = async (url, asked) => {
    const { max, signal, body, headers, begin, write } = asked;
    if (signal?.aborted === true) throw abortedBy(signal);
    const ending = new AbortController();
    const startedAt = now();
    const giveUp = () => ending.abort(unavailable(url, 'it sends nothing, or too slowly'));
    const stop = () => ending.abort(signal && abortedBy(signal));
    let timer = setTimeout(giveUp, patienceMs);
    signal?.addEventListener('abort', stop, { once: true });
    const ended = new Promise<never>((_resolve, reject) => {
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason));
    });
    ended.catch(() => {});
    /**
     * Each failure of the network is one of our errors; failures of the caller's functions pass unchanged. A `fetch` of
     * the application may ignore the signal.
     */
    const awaiting = async <T>(step: Promise<T>): Promise<T> => {
      try {
        return await Promise.race([step, ended]);
      } catch (error) {
        if (ending.signal.aborted) throw ending.signal.reason;
        if (error instanceof UpdaterError) throw error;
        throw unavailable(url, reasonOf(error), error);
      }
    };
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      const json = { 'content-type': 'application/json' };
      const request = {
        ...(body === undefined ? {} : { method: 'POST', body }),
        headers: { ...(body === undefined ? {} : json), ...headers },
        signal: ending.signal,
      };
      const response = await awaiting(follow(url, request));
      const date = Date.parse(response.headers.get('date') ?? '');
      serviceTime = Number.isNaN(date) ? undefined : date;
      if (!(await begin(response))) return;
      reader = response.body?.getReader();
      for (let received = 0; reader !== undefined; ) {
        const { done, value } = await awaiting(reader.read());
        if (done) return;
        received += value.length;
        if (received > max) {
          throw new UpdaterError('service_refused', `${url} has more than ${max} bytes.`);
        }
        const allowedMs = patienceMs + (received / BYTES_PER_SECOND_MIN) * 1000;
        clearTimeout(timer);
        timer = setTimeout(giveUp, Math.min(patienceMs, startedAt + allowedMs - now()));
        await write(value);
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      // Closes the connection of an answer that was not read to its end: a hostile service could send for ever.
      ending.abort();
      reader?.cancel().catch(() => {});
    }
  };

  return {
    stream,
    serviceTime: () => serviceTime,
    read: async (url, request) => {
      const chunks: Uint8Array[] = [];
      let status = 0;
      await stream(url, {
        ...request,
        begin: (response) => {
          status = response.status;
          return true;
        },
        write: (bytes) => void chunks.push(bytes),
      });
      if (status === 429 || status >= 500) throw unavailable(url, `it answers ${status}`);
      return { status, bytes: Buffer.concat(chunks) };
    },
  };
}

function abortedBy({ reason }: AbortSignal): UpdaterError {
  return new UpdaterError('aborted', 'The application ended the request.', { cause: reason });
}

export function unavailable(url: string, why: string, cause?: unknown): UpdaterError {
  const message = `The update service cannot be used at ${url}: ${why}. Try again later.`;
  return new UpdaterError('service_unavailable', message, { cause });
}

/** `fetch` hides the reason, such as ECONNREFUSED, in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
