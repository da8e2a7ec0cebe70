/** The parts of an operation that this file changes. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema?: { readonly enum?: readonly string[] } }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

/** Operations by method. */
type Methods = Readonly<Record<string, Operation>>;

/** What an action of an operation needs. */
interface Action {
  readonly summary: string;
  /** Its parameters besides the header fields. */
  readonly parameters: readonly string[];
  /** Whether it has a body: none, that of the operation, or one of its alternatives by its place. */
  readonly body: "none" | "whole" | number;
}

const simple = (summary: string, ...parameters: readonly string[]): Action => ({ summary, parameters, body: "none" });

/** What operations do without an action ("") and with each: the document has only their sum. By the id of the operation. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  read_monitors: {
    "": {
      summary: "List your monitors, newest first, or get one by id with its newest checks",
      parameters: ["id", "page", "per_page", "status", "tag", "check_type", "q"],
      body: "none",
    },
    export: simple("Get all your monitors as a document for an import"),
    history: simple("Get the results of a monitor over time", "id", "from", "to"),
    picture: simple("Get a picture of a visual monitor", "id", "picture_id"),
  },
  create_monitor: {
    "": { summary: "Create a monitor", parameters: [], body: 0 },
    run: simple("Check a monitor now", "id"),
    rotate: simple("Replace the address of a heartbeat", "id"),
    accept: simple("Compare a visual monitor with its newest picture from now on", "id"),
    "test-mail": simple("Send a test mail to every address of a monitor", "id"),
    import: { summary: "Create the monitors of a document", parameters: ["dry_run"], body: 1 },
  },
  update_monitor: {
    "": { summary: "Change a monitor: any of its fields", parameters: ["id"], body: 0 },
    bulk: { summary: "Change many monitors in the same way", parameters: [], body: 1 },
  },
  create_webhook: {
    "": { summary: "Create a webhook", parameters: [], body: "whole" },
    rotate: simple("Replace the secret of a webhook", "id"),
    test: simple("Send a test event to a webhook", "id"),
    replay: simple("Send a delivery again", "delivery_id"),
    recover: simple("Send again what a webhook has not got", "id", "since"),
  },
};

/**
 * Returns an API document for readers. OpenAPI has one operation for a path and method: here each action has an entry of
 * its own, with the action in its path, and a tool that takes GET and POST alike has one entry. Programs use the document
 * itself.
 */
export function toReadingDocument<T extends { readonly paths?: unknown }>(document: T): T {
  const paths = Object.entries((document.paths ?? {}) as Readonly<Record<string, Methods>>);
  const entries = new Map<string, Record<string, Operation>>();
  const add = (path: string, method: string, operation: Operation): void => {
    entries.set(path, { ...entries.get(path), [method]: operation });
  };
  for (const [path, methods] of paths) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === `${methods["get"]?.operationId}_post`) continue;
      const isTwin = method === "get" && methods["post"]?.operationId === `${operation.operationId}_post`;
      for (const [action, described] of splitActions(isTwin ? withTwin(operation) : operation)) {
        add(action === "" ? path : `${path}?action=${action}`, method, described);
      }
    }
  }
  return { ...document, paths: Object.fromEntries(entries) };
}

function withTwin(operation: Operation): Operation {
  const also = "POST takes the same parameters as a JSON or form body.";
  return { ...operation, description: [operation.description, also].filter(Boolean).join(". ") };
}

/** Returns the operation without an action ("") and with each of its actions; itself, if it has none. */
function splitActions(operation: Operation): readonly (readonly [action: string, operation: Operation])[] {
  const known = ACTIONS[operation.operationId];
  if (known === undefined) return [["", operation]];
  const named = operation.parameters?.find(({ name }) => name === "action")?.schema?.enum ?? [];
  return ["", ...named].map((action) => [action, describe(operation, action, known[action])] as const);
}

/** An action that the table lacks keeps everything that the operation has. */
function describe(operation: Operation, action: string, found: Action | undefined): Operation {
  const { parameters: all = [], requestBody, ...rest } = operation;
  const parameters = all.filter(
    ({ name }) =>
      name !== "action" && (name.startsWith("X-") || found === undefined || found.parameters.includes(name)),
  );
  const body = requestBody === undefined ? undefined : chooseBody(requestBody, found?.body ?? "whole");
  return {
    ...rest,
    operationId: action === "" ? operation.operationId : `${operation.operationId}_${action}`,
    summary: found?.summary ?? `${operation.summary}: ${action}`,
    parameters,
    ...(body === undefined ? {} : { requestBody: body }),
  };
}

function chooseBody(
  requestBody: NonNullable<Operation["requestBody"]>,
  body: Action["body"],
): Operation["requestBody"] | undefined {
  if (body === "none") return undefined;
  if (body === "whole") return requestBody;
  const content = Object.entries(requestBody.content).map(([type, { schema, ...media }]) => {
    const { anyOf } = schema as { readonly anyOf?: readonly object[] };
    // The example is that of the first alternative.
    return [type, { ...(body === 0 ? media : {}), schema: anyOf?.[body] ?? schema }] as const;
  });
  return { ...requestBody, content: Object.fromEntries(content) };
}
