import { AppError, type ErrorCode } from '../../src/core/errors.ts';
import type { ObjectReader, ObjectStore } from '../../src/store/object-store.ts';

/** A store that fails on purpose. A plan decides about every call, so that a failure can be repeated. */
export interface FaultyStore extends ObjectStore {
  /** `undefined`: no call fails. */
  setPlan(plan: FaultPlan | undefined): void;
  /** Until `comeUp`, every call fails without effect. These calls count, too. */
  goDown(): void;
  comeUp(): void;
  /** Calls since the last `forgetCalls`, by method. Presigning does not count, because it sends no request. */
  readonly counts: Readonly<Record<StoreMethod, number>>;
  /** Calls since the last `forgetCalls`. */
  total(): number;
  forgetCalls(): void;
}

const STORE_METHODS = [
  'create',
  'get',
  'read',
  'open',
  'head',
  'list',
  'delete',
  'upload',
  'removeAbandonedUploads',
] as const;
export type StoreMethod = (typeof STORE_METHODS)[number];

export interface StoreCall {
  /** Counts from 1 since the plan was set. */
  readonly number: number;
  readonly method: StoreMethod;
  /** The prefix of a listing; empty for methods without a key. */
  readonly key: string;
  /** The bytes that `create` would write. */
  readonly body: Uint8Array | undefined;
}

export interface Fault {
  /** `before`: the call fails without effect. `after`: it has its effect, and fails. `hang`: it never settles. */
  readonly when: 'before' | 'after' | 'hang';
  /** For the message: `503`, `429`, `reset`. */
  readonly reason?: string;
  /** Default `store_unavailable`. */
  readonly code?: ErrorCode;
}

/** Decides whether a call fails. May first act as another process would at this moment. */
export type FaultPlan = (call: StoreCall) => Fault | undefined | Promise<Fault | undefined>;

/** Only the n-th call fails. */
export function failOnce(n: number, when: Fault['when']): FaultPlan {
  return ({ number }) => (number === n ? { when } : undefined);
}

/** Every call from the n-th on fails, as if the process was killed at that call. */
export function failFrom(n: number, when: Fault['when']): FaultPlan {
  return ({ number }) => {
    if (number < n) return undefined;
    return { when: number === n ? when : 'before' };
  };
}

export function createFaultyStore(inner: ObjectStore, firstPlan?: FaultPlan): FaultyStore {
  let plan = firstPlan;
  let planned = 0;
  let isDown = false;
  const counts = Object.fromEntries(STORE_METHODS.map((method) => [method, 0])) as Record<
    StoreMethod,
    number
  >;

  const decide = async (method: StoreMethod, key: string, body?: Uint8Array) => {
    counts[method] += 1;
    if (isDown) return fail({ when: 'before', reason: 'connection refused' }, method, key);
    if (plan === undefined) return undefined;
    planned += 1;
    const fault = await plan({ number: planned, method, key, body });
    if (fault?.when === 'hang') return new Promise<never>(() => undefined);
    return fault?.when === 'before' ? fail(fault, method, key) : fault;
  };

  const run = async <T>(
    method: StoreMethod,
    key: string,
    call: () => Promise<T>,
    body?: Uint8Array,
  ): Promise<T> => {
    const fault = await decide(method, key, body);
    const result = await call();
    return fault === undefined ? result : fail(fault, method, key);
  };

  return {
    location: inner.location,
    ...(inner.listsInPages === undefined ? {} : { listsInPages: inner.listsInPages }),
    keepsVersions: () => inner.keepsVersions(),
    presign: (request) => inner.presign(request),
    create: (key, body, options) =>
      run('create', key, () => inner.create(key, body, options), body),
    get: (key, options) => run('get', key, () => inner.get(key, options)),
    read: (key, options) => run('read', key, () => inner.read(key, options)),
    open: async (key, options) => {
      const reader = await run('open', key, () => inner.open(key, options));
      if (reader === undefined) return undefined;
      const read: ObjectReader['read'] = (...call) => run('read', key, () => reader.read(...call));
      return { info: reader.info, read, close: () => reader.close() };
    },
    head: (key, options) => run('head', key, () => inner.head(key, options)),
    delete: (key, options) => run('delete', key, () => inner.delete(key, options)),
    upload: (key, source, options) => run('upload', key, () => inner.upload(key, source, options)),
    removeAbandonedUploads: (before) =>
      run('removeAbandonedUploads', '', () => inner.removeAbandonedUploads(before)),
    async *list(prefix, options) {
      const fault = await decide('list', prefix);
      yield* inner.list(prefix, options);
      if (fault !== undefined) fail(fault, 'list', prefix);
    },
    counts,
    total: () => STORE_METHODS.reduce((sum, method) => sum + counts[method], 0),
    setPlan: (next) => {
      plan = next;
      planned = 0;
    },
    goDown: () => {
      isDown = true;
    },
    comeUp: () => {
      isDown = false;
    },
    forgetCalls: () => {
      for (const method of STORE_METHODS) counts[method] = 0;
    },
  };
}

function fail(fault: Fault, method: StoreMethod, key: string): never {
  const { code = 'store_unavailable', reason = 'reset' } = fault;
  throw new AppError(code, `${method} ${key} failed on purpose: ${reason}.`);
}

/** The store of a publisher that is killed before it commits: each catalog revision fails with `killed`. */
export function killedAtCommit(store: ObjectStore): ObjectStore {
  return {
    ...store,
    create: async (...call) => {
      if (call[0].includes('/catalog/')) throw new Error('killed');
      return store.create(...call);
    },
  };
}
