import type { KeyArea, KeyFacts } from '../../core/key-facts.ts';
import { APPLICATION_LISTS_ROOT, APPLICATIONS_ROOT, HINTS_ROOT, parseCatalogKey } from './keys.ts';

/** The stored objects of releases and their catalogs. */
export const catalogKeys: KeyArea = {
  privateRoots: [],
  listedFirst: [
    { root: APPLICATION_LISTS_ROOT, kinds: ['application list'] },
    { root: HINTS_ROOT, kinds: ['hint'] },
    { root: APPLICATIONS_ROOT, kinds: ['revision', 'manifest'] },
  ],
  parse: factsOf,
};

function factsOf(key: string): KeyFacts | 'passing' | undefined {
  const parsed = parseCatalogKey(key);
  switch (parsed?.kind) {
    case 'application list':
    case 'hint': {
      const { kind, number } = parsed;
      return { kind, sequence: kind, number, fields: { number } };
    }
    case 'revision': {
      const { kind, application, number } = parsed;
      const fields = { application, revision: number };
      return { kind, sequence: `${kind} ${application}`, number, application, fields };
    }
    case 'manifest': {
      const { kind, application, version, number } = parsed;
      const name = { application, version };
      const sequence = `${kind} ${application} ${version}`;
      return { kind, sequence, number, ...name, fields: { ...name, number } };
    }
    case 'artifact':
    case 'carried':
    case 'trust':
      return { ...parsed, sequence: key, number: 1 };
    case 'freshness':
      // It states how new this store is. A copy of the store gets its own: `slipway trust renew`.
      return 'passing';
    default:
      return undefined;
  }
}
