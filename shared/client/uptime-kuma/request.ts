import { MASK } from "#shared/client/apply/document.ts";
import { parseJson } from "#shared/client/uptime-kuma/read-backup.ts";
import type { Context, Mapped, Secret } from "#shared/client/uptime-kuma/context.ts";
import {
  flagOf,
  listOf,
  numberOf,
  quoteName,
  textOf,
  type NotTaken,
  type Source,
} from "#shared/client/uptime-kuma/source.ts";
import { splitCredentials, vetUrl } from "#shared/client/uptime-kuma/targets.ts";
import { isRecord } from "#shared/text/is-record.ts";

const METHODS = ["GET", "HEAD", "POST"];
/** Limits of a monitor of the service: timeout in seconds, the other ones in items or characters. */
const LONGEST_TIMEOUT = 30;
const MOST_CODES = 20;
const MOST_HEADERS = 20;
const LONGEST_HEADER = 4_096;
const LONGEST_BODY = 65_536;
/** Redirects that the service follows at most, as many as Uptime Kuma does by default. */
const REDIRECTS = 10;
/** Part of the interval that Uptime Kuma waits for an answer where its user sets no timeout. */
const USUAL_TIMEOUT = 0.8;

/**
 * Maps the request of http, keyword and json-query (louislam/uptime-kuma, server/model/monitor.js, beat): url, method,
 * headers, body and its encoding, authentication, accepted codes, redirects and timeout. The caller adds the condition on
 * the answer.
 */
export function mapRequest(monitor: Source, context: Context): Mapped {
  const { url: text, credentials } = splitCredentials(textOf(monitor, "url").trim());
  const url = vetUrl(text, context.options);
  if (!url.ok) return url;
  const method = (textOf(monitor, "method") || "GET").toUpperCase();
  if (!METHODS.includes(method))
    return { ok: false, why: `method ${quoteName(method)} is not one of ${METHODS.join(", ")}` };
  const authentication = readAuthentication(monitor, credentials);
  if (!authentication.ok) return authentication;
  const body = readBody(monitor, method, context);
  const headers = readHeaders(monitor, context, {
    credentials: authentication.credentials,
    contentType: body?.type ?? null,
  });
  reportOthers(monitor, context, url.value);
  return {
    ok: true,
    fields: {
      url: url.value,
      ...(method === "GET" ? {} : { method }),
      ...(Object.keys(headers).length === 0 ? {} : { request_headers: headers }),
      ...(body === null ? {} : { body: body.text }),
      expected_codes: readCodes(monitor, context),
      timeout_seconds: readTimeout(monitor, context),
      ...(numberOf(monitor, "maxredirects") === 0 ? { follow: false } : {}),
      ...(flagOf(monitor, "domainExpiryNotification") ? { watch_domain: true } : {}),
    },
  };
}

/**
 * Returns the credentials of Basic authentication; null if there are none. Releases before 1.20 have no authMethod. Of other
 * methods there is no counterpart: without them the monitor would be down.
 */
function readAuthentication(
  monitor: Source,
  credentials: string | null,
): NotTaken | { readonly ok: true; readonly credentials: string | null } {
  const name = textOf(monitor, "basic_auth_user");
  const method = textOf(monitor, "authMethod");
  if (method !== "" && method !== "basic")
    return { ok: false, why: `there is no authentication by ${quoteName(method)}` };
  const isBasic = method === "basic" || name !== "";
  return { ok: true, credentials: isBasic ? `${name}:${textOf(monitor, "basic_auth_pass")}` : credentials };
}

/** Content types of the encodings of a body. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["form", "application/x-www-form-urlencoded"],
  ["xml", "text/xml; charset=utf-8"],
]);

function readBody(
  monitor: Source,
  method: string,
  { leaveOut, secret }: Context,
): { readonly text: Secret; readonly type: string | null } | null {
  const text = textOf(monitor, "body");
  if (text.trim() === "") return null;
  const why =
    method !== "POST"
      ? "only POST has one"
      : text.length > LONGEST_BODY
        ? `it has more than ${LONGEST_BODY} characters`
        : text === MASK
          ? "it is a mask"
          : null;
  if (why !== null) {
    leaveOut("body", why);
    return null;
  }
  const type = TYPES.get(textOf(monitor, "httpBodyEncoding") || "json") ?? null;
  return { text: secret("body", text), type };
}

/** A token, and visible characters of a value (RFC 9110, sections 5.6.2 and 5.5), as the service takes them. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const VALUE = /^[\u0020-\u007e]*$/;
/** Fields of the connection, which a probe writes itself, and one that no object of a document can have. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "host content-length transfer-encoding connection keep-alive proxy-connection proxy-authenticate " +
    "proxy-authorization te trailer upgrade expect http2-settings __proto__"
  ).split(" "),
);
/** Fields whose values are no secrets. */
const OPEN: ReadonlySet<string> = new Set(
  "accept accept-charset accept-encoding accept-language cache-control content-type origin pragma user-agent".split(
    " ",
  ),
);

function readHeaders(
  monitor: Source,
  { leaveOut, secret }: Context,
  { credentials, contentType }: { readonly credentials: string | null; readonly contentType: string | null },
): Readonly<Record<string, Secret>> {
  const found = new Map<string, readonly [string, Secret]>();
  for (const [name, value] of listHeaders(monitor, leaveOut)) {
    const field = `request_headers.${NAME.test(name) ? name : quoteName(name)}`;
    const text = typeof value === "string" ? value.trim() : String(value);
    const why = problemOf(name, text) ?? (found.has(name.toLowerCase()) ? "it is there twice" : null);
    if (why !== null) leaveOut(field, why);
    else if (found.size === MOST_HEADERS) leaveOut(field, `a monitor has at most ${MOST_HEADERS}`);
    else found.set(name.toLowerCase(), [name, OPEN.has(name.toLowerCase()) ? text : secret(field, text)]);
  }
  const isFull = () => found.size >= MOST_HEADERS;
  if (contentType !== null && !found.has("content-type") && !isFull())
    found.set("content-type", ["Content-Type", contentType]);
  // A field that the user writes overrides the credentials.
  if (credentials !== null && !found.has("authorization")) {
    const value = `Basic ${Buffer.from(credentials).toString("base64")}`;
    if (value.length > LONGEST_HEADER || isFull()) leaveOut("basic_auth_user", "it does not fit into the headers");
    else {
      const field = "request_headers.Authorization";
      const hint = "Basic and a space, then user:password in base64";
      found.set("authorization", ["Authorization", secret(field, value, hint)]);
    }
  }
  return Object.fromEntries(found.values());
}

/** Reads the JSON of the headers; their values are texts, numbers or truth values. */
function listHeaders(monitor: Source, leaveOut: Context["leaveOut"]): readonly (readonly [string, unknown])[] {
  const text = textOf(monitor, "headers");
  const read = text.trim() === "" ? { ok: true as const, value: {} } : parseJson(text);
  if (read.ok && isRecord(read.value)) return Object.entries(read.value);
  leaveOut("headers", read.ok ? "they are no object" : read.why);
  return [];
}

/** Returns why a header field cannot be taken over; null if it can. */
function problemOf(name: string, value: string): string | null {
  if (!NAME.test(name)) return "it is no name of a header field";
  if (RESERVED.has(name.toLowerCase())) return "the probe writes this field itself";
  if (value.length > LONGEST_HEADER) return `it has more than ${LONGEST_HEADER} characters`;
  if (value === MASK) return "its value is a mask";
  return VALUE.test(value) ? null : "its value has other characters than visible ASCII";
}

const LEAST_CODE = 100;
const MOST_CODE = 599;

/** Reads accepted codes: "200", or "200-299" with both ends (louislam/uptime-kuma, server/util-server.js, checkStatusCode). */
function readCodes(monitor: Source, { leaveOut, change }: Context): readonly (number | string)[] {
  const codes = new Set<number | string>();
  for (const item of listOf(monitor, "accepted_statuscodes")) {
    const text = typeof item === "number" ? String(item) : typeof item === "string" ? item : "";
    const [, from = "", to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? [];
    const [first, last] = [Math.max(Number(from), LEAST_CODE), Math.min(Number(to), MOST_CODE)];
    if (from === "" || first > last)
      leaveOut("accepted_statuscodes", `${quoteName(text)} is no code of ${LEAST_CODE} to ${MOST_CODE}`);
    else if (codes.size === MOST_CODES) leaveOut("accepted_statuscodes", `a monitor has at most ${MOST_CODES}`);
    else {
      if (first !== Number(from) || last !== Number(to)) change("accepted_statuscodes", `${text} is ${first}-${last}`);
      codes.add(first === last ? first : `${first}-${last}`);
    }
  }
  return codes.size === 0 ? ["200-299"] : [...codes];
}

/**
 * Reads the timeout in seconds. The one that Uptime Kuma computes from the interval is no setting of its user, so that
 * nothing is reported if it becomes the longest that the service has.
 */
function readTimeout(monitor: Source, { change }: Context): number {
  const interval = numberOf(monitor, "interval") ?? 0;
  const given = numberOf(monitor, "timeout") ?? 0;
  const usual = interval * USUAL_TIMEOUT;
  const wanted = given > 0 ? given : usual;
  const seconds = Math.min(Math.max(Math.ceil(wanted), 1), LONGEST_TIMEOUT);
  if (given > LONGEST_TIMEOUT && Math.abs(given - usual) >= 1)
    change("timeout", `${given} s is ${seconds} s, the longest`);
  return seconds;
}

/** Reports settings of a request that have no counterpart. */
function reportOthers(monitor: Source, { leaveOut, change }: Context, url: string): void {
  const redirects = numberOf(monitor, "maxredirects") ?? REDIRECTS;
  if (redirects !== 0 && redirects !== REDIRECTS) change("maxredirects", `${redirects} is ${REDIRECTS}`);
  if (flagOf(monitor, "ignoreTls") && !/^http:/i.test(url))
    leaveOut("ignoreTls", "a certificate that is not trusted is down");
  if (numberOf(monitor, "proxyId") !== null) leaveOut("proxyId", "probes ask the target itself");
  if (flagOf(monitor, "cacheBust")) leaveOut("cacheBust", "the url is requested as it is");
}
