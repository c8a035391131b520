import type { Bench } from './bench.ts';
export const benchDecision: Bench = async () => [];
