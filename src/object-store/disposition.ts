import { create } from 'content-disposition';

/**
 * The Content-Disposition that saves a download under this name, in ASCII.
 *
 * The package writes Latin-1 letters as they are; inside a URL they would become UTF-8 and reach the
 * browser garbled, so such names always take the extended form.
 */
export function renderDisposition(filename: string): string {
  const ascii = filename.replace(/[^ -~]/g, '_');
  return create(filename, ascii === filename ? {} : { fallback: ascii });
}
