import { COPY_KINDS, type KeyArea } from '../../core/key-facts.ts';
import { isMarker } from '../../store/sequence/end.ts';
import type { CopyDeps } from './copy-side.ts';

/** Parses every key of a store with the parsers of the rooms and features that write them. */
export function createKeyReader(areas: readonly KeyArea[]): Pick<CopyDeps, 'factsOf' | 'passes'> {
  const roots = areas.flatMap(({ privateRoots }) => privateRoots);
  const naming = areas.flatMap(({ listedFirst }) => listedFirst);
  const named = naming.flatMap(({ kinds }) => kinds);
  const others = COPY_KINDS.filter((kind) => !named.includes(kind));
  return {
    passes: {
      source: [...naming, { root: '', kinds: others }],
      target: [{ root: '', kinds: COPY_KINDS }],
    },
    factsOf: (key) => {
      const isPrivate = roots.some(({ prefix }) => key.startsWith(prefix));
      if (isPrivate && isMarker(key)) return { kind: 'end', sequence: key, number: 1 };
      for (const { parse } of areas) {
        const facts = parse(key);
        if (facts !== undefined) return facts;
      }
      // Every other object below a private root is private, too, even when a later version of Slipway wrote it.
      return isPrivate ? { kind: 'private', sequence: key, number: 1 } : undefined;
    },
  };
}
