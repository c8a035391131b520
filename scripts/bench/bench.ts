import type { S3Place } from './s3.ts';
import type { Table } from './table.ts';
import type { Workspace } from './workspace.ts';

/** What every benchmark receives. */
export interface BenchContext {
  readonly workspace: Workspace;
  readonly rounds: number;
  /** The S3 server to measure; undefined without one. */
  readonly s3: S3Place | undefined;
  /** Size of the file to publish. */
  readonly sizeMib: number;
  /** Size of the file to publish to S3. */
  readonly s3SizeMib: number;
  /** Node arguments of the measured processes, such as `--cpu-prof`. */
  readonly nodeArgs: readonly string[];
  /** Shows the user which measurement runs now. */
  progress(text: string): void;
}

export type Bench = (context: BenchContext) => Promise<readonly Table[]>;
