import { artifactKey } from '../catalog/documents/keys.ts';
import type { DownloadLinks, LinkRequest } from '../store/download-links.ts';
import type { PresignedUrl } from '../store/object-store.ts';
import type { SeenChannel, ServiceDeps } from './open-channel.ts';

/** The dependencies of operations that hand out links. */
export interface LinkDeps extends ServiceDeps {
  readonly links: DownloadLinks;
}

/** HEAD needs a separate link, because a presigned URL is valid for one method. */
export type LinkMethod = 'GET' | 'HEAD';

/**
 * A presigned URL of a file that a verified manifest names. No other object gets a link. A file of a channel
 * without restrictions may get an address that does not expire: see `PUBLIC_FILES_URL`.
 *
 * @param file a file of this application only, because the last request for a file does not state its application
 * @param seen the channel through which the client found the file
 * @throws AppError `store_unavailable` when the store's credentials cannot be read; as a rejection
 */
export function issueLink(
  links: DownloadLinks,
  application: string,
  file: { readonly object: string; readonly filename: string },
  method: LinkMethod,
  seen: Pick<SeenChannel, 'isRestricted'>,
): PresignedUrl | Promise<PresignedUrl> {
  const isPublic = !seen.isRestricted;
  const last = lastRequests.get(file);
  if (last?.method === method && last.isPublic === isPublic) return links.link(last);
  const key = artifactKey(application, file.object);
  const request = { method, key, filename: file.filename, isPublic };
  lastRequests.set(file, request);
  return links.link(request);
}

/** The last `LinkRequest` for each file. Most clients of a file need the same one. */
const lastRequests = new WeakMap<object, LinkRequest>();
