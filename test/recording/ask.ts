import { createHash } from "node:crypto";
import { request as send, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RecordedAnswer } from "#test/recording/compare.ts";
import { linesOf, normaliseJson, normaliseMetrics, normaliseText } from "#test/recording/normalise.ts";

/** One request of a recording. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly as: "nobody" | "key" | "operator" | "owner";
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value; a text is sent as it is. */
  readonly body?: unknown;
  /** Fields of a form, to which the session's token is added unless it is null there. */
  readonly form?: Readonly<Record<string, string | null>>;
}

/** Who asks, and what is different in each run. */
export interface Askers {
  readonly url: string;
  readonly key: string;
  readonly operatorToken: string;
  readonly cookie: string;
  readonly csrf: string;
  /** Texts of the run with their marks. */
  readonly known: ReadonlyMap<string, string>;
}

/** Header fields of answers that say nothing about the answer, or are in each of them. */
const LEFT_OUT = new Set(["connection", "date", "keep-alive", "transfer-encoding", "content-length", "x-request-id"]);
/** Longer texts, such as scripts, are recorded as their length and hash. */
const MOST_TEXT = 1_000_000;

/** Sends a request from the address of its number, and returns the answer in a form that is the same in each run. */
export async function ask(asked: Asked, index: number, askers: Askers): Promise<RecordedAnswer> {
  const { method, path, as, headers = {}, body, form } = asked;
  const sent = form === undefined ? jsonOf(body) : formOf(form, askers.csrf);
  const types = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
  const answer = await new Promise<{ status: number; fields: IncomingHttpHeaders; octets: Buffer }>(
    (resolve, reject) => {
      const request = send(
        `${askers.url}${path}`,
        {
          method,
          agent: false,
          headers: {
            // No two requests share the limits of an address.
            "x-forwarded-for": `198.18.${index >> 8}.${index & 255}`,
            ...credentialsOf(as, askers),
            ...(form === undefined ? {} : { origin: askers.url }),
            ...(sent === undefined ? {} : { "content-type": types, "content-length": String(Buffer.byteLength(sent)) }),
            ...headers,
          },
        },
        (response) => {
          buffer(response).then(
            (octets) => resolve({ status: response.statusCode ?? 0, fields: response.headers, octets }),
            reject,
          );
        },
      );
      request.on("error", reject).end(sent);
    },
  );
  const fields = Object.entries(answer.fields).filter(([name]) => !LEFT_OUT.has(name));
  return {
    request: normaliseText(nameOf(asked), askers.known),
    status: answer.status,
    headers: normaliseJson(
      Object.fromEntries(fields.map(([name, value]) => [name, String(value)])),
      askers.known,
    ) as never,
    body: bodyOf(answer.octets, answer.fields["content-type"] ?? "", path, askers.known),
  };
}

function nameOf({ method, path, as, headers, body, form }: Asked): string {
  const parts = [headers, body, form].filter((part) => part !== undefined).map((part) => JSON.stringify(part));
  return [as, method, path, ...parts].join(" ");
}

function credentialsOf(as: Asked["as"], { key, operatorToken, cookie }: Askers): Record<string, string> {
  if (as === "key") return { "x-api-key": key };
  if (as === "operator") return { authorization: `Bearer ${operatorToken}` };
  return as === "owner" ? { cookie } : {};
}

function jsonOf(body: unknown): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

function formOf(fields: Readonly<Record<string, string | null>>, csrf: string): string {
  const given = Object.entries({ _csrf: csrf, ...fields }).filter(
    (field): field is [string, string] => field[1] !== null,
  );
  return new URLSearchParams(given).toString();
}

function bodyOf(octets: Buffer, type: string, path: string, known: ReadonlyMap<string, string>): unknown {
  if (octets.length === 0) return null;
  if (/^image\/(?!svg)|^application\/octet-stream/.test(type) || octets.length > MOST_TEXT)
    if (!type.includes("json"))
      return { octets: octets.length, sha256: createHash("sha256").update(octets).digest("hex") };
  const text = octets.toString();
  if (path.startsWith("/api/v4/metrics")) return normaliseMetrics(text, known);
  if (type.includes("json")) {
    try {
      return normaliseJson(JSON.parse(text), known);
    } catch {
      // An answer to HEAD, or one JSON value a line.
    }
  }
  return linesOf(normaliseText(text, known));
}
