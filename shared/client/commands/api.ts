import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { Option, type Command } from "commander";
import { readFields, toQuery, type TypedField } from "#shared/client/api-fields.ts";
import { explainNoAnswer, field, openCall, readAnswer } from "#shared/client/call.ts";
import { parseJson } from "#shared/client/event-stream.ts";
import {
  ACCOUNT_GROUP,
  addConnectionFlags,
  explainRefusal,
  failWith,
  readConnection,
  readPlace,
  type ClientFlags,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { exitCodeOf, NO_SERVICE, USAGE } from "#shared/client/exit-codes.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** The longest silence of the service: longer than the deadline of every tool, milliseconds. */
const IDLE_MS = 120_000;
const PER_PAGE = "100";

/** A request as the command line describes it. */
interface ApiRequest {
  readonly url: URL;
  readonly base: string;
  readonly own: boolean;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/** The request, or why there is none. */
type ReadRequest = { readonly ok: true; readonly request: ApiRequest } | { readonly ok: false; readonly line: string };

/** Adds `deploy/vantage api PATH`, which sends any request with the stored key. */
export function addApi(program: Command, context: CommandContext): void {
  const fields: TypedField[] = [];
  const collect = (as: TypedField["as"]) => (text: string) => fields.push({ text, as });
  const api = program
    .command("api")
    .helpGroup(ACCOUNT_GROUP)
    .argument("<path>", "path of the API, such as v4/monitors or /api/v4/monitors?status=down")
    .description("send a request to the API and print the body of the answer: indented on a terminal, else unchanged")
    .option("-X, --method <method>", "HTTP method (default: GET, or POST with fields or --input)")
    .addOption(
      new Option("-f, --raw-field <name=value>", "text field of the JSON body, or of the query with -X GET").argParser(
        collect("text"),
      ),
    )
    .addOption(
      new Option(
        "-F, --field <name=value>",
        "the same; true, false, null and numbers are converted, @file is read (@-: standard input); name[]=value adds to a list, name[member]=value sets a member",
      ).argParser(collect("typed")),
    )
    .option("--input <file>", "file with the body (-: standard input); fields then go to the query")
    .option("-H, --header <name:value>", "header field, can be repeated", append)
    .option("--paginate", "read all pages of a list and print them as one answer");
  addConnectionFlags(api).action(async (path: string, flags: ClientFlags) => {
    const read = await readRequest(context, path, flags, fields);
    if (!read.ok) return failWith(context, "api", read);
    if (flags["paginate"] === true && read.request.method !== "GET") {
      return failWith(context, "api", { line: "--paginate needs the method GET" });
    }
    try {
      await (flags["paginate"] === true ? printPages : printAnswer)(context, read.request);
    } catch (error) {
      failWith(context, "api", { line: explainNoAnswer(read.request.base, error), exit: NO_SERVICE });
    }
  });
}

function append(text: string, list: readonly string[] = []): readonly string[] {
  return [...list, text];
}

/** Prints one answer as it arrives. */
async function printAnswer(context: CommandContext, request: ApiRequest): Promise<void> {
  const response = await send(request, request.url);
  const status = response.statusCode ?? 0;
  const type = response.headers["content-type"] ?? "";
  if (status >= 300) {
    const bytes = await readAnswer(response);
    const exit = exitCodeOf(status, parseJson(bytes));
    if (exit < USAGE) print(context, bytes);
    return failWith(context, "api", { line: explainRefusal(request.base, status, parseJson(bytes)), exit });
  }
  if (!context.output.isTerminal) return passOn(context, response);
  if (type.startsWith("text/event-stream")) {
    for await (const text of response.setEncoding("utf8") as AsyncIterable<string>) context.say(text.trimEnd());
    return;
  }
  if (type !== "" && !/^text\/|json|xml/.test(type)) {
    response.destroy();
    return failWith(context, "api", { line: `the answer is ${type}: redirect it to a file` });
  }
  print(context, await readAnswer(response));
}

/** Writes a body to standard output as it arrives. A reader that has gone is no error. */
async function passOn({ stdout }: CommandContext, response: IncomingMessage): Promise<void> {
  await pipeline(response, stdout, { end: false }).catch((error: unknown) => {
    if (describeError(error) !== "EPIPE") throw error;
  });
}

/** Reads a list page by page and prints one answer with all rows. */
async function printPages(context: CommandContext, request: ApiRequest): Promise<void> {
  const rows: unknown[] = [];
  for (let page = 1; ; page++) {
    const url = new URL(request.url);
    if (!url.searchParams.has("per_page")) url.searchParams.set("per_page", PER_PAGE);
    url.searchParams.set("page", String(page));
    const response = await send(request, url);
    const status = response.statusCode ?? 0;
    const body = parseJson(await readAnswer(response));
    if (status >= 300) {
      const exit = exitCodeOf(status, body);
      return failWith(context, "api", { line: explainRefusal(request.base, status, body), exit });
    }
    const data = field(body, "data");
    const pages = field(field(field(body, "meta"), "pagination"), "pages");
    if (!Array.isArray(data)) return failWith(context, "api", { line: "--paginate needs the path of a list" });
    rows.push(...(data as readonly unknown[]));
    // A list without pages is whole.
    if (typeof pages !== "number" || page >= pages) {
      return print(context, Buffer.from(JSON.stringify({ ...(body as object), data: rows })));
    }
  }
}

function send({ method, headers, body, own }: ApiRequest, url: URL): Promise<IncomingMessage> {
  return openCall(url.href, { method, headers, body, own, idleMs: IDLE_MS });
}

/** Prints a body: JSON indented on a terminal, else its bytes. */
function print(context: CommandContext, bytes: Buffer): void {
  if (!context.output.isTerminal) {
    context.stdout.write(bytes);
    return;
  }
  const json = parseJson(bytes);
  context.say(json === null ? bytes.toString("utf8").trimEnd() : JSON.stringify(json, null, 2));
}

async function readRequest(
  context: CommandContext,
  path: string,
  flags: ClientFlags,
  typed: readonly TypedField[],
): Promise<ReadRequest> {
  const given = readHeaders((flags["header"] ?? []) as readonly string[]);
  if (!given.ok) return given;
  const connection = readConnection(context, flags);
  const hasOwnKey = "x-api-key" in given.headers || "authorization" in given.headers;
  const place = connection.ok || !hasOwnKey ? connection : readPlace(context, flags);
  if (!place.ok) return place;
  const stdin = usesStdin(flags, typed) ? await context.input.read() : Buffer.alloc(0);
  const readFile = (file: string) => (file === "-" ? stdin : readBytes(resolve(context.directory, file)));
  const fields = readFields(typed, (file) => readFile(file)?.toString("utf8") ?? null);
  if (!fields.ok) return fields;
  const file = flags["input"];
  const input = typeof file === "string" ? readFile(file) : undefined;
  if (input === null) return { ok: false, line: `${String(file)} cannot be read` };
  const hasFields = typed.length > 0;
  const { method: named } = flags;
  const byContent = hasFields || input !== undefined ? "POST" : "GET";
  const method = (typeof named === "string" ? named : byContent).toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method))
    return { ok: false, line: "--method must be a word such as GET, POST, PUT or DELETE" };
  const url = urlOf(place.base, path);
  if (url === null) return { ok: false, line: `${path} is no path of the API: give one such as v4/monitors` };
  const isQuery = hasFields && (input !== undefined || method === "GET" || method === "HEAD");
  const query = isQuery ? toQuery(fields.value) : new URLSearchParams();
  if (query === null) return { ok: false, line: "a field in the query must be a value or a list of values" };
  for (const [name, value] of query) url.searchParams.append(name, value);
  const body = input ?? (hasFields && !isQuery ? JSON.stringify(fields.value) : "");
  const key = "key" in place && !hasOwnKey ? { "x-api-key": place.key } : {};
  const type = body.length > 0 ? { "content-type": "application/json" } : {};
  const headers = { accept: "*/*", ...type, ...key, ...given.headers };
  return { ok: true, request: { url, base: place.base, own: place.own, method, headers, body } };
}

function readBytes(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

function usesStdin(flags: ClientFlags, typed: readonly TypedField[]): boolean {
  return flags["input"] === "-" || typed.some(({ text, as }) => as === "typed" && text.endsWith("=@-"));
}

/**
 * Returns the URL of a path: `v4/monitors` is below /api/, `monitors` below /api/v4/. A path of an answer can begin with that
 * of the base. Null if it names another host.
 */
export function urlOf(base: string, path: string): URL | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return null;
  const { pathname } = new URL(base);
  const bare = (path.startsWith(`${pathname}/`) ? path.slice(pathname.length) : path).replace(/^\/+/, "");
  const isBelowApi = /^(?:v\d+|admin|open|heartbeat)(?:[/?]|$)/.test(bare);
  const isWhole = path.startsWith("/") || /^(?:api|mcp)(?:\/|$)/.test(bare);
  const root = isBelowApi ? "api/" : isWhole ? "" : "api/v4/";
  const url = URL.parse(`${base}/${root}${bare}`);
  return url?.origin === new URL(base).origin ? url : null;
}

type ReadHeaders =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly line: string };

function readHeaders(lines: readonly string[]): ReadHeaders {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(":");
    const [name, value] = [line.slice(0, Math.max(at, 0)), line.slice(at + 1).trim()];
    // RFC 9110, section 5.6.2: characters of a token.
    const isField = /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value);
    if (!isField) return { ok: false, line: "--header must be name:value, in ASCII" };
    headers[name.toLowerCase()] = value;
  }
  return { ok: true, headers };
}
