import { describe } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { startApache } from './apache.ts';
import { defineHandedOver } from './handed-over.ts';

/** Debian's mod_xsendfile; the package with it brings Apache. */
const hasPrograms = (await hasProgram('apache2', '-v')) && (await hasProgram('openssl', 'version'));

describe.skipIf(!hasPrograms)('Apache that sends the files of a directory store', () =>
  defineHandedOver('x-sendfile', startApache),
);
