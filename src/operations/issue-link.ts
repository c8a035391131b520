import { artifactKey } from '../catalog/keys.ts';
import type { DownloadLinks } from '../object-store/download-links.ts';
import type { PresignedUrl } from '../object-store/object-store.ts';
import type { ServiceDeps } from './open-channel.ts';

/** The dependencies of operations that hand out links. */
export interface LinkDeps extends ServiceDeps {
  readonly links: DownloadLinks;
}

/** HEAD needs a separate link: a presigned URL is valid for one method. */
export type LinkMethod = 'GET' | 'HEAD';

/**
 * A presigned URL of a file that a verified manifest names. No other object gets a link.
 *
 * @throws AppError `store_unavailable` when the store's credentials cannot be read; as a rejection
 */
export function issueLink(
  links: DownloadLinks,
  application: string,
  file: { readonly object: string; readonly filename: string },
  method: LinkMethod,
): PresignedUrl | Promise<PresignedUrl> {
  return links.link({
    method,
    key: artifactKey(application, file.object),
    filename: file.filename,
  });
}
