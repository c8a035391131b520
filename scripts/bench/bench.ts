import type { S3Place } from './s3.ts';
import type { Table } from './table.ts';
import type { Workspace } from './workspace.ts';

/** What every benchmark receives. */
export interface BenchContext {
  readonly workspace: Workspace;
  readonly rounds: number;
  /** How long one measurement lasts; the benchmarks divide it into turns. */
  readonly seconds: number;
  /** Only the routes whose name contains this text are measured. */
  readonly only: string;
  /** The S3 server to measure; undefined without one. */
  readonly s3: S3Place | undefined;
  /** Releases of the largest catalog. */
  readonly releases: number;
  /** Size of the file to publish. */
  readonly sizeMib: number;
  /** Where the service writes its processor profiles; undefined when it is not profiled. */
  readonly profileDirectory: string | undefined;
  /** Shows the user which measurement runs now. */
  progress(text: string): void;
}

export type Bench = (context: BenchContext) => Promise<readonly Table[]>;
