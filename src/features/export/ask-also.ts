import type { ServiceDeps } from '../../answers/open-channel.ts';
import { AppError } from '../../core/errors.ts';
import type { SharedBodies } from './ask-documents.ts';
import type { PlannedDocument, PlannedFile } from './plan.ts';
import { findStored } from './plan-files.ts';
import type { Questions } from './questions.ts';
import { fileAtAddress, pathBelow } from './unanswered.ts';

/**
 * Asks for addresses that no dialect can list, because an application or a developer chose a part of the address. The
 * operator names these addresses, or the export finds them.
 */

interface AlsoRequest {
  readonly also: readonly string[];
  readonly publicUrl: string;
}

interface Asked {
  readonly documents: readonly (PlannedDocument & { readonly body: Buffer })[];
  readonly files: readonly PlannedFile[];
}

/** @throws AppError `invalid_configuration` for an address that the service answers with neither document nor file */
export async function askAlso(
  questions: Questions,
  { also, publicUrl }: AlsoRequest,
): Promise<Asked> {
  const all: Asked[] = [];
  for (const text of also) {
    const below = `${publicUrl}/${text.replace(/^\/+/, '')}`;
    const path = pathBelow(text, publicUrl) ?? pathBelow(below, publicUrl);
    const asked = path === undefined ? NOTHING : await askFor(questions, path, publicUrl);
    if (asked.documents.length + asked.files.length === 0) {
      const shown = JSON.stringify(text.slice(0, 200));
      const detail = `The service answers ${shown} with no document. Check the address, or leave it out.`;
      throw new AppError('invalid_configuration', detail);
    }
    all.push(asked);
  }
  return joinAsked(all);
}

/**
 * Like {@link askAlso}, for paths that the operator has not named. It leaves out the paths that the service does not
 * answer.
 */
export async function askStated(
  questions: Questions,
  paths: readonly string[],
  publicUrl: string,
  bodies: SharedBodies,
): Promise<Asked> {
  const all: Asked[] = [];
  for (const path of paths) {
    const { documents, files } = await askFor(questions, path, publicUrl);
    all.push({
      documents: documents.map((each) => ({ ...each, body: bodies.share(each.body) })),
      files,
    });
  }
  return joinAsked(all);
}

const NOTHING: Asked = { documents: [], files: [] };

async function askFor(questions: Questions, path: string, publicUrl: string): Promise<Asked> {
  const answer = await questions.ask(path.split('/'));
  if (answer.kind === 'none') return NOTHING;
  if (answer.kind === 'file') {
    const { location } = answer;
    const files = await fileBehind(questions.service, { path, location }, publicUrl);
    return { ...NOTHING, files };
  }
  const { body, contentType } = answer;
  return { ...NOTHING, documents: [{ path, body, contentType }] };
}

function joinAsked(all: readonly Asked[]): Asked {
  return {
    documents: all.flatMap(({ documents }) => documents),
    files: all.flatMap(({ files }) => files),
  };
}

/** The file to which the service redirects an address; empty when not every client may get the file. */
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
