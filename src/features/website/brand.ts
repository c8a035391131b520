import path from 'node:path';
import { AppError, isAppError } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import { parseColor } from '../../web/brand-color.ts';
import type { Brand } from './routes/brand-files.ts';
import type { BrandConfig } from './settings.ts';

/** Reads the logo that the settings name. */

/** The maximum size of the logo. It is small, because every visitor loads the logo. */
const LOGO_BYTES_MAX = 256 * 1024;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * @throws AppError `invalid_configuration` for a logo that cannot be read, is too large, or has another format than its
 *   file name says
 */
export async function openBrand({ name, logoFile, color }: BrandConfig): Promise<Brand> {
  return {
    name,
    color: color === undefined ? undefined : parseColor(color),
    logo: logoFile === undefined ? undefined : await readLogo(logoFile),
  };
}

async function readLogo(file: string): Promise<Brand['logo']> {
  const bytes = await readBounded(file);
  if (bytes === undefined) {
    throw refuse(
      file,
      `has more than ${LOGO_BYTES_MAX} bytes. Make it smaller: every visitor loads it.`,
    );
  }
  const extension = path.extname(file).toLowerCase() === '.png' ? 'png' : 'svg';
  if (extension === 'png' ? isPng(bytes) : isSvg(bytes)) return { extension, bytes };
  throw refuse(file, `is no ${extension.toUpperCase()} image. Give a .svg or .png file.`);
}

async function readBounded(file: string): Promise<Buffer | undefined> {
  try {
    return await readPlainFile(file, LOGO_BYTES_MAX);
  } catch (error) {
    if (isAppError(error)) throw refuseFor(error.message, error);
    const reason = error instanceof Error ? error.message : String(error);
    throw refuse(file, `cannot be read: ${reason}. Check the path and its permissions.`, error);
  }
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE);
}

/** This check is enough: the policy of the logo's address refuses scripts, and a page shows the logo as an image. */
function isSvg(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes) && /<svg[\s>]/.test(bytes.toString());
}

function refuse(file: string, what: string, cause?: unknown): AppError {
  return refuseFor(`${JSON.stringify(file)} ${what}`, cause);
}

function refuseFor(detail: string, cause?: unknown): AppError {
  return new AppError('invalid_configuration', `BRAND_LOGO: ${detail}`, {
    issues: [{ pointer: '/BRAND_LOGO', detail }],
    ...(cause === undefined ? {} : { cause }),
  });
}
