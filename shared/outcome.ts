/** How far a request to a target got before it failed (error code request_failed). */
export type Stage = "dns" | "connect" | "tls" | "request" | "response";

/**
 * Whose fault a failure is.
 * - target: what the caller named.
 * - resolver: the DNS resolver that was asked for the target's records.
 * - service: an outside source of data that the tool depends on, e.g. a registry, Team Cymru, the Internet Archive.
 * - probe: the probe itself or its network.
 */
export const SOURCES = ["target", "resolver", "service", "probe"] as const;
/** One of SOURCES. */
export type Source = (typeof SOURCES)[number];

/** The answer was obtained. */
export interface Ok<T> {
  readonly status: "ok";
  readonly data: T;
}

/** The target, or something on the way to an answer about it, failed; `reason` is a stable snake_case word, `message` is for people. */
export interface Failed {
  readonly status: "failed";
  readonly stage: Stage;
  readonly source: Source;
  readonly reason: string;
  readonly message: string;
}

/** The egress rules (shared/egress.ts) forbid the target: a name, an address it resolves to, or a redirect hop. */
export interface Refused {
  readonly status: "refused";
}

/** A parameter passed the schema but turned out unusable on the agent, e.g. a User-Agent no client may send. */
export interface Invalid {
  readonly status: "invalid";
  readonly field: string;
  readonly message: string;
}

/** What every check ends in. Expected failures are data; an exception is a bug. */
export type Outcome<T> = Ok<T> | Failed | Refused | Invalid;

/** Wraps a value as a success. */
export function ok<T>(data: T): Ok<T> {
  return { status: "ok", data };
}

/** A failure; the words of `reason` are listed where they are used and are part of the API. */
export function failed(stage: Stage, source: Source, reason: string, message: string): Failed {
  return { status: "failed", stage, source, reason, message };
}

/** The one value for "section 12 forbids it": it never says which range or name was hit. */
export const refused: Refused = { status: "refused" };
