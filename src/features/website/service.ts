import type { Part, PartDeps } from '../../server/part.ts';
import { openBrand } from './brand.ts';
import { pageRoutes } from './routes/routes.ts';
import type { BrandSettings } from './settings.ts';

/** The pages for visitors. @throws AppError as `openBrand` does */
export async function openWebsite({
  config,
}: PartDeps & { readonly config: BrandSettings }): Promise<Part> {
  const brand = await openBrand(config.brand);
  return { routes: (shared) => pageRoutes({ ...shared, brand }) };
}
