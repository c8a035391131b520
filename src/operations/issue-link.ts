import { artifactKey } from '../catalog/keys.ts';
import type { DownloadLinks } from '../object-store/download-links.ts';
import type { PresignedUrl } from '../object-store/object-store.ts';

/**
 * A link to a file that a verified manifest names; there are links to nothing else.
 *
 * @throws AppError `store_unavailable` when the store's credentials cannot be had
 */
export function issueLink(
  links: DownloadLinks,
  application: string,
  file: { readonly object: string; readonly filename: string },
  method: 'GET' | 'HEAD',
): PresignedUrl | Promise<PresignedUrl> {
  return links.link({
    method,
    key: artifactKey(application, file.object),
    filename: file.filename,
  });
}
