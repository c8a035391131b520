/** The choices of the publisher for a project, from options, answers and defaults. */
export interface Choices {
  readonly application: string;
  readonly channel: string;
  readonly store: StoreChoice;
  /** Undefined: the publisher does not know it yet. */
  readonly publicUrl: string | undefined;
  readonly ci: CiChoice;
}

export type StoreChoice =
  | { readonly kind: 'directory'; readonly directory: string }
  | {
      readonly kind: 'bucket';
      readonly bucket: string;
      /** Undefined, here and below: the setting stays unset. */
      readonly region: string | undefined;
      readonly endpoint: string | undefined;
      readonly prefix: string | undefined;
    };

export const CI_CHOICES = ['github', 'gitlab', 'none'] as const;
export type CiChoice = (typeof CI_CHOICES)[number];

/** The settings of the store, as environment variables. */
export function storeSettingsOf(store: StoreChoice): Readonly<Record<string, string>> {
  if (store.kind === 'directory') return { OBJECT_STORE: 'filesystem', DATA_DIR: store.directory };
  const { bucket, region, endpoint, prefix } = store;
  return {
    OBJECT_STORE: 's3',
    S3_BUCKET: bucket,
    ...(region === undefined ? {} : { S3_REGION: region }),
    ...(endpoint === undefined ? {} : { S3_ENDPOINT: endpoint }),
    ...(prefix === undefined ? {} : { S3_PREFIX: prefix }),
  };
}

/** All settings of the `.env` file. */
export function settingsOf({ store, publicUrl, application }: Choices): Record<string, string> {
  return {
    ...storeSettingsOf(store),
    ...(publicUrl === undefined ? {} : { PUBLIC_URL: publicUrl }),
    DEFAULT_APP: application,
  };
}
