import examples from './examples.json' with { type: 'json' };

/** Examples of the OpenAPI documents. All of them are answers of a real service: `npm run examples` writes them. */

/** The examples of an operation, by HTTP status. */
type OperationExamples = Readonly<
  Record<
    string,
    {
      /** The body, by media type. */
      readonly content?: Readonly<Record<string, unknown>>;
      /** The header of a redirect. */
      readonly location?: string;
    }
  >
>;

const EXAMPLES: Readonly<Record<string, OperationExamples>> = examples;

interface ResponseObject {
  content?: Record<string, { example?: unknown }>;
  headers?: Record<string, object>;
}

interface OperationObject {
  readonly operationId?: string;
  readonly responses: Record<string, ResponseObject>;
}

/** Adds the examples to the operations of a document, and describes the header of each redirect. */
export function addExamples({ paths = {} }: { paths?: object }): void {
  for (const methods of Object.values(paths)) {
    for (const { operationId = '', responses } of Object.values<OperationObject>(methods)) {
      for (const [status, response] of Object.entries(responses)) {
        const { content = {}, location } = EXAMPLES[operationId]?.[status] ?? {};
        if (status === '302') response.headers = { location: describeLocation(location) };
        for (const [type, example] of Object.entries(content)) {
          const described = response.content?.[type];
          if (described !== undefined) described.example = example;
        }
      }
    }
  }
}

function describeLocation(example: string | undefined): object {
  const described = { required: true, schema: { type: 'string', format: 'uri' } };
  return example === undefined ? described : { ...described, example };
}
