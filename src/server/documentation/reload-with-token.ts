/** The part of Swagger UI's system object that the plugin uses. */
interface System {
  readonly specSelectors: { url(): string };
  readonly specActions: { updateSpec(text: string): void };
  readonly errActions: { newThrownErr(error: Error): void };
}

type Authorize = (given: { readonly session?: { readonly value: string } }) => void;
type Logout = (names: readonly string[]) => void;

declare const SwaggerUIBundle: { readonly plugins: { readonly DownloadUrl: object } };

/**
 * A plugin of Swagger UI for a document that needs an access token. It loads the document again with the token that the
 * user enters under Authorize, and without a token after Logout.
 *
 * The page contains the source of this function and runs the function in the browser. So the function uses nothing else
 * of this module.
 */
function reloadWithToken(system: System) {
  const load = async (token?: string): Promise<void> => {
    const headers = new Headers();
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const response = await fetch(system.specSelectors.url(), { headers });
    const text = await response.text();
    if (response.ok) system.specActions.updateSpec(text);
    else system.errActions.newThrownErr(new Error(JSON.parse(text).detail));
  };
  const wrapActions = {
    authorize: (authorize: Authorize): Authorize => {
      return (given) => {
        authorize(given);
        load(given.session?.value.trim()).catch(system.errActions.newThrownErr);
      };
    },
    logout: (logout: Logout): Logout => {
      return (names) => {
        logout(names);
        load().catch(system.errActions.newThrownErr);
      };
    },
  };
  return { statePlugins: { auth: { wrapActions } } };
}

/** This list replaces the default list, so it contains the default plugin, which loads the document. */
export const RELOAD_WITH_TOKEN = [() => SwaggerUIBundle.plugins.DownloadUrl, reloadWithToken];
