/** The codes of {@link UpdaterError}. */
export type UpdaterErrorCode =
  /** An option has a wrong value. */
  | 'invalid_options'
  /** The root that came with the application is missing or is not a root of trust. */
  | 'invalid_root'
  /** The root belongs to another application. */
  | 'wrong_root'
  /** The newest root expired. The client refuses updates until the publisher makes a newer one. */
  | 'root_expired'
  /** The clock of this machine is wrong by more than a day, so no expiry can be judged. */
  | 'clock_wrong'
  /** The service shows a state that its operators confirmed too long ago. */
  | 'metadata_stands_still'
  /** The list of the own channel, or of the keys of the channels, expired. The publisher has to sign it again. */
  | 'metadata_expired'
  /** The metadata are not signed by enough keys, or are older than the known ones. */
  | 'metadata_rejected'
  /** The service cannot be reached, is too slow, or says that it cannot answer now. */
  | 'service_unavailable'
  /** The service refused the request, or its answer is invalid. */
  | 'service_refused'
  /** The service offers a release that the keys of the channel did not sign, at least not for this machine. */
  | 'offer_not_signed'
  /** The service offers the running version, or an older one that the application or the keys of the channel do not allow. */
  | 'downgrade_refused'
  /** The downloaded bytes are not those that the keys of the channel signed. */
  | 'file_rejected'
  /** The cache directory cannot be used. */
  | 'cache_unusable'
  | 'disk_full'
  /** The application ended the check or the download. */
  | 'aborted';

/** What `check` and `download` throw. The message is a sentence for a log or a person. */
export class UpdaterError extends Error {
  override readonly name = 'UpdaterError';
  readonly code: UpdaterErrorCode;

  constructor(code: UpdaterErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
