/** A call of an operation, as both clients get it from the test. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  /** As in the document, with its parameters in braces. */
  readonly path: string;
  readonly parameters: {
    readonly path: Record<string, string | number>;
    readonly query: Record<string, string>;
    readonly header: Record<string, string>;
  };
  readonly body: unknown;
  /** True when the body is text, which no client may turn into JSON. */
  readonly sendsText: boolean;
  /** True when the documented answer is text, whatever its media type is. */
  readonly getsText: boolean;
}

export interface Client {
  call(call: Call): Promise<void>;
}

export type Fetch = (request: Request) => Promise<Response>;
