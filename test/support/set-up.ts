import fc from 'fast-check';
import { rounds } from './rounds.ts';

/** For properties that state no other number. */
fc.configureGlobal({ numRuns: rounds(25, 1_000) });
