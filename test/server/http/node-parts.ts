import { internalsOf, nodeInternals } from '../../../src/server/http/node-internals.ts';

/** False in `documented-node.system.test.ts`: some behaviour needs undocumented parts of Node. */
export const usesUndocumented = nodeInternals === internalsOf('24.0.0');
