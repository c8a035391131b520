import type { Bench } from './bench.ts';
export const benchPublish: Bench = async () => [];
