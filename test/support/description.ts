/** The types of the parts of /openapi.json that tests read. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly examples?: readonly unknown[];
}

export interface DescribedHeader {
  readonly required: boolean;
  readonly schema: JsonSchema;
}

export interface DescribedContent {
  /** By name; a header of its own or a reference to a component. */
  readonly headers?: Readonly<Record<string, DescribedHeader | { readonly $ref: string }>>;
  /** By media type. */
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Required<DescribedContent>;
  /** By status; an answer of its own or a reference to a component. */
  readonly responses: Readonly<Record<string, DescribedContent & { readonly $ref?: string }>>;
}

export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, DescribedContent>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly examples: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, DescribedHeader>>;
  };
}

/** An operation's answer of one status, its reference followed. */
export function answerOf({ components }: ApiDescription, { responses }: DescribedOperation, status: number | string) {
  const answer = responses[String(status)];
  const name = answer?.$ref?.replace('#/components/responses/', '');
  return name === undefined ? answer : components.responses[name];
}

/** An answer's headers, their references followed. */
export function headersOf(
  { components }: ApiDescription,
  { headers = {} }: DescribedContent,
): ReadonlyMap<string, DescribedHeader> {
  const reported = Object.entries(headers).map(([name, header]) => {
    const followed = '$ref' in header ? components.headers[header.$ref.replace('#/components/headers/', '')] : header;
    if (followed === undefined) throw new Error(`no header ${name} in the description`);
    return [name, followed] as const;
  });
  return new Map(reported);
}
