import { atelier } from './atelier.ts';
import type { DemoApplication } from './demo-application.ts';
import { fieldnotes } from './fieldnotes.ts';
import { harbor } from './harbor.ts';

/** The applications of the demo store. */
export const DEMO_APPLICATIONS: readonly DemoApplication[] = [harbor, fieldnotes, atelier];
