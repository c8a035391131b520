import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export const COMPOSE = path.resolve(import.meta.dirname, '../../docker-compose.yml');

export interface Service {
  readonly env_file?: readonly (string | { readonly path: string; readonly required: boolean })[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly profiles?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly image: string;
  readonly ports?: readonly string[];
}

/** The services of docker-compose.yml, by their names. */
export function readServices(): Readonly<Record<string, Service>> {
  return parse(readFileSync(COMPOSE, 'utf8'), { merge: true }).services;
}
