import type { S3Place } from './s3.ts';
import type { Table } from './table.ts';
import type { Workspace } from './workspace.ts';

/** What every bench is given. */
export interface BenchContext {
  readonly workspace: Workspace;
  readonly rounds: number;
  /** A server to measure against; undefined without one. */
  readonly s3: S3Place | undefined;
  /** Of the file that is published. */
  readonly sizeMib: number;
  /** The same on S3. */
  readonly s3SizeMib: number;
  /** For the processes that are measured, such as `--cpu-prof`. */
  readonly nodeArgs: readonly string[];
  /** What is going on, for whoever waits. */
  progress(text: string): void;
}

export type Bench = (context: BenchContext) => Promise<readonly Table[]>;
