/** The part of JSON Schema that this file reads. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

/** The part of an OpenAPI 3.1 document that this file reads. */
export interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request of the document with one of its texts replaced. */
export interface OddRequest {
  /** Operation and replaced part, for the message of a failure. */
  readonly name: string;
  readonly method: string;
  /** Path, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isOperators: boolean;
}

/** A text to insert, in the forms for a URL, a header field and JSON. null if the text cannot occur there. */
export interface OddText {
  readonly inUrl: string | null;
  readonly inHeader: string | null;
  readonly inJson: string | null;
}

/**
 * Yields every request of a document with each text that a caller can put into it replaced, one at a time: path
 * parameters, query parameters, header fields, and the fields, items and field names of JSON bodies.
 */
export function* replaceTexts(document: Documented, odd: OddText): Generator<OddRequest> {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : resolve(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  for (const [pattern, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody, security = [] }] of Object.entries(methods)) {
      const isOperators = security.some((scheme) => "operatorToken" in scheme);
      const plain = { method: method.toUpperCase(), isOperators };
      const name = (part: string) => `${plain.method} ${pattern} ${part}`;
      const names = parameters.filter((parameter) => parameter.in === "query").map((parameter) => parameter.name);
      const query = (replaced: string, text: string) =>
        names
          .flatMap((key) => {
            const { schema, ...parameter } = parameters.find((one) => one.name === key && one.in === "query") ?? {
              schema: {},
            };
            if (key === replaced) return [`${encodeURIComponent(key)}=${text}`];
            const { required } = parameter as { readonly required?: boolean };
            const example = exampleOf(resolve(schema));
            return required === true ? [`${encodeURIComponent(key)}=${encodeURIComponent(asText(example))}`] : [];
          })
          .join("&");
      const fill = (text: string) => pattern.replaceAll(/\{[^}]+\}/g, text);
      const media = requestBody?.content["application/json"]?.schema;
      const body = media === undefined ? undefined : exampleOf(resolve(media), resolve);
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      if (odd.inUrl !== null) {
        yield { ...plain, ...sent, name: name("path"), path: `${fill(odd.inUrl)}${odd.inUrl}`, headers: {} };
        if (pattern.includes("{")) {
          yield { ...plain, ...sent, name: name("path parameter"), path: fill(odd.inUrl), headers: {} };
        }
        for (const key of [...names, odd.inUrl]) {
          const path = `${fill("x")}?${names.includes(key) ? query(key, odd.inUrl) : `${key}=${odd.inUrl}`}`;
          yield { ...plain, ...sent, name: name(`query ${key}`), path, headers: {} };
        }
      }
      if (odd.inHeader !== null) {
        const declared = parameters.filter((parameter) => parameter.in === "header").map((parameter) => parameter.name);
        const headers = Object.fromEntries([...declared, ...HEADERS].map((header) => [header, odd.inHeader ?? ""]));
        yield { ...plain, ...sent, name: name("headers"), path: `${fill("x")}?${query("", "")}`, headers };
      }
      if (odd.inJson !== null && media !== undefined) {
        const { required = [] } = resolve(media);
        for (const [part, changed] of replaceIn(body, odd.inJson)) {
          // Sent without the optional fields; otherwise one of them could be rejected before the replaced one is read.
          const kept = Object.entries(changed as object).filter(
            ([key]) => required.includes(key) || part.startsWith(`.${key}`) || key === odd.inJson,
          );
          const path = `${fill("x")}?${query("", "")}`;
          yield {
            ...plain,
            name: name(`body ${part}`),
            path,
            headers: {},
            body: JSON.stringify(Object.fromEntries(kept)),
          };
        }
      }
    }
  }
}

/** Header fields that the product reads in every request. */
const HEADERS = ["Accept", "Last-Event-ID", "User-Agent", "X-Prometheus-Scrape-Timeout-Seconds"];

/** Yields a value with each of its texts replaced in turn, and each object with a field of that name added. */
function* replaceIn(value: unknown, text: string, at = ""): Generator<readonly [place: string, changed: unknown]> {
  if (typeof value === "string") yield [at, text];
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const [place, changed] of replaceIn(item, text, `${at}[${index}]`))
        yield [place, value.with(index, changed)];
    }
  } else if (typeof value === "object" && value !== null) {
    yield [`${at}.<name>`, { ...value, [text]: text }];
    for (const [key, item] of Object.entries(value)) {
      for (const [place, changed] of replaceIn(item, text, `${at}.${key}`)) yield [place, { ...value, [key]: changed }];
    }
  }
}

/** Returns a value that a schema accepts, with every field and one item of each list. */
function exampleOf(given: Schema, resolve: (schema: Schema) => Schema = (schema) => schema): unknown {
  const schema = resolve(given);
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined && schema.type !== "object") return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [alternative] = schema.oneOf ?? schema.anyOf ?? [];
  if (alternative !== undefined) return exampleOf(alternative, resolve);
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, field]) => [key, exampleOf(field, resolve)] as const),
      );
    case "array":
      return [exampleOf(schema.items ?? {}, resolve)];
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return false;
    default:
      return "example.com";
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
