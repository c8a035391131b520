import { APPLICATIONS_ROOT } from '../catalog/documents/keys.ts';
import { type ReaderDeps, readApplications } from '../catalog/reading/read.ts';
import { AppError } from '../core/errors.ts';

/**
 * Refuses a store that has applications.
 *
 * @param advice a sentence that says what to do instead
 * @throws AppError `status_forbids`, which names the applications
 */
export async function refuseUsedStore(deps: ReaderDeps, advice: string): Promise<void> {
  const names = await readApplications(deps);
  if (names.length > 0) {
    const why = `The store already has applications: ${names.join(', ')}. ${advice}`;
    throw new AppError('status_forbids', why);
  }
  // The list of applications may be lost, or an interrupted first publish may not have written it.
  for await (const { key } of deps.store.list(APPLICATIONS_ROOT)) {
    const why = `The store already has objects of an application, such as ${key}. ${advice}`;
    throw new AppError('status_forbids', why);
  }
}
