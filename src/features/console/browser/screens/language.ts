/** @param locale BCP 47; `und`: not stated. @returns `German (de)` */
export function languageName(locale: string): string {
  if (locale === 'und') return 'Any language';
  try {
    const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(locale);
    return name === undefined || name === locale ? locale : `${name} (${locale})`;
  } catch {
    return locale;
  }
}
