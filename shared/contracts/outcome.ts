/** The stage at which a request to a target failed (error code request_failed). */
export type Stage = "dns" | "connect" | "tls" | "request" | "response";

/**
 * The cause of a failure.
 * - target: the host, URL or name of the request.
 * - resolver: the DNS resolver that was queried for the target's records.
 * - service: an outside data source that the tool depends on, e.g. a registry, Team Cymru, the Internet Archive.
 * - probe: the probe itself or its network.
 */
export const SOURCES = ["target", "resolver", "service", "probe"] as const;
/** One of SOURCES. */
export type Source = (typeof SOURCES)[number];

/** A successful check. */
interface Ok<T> {
  readonly status: "ok";
  readonly data: T;
}

/** A check that failed because of `source`. `reason` is a stable snake_case word, `message` is text for users. */
export interface Failed {
  readonly status: "failed";
  readonly stage: Stage;
  readonly source: Source;
  readonly reason: string;
  readonly message: string;
  /** Present if another probe may be asked once instead (probe_overloaded). */
  readonly repeatable?: true;
}

/** A target that the egress rules forbid (shared/internet/egress.ts): a name, an address it resolves to, or a redirect hop. */
export interface Refused {
  readonly status: "refused";
}

/** A parameter that passed the schema but is unusable on the agent, e.g. a User-Agent that HTTP does not allow. */
export interface Invalid {
  readonly status: "invalid";
  readonly field: string;
  readonly message: string;
}

/** Outcome of a check. Expected failures are data; an exception is a bug. */
export type Outcome<T> = Ok<T> | Failed | Refused | Invalid;

/** Wraps a value as a success. */
export function ok<T>(data: T): Ok<T> {
  return { status: "ok", data };
}

/** Creates a failure. The words of `reason` are part of the API and are listed at their use. */
export function failed(stage: Stage, source: Source, reason: string, message: string): Failed {
  return { status: "failed", stage, source, reason, message };
}

/** Reason of a failure because the probe had too little processor time. */
const PROBE_OVERLOADED = "probe_overloaded";

/**
 * Creates the failure of a check for which the probe had too little processor time. `what` ends the sentence "The probe
 * was overloaded: ...". Not repeatable: the check itself may be what overloads a probe.
 */
export function overloaded(stage: Stage, what: string, { repeatable }: { readonly repeatable: boolean }): Failed {
  const failure = failed(stage, "probe", PROBE_OVERLOADED, `The probe was overloaded: ${what}`);
  return repeatable ? { ...failure, repeatable } : failure;
}

/** Beginning of the message of a failure for which the probe's own network is to blame. */
const OWN_NETWORK_DOWN = "The probe's own network is down";

/** Attributes a failure to the probe, because its own network is down. `why` says how that is known. */
export function ownNetworkDown(failure: Failed, why: string): Failed {
  const message = `${OWN_NETWORK_DOWN} (${why}), so this result does not describe the target: ${failure.message}`;
  return { ...failure, source: "probe", message };
}

/** Reports whether a failure was attributed to the probe's own network. Its stage and reason are those of the check. */
export function isOwnNetworkDown({ source, message }: Pick<Failed, "source" | "message">): boolean {
  return source === "probe" && message.startsWith(OWN_NETWORK_DOWN);
}

/** Refusal by the egress rules. It never contains the range or name that matched. */
export const refused: Refused = { status: "refused" };
