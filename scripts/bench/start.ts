import type { Bench } from './bench.ts';
export const benchStart: Bench = async () => [];
