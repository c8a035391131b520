import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Whether a program is installed. Without it, its tests are skipped with a printed reason; in CI that is a failure, so
 * that a missing package cannot turn tests off unnoticed.
 *
 * @param flag prints the version
 */
export async function hasProgram(name: string, flag = '--version'): Promise<boolean> {
  try {
    await promisify(execFile)(name, [flag]);
    return true;
  } catch (error) {
    if (process.env.CI) throw new Error(`${name} is missing, which CI requires`, { cause: error });
    console.log(`skipped: tests with ${name}; there is no ${name} here`);
    return false;
  }
}
