/** Shows the captcha of the contact form on a page: the widget of the provider that the service asks. */

export interface CaptchaWidget {
  /** Undefined until the visitor has solved the captcha. */
  token(): string | undefined;
  /** Lets the visitor get a new token, because each token is valid for one message. */
  reset(): void;
}

/** The functions that the scripts of all providers have. Each provider has its own kind of widget. */
interface ProviderScript {
  render(container: HTMLElement, options: { readonly sitekey: string }): unknown;
  getResponse(widget: unknown): string | undefined;
  reset(widget: unknown): void;
  /** Only reCAPTCHA needs this function, because its script loads another script. */
  ready?(then: () => void): void;
}

interface Provider {
  /** The name of the global variable in which the script offers its functions. */
  readonly global: string;
  readonly script: string;
}

const PROVIDERS = new Map<string, Provider>([
  [
    'turnstile',
    {
      global: 'turnstile',
      script: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    },
  ],
  [
    'hcaptcha',
    {
      global: 'hcaptcha',
      script: 'https://js.hcaptcha.com/1/api.js?render=explicit&recaptchacompat=off',
    },
  ],
  [
    'recaptcha',
    { global: 'grecaptcha', script: 'https://www.google.com/recaptcha/api.js?render=explicit' },
  ],
]);

/**
 * @param container an element of the page itself, because the widgets find no element in a shadow tree
 * @throws Error with a sentence for the visitor
 */
export async function openCaptcha(
  name: string,
  siteKey: string,
  container: HTMLElement,
): Promise<CaptchaWidget> {
  const provider = PROVIDERS.get(name);
  if (provider === undefined) {
    throw new Error(
      `The captcha ${JSON.stringify(name)} is not one of ${[...PROVIDERS.keys()].join(', ')}.`,
    );
  }
  try {
    const script = await loadProvider(provider);
    const widget = script.render(container, { sitekey: siteKey });
    return {
      token: () => script.getResponse(widget) || undefined,
      reset: () => script.reset(widget),
    };
  } catch (cause) {
    // The provider's reason, such as an unknown site key, is for the owner of the website.
    reportError(cause);
    throw new Error(`The captcha of ${new URL(provider.script).host} does not work. Try again.`);
  }
}

const offered = ({ global }: Provider): ProviderScript | undefined =>
  (globalThis as unknown as Record<string, ProviderScript | undefined>)[global];

const loading = new Map<Provider, Promise<void>>();

async function loadProvider(provider: Provider): Promise<ProviderScript> {
  // The website may have loaded the script for a form of its own.
  if (offered(provider) === undefined) {
    const loaded = loading.get(provider) ?? loadScript(provider.script);
    loading.set(provider, loaded);
    await loaded.catch((error: unknown) => {
      loading.delete(provider);
      throw error;
    });
  }
  const script = offered(provider);
  if (script === undefined) throw new Error(`${provider.script} offers no ${provider.global}.`);
  // Waits for reCAPTCHA only. Turnstile needs no wait, and its `ready` refuses scripts that a page loads in this way.
  if (provider.global === 'grecaptcha') {
    await new Promise<void>((resolve) => script.ready?.(resolve) ?? resolve());
  }
  return script;
}

function loadScript(address: string): Promise<void> {
  const script = document.createElement('script');
  script.src = trusted(address);
  script.async = true;
  document.head.append(script);
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => {
      script.remove();
      reject(new Error(`${address} cannot be loaded.`));
    });
  });
}

/** https://www.w3.org/TR/trusted-types/ */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): string };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** With `require-trusted-types-for`, a script's address must come from a policy that the page allows by name. */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return address;
  // Every address is one of the scripts in `PROVIDERS`.
  policy ??= trustedTypes.createPolicy('slipway-captcha', { createScriptURL: (same) => same });
  return policy.createScriptURL(address);
}
