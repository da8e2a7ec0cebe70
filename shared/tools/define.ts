import { Type, type Static, type TObject, type TOptional, type TProperties, type TSchema } from "typebox";
import type { FieldProblem } from "#shared/schema/problem.ts";

/** The seven scopes of an API key. */
export const SCOPES = ["check", "dns", "ssl", "ip", "ping", "monitors", "webhook"] as const;
/** One of these scopes. */
export type Scope = (typeof SCOPES)[number];

/** Everything that a key can be allowed: the seven scopes, and to read what belongs to monitors. */
export const KEY_SCOPES = [...SCOPES, "monitors:read"] as const;
/** One of these. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/**
 * The parts of the catalogue that an MCP client can select; `platform` contains tools about the caller's own records.
 */
export const TOOLSETS = ["web", "page", "mail", "dns", "tls", "network", "registry", "platform"] as const;
/** One of these parts. */
export type Toolset = (typeof TOOLSETS)[number];

/** An ability of an agent that a tool needs; agents report theirs in the hello. */
type Capability = "icmp4" | "icmp6" | "traceroute" | "ipv6" | "browser" | "http3";

/** A schema with a default: optional in requests, always present for an implementation. */
type Defaulted<T extends TSchema> = TOptional<T> & { readonly "~defaulted": true };

/** Marks a parameter as optional with a default; published as not required, with the default. */
export function withDefault<T extends TSchema>(schema: T, value: Static<T>): Defaulted<T> {
  return Type.Optional({ ...schema, default: value }) as unknown as Defaulted<T>;
}

/** Parsed parameters of a contract. Fields with a default are present; other optional ones may be absent. */
export type Params<P extends TProperties> = {
  [K in keyof P as P[K] extends { "~defaulted": true } ? K : P[K] extends TOptional<TSchema> ? never : K]: Static<P[K]>;
} & {
  [K in keyof P as P[K] extends { "~defaulted": true } ? never : P[K] extends TOptional<TSchema> ? K : never]?: Static<
    P[K]
  >;
};

/**
 * Kind of the target parameter. It selects the egress rule and the normalisation (shared/tools/fields.ts has a schema
 * for each). site: a host, host:port or URL of a web site; resource: a name, address or AS number that is only looked
 * up in registries.
 */
export type TargetKind = "url" | "host" | "domain" | "site" | "address" | "resource";

/** A host name and an address that it resolved to. reverse-ip lists such pairs. */
export interface Observation {
  readonly host: string;
  readonly ip: string;
}

/** Contract of a tool: everything that surfaces, dispatcher and documentation need. */
export interface Contract<P extends TProperties = TProperties, R extends TProperties = TProperties> {
  /** REST path and catalogue key. */
  readonly name: string;
  /** A short heading for catalogues and docs. */
  readonly title: string;
  /** One sentence: the contents of the result. */
  readonly summary: string;
  readonly scope: Scope;
  /** The part of the catalogue the tool belongs to. */
  readonly toolset: Exclude<Toolset, "platform">;
  readonly params: TObject<P>;
  readonly result: TObject<R>;
  /**
   * The parameter with the target; null if the tool reads text and connects to nothing (it may look up names).
   * `connects` is false if the name is only looked up.
   */
  readonly target: {
    readonly param: keyof P & string;
    readonly kind: TargetKind;
    readonly connects: boolean;
    /** For kind url: the result field with the URL as submitted, if its name differs from the parameter's. */
    readonly echo?: keyof R & string;
  } | null;
  /**
   * Checks rules between parameters that a schema cannot express; null if they are valid. Called before the dispatch.
   */
  refine?(params: Params<P>): FieldProblem | null;
  /**
   * Capabilities that an agent should have. An agent without them gets the job only if there is no other, and reports
   * it.
   */
  needs?(params: Params<P>): readonly Capability[];
  /** The result comes with a file (shared/protocol/wire.ts: MAX_ARTIFACT_BYTES). Absent: without. */
  readonly artifact?: true;
  /** Data that the control plane, never the caller, adds to a job; absent: none. */
  readonly input?: TObject;
  /** Time limit of the whole check, in milliseconds. */
  deadlineMs(params: Params<P>): number;
  /**
   * The last part of that time, in milliseconds, in which the agent tests its own network after a failure. The check
   * itself ends before. Absent: none is kept.
   */
  readonly reserveMs?: number;
  /** The tool in the keyless open tier, under `name` if that differs; absent if the open tier does not offer it. */
  readonly open?: {
    readonly q: keyof P & string;
    readonly extra?: readonly (keyof P & string)[];
    readonly name?: string;
  };
  /** An example call for docs and the open tier's catalogue. */
  readonly example: Readonly<Record<string, string | number>>;
  /** Returns the pairs of name and address in a result (for reverse-ip). */
  observes?(data: Static<TObject<R>>): readonly Observation[];
  /** How long a result is cached for the same parameters and location, in milliseconds; absent if it is not cached. */
  readonly cacheMs?: number;
  /** For results from several locations: the value to compare, and the durations to summarize. */
  readonly across?: {
    /** Equal values mean that the locations agree (`data.summary.consistent`). */
    agreeOn(data: Static<TObject<R>>): unknown;
    /** Returns milliseconds by name, e.g. rtt_ms; null if a location has none. */
    measure(data: Static<TObject<R>>): Readonly<Record<string, number | null>>;
  };
}

/** The parameters an implementation receives. */
export type ParamsOf<C> = C extends Contract<infer P, TProperties> ? Params<P> : never;
/** The result an implementation must return. */
export type ResultOf<C> = C extends Contract<infer _P, infer R> ? Static<TObject<R>> : never;

/** Returns a contract with its exact types; no effect at run time. */
export function defineTool<P extends TProperties, R extends TProperties>(contract: Contract<P, R>): Contract<P, R> {
  return contract;
}
