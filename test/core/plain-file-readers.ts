import { openLocalSecret } from '../../src/core/local-secret.ts';
import { openPlainFile, readPlainFile } from '../../src/core/plain-file.ts';
import { openBrand } from '../../src/features/website/brand.ts';
import { hashFile } from '../../src/releases/files/hash-file.ts';
import { createFileSource } from '../../src/store/file-source.ts';

/** All functions that open a file which a user names. */
export const PLAIN_FILE_READERS: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  openPlainFile,
  readPlainFile: (file) => readPlainFile(file, 10),
  'the logo of BRAND_LOGO': (logoFile) => openBrand({ name: 'x', color: undefined, logoFile }),
  'a secret of DATA_DIR': (file) => openLocalSecret(file),
  hashFile: (file) => hashFile({ path: file, filename: 'x', size: 5, stated: [] }, () => {}),
  'an upload': (path) => createFileSource({ path, size: 5, sha256: '0'.repeat(64) }).open(),
};
