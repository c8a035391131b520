import { internalsOf, nodeInternals } from '../../../src/server/limits/node-internals.ts';

/** False in `documented-node.system.test.ts`: some behaviour needs undocumented parts of Node. */
export const usesUndocumented = nodeInternals === internalsOf('24.0.0');

if (!usesUndocumented) {
  console.log(
    'skipped with documented parts of Node alone: the tests of clients that end their side of the connection, or read nothing.',
  );
}
