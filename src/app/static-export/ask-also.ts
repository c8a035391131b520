import { AppError } from '../../errors.ts';
import type { ServiceDeps } from '../../operations/open-channel.ts';
import type { PlannedDocument, PlannedFile } from './plan.ts';
import { findStored } from './plan-files.ts';
import type { Questions } from './questions.ts';
import { fileAtAddress, pathBelow } from './unanswered.ts';

/**
 * Addresses that no dialect can list, because an application or a developer chose a part of them: the operator names
 * them.
 */

interface AlsoRequest {
  readonly also: readonly string[];
  readonly publicUrl: string;
}

interface Asked {
  readonly documents: readonly PlannedDocument[];
  readonly files: readonly PlannedFile[];
}

/** @throws AppError `invalid_configuration` for an address that the service answers with neither document nor file */
export async function askAlso(
  questions: Questions,
  { also, publicUrl }: AlsoRequest,
): Promise<Asked> {
  const documents: PlannedDocument[] = [];
  const files: PlannedFile[] = [];
  for (const text of also) {
    const path =
      pathBelow(text, publicUrl) ??
      pathBelow(`${publicUrl}/${text.replace(/^\/+/, '')}`, publicUrl);
    const answer = path === undefined ? undefined : await questions.ask(path.split('/'));
    if (path !== undefined && answer?.kind === 'document') {
      documents.push({ path, body: answer.body, contentType: answer.contentType });
      continue;
    }
    const location = answer?.kind === 'file' ? answer.location : undefined;
    const found =
      path === undefined || location === undefined
        ? []
        : await fileBehind(questions.service, { path, location }, publicUrl);
    if (found.length === 0) {
      const shown = JSON.stringify(text.slice(0, 200));
      const detail = `The service answers ${shown} with no document. Check the address, or leave it out.`;
      throw new AppError('invalid_configuration', detail);
    }
    files.push(...found);
  }
  return { documents, files };
}

/** The file that the service redirects an address to; empty when it is none that every client may get. */
export async function fileBehind(
  service: ServiceDeps,
  { path, location }: { readonly path: string; readonly location: string },
  publicUrl: string,
): Promise<readonly PlannedFile[]> {
  const address = fileAtAddress(location, publicUrl);
  const file = address && (await findStored(service, address));
  if (address === undefined || file === undefined) return [];
  return [{ path, application: address.application, file, isReplaced: true }];
}
