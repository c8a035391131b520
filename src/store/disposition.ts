import { create } from 'content-disposition';

/**
 * The Content-Disposition header, in ASCII, that makes a browser save a download under this name.
 *
 * The package leaves Latin-1 letters unencoded. In a presigned URL they would become UTF-8, and the browser
 * would decode them wrongly. So names with such letters always use the extended form (`filename*`).
 */
export function renderDisposition(filename: string): string {
  const ascii = filename.replace(/[^ -~]/g, '_');
  return create(filename, ascii === filename ? {} : { fallback: ascii });
}
