/** The shape of JSON values, in the notation of TypeScript. */

type Kind = 'string' | 'number' | 'boolean' | 'null';

interface Shape {
  readonly kinds: Set<Kind>;
  /** The number of objects that were seen. A property that fewer of them have is optional. */
  objects: number;
  readonly properties: Map<string, { readonly shape: Shape; seen: number }>;
  items: Shape | undefined;
}

const createShape = (): Shape => ({
  kinds: new Set(),
  objects: 0,
  properties: new Map(),
  items: undefined,
});

/**
 * Renders the shape that all samples have in common.
 *
 * @param isName - whether the keys of an object are names, such as of channels, and not fields
 */
export function renderShape(samples: readonly unknown[], isName: (key: string) => boolean): string {
  const shape = createShape();
  for (const sample of samples) add(shape, sample, isName);
  return render(shape, '');
}

function add(shape: Shape, value: unknown, isName: (key: string) => boolean): void {
  if (value === null) shape.kinds.add('null');
  else if (typeof value === 'string') shape.kinds.add('string');
  else if (typeof value === 'number') shape.kinds.add('number');
  else if (typeof value === 'boolean') shape.kinds.add('boolean');
  else if (Array.isArray(value)) {
    shape.items ??= createShape();
    for (const item of value) add(shape.items, item, isName);
  } else {
    shape.objects += 1;
    const keys = new Set<string>();
    for (const [key, item] of Object.entries(value ?? {})) {
      const field = isName(key) ? '[name]' : key;
      const property = shape.properties.get(field) ?? { shape: createShape(), seen: 0 };
      if (!keys.has(field)) property.seen += 1;
      keys.add(field);
      shape.properties.set(field, property);
      add(property.shape, item, isName);
    }
  }
}

function render(shape: Shape, indent: string): string {
  const parts: string[] = [...shape.kinds].filter((kind) => kind !== 'null').sort();
  if (shape.items !== undefined) parts.push(renderList(shape.items, indent));
  if (shape.objects > 0) parts.push(renderObject(shape, indent));
  if (shape.kinds.has('null')) parts.push('null');
  return parts.length === 0 ? 'never' : parts.join(' | ');
}

function renderList(items: Shape, indent: string): string {
  const inner = render(items, indent);
  if (inner === 'never') return '[]';
  return inner.includes(' | ') && !inner.startsWith('{') ? `(${inner})[]` : `${inner}[]`;
}

function renderObject({ properties, objects }: Shape, indent: string): string {
  if (properties.size === 0) return '{}';
  const lines = [...properties].map(([name, { shape, seen }]) => {
    const isOptional = seen < objects && name !== '[name]';
    return `${indent}  ${name}${isOptional ? '?' : ''}: ${render(shape, `${indent}  `)}`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}
